//! One suite that every provider passes. Each provider gives the same answers as all the others in every way
//! that it claims to support, and refuses the ways that it does not support.

use cpb_core::catalog;
use cpb_core::check::once;
use cpb_core::material::{self, Part};
use cpb_core::{
    Algorithm, CryptoWorkload, Data, DataSet, Depth, Dispatch, Error, Job, KeyUse, Kind, Operation,
    Phase, Placement, Provider,
};
use cpb_providers::Boxed;
use cpb_test_support::workloads::{all_ways, sensible_ways};

/// The providers that compute and need no environment variables. Variants of a library are the same code, and
/// are compared with each other as processes.
fn here() -> Vec<Boxed> {
    let plain = |entry: &&catalog::Entry| {
        ![catalog::NULL, catalog::MEMORY].contains(&entry.name)
            && cpb_providers::environment(entry).is_empty()
    };
    catalog::LIST.iter().filter(plain).flat_map(open_all).collect()
}

/// Opens a library, which must be here, or those of an interface's executors that this machine has.
fn open_all(entry: &'static catalog::Entry) -> Vec<Boxed> {
    let choice = catalog::Choice { entry, variant: "" };
    let open = |name: &String| cpb_providers::open(&catalog::find(name).expect("its own name"));
    let names = cpb_providers::expand(&choice);
    let computing = names.iter().filter(|name| catalog::computes(name));
    let opened = computing.map(open).collect::<Vec<_>>();
    // What this machine has is found out; it does not need to have any.
    if choice.is_interface() || entry.is_installed() {
        return opened.into_iter().flatten().collect();
    }
    let here = |opened: Result<Boxed, cpb_providers::Unavailable>| {
        opened.unwrap_or_else(|missing| panic!("{}", missing.detail))
    };
    opened.into_iter().map(here).collect()
}

fn made(part: Part, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    material::fill(part, 0, &mut bytes);
    bytes
}

/// The result of a job: its output and its tag.
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

/// Whether an operation in this way leaves a result to compare.
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
            // Only one provider copies, and only one makes records on every CPU.
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
            let (sealed, tag) = run(provider, &encrypt, &message, &[])
                .unwrap_or_else(|error| panic!("{} {encrypt}: {error}", name(provider)));
            let (opened, _) = run(provider, &workload, &sealed, &tag)
                .unwrap_or_else(|error| panic!("{} {workload}: {error}", name(provider)));
            // In a record, more bytes follow the message.
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
            let (sealed, tag) = run(provider, &encrypt, &message, &[])
                .unwrap_or_else(|error| panic!("{} {encrypt}: {error}", name(provider)));
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

/// The authenticity of a record is encrypted with its message. MAC and padding cannot be changed separately, so
/// bytes of the whole record are changed.
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
                // A changed byte in one block of a CBC ciphertext also changes the next block: the padding, if
                // that is the last.
                refuses(&changed(&sealed, place), &header, "a changed record");
            }
            // Sequence number and type. The version says how a record is made, and the length is determined by
            // the padding.
            for place in 0..9 {
                refuses(&sealed, &changed(&header, place), "a changed header");
            }
        }
    }
    assert!(refused > 100 || !cfg!(feature = "openssl"), "only {refused}");
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
    // There is no buffer for 4 GiB: the length must be refused before the buffer is read.
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
