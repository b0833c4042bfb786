//! The runner's side of the protocol over the UART: one frame in, one or more frames out. Nothing is sent or
//! received while a round is timed.

use crate::board::{self, Board};
use crate::{clock, memory};
use alloc::boxed::Box;
use cpb_core::check::check;
use cpb_core::frame::{self, Decoder, FrameError, MAX_FRAME};
use cpb_core::measure::Budget;
use cpb_core::message::{self, ClockDescription, Counters, Hello, Reply, Request, Round};
use cpb_core::null::NULL;
use cpb_core::{Clock, Error, Provider, Unsupported, Workload};
use cpb_round::{Plan, Seen, Stage};

/// What the firmware knows about its core.
#[derive(Clone, Copy)]
pub(crate) struct Core {
    /// Its CPUID register.
    pub(crate) id: u32,
    /// Whether its cycle counter works.
    pub(crate) cycle_counter: bool,
}

/// Answers requests forever.
pub(crate) fn serve<C: Clock>(
    board: Board,
    clock: &C,
    core: Core,
    providers: &[&dyn Provider],
) -> ! {
    let described = clock::describe(clock, board::COUNTS_CYCLES);
    let mut runner = Runner {
        providers,
        clock,
        described,
        core,
        wire: Wire { board, frame: zeroed() },
        scratch: zeroed::<{ 2 * frame::MAX_MESSAGE }>(),
    };
    let mut decoder = Box::new(Decoder::default());
    loop {
        let byte = runner.wire.board.read();
        let Some(frame) = decoder.push(byte) else { continue };
        match frame.and_then(frame::parse_request) {
            // A board has no way to exit.
            Ok(Request::Stop) => {}
            Ok(request) => runner.answer(request),
            // Replying with this runner's version shows the host what is wrong.
            Err(FrameError::Version(_)) => runner.hello(),
            // A complete frame with an unknown message: the host was built from another source.
            Err(FrameError::Message) => runner.wire.send(&Reply::Failed(Error::Contract)),
            // Noise or a truncated request: the host will time out and ask again.
            Err(_) => {}
        }
    }
}

/// A zeroed array, allocated without using the stack.
fn zeroed<const N: usize>() -> Box<[u8; N]> {
    // SAFETY: all zeros is a valid value for bytes.
    unsafe { Box::new_zeroed().assume_init() }
}

struct Runner<'a, C> {
    providers: &'a [&'a dyn Provider],
    clock: &'a C,
    described: ClockDescription,
    core: Core,
    wire: Wire,
    scratch: Box<[u8; 2 * frame::MAX_MESSAGE]>,
}

impl<C: Clock> Runner<'_, C> {
    fn hello(&mut self) {
        let board = message::Board {
            name: board::NAME,
            cpuid: self.core.id,
            cycle_counter: self.core.cycle_counter,
        };
        self.wire.send(&Reply::Hello(Hello {
            runner: env!("CARGO_PKG_VERSION"),
            providers: self.providers.len() as u8,
            clock: self.described,
            board: Some(board),
        }));
    }

    fn answer(&mut self, request: Request<'_>) {
        let known = |index: u8| {
            let provider = self.providers.get(usize::from(index));
            provider.copied().ok_or(Error::from(Unsupported::Device))
        };
        let reply = match request {
            Request::Hello => return self.hello(),
            Request::Describe { provider } => match known(provider) {
                Ok(provider) => {
                    Reply::Description { identity: provider.identity(), claim: provider.claim() }
                }
                Err(_) => Reply::Absent,
            },
            Request::Check { provider, case } => match known(provider) {
                Ok(provider) => Reply::Finding(check(provider, &case, &mut self.scratch[..])),
                Err(error) => Reply::Failed(error),
            },
            Request::Supports { provider, workload } => match known(provider) {
                Ok(provider) => Reply::Supports(cpb_round::supports(provider, &workload)),
                Err(error) => Reply::Failed(error),
            },
            Request::Round { provider, workload, budget, threads } => {
                let round = known(provider)
                    .and_then(|provider| self.round(provider, &workload, &budget, threads));
                match round {
                    Ok((seen, round)) => {
                        seen.replies(0).for_each(|reply| self.wire.send(&reply));
                        Reply::Round(round)
                    }
                    Err(error) => Reply::Failed(error),
                }
            }
            Request::Stop => Reply::Failed(Error::Contract),
        };
        self.wire.send(&reply);
    }

    fn round(
        &self,
        provider: &dyn Provider,
        workload: &Workload,
        budget: &Budget,
        threads: u8,
    ) -> Result<(Seen, Round), Error> {
        if threads > 1 {
            return Err(Unsupported::Device.into());
        }
        cpb_round::repeatable(provider, workload)?;
        // SAFETY: an earlier round has ended.
        let buffers = unsafe { memory::buffers() };
        let computes = provider.identity().provider != NULL;
        let memory = Some(buffers);
        let (clock, counting) = (self.clock, false);
        let plan = Plan { provider, workload, budget, clock, computes, counting, memory };
        let (mut opened, mut begin, mut end) = (0, self.clock.now(), self.clock.now());
        let mut stack = 0;
        let before = (provider.interrupts(), provider.jobs());
        let seen = cpb_round::run(plan, &mut |stage| match stage {
            Stage::Prepared | Stage::WarmedUp | Stage::Counting(_) => {}
            Stage::Open => {
                opened = memory::paint_stack();
                begin = self.clock.now();
            }
            Stage::Done => {
                end = self.clock.now();
                stack = memory::stack_depth(opened);
            }
        })?;
        let ticks = u128::from((end - begin).0);
        let wall_ns = (ticks * 1_000_000_000 / u128::from(self.clock.frequency())) as u64;
        let counters = Counters {
            operations: seen.operations,
            wall_ns,
            cpu_ns: wall_ns,
            stack: Some(stack),
            interrupts: since(before.0, provider.interrupts()),
            jobs: since(before.1, provider.jobs()),
            ..Counters::default()
        };
        let round = Round { iterations: seen.iterations, output: seen.output, counters };
        Ok((seen, round))
    }
}

/// What a count grew by.
fn since(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    after.zip(before).map(|(after, before)| after - before)
}

/// The connection to the host.
struct Wire {
    board: Board,
    frame: Box<[u8; MAX_FRAME]>,
}

impl Wire {
    fn send(&mut self, reply: &Reply<'_>) {
        // A message that does not fit is not sent, and the host times out.
        if let Ok(frame) = frame::encode(reply, &mut self.frame) {
            self.board.write(frame);
        }
    }
}
