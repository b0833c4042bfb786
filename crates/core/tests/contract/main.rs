//! The contract between loop and provider, tested with a provider and a clock made for these tests: which
//! calls are made when, and exactly what each sample includes.

mod breaches;
mod budget;
mod bus;
mod charges;
mod device;
mod dispatch;
mod driver;
mod failures;
mod fake;
mod latency;
mod ran;

use cpb_core::measure::Budget;
use cpb_core::{Build, Depth, Dispatch, Notice, Ticks};

/// Every form of dispatch, with `depth` jobs in flight if the form takes a number.
fn forms(depth: u16) -> Vec<Dispatch> {
    let mut forms = Vec::new();
    for &build in Build::ALL {
        for depth in [Depth::Jobs(1), Depth::Jobs(depth), Depth::Ring] {
            for &notice in Notice::ALL {
                forms.push(Dispatch { build, depth, notice });
            }
        }
    }
    forms
}

/// One batch to warm up, then `batches` of `iterations` operations each.
const fn fixed(batches: u16, iterations: u32) -> Budget {
    Budget {
        warmup: Ticks(0),
        batch: Ticks(0),
        limit: Ticks(u64::MAX),
        batches,
        latencies: 0,
        iterations,
        counted: Ticks(0),
    }
}
