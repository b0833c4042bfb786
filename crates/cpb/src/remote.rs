//! A machine that ssh reaches: the matching static cpb is copied there and serves as its agent as long as the
//! connection lasts.
//!
//! One connection serves a whole run. It uses the system's own `ssh`, so the user's configuration, agent and
//! jump hosts apply, and a password is asked for only once. [`BOOTSTRAP`] makes a private folder on the
//! machine and receives the file; the agent removes both as soon as it runs, so nothing is left behind even
//! if the connection breaks. When the connection ends, the agent ends, and with it everything that it
//! started.

pub mod channels;
mod executable;
mod ssh;

use crate::agent::protocol::{self, About, Answer, Order};
use crate::agent::server;
use crate::transport::agent::{AgentHost, Lifeline};
use anyhow::{Context, Result, bail};
use channels::Channels;
use ssh::Ssh;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

/// The script for the other side's shell: any POSIX shell, including busybox's. It has no single quotes, and
/// each line ends a command, because the login shell, which may be of another kind, must take it as one word
/// on one line. Its argument is the folder to try first.
const BOOTSTRAP: &str = include_str!("remote/bootstrap.sh");

/// The longest wait for the other side after its greeting, in addition to the time for the copy.
const PATIENCE: Duration = Duration::from_secs(30);

/// A copy that is slower than this is given up.
const SLOWEST_BYTES_PER_SECOND: u64 = 20_000;

/// A machine's address, and what is copied there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Address {
    /// The destination as `ssh` accepts it: a host from its configuration, `user@host`, `ssh://user@host:port`.
    pub destination: String,
    /// The folder to try first on that machine; the usual places follow.
    pub folder: String,
    /// The cpb to copy there; by default the static one for that architecture.
    pub cpb: Option<PathBuf>,
}

impl Address {
    /// The part of a target behind `ssh:`.
    ///
    /// # Errors
    /// Returns an error if it is empty, or if it looks like an option of ssh.
    pub fn parse(text: &str) -> Result<Address> {
        let text = text.trim();
        if text.is_empty() || text.starts_with('-') {
            bail!("`ssh:` needs a destination as ssh accepts it, such as ssh:root@board");
        }
        let destination =
            if text.starts_with("//") { format!("ssh:{text}") } else { text.to_owned() };
        Ok(Address { destination, ..Address::default() })
    }
}

/// A machine on which cpb's agent runs.
pub struct Remote {
    name: String,
    channels: Channels,
    ssh: Arc<Ssh>,
    warnings: Vec<String>,
}

impl Remote {
    /// Connects, copies cpb there, and starts it.
    ///
    /// # Errors
    /// Returns an error if `ssh` does not reach the machine, if cpb cannot run there, or if `stop` is set.
    pub fn connect(
        address: &Address,
        stop: &Arc<AtomicBool>,
        say: &dyn Fn(&str),
    ) -> Result<Arc<Remote>> {
        let name = &address.destination;
        say(&format!("connecting to {name}"));
        let ssh = Ssh::start(name, &remote_command(&address.folder))?;
        let mut warnings = Vec::new();
        let arrived = arrive(&ssh, address, stop, say, &mut warnings);
        if let Err(error) = arrived {
            ssh.end();
            return Err(error);
        }
        Remote::over(name, ssh, warnings)
    }

    /// The machine on which `command`, a shell command line, starts a cpb when `agent --stdio` is appended.
    ///
    /// # Errors
    /// Returns an error if no shell can be started. Only the first order shows whether an agent answers.
    pub fn started_by(command: &str) -> Result<Arc<Remote>> {
        Remote::over(command, Ssh::exec(command, &format!("{command} agent --stdio"))?, Vec::new())
    }

    /// Wraps a connection with an agent at the other end.
    fn over(name: &str, ssh: Ssh, warnings: Vec<String>) -> Result<Arc<Remote>> {
        let (input, output) = ssh.streams()?;
        let (ssh, channels) = (Arc::new(ssh), Channels::new(output));
        let (serving, over) = (channels.clone(), Arc::clone(&ssh));
        thread::spawn(move || {
            // Only the host opens channels; one opened by the other side is closed again.
            let _ = serving.serve(input, drop);
            over.over();
        });
        Ok(Arc::new(Remote { name: name.to_owned(), channels, ssh, warnings }))
    }

