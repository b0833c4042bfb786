//! What every runner must do as a process: give the same answers as all other runners for every workload, and
//! reject what its provider does not support. The providers themselves are tested in their own crate.

mod process;

use cpb_core::catalog;
use cpb_core::measure::Budget;
use cpb_core::memory_read::{Pattern, Width};
use cpb_core::message::{Reply, Request};
use cpb_core::sums;
use cpb_core::{
    Algorithm, CryptoWorkload, Error, MemoryReadWorkload, Operation, Phase, Placement, Ticks,
    Unsupported, Workload,
};
use cpb_test_support::workloads::{sensible_ways, ways_with_key_pairs};
use process::Runner;
use std::collections::HashMap;

/// The names of all providers that can be started as runners here.
fn names_here() -> Vec<String> {
    // A library of the user's needs the name of a file.
    let named = catalog::LIST.iter().filter(|entry| entry.name != catalog::C_LIBRARY);
    let choices = named.map(|entry| catalog::Choice { entry, variant: "" });
    let reachable = |choice: &catalog::Choice<'_>| {
        !choice.is_interface() || cpb_providers::expand(choice) != [choice.entry.name]
    };
    choices.filter(reachable).flat_map(|choice| cpb_providers::expand(&choice)).collect()
}

/// The single pass uses the AES instructions of x86; two calls do not need them.
#[test]
fn a_masked_libcrypto_has_no_single_pass_over_a_record() {
    let workload = CryptoWorkload::new(Algorithm::Aes128CbcHmacSha1Tls, Operation::Encrypt, 1024);
    let instructions = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let here = cfg!(target_arch = "x86_64") && instructions.contains(" aes ");
    for (name, has) in [
        ("openssl", here),
        ("openssl:nocrypto", false),
        ("openssl:scalar", false),
        (catalog::TWO_CALLS, true),
    ] {
        if !cfg!(feature = "openssl") {
            continue;
        }
        let request = Request::Supports { provider: 0, workload: Workload::Crypto(workload) };
        let supported = Runner::start(name).ask(&request, |reply| match reply {
            Reply::Supports(answer) => Some(answer),
            _ => None,
        });
        let expected = if has { Ok(()) } else { Err(Unsupported::Device) };
        assert_eq!(supported, expected, "{name}");
    }
}

/// The smallest possible round.
const BUDGET: Budget = Budget {
    warmup: Ticks(0),
    batch: Ticks(1_000),
    limit: Ticks(1_000_000),
    batches: 1,
    latencies: 0,
    iterations: 1,
    counted: Ticks(0),
};

#[test]
fn runners_read_memory_and_find_the_truth_or_say_that_they_do_not() {
    let reads = Width::ALL.iter().flat_map(|&width| {
        let read = move |pattern: &Pattern| MemoryReadWorkload::new(width, *pattern, 12800);
        Pattern::ALL.iter().map(read)
    });
    let reads: Vec<MemoryReadWorkload> = reads.collect();
    for name in [catalog::MEMORY, catalog::NULL, catalog::MEMCPY] {
        let mut runner = Runner::start(name);
        let mut right = 0;
        for read in &reads {
            let workload = Workload::MemoryRead(*read);
            let supports = Request::Supports { provider: 0, workload };
            let supported = runner.ask(&supports, |reply| match reply {
                Reply::Supports(answer) => Some(answer),
                _ => None,
            });
            let round = Request::Round { provider: 0, workload, budget: BUDGET, threads: 1 };
            let outcome = runner.ask(&round, |reply| match reply {
                Reply::Round(round) => Some(Ok(round.output)),
                Reply::Failed(error) => Some(Err(error)),
                _ => None,
            });
            assert_eq!(outcome, supported.map(|()| sums::truth(read)).map_err(Error::from));
            right += u32::from(outcome.is_ok());
        }
        // Fewer without vectors, or if a 64-bit word is two loads.
        let least = if name == catalog::MEMCPY { 0 } else { 6 };
        assert!(right >= least && (right > 0) == (name != catalog::MEMCPY), "{name}: {right}");
    }
}

