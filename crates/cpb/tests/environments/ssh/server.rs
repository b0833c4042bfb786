//! An sshd for one test: its keys, its configuration, and a client that knows it, in the test's folder.

use cpb_test_support::{Lab, Ran, skip};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SSHD: &str = "/usr/sbin/sshd";

/// A running sshd. Dropping it ends it; its sessions may remain.
pub(crate) struct Server {
    child: Child,
    /// The path with a folder in front whose `ssh` knows the host `board`.
    path: String,
    cpb: PathBuf,
}

/// Whether the test can run: there is an sshd that can start sessions for this user.
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

    /// Starts it with more configuration, behind a program such as `unshare`.
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
        // The client reads the user's configuration from the home folder in the system's user database.
        lab.script("ssh/bin/ssh", &format!("exec /usr/bin/ssh -F {folder}/config \"$@\""));
        // sshd uses this folder after it has dropped its privileges; only root may create it.
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
        // A debug build is mostly symbol names.
        let cpb = lab.path("cpb-to-copy");
        let own = env!("CARGO_BIN_EXE_cpb");
        let stripped = Command::new("strip").arg("-o").arg(&cpb).arg(own).status();
        assert!(stripped.expect("strip").success());
        let path = std::env::var("PATH").unwrap_or_default();
        Server { child, path: format!("{folder}/bin:{path}"), cpb }
    }

    /// The options that select it as the target.
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

    /// The variables that a command needs to find this server.
    pub(crate) fn variables(&self) -> [(&'static str, &str); 1] {
        [("PATH", &self.path)]
    }

    /// sshd's processes for sessions: its descendants.
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

/// The files that cpb leaves on the machine, unless they disappear soon: other tests use the same folders.
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

/// The folders that `arrival.sh` has created in the usual places.
fn arrived() -> Vec<PathBuf> {
    let home = std::env::var("HOME").unwrap_or_default();
    let folders = ["/tmp", "/var/tmp", "/dev/shm", &home];
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let ours = entries.flatten().filter(|entry| {
        // The six letters of mktemp.
        let name = entry.file_name();
        name.to_str().and_then(|name| name.strip_prefix("cpb-")).is_some_and(|rest| rest.len() == 6)
    });
    ours.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}
