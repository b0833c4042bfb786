//! The core's effective clock, measured from user space with chains of dependent instructions.
//!
//! A chain in which every instruction depends on the previous one takes a known number of core cycles,
//! whatever the rest of the machine does, so its duration gives the clock. The chains are assembly, because a
//! compiler would shorten them. They are used only if two different chains agree: on a CPU that folds one of
//! them at register renaming, or in an emulator, a single chain would give a wrong result.

use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering};
use cpb_core::{Reference, Ticks};

/// Dependent instructions in one iteration of a chain's loop.
const TURN: u32 = 64;

/// Latencies of integer multiplication on known cores, in cycles: 3 on x86-64 since Nehalem and Zen
/// (uops.info) and on most ARM cores, 4 or 5 on older or smaller ones (Arm's software optimisation guides,
/// MADD and MUL).
const MULTIPLY_LATENCIES: core::ops::RangeInclusive<u32> = 3..=5;

/// Two readings that differ by less than this share have the same clock.
const SAME: f64 = 0.003;

/// The most times a chain is run for one reading.
const MOST_RUNS: usize = 4;

/// The two chains agree if their ratio is at most this far from a whole number.
const AGREEMENT: f64 = 0.02;

/// A chain of multiplications whose length in cycles has been confirmed by a chain of additions.
#[derive(Debug)]
pub struct Chain {
    turns: u32,
    latency: u32,
    /// Two readings of the same clock may differ by one step of the timer.
    step: Ticks,
    /// The last reading, in ticks.
    last: AtomicU64,
}

impl Chain {
    /// Makes a chain that takes about `aim` ticks on a core whose multiplications take `latency` cycles.
    /// `time` times a function, with a resolution of `step`.
    pub fn new(latency: u32, aim: Ticks, step: Ticks, time: impl Fn(&dyn Fn()) -> Ticks) -> Chain {
        const TURNS: u32 = 100;
        multiplies(TURNS);
        let fastest = (0..5).map(|_| time(&|| multiplies(TURNS)).0).min().unwrap_or(0).max(1);
        let turns = (aim.0 * u64::from(TURNS) / fastest).clamp(16, 1 << 20) as u32;
        Chain { turns, latency, step, last: AtomicU64::new(0) }
    }

    /// Determines how many cycles a multiplication takes on this core. Returns `None` if the two chains do
    /// not agree: the core's clock is then unknown.
    ///
    /// Another thread on the same core (SMT) slows additions down a little, and an interrupt slows one of the
    /// two chains down a lot. The vote therefore uses many short pairs, and is repeated a few times.
    pub fn latency(time: impl Fn(&dyn Fn()) -> Ticks) -> Option<u32> {
        const ELECTIONS: usize = 20;
        (0..ELECTIONS).find_map(|_| election(&time))
    }

    /// The confirmed latency of a multiplication in core cycles.
    pub fn multiply_latency(&self) -> u32 {
        self.latency
    }

    /// The core cycles of one run.
    pub fn cycles(&self) -> u32 {
        self.turns * TURN * self.latency
    }

    /// The current state of the core, timed by `time`.
    ///
    /// A chain counts if it takes as long as the previous one; otherwise the next one is tried. An Intel core
    /// stops for 1.6 us of the first 20 us after it has multiplied in 512-bit vectors, and that is not its
    /// clock. With a single chain, such code appeared to take 14 % too few cycles.
    ///
    /// The burst has six additions for each multiplication of the chain. Depending on the core's width, it
    /// takes from half as long as the chain to twice as long.
    pub fn reference(&self, time: impl Fn(&dyn Fn()) -> Ticks) -> Reference {
        let mut last = self.last.load(Ordering::Relaxed);
        for _ in 0..MOST_RUNS {
            let before = last;
            last = time(&|| multiplies(self.turns)).0;
            if last.abs_diff(before) as f64 <= (SAME * before as f64).max(self.step.0 as f64) {
                break;
            }
        }
        self.last.store(last, Ordering::Relaxed);
        Reference { chain: Ticks(last), burst: time(&|| burst(self.turns)) }
    }
}

/// One vote on the latency of a multiplication. More than half of the pairs must agree.
fn election(time: &impl Fn(&dyn Fn()) -> Ticks) -> Option<u32> {
    // Long enough for 1 % with a clock of 100 ns, short enough to fit between interrupts.
    const ADDS: u32 = 600;
    const MULTIPLIES: u32 = ADDS / 3;
    const PAIRS: usize = 15;
    let mut votes = [0; PAIRS];
    for vote in &mut votes {
        let addition = time(&|| adds(ADDS)).0 as f64 / f64::from(ADDS);
        let multiplication = time(&|| multiplies(MULTIPLIES)).0 as f64 / f64::from(MULTIPLIES);
        let ratio = multiplication / addition;
        if ratio.is_finite() && (ratio / ratio.round() - 1.0).abs() < AGREEMENT {
            *vote = ratio.round() as u32;
        }
    }
    votes.sort_unstable();
    let latency = votes[PAIRS / 2];
    let agree = votes.iter().filter(|vote| **vote == latency).count();
    (MULTIPLY_LATENCIES.contains(&latency) && agree > PAIRS / 2).then_some(latency)
}

