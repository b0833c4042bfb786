//! The DCP's provider: every form of dispatch, the known-answer check, and what ends a session.

use super::{ABC, BASE, LINE, board, hex};
use crate::rounds::{BUDGET, forms, of_abc, plan, submit};
use crate::vectors::{self, Count};
use cpb_core::measure::Budget;
use cpb_core::{
    Algorithm, Build, CryptoWorkload, Data, Depth, Dispatch, Job, KeyUse, Notice, Operation, Phase,
    Placement, Progress, Provider, Unsupported, Workload, check,
};
use cpb_drivers::dcp::provider::DcpProvider;
use cpb_drivers::dcp::{Completion, Dcp, QUEUE, Work};
use std::cell::RefCell;

/// Runs `body` with the provider.
fn with_provider<R>(how: Completion, body: impl FnOnce(&dyn Provider, crate::bus::Time) -> R) -> R {
    let mut work = Box::new(Work::EMPTY);
    let bus = board();
    let time = bus.time.clone();
    let dcp = RefCell::new(Dcp::new(bus, BASE, LINE, &mut work).expect("an engine"));
    body(&DcpProvider::new(&dcp, how, "model"), time)
}

#[test]
fn every_form_of_dispatch_gives_right_answers_in_the_loop() {
    let depths = [Depth::Jobs(1), Depth::Jobs(5), Depth::Jobs(QUEUE as u16), Depth::Ring];
    let mut ran = 0;
    for how in [Completion::Polling, Completion::Interrupt] {
        with_provider(how, |provider, clock| {
            for (algorithm, operation) in [
                (Algorithm::Aes128Cbc, Operation::Decrypt),
                (Algorithm::Aes128Ecb, Operation::Encrypt),
                (Algorithm::Sha256, Operation::Hash),
                (Algorithm::Memcpy, Operation::Copy),
            ] {
                for dispatch in forms(&depths) {
                    let plain = CryptoWorkload::new(algorithm, operation, 128);
                    let workload = Workload::from(CryptoWorkload { dispatch, ..plain });
                    let seen = cpb_round::run(plan(provider, &workload, &clock), &mut |_| ());
                    seen.unwrap_or_else(|error| panic!("{workload}: {error}"));
                    ran += 1;
                }
            }
        });
    }
    assert_eq!(ran, 2 * 4 * 16);
}

#[test]
fn deeper_queues_raise_fewer_interrupts_and_cost_less_a_job() {
    let measure = |dispatch| {
        with_provider(Completion::Interrupt, |provider, clock| {
            let plain = CryptoWorkload::new(Algorithm::Aes128Ecb, Operation::Encrypt, 16);
            let workload = Workload::from(CryptoWorkload { dispatch, ..plain });
            let budget = &Budget { latencies: 0, ..BUDGET };
            let before = provider.interrupts();
            let plan = cpb_round::Plan { budget, ..plan(provider, &workload, &clock) };
            let seen = cpb_round::run(plan, &mut |_| ()).expect("a round");
            let interrupts =
                provider.interrupts().zip(before).map(|(after, before)| after - before);
            let ticks = seen.samples.iter().map(|sample| sample.ticks.0).min();
            (interrupts.expect("a count") as f64 / seen.operations as f64, ticks.expect("a sample"))
        })
    };
    let serial = measure(Dispatch::SERIAL);
    let deep = Dispatch { build: Build::Before, depth: Depth::Jobs(32), notice: Notice::Last };
    let deep = measure(deep);
    // The answers that the loop checks against are computed one by one.
    assert!(serial.0 > 0.9 && deep.0 < 0.5, "{serial:?}, {deep:?}");
    assert!(serial.1 > 2 * deep.1, "{serial:?}, {deep:?}");
}

#[test]
fn every_known_answer_is_right() {
    for how in [Completion::Polling, Completion::Interrupt] {
        with_provider(how, |provider, _| {
            for algorithm in
                [Algorithm::Aes128Ecb, Algorithm::Aes128Cbc, Algorithm::Sha1, Algorithm::Sha256]
            {
                let Count { right, unsupported } = vectors::ask(provider, &[algorithm]);
                // A hash of nothing would be the driver's constant.
                let at_most = usize::from(algorithm.shape().digest > 0);
                assert!(right >= 80, "{algorithm}: {right} right");
                assert!(unsupported <= at_most, "{algorithm}: {unsupported} unsupported");
            }
        });
    }
}

