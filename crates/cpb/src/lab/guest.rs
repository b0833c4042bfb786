//! A guest of the lab: a QEMU that is booted again if it dies.

use super::definition::Definition;
use super::image::{self, Image};
use super::vm::Vm;
use crate::agent::protocol::{self, About, Answer, Order};
use crate::transport::agent::{AgentHost, Lifeline};
use anyhow::{Context, Result, bail};
use cpb_record::{EngineCount, evidence};
use std::fmt;
use std::fs::File;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A guest that has died this often in one run is not booted again: each boot costs seconds, and the cause is
/// likely to persist.
const BOOTS: u32 = 6;

/// A guest, running or not.
pub struct Guest {
    definition: Definition,
    image: Image,
    /// Whether to show the console, with a shell on it.
    screen: bool,
    stop: Arc<AtomicBool>,
    state: Mutex<GuestState>,
}

#[derive(Default)]
struct GuestState {
    vm: Option<Arc<Vm>>,
    boots: u32,
}

impl Guest {
    /// Prepares and boots the guest.
    ///
    /// # Errors
    /// Returns an error if something is missing or the guest does not boot.
    pub fn boot(
        name: &str,
        screen: bool,
        stop: &Arc<AtomicBool>,
        say: &dyn Fn(&str),
    ) -> Result<Arc<Guest>> {
        let definition = Definition::find(name)?;
        let image = image::prepare(&definition, say)?;
        if stop.load(Ordering::Relaxed) {
            bail!("stopped by the user");
        }
        say(&format!("booting {} (Linux {})", definition.name, image.release));
        let guest =
            Guest { definition, image, screen, stop: Arc::clone(stop), state: Mutex::default() };
        guest.vm()?;
        Ok(Arc::new(guest))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// How often the guest has died and was booted again.
    pub fn deaths(&self) -> u32 {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.boots.saturating_sub(1)
    }

    /// What the engine beside its QEMU has done since the guest booted. `None` if it has none.
    pub fn engine_count(&self) -> Option<EngineCount> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.vm.as_ref()?.counts()
    }

    /// Whether its QEMU runs.
    pub fn is_alive(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.vm.as_ref().is_some_and(|vm| vm.wait(Duration::ZERO).is_none())
    }

    /// The running QEMU; boots a new one if necessary.
    ///
    /// # Errors
    /// Returns an error if the guest does not boot, or has died too often.
    pub fn vm(&self) -> Result<Arc<Vm>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let alive = state.vm.as_ref().filter(|vm| vm.wait(Duration::ZERO).is_none());
        if let Some(vm) = alive {
            return Ok(Arc::clone(vm));
        }
        state.vm = None;
        if state.boots == BOOTS {
            bail!("the guest {} has died {BOOTS} times", self.name());
        }
        state.boots += 1;
        let vm = Arc::new(Vm::boot(&self.definition, &self.image, self.screen, &self.stop)?);
        state.vm = Some(Arc::clone(&vm));
        Ok(vm)
    }

    /// Gives `order` to the agent. Returns the connection and the QEMU at its other end.
    ///
    /// # Errors
    /// Returns an error if there is no guest, or if its agent does not answer in time.
    pub fn order(&self, order: &Order, patience: Duration) -> Result<(TcpStream, Arc<Vm>, Answer)> {
        let vm = self.vm()?;
        let talk = || -> Result<_> {
            let mut stream = vm.connect(patience)?;
            stream.set_read_timeout(Some(patience))?;
            let answer = protocol::ask(&mut stream, order)?;
            stream.set_read_timeout(None)?;
            Ok((stream, answer))
        };
        match talk() {
            Ok((_, Answer::Refused(why))) => bail!("the guest {}: {why}", self.name()),
            Ok((stream, answer)) => Ok((stream, vm, answer)),
            Err(error) => {
                // Nothing in this guest can be trusted to answer.
                vm.kill();
                Err(error.context(format!("the guest {} does not answer", self.name())))
            }
        }
    }

    /// The current description of the guest.
    ///
    /// # Errors
    /// Returns an error if it does not answer.
    pub fn about(&self, cpu: usize, patience: Duration) -> Result<About> {
        let mut about = self.order(&Order::About { cpu }, patience)?.2.about(self.name())?;
        if self.definition.is_emulated() {
            about.machine = evidence::known_emulated(about.machine);
        }
        Ok(about)
    }

    /// Types on its console.
    ///
    /// # Errors
    /// Returns an error if the console is gone.
    pub fn type_in(&self, bytes: &[u8]) -> Result<()> {
        self.vm()?.type_in(bytes).context("the guest is gone")
    }
}

impl AgentHost for Guest {
    fn order(&self, order: &Order, patience: Duration) -> Result<(File, Box<dyn Lifeline>)> {
        let (stream, vm, _) = Guest::order(self, order, patience)?;
        let name = self.name().to_owned();
        Ok((OwnedFd::from(stream).into(), Box::new(Boot { name, vm })))
    }

    fn about(&self, cpu: usize, patience: Duration) -> Result<About> {
        Guest::about(self, cpu, patience)
    }
}

/// One boot of a guest; its runners end with it.
struct Boot {
    name: String,
    vm: Arc<Vm>,
}

impl Lifeline for Boot {
    fn name(&self) -> String {
        format!("the guest {}", self.name)
    }

    fn gone(&self) -> Option<String> {
        let how = self.vm.wait(Duration::ZERO)?;
        Some(format!("the guest {} is gone: {how}", self.name))
    }

    fn hung(&self) {
        self.vm.kill();
    }
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Guest({})", self.name())
    }
}
