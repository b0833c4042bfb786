//! A fixed list of workloads, measured without a host. The results are printed as text on the UART, for a
//! terminal, a simulator or an emulator.

use crate::board::{self, Board};
use crate::mbedtls::MbedTls;
use crate::{clock, memory};
use alloc::format;
use cpb_core::measure::Budget;
use cpb_core::public_key::parts;
use cpb_core::{Algorithm, Clock, CryptoWorkload, Operation, Provider, Ticks};
use cpb_round::Plan;

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

/// Measures the list, then ends.
pub(crate) fn run<C: Clock>(mut board: Board, clock: &C, cycle_counter: bool) -> ! {
    let mbedtls = MbedTls::new();
    let copies = mbedtls.copies();
    let identity = mbedtls.identity();
    let cost = clock::describe(clock, board::COUNTS_CYCLES).cost;
    let counter = if cycle_counter { "counts" } else { "does not count" };
    let mut say = |text: &str| board.write(text.as_bytes());
    say(&format!("cpb solo on {}; Mbed TLS {}; ", board::NAME, identity.version));
    say(&format!("{}; the cycle counter {counter}\r\n", identity.options));
    // RSA, whose private keys are long, would take a simulator a minute, so it is measured only with a host.
    let short =
        |algorithm: &&Algorithm| parts(**algorithm).is_none_or(|parts| parts.private <= 256);
    for &algorithm in Algorithm::ALL.iter().filter(short) {
        let Some(&operation) = algorithm.operations().first() else { continue };
        let fixed = algorithm.fixed_message(operation);
        let workload =
            &CryptoWorkload::new(algorithm, operation, fixed.map_or(MESSAGE, |n| n as u32)).into();
        // An operation with a key pair takes a hundred thousand times as long as a block.
        let iterations = if fixed.is_some() { 1 } else { BUDGET.iterations };
        let plan = Plan {
            provider: if operation == Operation::Copy { &copies } else { &mbedtls },
            workload,
            budget: &Budget { iterations, ..BUDGET },
            clock,
            computes: true,
            // SAFETY: an earlier round has ended.
            memory: Some(unsafe { memory::buffers() }),
        };
        match cpb_round::run(plan, &mut |_| ()) {
            Ok(seen) => {
                let ticks = seen.samples.first().map_or(Ticks(0), |sample| sample.ticks - cost);
                let of = if fixed.is_some() { 1 } else { u64::from(MESSAGE) };
                let unit = if fixed.is_some() { "ticks" } else { "ticks/byte" };
                let hundredths = ticks.0 * 100 / (u64::from(seen.iterations) * of).max(1);
                let (whole, part) = (hundredths / 100, hundredths % 100);
                let output = seen.output;
                say(&format!("{workload}: {whole}.{part:02} {unit}, output {output:016x}\r\n"));
            }
            Err(error) => say(&format!("{workload}: {error}\r\n")),
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
