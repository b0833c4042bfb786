//! One suite that every provider passes: the same answers as all the others, in every way it claims
//! to support, and a refusal of what it does not.

mod process;

use cpb_core::catalog;
use cpb_core::check::once;
use cpb_core::material::{self, Part};
use cpb_core::measure::Budget;
use cpb_core::memory_read::{Pattern, Width};
use cpb_core::message::{Reply, Request};
use cpb_core::sums;
use cpb_core::{
    Algorithm, CryptoWorkload, Data, DataSet, Depth, Dispatch, Error, Job, KeyUse, Kind,
    MemoryReadWorkload, Operation, Phase, Placement, Provider, Ticks, Unsupported, Workload,
};
use cpb_providers::Boxed;
use process::Runner;
use std::collections::HashMap;

/// Nothing, one byte, around a block, and beyond what fits in a register, a page, a cache line.
const LENGTHS: [u32; 8] = [0, 1, 15, 16, 17, 64, 1000, 4096];

/// Those that compute, and need nothing of their environment: variants of a library are the same
/// code, and are held against each other as processes.
fn here() -> Vec<Boxed> {
    let plain = |entry: &&catalog::Entry| {
        ![catalog::NULL, catalog::MEMORY].contains(&entry.name)
            && cpb_providers::environment(entry).is_empty()
    };
    catalog::LIST.iter().filter(plain).flat_map(open_all).collect()
}

/// A library, which must be here, or those of an interface's executors that this machine has.
fn open_all(entry: &'static catalog::Entry) -> Vec<Boxed> {
    let choice = catalog::Choice { entry, variant: "" };
    let open = |name: &String| cpb_providers::open(&catalog::find(name).expect("its own name"));
    let names = cpb_providers::expand(&choice);
    let computing = names.iter().filter(|name| catalog::computes(name));
    let opened = computing.map(open).collect::<Vec<_>>();
    // What this machine has is found out; it need not have any.
    if choice.is_interface() || entry.is_installed() {
        return opened.into_iter().flatten().collect();
    }
    let here = |opened: Result<Boxed, cpb_providers::Unavailable>| {
        opened.unwrap_or_else(|missing| panic!("{}", missing.detail))
    };
    opened.into_iter().map(here).collect()
}

/// The names of all that can be started here as runners.
fn names_here() -> Vec<String> {
    let choices = catalog::LIST.iter().map(|entry| catalog::Choice { entry, variant: "" });
    let reachable = |choice: &catalog::Choice<'_>| {
        !choice.is_interface() || cpb_providers::expand(choice) != [choice.entry.name]
    };
    choices.filter(reachable).flat_map(|choice| cpb_providers::expand(&choice)).collect()
}

/// Every way of running every algorithm without key pairs at every length, sensible or not.
fn all_ways() -> Vec<CryptoWorkload> {
    let mut all = Vec::new();
    for &algorithm in Algorithm::ALL.iter().filter(|algorithm| !algorithm.has_key_pairs()) {
        for &operation in Operation::ALL {
            for &phase in Phase::ALL {
                for &placement in Placement::ALL {
                    for message in LENGTHS {
                        let plain = CryptoWorkload::new(algorithm, operation, message);
                        all.push(CryptoWorkload { phase, placement, ..plain });
                    }
                }
            }
        }
    }
    all
}

fn sensible_ways() -> Vec<CryptoWorkload> {
    let mut ways = all_ways();
    ways.retain(|workload| workload.valid().is_ok());
    ways
}

/// What is done with key pairs, in each phase that there is. Making an RSA key of 3072 bits and more takes
/// seconds, and the same code as one of 2048.
fn ways_with_key_pairs() -> Vec<CryptoWorkload> {
    let mut all = Vec::new();
    for &algorithm in Algorithm::ALL {
        for &operation in algorithm.operations() {
            let Some(message) = algorithm.fixed_message(operation) else { continue };
            for &phase in Phase::ALL {
                let plain = CryptoWorkload::new(algorithm, operation, message as u32);
                all.push(CryptoWorkload { phase, ..plain });
            }
        }
    }
    let slow = [Algorithm::Rsa3072Pkcs1, Algorithm::Rsa4096Pkcs1];
    all.retain(|workload| {
        let makes = workload.operation == Operation::GenerateKey;
        workload.valid().is_ok() && !(makes && slow.contains(&workload.algorithm))
    });
    all
}

