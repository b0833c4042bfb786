//! A fixed list of workloads, measured without a host. The results are printed as text on the UART, for a
//! terminal, a simulator or an emulator.

use crate::board::{self, Board};
use crate::{clock, memory};
use alloc::format;
use alloc::string::String;
use cpb_core::measure::Budget;
use cpb_core::null::NULL;
use cpb_core::public_key::parts;
use cpb_core::{
    Algorithm, Claim, Clock, CryptoWorkload, Error, Identity, Operation, Provider, Ticks, catalog,
};
use cpb_round::{Plan, Seen};

/// The same as in the published tables of these boards.
const MESSAGE: u32 = 1024;

/// One batch with this many operations, after one that warms the caches up.
const BUDGET: Budget = Budget {
    warmup: Ticks(0),
    batch: Ticks(0),
    limit: Ticks(0),
    batches: 1,
    latencies: 0,
    iterations: 16,
    counted: Ticks(0),
};

/// Measures the list, then ends. `identity` describes the library; the lines of the engines' providers begin with
/// the provider's name.
pub(crate) fn run<C: Clock>(
    mut board: Board,
    clock: &C,
    cycle_counter: bool,
    identity: Identity<'_>,
    providers: &[&dyn Provider],
) -> ! {
    let cost = clock::describe(clock, board::COUNTS_CYCLES).cost;
    let counter = if cycle_counter { "counts" } else { "does not count" };
    let mut say = |text: &str| board.write(text.as_bytes());
    say(&format!("cpb solo on {}; Mbed TLS {}; ", board::NAME, identity.version));
    say(&format!("{}; the cycle counter {counter}\r\n", identity.options));
    // RSA, whose private keys are long, would take a simulator a minute, so it is measured only with a host.
    let short =
        |algorithm: &&Algorithm| parts(**algorithm).is_none_or(|parts| parts.private <= 256);
    for provider in providers.iter().filter(|provider| provider.identity().provider != NULL) {
        let name = provider.identity().provider;
        let is_engine = provider.claim() == Claim::Engine;
        let of_it = |algorithm: &&Algorithm| catalog::is_for(name, **algorithm);
        for &algorithm in Algorithm::ALL.iter().filter(short).filter(of_it) {
            let Some(&operation) = algorithm.operations().first() else { continue };
            let fixed = algorithm.fixed_message(operation);
            let length = fixed.map_or(MESSAGE, |n| n as u32);
            let workload = CryptoWorkload::new(algorithm, operation, length);
            let others = is_engine || operation == Operation::Copy;
            if others && provider.supports(&workload).is_err() {
                continue;
            }
            let prefix = if is_engine { format!("{name} ") } else { String::new() };
            let line = match measure(*provider, &workload, fixed.is_some(), clock) {
                Ok(seen) => figure(&seen, fixed.is_some(), cost),
                Err(error) => format!("{error}"),
            };
            say(&format!("{prefix}{workload}: {line}\r\n"));
        }
    }
    say("done\r\n");
    // A reader of the output sees the end by itself. A debugger or an emulator has to be told.
    // SAFETY: SYS_EXIT with ADP_Stopped_ApplicationExit (Arm semihosting 2.0) takes no pointer.
    unsafe { core::arch::asm!("bkpt #0xab", in("r0") 0x18, in("r1") 0x20026, options(nostack)) };
    loop {
        cortex_m::asm::wfi();
    }
}

/// One round. An operation with a key pair takes a hundred thousand times as long as a block, so it is run once.
fn measure<C: Clock>(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    once: bool,
    clock: &C,
) -> Result<Seen, Error> {
    let iterations = if once { 1 } else { BUDGET.iterations };
    let plan = Plan {
        provider,
        workload: &(*workload).into(),
        budget: &Budget { iterations, ..BUDGET },
        clock,
        computes: true,
        counting: false,
        // SAFETY: an earlier round has ended.
        memory: Some(unsafe { memory::buffers() }),
    };
    cpb_round::run(plan, &mut |_| ())
}

/// Ticks per byte, or per operation if there is no message, and the answer's checksum.
fn figure(seen: &Seen, once: bool, cost: Ticks) -> String {
    let ticks = seen.samples.first().map_or(Ticks(0), |sample| sample.ticks - cost);
    let (of, unit) = if once { (1, "ticks") } else { (u64::from(MESSAGE), "ticks/byte") };
    let hundredths = ticks.0 * 100 / (u64::from(seen.iterations) * of).max(1);
    let (whole, part, output) = (hundredths / 100, hundredths % 100, seen.output);
    format!("{whole}.{part:02} {unit}, output {output:016x}")
}