#[test]
fn all_runners_agree_about_every_round_and_refuse_what_they_do_not_support() {
    let mut checksums: HashMap<CryptoWorkload, (u64, &str)> = HashMap::new();
    let mut compared = 0;
    let names = names_here();
    for name in &names {
        let mut runner = Runner::start(name);
        for workload in sensible_ways().into_iter().chain(ways_with_key_pairs()) {
            let crypto = Workload::Crypto(workload);
            let supports = Request::Supports { provider: 0, workload: crypto };
            let supported = runner.ask(&supports, |reply| match reply {
                Reply::Supports(answer) => Some(answer),
                _ => None,
            });
            let round =
                Request::Round { provider: 0, workload: crypto, budget: BUDGET, threads: 1 };
            let outcome = runner.ask(&round, |reply| match reply {
                Reply::Round(round) => Some(Ok(round.output)),
                Reply::Failed(error) => Some(Err(error)),
                _ => None,
            });
            match (supported, outcome) {
                (Ok(()), Ok(checksum)) => {
                    if !catalog::computes(name) || workload.phase == Phase::Setup {
                        continue;
                    }
                    let (other, who) = *checksums.entry(workload).or_insert((checksum, name));
                    assert_eq!(checksum, other, "{name} and {who} differ: {workload}");
                    compared += 1;
                }
                // A message that overwrote itself can be decrypted only once.
                (Ok(()), Err(Error::Unsupported(_)))
                    if workload.placement == Placement::InPlace => {}
                (Err(reason), Err(Error::Unsupported(other))) => assert_eq!(reason, other),
                (supported, outcome) => {
                    panic!("{name} {workload}: {supported:?}, but {outcome:?}")
                }
            }
        }
    }
    assert!(compared > 2 * checksums.len(), "{compared} of {}", checksums.len());
}

/// What a runner's library reports as its executor.
fn executor(name: &str) -> String {
    Runner::start(name).ask(&Request::Describe { provider: 0 }, |reply| match reply {
        Reply::Description { identity, .. } => Some(identity.executor.to_owned()),
        _ => None,
    })
}

#[test]
#[cfg(feature = "aws-lc")]
fn without_extensions_aws_lc_says_that_it_has_no_aes_instructions() {
    assert_eq!(executor("aws-lc:c"), "no AES instructions");
    #[cfg(target_arch = "x86_64")]
    {
        let here =
            std::is_x86_feature_detected!("aes") && std::is_x86_feature_detected!("pclmulqdq");
        assert_eq!(executor("aws-lc") == "AES instructions", here);
    }
}

#[test]
#[cfg(feature = "rustcrypto")]
fn without_extensions_the_rustcrypto_crates_find_none() {
    assert_eq!(executor("rustcrypto:soft"), "plain Rust");
    #[cfg(target_arch = "x86_64")]
    {
        let found = executor("rustcrypto");
        let aes = found.split(' ').any(|name| name == "aes");
        assert_eq!(aes, std::is_x86_feature_detected!("aes"), "{found}");
    }
}

#[test]
fn a_mask_changes_what_the_library_itself_says_of_the_cpu() {
    let names = ["openssl", "openssl:nocrypto", "openssl:scalar"];
    let executors: Vec<String> = names
        .iter()
        .filter(|name| catalog::find(name).is_some())
        .map(|name| executor(name))
        .collect();
    println!("{executors:#?}");
    if cfg!(target_arch = "x86_64") && cfg!(feature = "openssl") {
        let [all, masked, scalar] = &executors[..] else { panic!("three variants") };
        assert!(scalar != masked && masked != all && all != scalar);
        let settings = |executor: &str| {
            let text = executor.strip_prefix("OPENSSL_ia32cap=").expect("its own word for it");
            let words = text.split([':', ' ']).take(5).filter_map(|word| word.strip_prefix("0x"));
            words.map(|word| u64::from_str_radix(word, 16).unwrap_or(0)).collect::<Vec<_>>()
        };
        // AES-NI and carry-less multiplication, in the first word.
        let crypto = 1 << 57 | 1 << 33;
        assert_eq!(settings(masked)[0] & crypto, 0, "{masked}");
        assert!(settings(masked)[0] != 0, "vector instructions stay: {masked}");
        // Bit 10 indicates that the words have been initialised (crypto/x86_64cpuid.pl).
        let [first, rest @ ..] = &settings(scalar)[..] else { panic!("{scalar}") };
        assert!(first & !(1 << 10) == 0 && rest.iter().all(|word| *word == 0), "{scalar}");
    }
}