    /// The machine's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Warnings about how cpb was copied there.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Why the connection is lost; `None` if it is not.
    pub fn lost(&self) -> Option<String> {
        lost(&self.name, &self.ssh)
    }

    /// Gives `order` to the agent. Returns the connection to what it starts.
    ///
    /// # Errors
    /// Returns an error if there is no connection, or no answer in time. In the second case the connection is closed.
    pub fn order(&self, order: &Order, patience: Duration) -> Result<(File, Answer)> {
        let talk = || -> Result<_> {
            let mut stream = self.channels.open()?;
            stream.set_read_timeout(Some(patience))?;
            let answer = protocol::ask(&mut stream, order)?;
            stream.set_read_timeout(None)?;
            Ok((File::from(OwnedFd::from(stream)), answer))
        };
        match talk() {
            Ok((_, Answer::Refused(why))) => bail!("{}: {why}", self.name),
            Ok(answered) => Ok(answered),
            Err(error) => {
                let silent = self.ssh.ended().is_none();
                self.ssh.end();
                match self.lost() {
                    Some(lost) if !silent => bail!(lost),
                    _ => Err(error.context(format!(
                        "{} did not answer within {} s (was the cpb there built from the same sources?)",
                        self.name,
                        patience.as_secs()
                    ))),
                }
            }
        }
    }

    /// The current description of the machine.
    ///
    /// # Errors
    /// Returns an error if it does not answer.
    pub fn about(&self, cpu: usize, patience: Duration) -> Result<About> {
        self.order(&Order::About { cpu }, patience)?.1.about(&self.name)
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.ssh.end();
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Remote({})", self.name)
    }
}

impl AgentHost for Remote {
    fn order(&self, order: &Order, patience: Duration) -> Result<(File, Box<dyn Lifeline>)> {
        let (stream, _) = Remote::order(self, order, patience)?;
        Ok((stream, Box::new(Reached { name: self.name.clone(), ssh: Arc::clone(&self.ssh) })))
    }

    fn about(&self, cpu: usize, patience: Duration) -> Result<About> {
        Remote::about(self, cpu, patience)
    }

    fn lost(&self) -> Option<String> {
        Remote::lost(self)
    }
}

/// The connection that ends the runners on the machine when it breaks.
struct Reached {
    name: String,
    ssh: Arc<Ssh>,
}

impl Lifeline for Reached {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn gone(&self) -> Option<String> {
        lost(&self.name, &self.ssh)
    }
}

/// Why the connection is lost; `None` if it is not.
fn lost(name: &str, ssh: &Ssh) -> Option<String> {
    Some(format!("the connection to {name} is lost: {}", ssh.ended()?))
}

/// The command line for the other side's login shell.
fn remote_command(folder: &str) -> String {
    let script = BOOTSTRAP.lines().collect::<Vec<&str>>().join(" ");
    let folder = folder.replace('\'', "'\"'\"'");
    format!("sh -c '{script}' cpb '{folder}'")
}

