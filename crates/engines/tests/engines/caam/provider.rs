//! The CAAM's provider: known answers, every form of dispatch, and what ends a session.

use super::driver::{PLACE, TIMING, board};
use crate::rounds::{BUDGET, forms, of_abc, plan, submit};
use crate::vectors::{self, Count};
use cpb_core::measure::Budget;
use cpb_core::{
    Algorithm, Build, CryptoWorkload, Data, Depth, Dispatch, Error, Job, KeyUse, Notice, Operation,
    Phase, Placement, Progress, Provider, Unsupported, check,
};
use cpb_drivers::caam::provider::CaamProvider;
use cpb_drivers::caam::{Caam, Completion, Work};
use std::cell::RefCell;

const RING: usize = 32;
pub(super) const HOW: [Completion; 3] =
    [Completion::Polling, Completion::Interrupt, Completion::Coalesced { count: 4, timer: 100 }];

/// Runs `body` with the provider.
pub(super) fn with_provider<R>(
    how: Completion,
    body: impl FnOnce(&dyn Provider, crate::bus::Time) -> R,
) -> R {
    with_ring::<RING, R>(how, body)
}

/// Runs `body` with the provider of a ring of `N` jobs.
fn with_ring<const N: usize, R>(
    how: Completion,
    body: impl FnOnce(&dyn Provider, crate::bus::Time) -> R,
) -> R {
    let mut work = Box::new(Work::<N>::EMPTY);
    let bus = board(TIMING);
    let time = bus.time.clone();
    let caam = RefCell::new(Caam::new(bus, PLACE, &mut work).expect("an engine"));
    body(&CaamProvider::new(&caam, how, "model"), time)
}

const ALGORITHMS: [Algorithm; 27] = [
    Algorithm::Aes128Ecb,
    Algorithm::Aes192Ecb,
    Algorithm::Aes256Ecb,
    Algorithm::Aes128Cbc,
    Algorithm::Aes192Cbc,
    Algorithm::Aes256Cbc,
    Algorithm::Aes128Ctr,
    Algorithm::Aes192Ctr,
    Algorithm::Aes256Ctr,
    Algorithm::Aes128Gcm,
    Algorithm::Aes192Gcm,
    Algorithm::Aes256Gcm,
    Algorithm::Aes128Ccm,
    Algorithm::Aes192Ccm,
    Algorithm::Aes256Ccm,
    Algorithm::Aes128CbcHmacSha1Etm,
    Algorithm::Aes128CbcHmacSha256Etm,
    Algorithm::DesCbc,
    Algorithm::TripleDesCbc,
    Algorithm::DesEcb,
    Algorithm::TripleDesEcb,
    Algorithm::Sha1,
    Algorithm::Sha224,
    Algorithm::Sha256,
    Algorithm::HmacSha1,
    Algorithm::HmacSha256,
    Algorithm::HashDrbgSha256,
];

#[test]
fn every_known_answer_is_right_and_random_bytes_differ() {
    for how in HOW {
        with_provider(how, |provider, _| {
            for algorithm in ALGORITHMS {
                let Count { right, unsupported } = vectors::ask(provider, &[algorithm]);
                assert!(right >= 20, "{algorithm}: {right} right, {unsupported} unsupported");
                assert_eq!(unsupported, 0, "{algorithm}: {right} right");
            }
        });
    }
}

#[test]
fn every_form_of_dispatch_gives_right_answers_in_the_loop() {
    for how in HOW {
        with_provider(how, |provider, clock| {
            for (algorithm, operation) in [
                (Algorithm::Aes128Cbc, Operation::Decrypt),
                (Algorithm::Aes256Gcm, Operation::Encrypt),
                (Algorithm::Aes128CbcHmacSha1Etm, Operation::Decrypt),
                (Algorithm::HmacSha256, Operation::Mac),
                (Algorithm::HashDrbgSha256, Operation::Random),
            ] {
                for dispatch in forms(&[Depth::Jobs(1), Depth::Jobs(5), Depth::Ring]) {
                    for keys in [KeyUse::Reused, KeyUse::PerMessage] {
                        let plain = CryptoWorkload::new(algorithm, operation, 128);
                        let workload = CryptoWorkload { dispatch, keys, ..plain }.into();
                        let seen = cpb_round::run(plan(provider, &workload, &clock), &mut |_| ());
                        seen.unwrap_or_else(|error| panic!("{workload}: {error}"));
                    }
                }
            }
        });
    }
}