#[test]
fn a_session_that_is_abandoned_leaves_no_job_in_flight() {
    with_provider(Completion::Polling, |provider, _| {
        let dispatch = Dispatch { depth: Depth::Jobs(4), ..Dispatch::SERIAL };
        let plain = CryptoWorkload::new(Algorithm::Sha256, Operation::Hash, 3);
        let workload = CryptoWorkload { dispatch, ..plain };
        let message = *b"abc";
        let mut digests = [[0; 32]; 4];
        let mut jobs: Vec<Job<'_>> = digests
            .iter_mut()
            .map(|output| {
                let data = Data::Apart { input: &message, output };
                Job { key: 0, iv: &[], associated: &[], data, tag: &mut [] }
            })
            .collect();
        let ended = provider.session(&workload, &[], &mut jobs, &mut |session| {
            for job in 0..4 {
                session.build(job)?;
                session.submit(job)?;
            }
            session.start_all()
        });
        assert_eq!(ended, Ok(()));
        let again =
            provider.session(&workload, &[], &mut jobs, &mut |session| check::once(session, 1));
        assert_eq!(again, Ok(()));
        drop(jobs);
        assert_eq!(digests[1], hex::<32>(ABC[1].1));
    });
}

#[test]
fn what_the_engine_does_not_have_is_not_supported() {
    with_provider(Completion::Polling, |provider, _| {
        for (workload, reason) in [
            (
                CryptoWorkload::new(Algorithm::Aes256Cbc, Operation::Encrypt, 64),
                Unsupported::Algorithm,
            ),
            (CryptoWorkload::new(Algorithm::Sha512, Operation::Hash, 64), Unsupported::Algorithm),
            (CryptoWorkload::new(Algorithm::Sha256, Operation::Hash, 0), Unsupported::Length),
            (
                CryptoWorkload {
                    phase: Phase::Update,
                    ..CryptoWorkload::new(Algorithm::Aes128Cbc, Operation::Encrypt, 64)
                },
                Unsupported::Phase,
            ),
        ] {
            assert_eq!(provider.supports(&workload), Err(reason), "{workload}");
        }
        let own_keys = CryptoWorkload {
            keys: KeyUse::PerMessage,
            placement: Placement::InPlace,
            ..CryptoWorkload::new(Algorithm::Aes128Cbc, Operation::Encrypt, 64)
        };
        assert_eq!(provider.supports(&own_keys), Ok(()));
    });
}

#[test]
fn with_a_chain_on_each_channel_no_job_is_taken_until_one_has_finished() {
    with_provider(Completion::Polling, |provider, _| {
        let dispatch = Dispatch { depth: Depth::Jobs(5), ..Dispatch::SERIAL };
        let plain = CryptoWorkload::new(Algorithm::Sha256, Operation::Hash, 3);
        let workload = CryptoWorkload { dispatch, ..plain };
        let mut digests = [[0; 32]; 5];
        let mut jobs = of_abc(&mut digests);
        let ran = provider.session(&workload, &[], &mut jobs, &mut |session| {
            for job in 0..4 {
                submit(session, job)?;
                session.start_all()?;
            }
            session.build(4)?;
            assert_eq!(session.submit(4), Ok(Progress::Full));
            assert_eq!(session.complete()?.map(|done| done.job), Some(0));
            assert_eq!(session.submit(4), Ok(Progress::Queued));
            session.start_all()?;
            for job in 1..5 {
                assert_eq!(session.complete()?.map(|done| done.job), Some(job));
            }
            assert_eq!(session.complete(), Ok(None));
            Ok(())
        });
        assert_eq!(ran, Ok(()));
        drop(jobs);
        assert!(digests.iter().all(|digest| *digest == hex::<32>(ABC[1].1)));
    });
}
