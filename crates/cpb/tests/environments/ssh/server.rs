//! An sshd for one test: keys, configuration, and a client that knows it, in the test's folder.

use cpb_test_support::{Lab, Ran, skip};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SSHD: &str = "/usr/sbin/sshd";

/// A running sshd. Dropping it ends it; sessions of it may stay.
pub(crate) struct Server {
    child: Child,
    /// What is before every path: a folder whose `ssh` knows the host `board`.
    path: String,
    cpb: PathBuf,
}

/// Whether the test can run: an sshd that is to start sessions for this user is here.
pub(crate) fn here(test: &str) -> bool {
    let there = Path::new(SSHD).is_file();
    if !there {
        skip(&format!("ssh::{test}"), "there is no sshd (Debian: openssh-server)");
    }
    there
}

impl Server {
    pub(crate) fn start(lab: &Lab) -> Server {
        Server::start_with(lab, "", &[])
    }

    /// With more configuration, and a program before it, such as `unshare`.
    pub(crate) fn start_with(lab: &Lab, more: &str, before: &[&str]) -> Server {
        let folder = lab.path("ssh");
        let folder = folder.to_str().expect("a folder whose name is text");
        std::fs::create_dir(folder).expect("a folder");
        for key in ["host", "user"] {
            let key = format!("ssh-keygen -q -t ed25519 -N '' -f {folder}/{key}");
            assert_eq!(lab.shell(&key).status, Some(0), "{key}");
        }
        let port = free_port();
        let configuration = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\n\
             AuthorizedKeysFile {folder}/user.pub\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPrintMotd no\n{more}\n"
        );
        lab.write("ssh/sshd.conf", configuration);
        lab.write(
            "ssh/config",
            format!(
                "Host *\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {folder}/user\n  \
                 IdentitiesOnly yes\n  UserKnownHostsFile {folder}/known\n"
            ),
        );
        let public = std::fs::read_to_string(lab.path("ssh/host.pub")).expect("a key");
        lab.write("ssh/known", format!("[127.0.0.1]:{port} {public}"));
        // The client reads a user's configuration from the home that the system has for that user.
        lab.script("ssh/bin/ssh", &format!("exec /usr/bin/ssh -F {folder}/config \"$@\""));
        // It looks there after it has given up its rights; root alone may make it.
        let _ = std::fs::create_dir_all("/run/sshd");
        let mut line: Vec<&str> = before.to_vec();
        let file = format!("{folder}/sshd.conf");
        line.extend([SSHD, "-D", "-e", "-f", &file]);
        let log = std::fs::File::create(lab.path("ssh/log")).expect("a log");
        let mut command = Command::new(line[0]);
        command.args(&line[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let child = command.spawn().expect("sshd starts");
        let deadline = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            let log = || std::fs::read_to_string(lab.path("ssh/log")).unwrap_or_default();
            assert!(Instant::now() < deadline, "sshd does not answer: {}", log());
            std::thread::sleep(Duration::from_millis(10));
        }
        // A debug build is mostly names.
        let cpb = lab.path("cpb-to-copy");
        let own = env!("CARGO_BIN_EXE_cpb");
        let stripped = Command::new("strip").arg("-o").arg(&cpb).arg(own).status();
        assert!(stripped.expect("strip").success());
        let path = std::env::var("PATH").unwrap_or_default();
        Server { child, path: format!("{folder}/bin:{path}"), cpb }
    }

    /// The options that measure there.
    pub(crate) fn target(&self) -> String {
        format!("--target ssh:board --runner {}", self.cpb.display())
    }

    /// The file that is copied there.
    pub(crate) fn cpb(&self) -> &Path {
        &self.cpb
    }

    /// Runs cpb with this server's client to its end.
    pub(crate) fn run(&self, lab: &Lab, line: &str) -> Ran {
        lab.run_with(line, &self.variables())
    }

    /// What a command needs to find this server.
    pub(crate) fn variables(&self) -> [(&'static str, &str); 1] {
        [("PATH", &self.path)]
    }

    /// sshd's processes for sessions: children of its children, and so on.
    pub(crate) fn sessions(&self) -> Vec<u32> {
        let mut found = vec![self.child.id()];
        let mut at = 0;
        while at < found.len() {
            let children = format!("/proc/{0}/task/{0}/children", found[at]);
            let children = std::fs::read_to_string(children).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|c| c.parse::<u32>().ok()));
            at += 1;
        }
        let is_sshd = |process: &u32| {
            let name = std::fs::read_to_string(format!("/proc/{process}/comm"));
            name.is_ok_and(|name| name.starts_with("sshd"))
        };
        found.into_iter().skip(1).filter(is_sshd).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// What cpb leaves where it arrives, unless it goes soon: other tests arrive there, too, and leave.
pub(crate) fn left_behind() -> Vec<PathBuf> {
    let patience = Instant::now() + Duration::from_secs(20);
    loop {
        let left = arrived();
        if left.is_empty() || Instant::now() >= patience {
            return left;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The folders that `arrival.sh` has made where machines are arrived in.
fn arrived() -> Vec<PathBuf> {
    let home = std::env::var("HOME").unwrap_or_default();
    let folders = ["/tmp", "/var/tmp", "/dev/shm", &home];
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let ours = entries.flatten().filter(|entry| {
        // mktemp's six letters.
        let name = entry.file_name();
        name.to_str().and_then(|name| name.strip_prefix("cpb-")).is_some_and(|rest| rest.len() == 6)
    });
    ours.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}