#[test]
fn the_longest_ring_is_filled_and_goes_around() {
    const LONGEST: usize = cpb_drivers::caam::registers::RING_ENTRIES as usize;
    with_ring::<LONGEST, _>(Completion::Interrupt, |provider, clock| {
        assert_eq!(provider.ring(), 1023);
        let dispatch = Dispatch { build: Build::InLoop, depth: Depth::Ring, notice: Notice::Each };
        let plain = CryptoWorkload::new(Algorithm::Aes128Cbc, Operation::Encrypt, 16);
        let workload = CryptoWorkload { dispatch, ..plain }.into();
        let budget = &Budget { iterations: 3000, batches: 1, latencies: 0, ..BUDGET };
        let plan = cpb_round::Plan { budget, ..plan(provider, &workload, &clock) };
        cpb_round::run(plan, &mut |_| ()).expect("a round");
    });
}

/// The cost of a job in ticks, and its interrupts.
fn cost(how: Completion, dispatch: Dispatch) -> (f64, f64) {
    with_provider(how, |provider, clock| {
        let plain = CryptoWorkload::new(Algorithm::Aes128Ecb, Operation::Encrypt, 16);
        let workload = CryptoWorkload { dispatch, ..plain }.into();
        let before = provider.interrupts().expect("a count");
        let seen = cpb_round::run(plan(provider, &workload, &clock), &mut |_| ()).expect("a round");
        let interrupts = provider.interrupts().expect("a count") - before;
        let ticks = seen.samples.iter().map(|sample| sample.ticks.0).min().expect("a sample");
        (ticks as f64 / f64::from(seen.iterations), interrupts as f64 / seen.operations as f64)
    })
}

#[test]
fn deeper_queues_cost_less_and_raise_fewer_interrupts_and_coalescing_fewer_still() {
    let deep = |notice| Dispatch { build: Build::Before, depth: Depth::Jobs(16), notice };
    let (serial, one_each) = cost(Completion::Interrupt, Dispatch::SERIAL);
    assert!((0.9..1.5).contains(&one_each), "{one_each}");
    let (queued, _) = cost(Completion::Interrupt, deep(Notice::Last));
    assert!(queued < 0.95 * serial, "{queued} after {serial}");
    let (_, each) = cost(Completion::Interrupt, deep(Notice::Each));
    let coalesced = Completion::Coalesced { count: 8, timer: 100 };
    let (_, few) = cost(coalesced, deep(Notice::Each));
    assert!(few < 0.7 * each, "{few} after {each}");
}

#[test]
fn jobs_that_are_in_flight_when_a_session_ends_are_flushed() {
    with_provider(Completion::Polling, |provider, _| {
        let dispatch = Dispatch { depth: Depth::Jobs(4), ..Dispatch::SERIAL };
        let plain = CryptoWorkload::new(Algorithm::Sha256, Operation::Hash, 3);
        let workload = CryptoWorkload { dispatch, ..plain };
        let mut digests = [[0; 32]; 4];
        let mut jobs = of_abc(&mut digests);
        let ended = provider.session(&workload, &[], &mut jobs, &mut |session| {
            for job in 0..4 {
                submit(session, job)?;
            }
            session.start_all()
        });
        assert_eq!(ended, Ok(()));
        let again =
            provider.session(&workload, &[], &mut jobs, &mut |session| check::once(session, 1));
        assert_eq!(again, Ok(()));
        drop(jobs);
        assert_eq!(digests[1][..4], [0xba, 0x78, 0x16, 0xbf]);
    });
}

#[test]
fn a_full_ring_takes_no_job_until_one_has_ended() {
    with_provider(Completion::Polling, |provider, _| {
        let dispatch = Dispatch { depth: Depth::Ring, ..Dispatch::SERIAL };
        let plain = CryptoWorkload::new(Algorithm::Sha256, Operation::Hash, 3);
        let workload = CryptoWorkload { dispatch, ..plain };
        let mut digests = vec![[0; 32]; 2 * RING];
        let mut jobs = of_abc(&mut digests);
        let ran = provider.session(&workload, &[], &mut jobs, &mut |session| {
            for job in 0..RING - 1 {
                submit(session, job)?;
            }
            session.start_all()?;
            session.build(RING - 1)?;
            assert_eq!(session.submit(RING - 1), Ok(Progress::Full));
            assert_eq!(session.complete()?.map(|done| done.job), Some(0));
            assert_eq!(session.submit(RING - 1), Ok(Progress::Queued));
            session.start_all()?;
            assert_eq!(session.complete_all()?.jobs, RING - 1);
            assert_eq!(session.complete(), Ok(None));
            Ok(())
        });
        assert_eq!(ran, Ok(()));
    });
}