macro_rules! chain {
    ($name:ident: $($instruction:literal $register:ident)+; $count:literal, $branch:literal) => {
        // LLVM counts a repeated instruction as one, and places the constants of a function with several
        // chains out of reach of 32-bit Arm's loads.
        #[cfg_attr(target_arch = "arm", inline(never))]
        pub(super) fn $name(turns: u32) {
            // SAFETY: arithmetic on the block's own registers. It touches neither memory nor stack, and ends
            // when `turns` (at least 1) reaches 0.
            unsafe {
                asm!(
                    "2:",
                    ".rept 64",
                    $($instruction,)+
                    ".endr",
                    $count,
                    $branch,
                    n = inout(reg) turns.max(1) as usize => _,
                    $($register = inout(reg) 3usize => _,)+
                    y = in(reg) 5usize,
                    options(nomem, nostack),
                );
            }
        }
    };
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
mod instructions {
    use super::asm;
    // Register-register additions, because additions of constants are folded at renaming on some cores.
    chain!(adds: "add {a}, {y}" a; "dec {n}", "jnz 2b");
    chain!(multiplies: "imul {a}, {y}" a; "dec {n}", "jnz 2b");
    #[cfg(target_arch = "x86_64")]
    chain!(burst: "add {a}, {y}" a "add {b}, {y}" b "add {c}, {y}" c "add {d}, {y}" d
        "add {e}, {y}" e "add {f}, {y}" f; "dec {n}", "jnz 2b");
    #[cfg(target_arch = "x86")]
    chain!(burst: "add {a}, {y}" a "add {b}, {y}" b; "dec {n}", "jnz 2b");
}

#[cfg(any(target_arch = "aarch64", target_arch = "arm"))]
mod instructions {
    use super::asm;
    chain!(adds: "add {a}, {a}, {y}" a; "subs {n}, {n}, #1", "bne 2b");
    chain!(multiplies: "mul {a}, {a}, {y}" a; "subs {n}, {n}, #1", "bne 2b");
    chain!(burst: "add {a}, {a}, {y}" a "add {b}, {b}, {y}" b "add {c}, {c}, {y}" c
        "add {d}, {d}, {y}" d "add {e}, {e}, {y}" e "add {f}, {f}, {y}" f;
        "subs {n}, {n}, #1", "bne 2b");
}

#[cfg(target_arch = "riscv64")]
mod instructions {
    use super::asm;
    chain!(adds: "add {a}, {a}, {y}" a; "addi {n}, {n}, -1", "bnez {n}, 2b");
    chain!(multiplies: "mul {a}, {a}, {y}" a; "addi {n}, {n}, -1", "bnez {n}, 2b");
    chain!(burst: "add {a}, {a}, {y}" a "add {b}, {b}, {y}" b "add {c}, {c}, {y}" c
        "add {d}, {d}, {y}" d "add {e}, {e}, {y}" e "add {f}, {f}, {y}" f;
        "addi {n}, {n}, -1", "bnez {n}, 2b");
}

use instructions::{adds, burst, multiplies};

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn nanoseconds(work: &dyn Fn()) -> Ticks {
        let start = Instant::now();
        work();
        Ticks(start.elapsed().as_nanos() as u64)
    }

    #[test]
    fn a_chain_takes_about_the_time_it_was_made_for_or_is_not_made() {
        let Some(latency) = Chain::latency(nanoseconds) else { return };
        let chain = Chain::new(latency, Ticks(10_000), Ticks(1), nanoseconds);
        let best = (0..100).map(|_| chain.reference(nanoseconds).chain.0).min().unwrap_or_default();
        assert!((2_000..50_000).contains(&best), "{best} ns");
        assert!(chain.cycles() > 1_000);
    }

    #[test]
    fn a_chain_counts_if_it_takes_as_long_as_the_one_before() {
        let new = |step, last| Chain { turns: 1, latency: 3, step, last: AtomicU64::new(last) };
        let chain = new(Ticks(0), 1000);
        // The successive times shown by the clock, and the resulting chain and burst.
        for (shown, read) in [
            (vec![1001, 500], (1001, 500)),
            // A pause, then the same clock as before.
            (vec![1160, 1000, 1002, 500], (1002, 500)),
            // A different clock.
            (vec![1200, 1201, 600], (1201, 600)),
            // The clock never settles.
            (vec![1, 2, 3, 4, 5], (4, 5)),
        ] {
            let next = core::cell::RefCell::new(shown.into_iter());
            let found = chain.reference(|_| Ticks(next.borrow_mut().next().expect("no more")));
            assert_eq!((found.chain, found.burst), (Ticks(read.0), Ticks(read.1)));
            assert_eq!(next.borrow().len(), 0);
        }
        // With a clock of 24 MHz, two consecutive readings may differ by 42 ns.
        let runs = core::cell::Cell::new(0);
        new(Ticks(42), 10_000).reference(|_| {
            runs.set(runs.get() + 1);
            Ticks(10_042)
        });
        assert_eq!(runs.get(), 2, "one chain, one burst");
    }

    #[test]
    fn chains_that_disagree_give_no_clock() {
        // A machine on which everything takes the same time: an emulator.
        let same = core::cell::Cell::new(0);
        let emulated = |_: &dyn Fn()| {
            same.set(same.get() + 1);
            Ticks(if same.get() % 2 == 1 { 3_000 } else { 1_000 })
        };
        assert!(Chain::latency(emulated).is_none());
        assert!(Chain::latency(|_| Ticks(0)).is_none());
    }
}
