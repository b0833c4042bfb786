//! Counts the instructions that a batch retires: of the thread in user mode and in the kernel, and of the whole CPU.
//!
//! A batch without operations retires what the harness and the readings themselves do. That is subtracted, so the
//! counts are of the operations alone.

use crate::perf::{Counter, Event, Scope};
use crate::pin;
use cpb_core::measure::Step;
use cpb_core::message::Retired;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Counters of the calling thread and of its CPU.
pub(crate) struct Meter {
    user: Counter,
    kernel: Option<Counter>,
    cpu: Option<(Counter, usize)>,
    started: bool,
    begin: Option<Counts>,
    /// What a batch without operations retired.
    empty: Option<Counts>,
    retired: Option<Retired>,
}

#[derive(Clone, Copy)]
struct Counts {
    user: u64,
    kernel: Option<u64>,
    cpu: Option<u64>,
}

impl Counts {
    /// What was counted since `before`, or beyond it. A count that is not larger is 0.
    fn beyond(self, before: Counts) -> Counts {
        let less = |(now, then): (u64, u64)| now.saturating_sub(then);
        Counts {
            user: less((self.user, before.user)),
            kernel: self.kernel.zip(before.kernel).map(less),
            cpu: self.cpu.zip(before.cpu).map(less),
        }
    }
}

impl Meter {
    /// `None` if instructions cannot be counted here.
    pub(crate) fn open() -> Option<Meter> {
        let open = |scope| Counter::open(Event::Instructions, scope);
        let of_cpu = |cpu| Some((open(Scope::Cpu(cpu)).filter(|_| waits_when_idle(cpu))?, cpu));
        Some(Meter {
            user: open(Scope::User)?,
            kernel: open(Scope::Kernel),
            cpu: pin::current().and_then(of_cpu),
            started: false,
            begin: None,
            empty: None,
            retired: None,
        })
    }

    /// Counts from one step to the next.
    pub(crate) fn reached(&mut self, step: Step) {
        match step {
            Step::Ready => {}
            Step::Counting => {
                if !self.started {
                    self.start();
                }
                self.begin = self.read();
            }
            Step::Counted(operations) => {
                let counts = self.read().zip(self.begin).map(|(now, then)| now.beyond(then));
                if operations == 0 {
                    self.empty = counts;
                } else {
                    self.retired = counts
                        .zip(self.empty)
                        .map(|(counts, empty)| counts.beyond(empty))
                        .map(|Counts { user, kernel, cpu }| Retired {
                            operations: operations.into(),
                            user,
                            kernel,
                            cpu,
                        });
                }
            }
        }
    }

    /// What the batch retired; `None` if the counters did not run.
    pub(crate) fn retired(&self) -> Option<Retired> {
        // A thread that was moved is not what the CPU's counter counted.
        let stayed = self.cpu.as_ref().is_some_and(|(_, cpu)| pin::current() == Some(*cpu));
        let retired = self.retired?;
        Some(Retired { cpu: retired.cpu.filter(|_| stayed), ..retired })
    }

    fn start(&mut self) {
        self.started = true;
        let optional = self.kernel.iter().chain(self.cpu.iter().map(|(counter, _)| counter));
        for counter in std::iter::once(&self.user).chain(optional) {
            // One that does not start does not count, which its reading says.
            let _ = counter.start();
        }
    }

    fn read(&self) -> Option<Counts> {
        Some(Counts {
            user: self.user.read()?,
            kernel: self.kernel.as_ref().and_then(Counter::read),
            cpu: self.cpu.as_ref().and_then(|(counter, _)| counter.read()),
        })
    }
}

/// A CPU that retires this many instructions in a nanosecond while nothing is to be done does not wait for an
/// interrupt: it spins, or other programs keep it busy. One that waits retires a hundredth of that for the clock's
/// interrupts.
const SPINS: f64 = 0.02;

/// How long nothing is to be done.
const IDLE: Duration = Duration::from_millis(5);

/// Whether `cpu` retires next to nothing while it idles. Tried once in each process, on the calling thread's CPU.
fn waits_when_idle(cpu: usize) -> bool {
    static WAITS: OnceLock<bool> = OnceLock::new();
    *WAITS.get_or_init(|| {
        let count = || -> Option<f64> {
            let counter = Counter::open(Event::Instructions, Scope::Cpu(cpu))?;
            counter.start()?;
            let (begin, first) = (Instant::now(), counter.read()?);
            std::thread::sleep(IDLE);
            let retired = counter.read()?.saturating_sub(first);
            Some(retired as f64 / begin.elapsed().as_nanos() as f64)
        };
        count().is_some_and(|rate| rate < SPINS)
    })
}