#[test]
fn a_forged_tag_is_refused_and_the_jobs_beside_it_are_right() {
    with_provider(Completion::Interrupt, |provider, _| {
        let plain = CryptoWorkload::new(Algorithm::Aes128Gcm, Operation::Encrypt, 16);
        let (key, iv, mut sealed, mut tag) = ([7; 16], [1; 12], [0; 16], [0; 16]);
        let data = Data::Apart { input: &[5; 16], output: &mut sealed };
        let mut jobs = [Job { key: 0, iv: &iv, associated: &[], data, tag: &mut tag }];
        let once = &mut |session: &mut dyn cpb_core::Session| check::once(session, 0);
        assert_eq!(provider.session(&plain, &[&key], &mut jobs, once), Ok(()));
        let dispatch = Dispatch { depth: Depth::Jobs(3), ..Dispatch::SERIAL };
        let open = CryptoWorkload { operation: Operation::Decrypt, dispatch, ..plain };
        let mut tags = [tag, tag, tag];
        tags[1][3] ^= 1;
        let mut opened = [[0; 16]; 3];
        let mut jobs: Vec<Job<'_>> = tags
            .iter_mut()
            .zip(&mut opened)
            .map(|(tag, output)| {
                let data = Data::Apart { input: &sealed, output };
                Job { key: 0, iv: &iv, associated: &[], data, tag }
            })
            .collect();
        let mut results = [Ok(()); 3];
        let ran = provider.session(&open, &[&key], &mut jobs, &mut |session| {
            for job in 0..3 {
                session.build(job)?;
                session.submit(job)?;
            }
            session.start_all()?;
            while let Some(done) = session.complete()? {
                results[done.job] = done.result;
            }
            Ok(())
        });
        assert_eq!(ran, Ok(()));
        assert_eq!(results, [Ok(()), Err(Error::Refused), Ok(())]);
        drop(jobs);
        assert_eq!((opened[0], opened[2]), ([5; 16], [5; 16]));
    });
}

#[test]
fn what_the_engine_does_not_have_is_refused_before_it_sees_it() {
    with_provider(Completion::Polling, |provider, _| {
        let of = CryptoWorkload::new;
        let update = CryptoWorkload {
            phase: Phase::Update,
            ..of(Algorithm::Aes128Cbc, Operation::Encrypt, 64)
        };
        let seeds = CryptoWorkload {
            phase: Phase::Setup,
            ..of(Algorithm::HashDrbgSha256, Operation::Random, 0)
        };
        let too_deep = Dispatch { depth: Depth::Jobs(RING as u16 + 1), ..Dispatch::SERIAL };
        for (workload, reason) in [
            (of(Algorithm::Sha512, Operation::Hash, 64), Unsupported::Algorithm),
            (of(Algorithm::Aes128Xts, Operation::Encrypt, 64), Unsupported::Algorithm),
            (of(Algorithm::Rsa2048Pss, Operation::Sign, 32), Unsupported::Algorithm),
            (of(Algorithm::Rsa2048Pkcs1, Operation::GenerateKey, 0), Unsupported::Algorithm),
            (
                CryptoWorkload {
                    dispatch: Dispatch { depth: Depth::Jobs(2), ..Dispatch::SERIAL },
                    ..of(Algorithm::EcdsaP256, Operation::Sign, 32)
                },
                Unsupported::Mode,
            ),
            (of(Algorithm::Aes128Cbc, Operation::Encrypt, 0), Unsupported::Length),
            (of(Algorithm::HashDrbgSha256, Operation::Random, 0), Unsupported::Length),
            (of(Algorithm::HashDrbgSha256, Operation::Random, 0x1_0000), Unsupported::Length),
            (seeds, Unsupported::Phase),
            (update, Unsupported::Phase),
            (
                CryptoWorkload { dispatch: too_deep, ..of(Algorithm::Sha256, Operation::Hash, 64) },
                Unsupported::Mode,
            ),
        ] {
            assert_eq!(provider.supports(&workload), Err(reason), "{workload}");
        }
        let in_place = CryptoWorkload {
            placement: Placement::InPlace,
            ..of(Algorithm::TripleDesCbc, Operation::Encrypt, 64)
        };
        assert_eq!(provider.supports(&in_place), Ok(()));
        let mut tag = [0; 16];
        let data = Data::InPlace(&mut []);
        let mut jobs = [Job { key: 0, iv: &[], associated: &[], data, tag: &mut tag }];
        let gcm = of(Algorithm::Aes128Gcm, Operation::Encrypt, 0);
        let refused = provider.session(&gcm, &[&[0; 16]], &mut jobs, &mut |_| Ok(()));
        assert_eq!(refused, Err(Unsupported::Length.into()), "an IV is missing");
    });
}