fn made(part: Part, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    material::fill(part, 0, &mut bytes);
    bytes
}

/// What a job came to: its output and its tag.
type Answer = Result<(Vec<u8>, Vec<u8>), Error>;

fn made_associated(workload: &CryptoWorkload) -> Vec<u8> {
    let mut bytes = vec![0; workload.lengths().associated];
    material::fill_associated(workload, &mut bytes);
    bytes
}

/// Runs one operation on `input`, with `tag` for a decryption to verify.
fn run(provider: &dyn Provider, workload: &CryptoWorkload, input: &[u8], tag: &[u8]) -> Answer {
    let associated = made_associated(workload);
    run_with(provider, workload, input, tag, &associated)
}

fn run_with(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    input: &[u8],
    tag: &[u8],
    associated: &[u8],
) -> Answer {
    let shape = workload.algorithm.shape();
    let (key, iv) = (made(Part::Key, shape.key), made(Part::Iv, shape.iv));
    let mut output = match workload.placement {
        Placement::InPlace => input.to_vec(),
        Placement::Apart => vec![0xa5; workload.lengths().output],
    };
    let mut tag = tag.to_vec();
    tag.resize(shape.tag, 0);
    let data = match workload.placement {
        Placement::InPlace => Data::InPlace(&mut output),
        Placement::Apart => Data::Apart { input, output: &mut output },
    };
    let mut jobs = [Job { key: 0, iv: &iv, associated, data, tag: &mut tag }];
    provider.session(workload, &[&key], &mut jobs, &mut |session| once(session, 0))?;
    Ok((output, tag))
}

fn name(provider: &dyn Provider) -> String {
    provider.identity().provider.to_owned()
}

/// Whether an operation in this way leaves something to look at.
fn shows(workload: &CryptoWorkload) -> bool {
    let cipher = workload.algorithm.shape().digest == 0;
    workload.phase != Phase::Setup && (cipher || workload.phase != Phase::Update)
}

#[test]
fn all_providers_give_the_same_answers_in_every_phase_and_placement() {
    let providers = here();
    assert!(providers.len() >= 2, "nothing to compare");
    let mut compared = 0;
    for workload in sensible_ways() {
        if !shows(&workload) || workload.operation == Operation::Decrypt {
            continue;
        }
        let input = made(Part::Message, workload.lengths().input);
        let plain = CryptoWorkload::new(workload.algorithm, workload.operation, workload.message);
        let first = providers.iter().find(|provider| provider.supports(&plain).is_ok());
        let (output, tag) = match first {
            Some(first) => run(first.as_ref(), &plain, &input, &[]).expect("an answer"),
            None => continue,
        };
        for provider in providers.iter().filter(|provider| provider.supports(&workload).is_ok()) {
            let answer = run(provider.as_ref(), &workload, &input, &[]);
            let name = name(provider.as_ref());
            let (other, other_tag) = answer.unwrap_or_else(|error| {
                panic!("{name} {workload}: {error}");
            });
            assert!(other == output, "{name} {workload} differs");
            // An update has no tag yet.
            assert!(workload.phase == Phase::Update || other_tag == tag, "{name} {workload}: tag");
            compared += 1;
        }
    }
    assert!(compared > 1000, "only {compared} answers were compared");
}

#[test]
fn every_algorithm_is_had_by_two_providers_at_every_length_that_it_takes() {
    let providers = here();
    for workload in sensible_ways() {
        if (workload.phase, workload.placement) == (Phase::Message, Placement::Apart) {
            let having = providers.iter().filter(|p| p.supports(&workload).is_ok()).count();
            // Only one provider copies, and one makes records everywhere.
            let one = workload.operation == Operation::Copy
                || (workload.algorithm.shape().kind == Kind::Record
                    && !cfg!(target_arch = "x86_64"));
            let least = if one { 1 } else { 2 };
            assert!(having >= least, "{workload}: {having}");
        }
    }
}

