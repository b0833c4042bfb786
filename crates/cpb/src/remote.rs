//! A machine that ssh leads to: the right static cpb is copied there, and is its agent while the
//! connection lasts.
//!
//! One connection serves a whole run, by the system's own `ssh`, so that a user's configuration,
//! agent and jump hosts are as ever, and a password is asked for once. [`BOOTSTRAP`] makes a private
//! folder there and takes the file; the agent removes both as soon as it runs, so nothing is left
//! whatever becomes of the connection. What ends the connection ends the agent, and what it started.

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

/// What the other side's shell runs: any shell that POSIX describes, busybox's as well. It has no single
/// quotes, and each line ends a command: the login shell is to take it as one word on one line, and may
/// be of another kind. Its argument is the folder to try first.
const BOOTSTRAP: &str = include_str!("remote/bootstrap.sh");

/// Longest wait for the other side once it has greeted, beyond what a copy takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// A copy that is slower than this is none.
const SLOWEST_BYTES_PER_SECOND: u64 = 20_000;

/// Where a machine is, and what goes there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Address {
    /// As `ssh` takes it: a host of its configuration, `user@host`, `ssh://user@host:port`.
    pub destination: String,
    /// The folder there to try first; usual places come after.
    pub folder: String,
    /// The cpb to copy there; the static one for such a machine, if none is named.
    pub cpb: Option<PathBuf>,
}

impl Address {
    /// The part of a target behind `ssh:`.
    ///
    /// # Errors
    /// It names nobody, or an option of ssh's.
    pub fn parse(text: &str) -> Result<Address> {
        let text = text.trim();
        if text.is_empty() || text.starts_with('-') {
            bail!("`ssh:` wants a machine behind it as ssh takes it, such as ssh:root@board");
        }
        let destination =
            if text.starts_with("//") { format!("ssh:{text}") } else { text.to_owned() };
        Ok(Address { destination, ..Address::default() })
    }
}

/// A machine with cpb's agent on it.
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
    /// `ssh` does not get there, or cpb cannot run there; both say why. Or `stop` is set.
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

    /// The machine on which `command`, a line for the shell, starts a cpb: with `agent --stdio` behind it.
    ///
    /// # Errors
    /// No shell can be started. Whether an agent answers shows with the first order.
    pub fn started_by(command: &str) -> Result<Arc<Remote>> {
        Remote::over(command, Ssh::exec(command, &format!("{command} agent --stdio"))?, Vec::new())
    }

    /// With an agent at the other end of a connection.
    fn over(name: &str, ssh: Ssh, warnings: Vec<String>) -> Result<Arc<Remote>> {
        let (input, output) = ssh.streams()?;
        let (ssh, channels) = (Arc::new(ssh), Channels::new(output));
        let (serving, over) = (channels.clone(), Arc::clone(&ssh));
        thread::spawn(move || {
            // Only the host opens channels: one that the other side opens is closed again.
            let _ = serving.serve(input, drop);
            over.over();
        });
        Ok(Arc::new(Remote { name: name.to_owned(), channels, ssh, warnings }))
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is to be known of the way cpb got there.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Why there is no connection any more, if there is none.
    pub fn lost(&self) -> Option<String> {
        lost(&self.name, &self.ssh)
    }

    /// Gives `order` to the agent; the connection to what it starts.
    ///
    /// # Errors
    /// There is no connection, or no answer in time: then there is none from here on.
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
                        "{} gives no answer within {} s (is the cpb there built from this source?)",
                        self.name,
                        patience.as_secs()
                    ))),
                }
            }
        }
    }

    /// What the machine says of itself, now.
    ///
    /// # Errors
    /// It gives no answer.
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

/// The connection that a runner on the machine does not outlive.
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

/// Why there is no connection any more, if there is none.
fn lost(name: &str, ssh: &Ssh) -> Option<String> {
    Some(format!("the connection to {name} is lost: {}", ssh.ended()?))
}

/// The command line for the other side's login shell.
fn remote_command(folder: &str) -> String {
    let script = BOOTSTRAP.lines().collect::<Vec<&str>>().join(" ");
    let folder = folder.replace('\'', "'\"'\"'");
    format!("sh -c '{script}' cpb '{folder}'")
}

/// From the greeting to the start of the agent.
fn arrive(
    ssh: &Ssh,
    address: &Address,
    stop: &AtomicBool,
    say: &dyn Fn(&str),
    warnings: &mut Vec<String>,
) -> Result<()> {
    let name = &address.destination;
    // Whoever has to type a password takes time.
    let greeting = ssh.word(&["cpb-here", "cpb-nowhere"], None, stop)?;
    let mut words = greeting.split(' ');
    let (Some(greeted), Some(system), Some(machine)) = (words.next(), words.next(), words.next())
    else {
        bail!("{name}: a greeting that says nothing: {greeting}");
    };
    if greeted == "cpb-nowhere" {
        bail!(
            "{name}: no folder there in which this user may write and execute a file: not the one that \
             a board's file names, $TMPDIR, /tmp, /var/tmp, /dev/shm, or the home (mounted noexec?); \
             name one as `folder` in a file of boards/, and use that as the target"
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
            // If it fails, the other side has ended or says how much it got.
            let _ = ssh.send(format!("{}\n", bytes.len()).as_bytes());
            let _ = ssh.send(&bytes);
        });
        let got = ssh.word(&["cpb-got"], Some(PATIENCE + copy), stop);
        if got.is_err() {
            // The copy above may wait for ever for somebody to take it.
            ssh.end();
        }
        got
    })?;
    match got.split(' ').collect::<Vec<&str>>()[..] {
        [_, count, _] if count != bytes.len().to_string() => bail!(
            "{name}: only {count} of {} bytes of cpb arrived in {folder}: is it full? Make room, or name \
             another place as `folder` in a file of boards/, and use that as the target",
            bytes.len()
        ),
        [_, _, "none"] => warnings.push(format!(
            "{name} has no sha256sum, busybox or openssl: of the cpb that was copied there only the \
             length was compared."
        )),
        [_, _, there] if there == hash => {}
        _ => bail!(
            "{name}: the cpb that arrived in {folder} is not the one that was sent ({}): its SHA-256 is \
             another; nothing was run",
            file.display()
        ),
    }
    ssh.send(b"go\n").or_else(|error: io::Error| match ssh.ended() {
        Some(ended) => bail!("{name}: {ended}"),
        None => Err(error.into()),
    })
}

/// As the agent on the other side, whose file was copied there: it lies alone in a folder that was made for it, and
/// both are removed. Then it serves.
///
/// # Errors
/// The host cannot be read from.
pub fn serve_from_own_folder() -> Result<()> {
    let own = std::env::current_exe().context("cannot find cpb's own executable")?;
    // If it cannot be, the script that made the folder tries again.
    let _ = std::fs::remove_file(&own);
    let _ = own.parent().map(std::fs::remove_dir);
    serve()
}

/// As the agent on the other side: serves channels on standard input and output until the host is gone.
///
/// # Errors
/// The host cannot be read from.
pub fn serve() -> Result<()> {
    // Not Rust's own standard input: what that has read ahead, no poll tells of.
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let channels = Channels::new(io::stdout());
    // Each conversation holds one.
    let busy = Arc::new(());
    let served = channels.serve(ssh::watched(input), |stream| {
        let busy = Arc::clone(&busy);
        thread::spawn(move || {
            server::converse(OwnedFd::from(stream).into());
            drop(busy);
        });
    });
    // They kill what they started: a runner must not measure for nobody.
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
        // A shell takes it apart as it was meant.
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
