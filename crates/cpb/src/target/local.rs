//! The machine that cpb runs on.

use super::{Kind, Target};
use crate::agent::protocol::Listed;
use crate::discovery::{self, Discovered, Offers};
use crate::probe;
use crate::self_runner;
use crate::transport::{Affinity, Timeouts};
use anyhow::{Context, Result};
use cpb_core::kernel::KernelSurvey;
use cpb_record::budget::Seconds;
use cpb_record::{Machine, State, evidence};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::time::Duration;

/// The target without `--target`.
pub(super) const KIND: Kind = Kind {
    form: "",
    about: "this machine",
    has_a_list: true,
    takes_runners: true,
    open: |request| {
        let here = || -> Box<dyn Target> { Box::new(Local::new(request.timeout, request.stop)) };
        Ok(request.name.is_empty().then(here))
    },
};

/// This machine.
pub struct Local {
    /// How long its runners have for an answer.
    pub timeouts: Timeouts,
}

impl Local {
    /// Creates the target with `named` as the longest wait for an answer if the user gave it, otherwise with
    /// the wait that suits the machine.
    pub fn new(named: Option<Seconds>, stop: &Arc<AtomicBool>) -> Local {
        let usual = || Timeouts::fitting(&probe::machine(Path::new("/"), 0));
        let answer = named.map_or_else(usual, Seconds::duration);
        Local { timeouts: Timeouts { answer, stop: Arc::clone(stop) } }
    }
}

impl Target for Local {
    fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }

    fn cpus(&self) -> Result<Vec<usize>> {
        cpb_runner::pin::allowed().context("cannot determine which CPUs this process may use")
    }

    fn machine(&self, cpu: usize) -> Result<Machine> {
        Ok(probe::machine(Path::new("/"), cpu))
    }

    fn kernel(&self, _: usize) -> Option<KernelSurvey> {
        survey(self.timeouts.answer)
    }

    fn discover(
        &self,
        wanted: &[String],
        runners: &[PathBuf],
        affinity: &Affinity,
    ) -> Result<Vec<Discovered>> {
        let program = std::env::current_exe().context("cannot find cpb's own executable")?;
        let offers = Offers {
            providers: Listed::own(),
            usual: Box::new(|| cpb_providers::kernel_crypto::usual(Path::new("/"))),
            launch: Box::new(|name| Arc::new(self_runner::runner(&program, name))),
            one_by_one: evidence::emulated(&probe::machine(Path::new("/"), 0)).is_some(),
        };
        discovery::discover(&offers, wanted, runners, affinity, &self.timeouts)
    }

    fn end(&self, before: &Machine, cpu: usize) -> (State, Vec<String>) {
        let state = probe::state(Path::new("/"), cpu);
        let changes = probe::changes(before, &state);
        (state, changes)
    }

    fn is_here(&self) -> bool {
        true
    }

    fn has_a_state(&self) -> bool {
        true
    }
}

/// What the kernel's crypto API offers. A separate process determines this, because it tries drivers, and the
/// host calls none.
fn survey(answer: Duration) -> Option<KernelSurvey> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.args(["list", "--kernel", "--json"]).stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn().ok()?;
    let mut output = child.stdout.take()?;
    let (sender, text) = channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = output.read_to_string(&mut text);
        // The receiver is gone if this took too long.
        let _ = sender.send(read.map(|_| text));
    });
    let text = text.recv_timeout(answer);
    // The process has closed its output and ends, or hangs in a driver; it is not waited for.
    let _ = child.kill();
    std::thread::spawn(move || child.wait());
    serde_json::from_str::<KernelSurvey>(&text.ok()?.ok()?)
        .ok()
        .map(KernelSurvey::of_known_algorithms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emulated_machine_has_more_time_to_answer() {
        let fixture = |name: &str| {
            let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/machines");
            Timeouts::fitting(&probe::machine(&machines.join(name), 0))
        };
        assert_eq!(fixture("qemu-virt-riscv64"), Timeouts::SLOW);
        assert_eq!(fixture("raspberry-pi-4"), Timeouts::USUAL);
        let named = Local::new(Some(Seconds(7.0)), &Arc::default());
        assert_eq!(named.timeouts.answer, Duration::from_secs(7), "the user's word goes first");
    }
}