#[test]
fn a_decryption_gives_back_what_was_encrypted() {
    for provider in here() {
        let provider = provider.as_ref();
        for workload in sensible_ways() {
            let decrypts = workload.operation == Operation::Decrypt && shows(&workload);
            if !decrypts || provider.supports(&workload).is_err() {
                continue;
            }
            let associated = if workload.algorithm.shape().kind == Kind::Aead { 13 } else { 0 };
            let workload = CryptoWorkload { associated, ..workload };
            let encrypt = CryptoWorkload {
                operation: Operation::Encrypt,
                phase: Phase::Message,
                placement: Placement::Apart,
                ..workload
            };
            let message = made(Part::Message, workload.lengths().input);
            let (sealed, tag) = run(provider, &encrypt, &message, &[]).expect("a ciphertext");
            let (opened, _) = run(provider, &workload, &sealed, &tag)
                .unwrap_or_else(|error| panic!("{} {workload}: {error}", name(provider)));
            // A record has more behind the message.
            let length = workload.message as usize;
            assert!(opened[..length] == message[..length], "{} {workload}", name(provider));
            assert!(sealed != message || message.len() < 2, "{} {encrypt}", name(provider));
        }
    }
}

#[test]
fn a_message_tag_or_associated_data_that_was_changed_is_refused() {
    for provider in here() {
        let provider = provider.as_ref();
        for workload in sensible_ways() {
            let aead = workload.algorithm.shape().kind == Kind::Aead;
            let whole = matches!(workload.phase, Phase::Message | Phase::MessageWithKey);
            if !(aead && whole && workload.operation == Operation::Decrypt) {
                continue;
            }
            let workload = CryptoWorkload { associated: 13, ..workload };
            if provider.supports(&workload).is_err() {
                continue;
            }
            let encrypt = CryptoWorkload {
                operation: Operation::Encrypt,
                phase: Phase::Message,
                placement: Placement::Apart,
                ..workload
            };
            let message = made(Part::Message, workload.message as usize);
            let (sealed, tag) = run(provider, &encrypt, &message, &[]).expect("a ciphertext");
            let associated = made(Part::Associated, 13);
            let refused = |sealed: &[u8], tag: &[u8], associated: &[u8], what: &str| {
                let answer = run_with(provider, &workload, sealed, tag, associated);
                let name = name(provider);
                assert_eq!(answer.err(), Some(Error::Refused), "{name} {workload}: {what}");
            };
            for place in 0..tag.len() {
                refused(&sealed, &changed(&tag, place), &associated, "a changed tag");
            }
            refused(&sealed, &tag, &changed(&associated, 12), "changed associated data");
            if let Some(last) = sealed.len().checked_sub(1) {
                refused(&changed(&sealed, last), &tag, &associated, "a changed message");
            }
        }
    }
}

/// Whose authenticity is encrypted with the message: MAC and padding cannot be changed by themselves, so that every
/// byte of the record is.
#[test]
fn a_record_or_a_header_that_was_changed_is_refused() {
    let mut refused = 0;
    for provider in here() {
        let provider = provider.as_ref();
        for workload in sensible_ways() {
            let whole = matches!(workload.phase, Phase::Message | Phase::MessageWithKey);
            let record = workload.algorithm.shape().kind == Kind::Record;
            let decrypts = workload.operation == Operation::Decrypt;
            if !(record && whole && decrypts) || provider.supports(&workload).is_err() {
                continue;
            }
            let encrypt = CryptoWorkload {
                operation: Operation::Encrypt,
                phase: Phase::Message,
                placement: Placement::Apart,
                ..workload
            };
            let message = made(Part::Message, workload.lengths().input);
            let (sealed, _) = run(provider, &encrypt, &message, &[]).expect("a record");
            let header = made_associated(&workload);
            let mut refuses = |sealed: &[u8], header: &[u8], what: &str| {
                let answer = run_with(provider, &workload, sealed, &[], header);
                let name = name(provider);
                assert_eq!(answer.err(), Some(Error::Refused), "{name} {workload}: {what}");
                refused += 1;
            };
            let last = sealed.len() - 1;
            for place in [0, last / 2, last - 31, last - 16, last] {
                // Of a CBC ciphertext a byte of one block changes that of the next as well: padding, if it is last.
                refuses(&changed(&sealed, place), &header, "a changed record");
            }
            // Sequence number and type; the version says how a record is made, and the length is the padding's to say.
            for place in 0..9 {
                refuses(&sealed, &changed(&header, place), "a changed header");
            }
        }
    }
    assert!(refused > 100 || !cfg!(feature = "openssl"), "only {refused}");
}