/// Performs the steps from the greeting to the start of the agent.
fn arrive(
    ssh: &Ssh,
    address: &Address,
    stop: &AtomicBool,
    say: &dyn Fn(&str),
    warnings: &mut Vec<String>,
) -> Result<()> {
    let name = &address.destination;
    // No timeout, because typing a password takes time.
    let greeting = ssh.word(&["cpb-here", "cpb-nowhere"], None, stop)?;
    let mut words = greeting.split(' ');
    let (Some(greeted), Some(system), Some(machine)) = (words.next(), words.next(), words.next())
    else {
        bail!("{name}: the greeting of cpb's script is incomplete: {greeting}");
    };
    if greeted == "cpb-nowhere" {
        bail!(
            "{name}: no folder there in which this user may write and execute a file; tried the folder in the \
             board's file, $TMPDIR, /tmp, /var/tmp, /dev/shm and the home (are they mounted noexec?); set \
             `folder` in a file in boards/, and use that board as the target"
        );
    }
    let folder = words.collect::<Vec<&str>>().join(" ");
    let file = executable::find(name, (system, machine), address.cpb.as_deref())?;
    let bytes = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let hash = executable::hash(&file)?;
    say(&format!("copying cpb ({:.1} MB) into {folder} there", bytes.len() as f64 / 1e6));
    let copy = Duration::from_secs(bytes.len() as u64 / SLOWEST_BYTES_PER_SECOND);
    let got = thread::scope(|scope| {
        scope.spawn(|| {
            // If it fails, the other side has ended or reports how much it received.
            let _ = ssh.send(format!("{}\n", bytes.len()).as_bytes());
            let _ = ssh.send(&bytes);
        });
        let got = ssh.word(&["cpb-got"], Some(PATIENCE + copy), stop);
        if got.is_err() {
            // Otherwise the copy above may block forever.
            ssh.end();
        }
        got
    })?;
    match got.split(' ').collect::<Vec<&str>>()[..] {
        [_, count, _] if count != bytes.len().to_string() => bail!(
            "{name}: only {count} of {} bytes of cpb arrived in {folder}: is the disk full? Free space there, or \
             set another `folder` in a file in boards/, and use that board as the target",
            bytes.len()
        ),
        [_, _, "none"] => warnings.push(format!(
            "{name} has neither sha256sum nor busybox nor openssl, so only the length of the copied cpb was \
             verified."
        )),
        [_, _, there] if there == hash => {}
        _ => bail!(
            "{name}: the cpb that arrived in {folder} differs from the one that was sent ({}): its SHA-256 does \
             not match; it was not started",
            file.display()
        ),
    }
    ssh.send(b"go\n").or_else(|error: io::Error| match ssh.ended() {
        Some(ended) => bail!("{name}: {ended}"),
        None => Err(error.into()),
    })
}

/// Serves as the agent on the other side, from a file that was copied there. The file is alone in a folder
/// that was made for it; both are removed first.
///
/// # Errors
/// Returns an error if the host's orders cannot be read.
pub fn serve_from_own_folder() -> Result<()> {
    let own = std::env::current_exe().context("cannot find cpb's own executable")?;
    // If the removal fails, the script that made the folder tries again.
    let _ = std::fs::remove_file(&own);
    let _ = own.parent().map(std::fs::remove_dir);
    serve()
}

/// Serves as the agent on the other side: handles channels on standard input and output until the host is gone.
///
/// # Errors
/// Returns an error if the host's orders cannot be read.
pub fn serve() -> Result<()> {
    // Not Rust's standard input, because poll does not see what that has buffered.
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let channels = Channels::new(io::stdout());
    // Each conversation holds a reference.
    let busy = Arc::new(());
    let served = channels.serve(ssh::watched(input), |stream| {
        let busy = Arc::clone(&busy);
        thread::spawn(move || {
            server::converse(OwnedFd::from(stream).into());
            drop(busy);
        });
    });
    // The conversations kill the runners that they started; wait for this.
    for _ in 0..200 {
        if Arc::strong_count(&busy) == 1 {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    served.context("the host is gone")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_one_word_for_any_login_shell() {
        for line in BOOTSTRAP.lines() {
            assert!(!line.contains(['\'', '!', '#'].as_slice()) || line.contains("${#"), "{line}");
        }
        let command = remote_command("/data/it's here");
        assert!(!command.contains('\n'));
        // A shell must parse it as intended.
        let echo = command.replacen("sh -c", "printf %s\\\\n", 1);
        let output = std::process::Command::new("sh").arg("-c").arg(echo).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.ends_with("\ncpb\n/data/it's here\n"), "{text}");
    }

    #[test]
    fn an_address_is_what_ssh_takes_and_never_an_option() {
        assert_eq!(Address::parse("root@board").unwrap().destination, "root@board");
        assert_eq!(
            Address::parse("//root@board:2222").unwrap().destination,
            "ssh://root@board:2222"
        );
        for wrong in ["", " ", "-oProxyCommand=x"] {
            assert!(Address::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