/// One pass is code for the AES instructions of x86; two calls are not.
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

fn changed(bytes: &[u8], place: usize) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    changed[place] ^= 0x80;
    changed
}

#[test]
fn a_session_refuses_what_supports_refuses_and_opens_for_the_rest() {
    let mut ways = all_ways();
    let plain = CryptoWorkload::new(Algorithm::Aes128Gcm, Operation::Encrypt, 64);
    let depth = |depth| Dispatch { depth, ..Dispatch::SERIAL };
    ways.extend([
        CryptoWorkload { associated: 13, ..plain },
        CryptoWorkload { algorithm: Algorithm::Aes128Cbc, associated: 13, ..plain },
        CryptoWorkload { keys: KeyUse::PerMessage, ..plain },
        CryptoWorkload { data: DataSet::Unique { chunks: 1 }, ..plain },
        CryptoWorkload { dispatch: depth(Depth::Jobs(0)), ..plain },
        CryptoWorkload { dispatch: depth(Depth::Jobs(4)), ..plain },
        CryptoWorkload { dispatch: depth(Depth::Ring), ..plain },
        CryptoWorkload { dispatch: Dispatch::ALL_AT_ONCE, ..plain },
        CryptoWorkload { message: u32::MAX, ..plain },
    ]);
    for provider in here() {
        let provider = provider.as_ref();
        for workload in &ways {
            let name = name(provider);
            let supported = provider.supports(workload);
            assert!(workload.valid().is_ok() || supported.is_err(), "{name} {workload}");
            let session = open(provider, workload);
            let expected = supported.map_err(Error::Unsupported);
            assert_eq!(session, expected, "{name} {workload}: supports says otherwise");
        }
    }
}

/// Opens a session and does nothing in it.
fn open(provider: &dyn Provider, workload: &CryptoWorkload) -> Result<(), Error> {
    let shape = workload.algorithm.shape();
    let (key, iv) = (made(Part::Key, shape.key), made(Part::Iv, shape.iv));
    // No buffer for 4 GiB: that must be refused before it is looked at.
    let length = if workload.message == u32::MAX { 0 } else { workload.message as usize };
    let lengths = workload.algorithm.lengths(workload.operation, length);
    let input = made(Part::Message, lengths.input);
    let mut output = vec![0; lengths.output.max(lengths.input)];
    let associated = made_associated(workload);
    let mut tag = vec![0; shape.tag];
    let data = match workload.placement {
        Placement::InPlace => Data::InPlace(&mut output[..lengths.input]),
        Placement::Apart => Data::Apart { input: &input, output: &mut output[..lengths.output] },
    };
    let mut jobs = [Job { key: 0, iv: &iv, associated: &associated, data, tag: &mut tag }];
    let mut opened = false;
    let outcome = provider.session(workload, &[&key], &mut jobs, &mut |_| {
        opened = true;
        Ok(())
    });
    assert_eq!(opened, outcome.is_ok(), "{workload}: the body is run if and only if it opens");
    outcome
}

/// As little as a round can be.
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
        // Without vectors, and where a word of 64 bits is two, fewer.
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
                // A message that overwrote itself can be decrypted once only.
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

/// What a runner's library says of itself.
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
        // Bit 10 says that the words have been filled in (crypto/x86_64cpuid.pl).
        let [first, rest @ ..] = &settings(scalar)[..] else { panic!("{scalar}") };
        assert!(first & !(1 << 10) == 0 && rest.iter().all(|word| *word == 0), "{scalar}");
    }
}
