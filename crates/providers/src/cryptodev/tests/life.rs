//! Sessions are made and freed, whatever fails.

use super::*;

#[test]
fn a_session_is_reused_or_made_for_each_message_as_the_phase_says() {
    let module = Module::loaded();
    let provider = opened(&module, "cbc(aes)");
    let plain = CryptoWorkload::new(Algorithm::Aes128Cbc, Operation::Encrypt, 16);
    let setup = CryptoWorkload { phase: Phase::Setup, message: 0, ..plain };
    let with_key = CryptoWorkload { phase: Phase::MessageWithKey, ..plain };
    for (workload, sessions, messages) in [(plain, 1, 5), (with_key, 5, 5), (setup, 5, 0)] {
        module.state().calls.clear();
        let (key, iv, input, mut output) = ([1; 16], [2; 16], [3; 16], [4; 16]);
        let length = workload.message as usize;
        let data = Data::Apart { input: &input[..length], output: &mut output[..length] };
        let mut jobs = [Job { key: 0, iv: &iv, associated: &[], data, tag: &mut [] }];
        let ran = provider.session(&workload, &[&key], &mut jobs, &mut |session| {
            (0..5).try_for_each(|_| once(session, 0))
        });
        assert_eq!(ran, Ok(()), "{workload}");
        let state = module.state();
        assert_eq!(state.count(abi::GET_SESSION), sessions, "{workload}");
        assert_eq!(state.count(abi::FREE_SESSION), sessions, "{workload}");
        assert_eq!(state.count(abi::CRYPT), messages, "{workload}");
    }
    nothing_left(&module);
}

/// Opens a session of `workload` and runs three messages in it.
fn three_messages(provider: &Tested, workload: &CryptoWorkload) -> Result<(), Error> {
    let shape = workload.algorithm.shape();
    let (key, iv) = (made(Part::Key, 0, shape.key), made(Part::Iv, 0, shape.iv));
    let length = workload.message as usize;
    let input = made(Part::Message, 0, length);
    let mut output = vec![0; workload.algorithm.output_length(length)];
    let mut tag = vec![0; shape.tag];
    let data = Data::Apart { input: &input, output: &mut output };
    let mut jobs = [Job { key: 0, iv: &iv, associated: &[], data, tag: &mut tag }];
    provider.session(workload, &[&key], &mut jobs, &mut |session| {
        (0..3).try_for_each(|_| once(session, 0))
    })
}

#[test]
fn whatever_fails_is_reported_and_nothing_stays_open() {
    use Unsupported::{Device as NoDevice, Memory, Permission};
    let module = Module::loaded();
    let provider = opened(&module, "");
    let meanings = [
        (libc::EINVAL, Error::Device(libc::EINVAL)),
        (libc::EFAULT, Error::Device(libc::EFAULT)),
        (libc::EINTR, Error::Device(libc::EINTR)),
        (libc::EAGAIN, Error::Device(libc::EAGAIN)),
        (libc::EBUSY, Error::Device(libc::EBUSY)),
        (libc::EIO, Error::Device(libc::EIO)),
        (libc::ETIMEDOUT, Error::Timeout),
        (libc::EBADMSG, Error::Refused),
        (libc::ENOMEM, Error::Unsupported(Memory)),
        (libc::EPERM, Error::Unsupported(Permission)),
        (libc::ENODEV, Error::Unsupported(NoDevice)),
    ];
    let mut failures = 0;
    for (algorithm, message) in [
        (Algorithm::Aes128Cbc, abi::CRYPT),
        (Algorithm::HmacSha256, abi::CRYPT),
        (Algorithm::Aes128Gcm, abi::AUTH_CRYPT),
    ] {
        for phase in [Phase::Message, Phase::MessageWithKey, Phase::Setup] {
            let length = if phase == Phase::Setup { 0 } else { 64 };
            let operation = algorithm.operations()[0];
            let plain = CryptoWorkload::new(algorithm, operation, length);
            let workload = CryptoWorkload { phase, ..plain };
            for request in [abi::GET_SESSION, message, abi::FREE_SESSION] {
                for (errno, meaning) in meanings {
                    for call in 0..3 {
                        let mut state = module.state();
                        state.calls.clear();
                        state.fault = Some((request, call, errno));
                        drop(state);
                        let ran = three_messages(&provider, &workload);
                        let reached = module.state().count(request) > call;
                        let expected = if reached { Err(meaning) } else { Ok(()) };
                        assert_eq!(ran, expected, "{workload}: {request:x} number {call}");
                        let mut state = module.state();
                        let (files, sessions) = state.left();
                        assert_eq!(files, 0, "{workload}: {request:x} number {call}");
                        assert_eq!(sessions, 0);
                        // A session that the module did not free goes with its file.
                        if request == abi::FREE_SESSION {
                            state.misuse.clear();
                        }
                        assert!(state.misuse.is_empty(), "{workload}: {:?}", state.misuse);
                        failures += usize::from(reached);
                    }
                }
            }
        }
    }
    assert!(failures > 500, "only {failures} failures were tried");
}

#[test]
fn a_body_that_fails_or_panics_leaves_no_session() {
    let module = Module::loaded();
    let provider = opened(&module, "");
    for phase in [Phase::Message, Phase::MessageWithKey] {
        let plain = CryptoWorkload::new(Algorithm::Aes128Gcm, Operation::Encrypt, 16);
        let workload = CryptoWorkload { phase, ..plain };
        let (key, iv, input) = ([1; 16], [2; 12], [3; 16]);
        let (mut output, mut tag) = ([0; 16], [0; 16]);
        let data = Data::Apart { input: &input, output: &mut output };
        let mut jobs = [Job { key: 0, iv: &iv, associated: &[], data, tag: &mut tag }];
        let failed = provider.session(&workload, &[&key], &mut jobs, &mut |session| {
            once(session, 0)?;
            Err(Error::WrongAnswer)
        });
        assert_eq!(failed, Err(Error::WrongAnswer));
        nothing_left(&module);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            provider.session(&workload, &[&key], &mut jobs, &mut |session| {
                once(session, 0)?;
                panic!("as this test wants it");
            })
        }));
        assert!(panicked.is_err());
        nothing_left(&module);
    }
}

#[test]
fn the_second_keys_session_failing_frees_the_firsts() {
    let module = Module::loaded();
    let provider = opened(&module, "cbc(aes)");
    let workload = CryptoWorkload::new(Algorithm::Aes128Cbc, Operation::Encrypt, 16);
    let (one, two, iv, input, mut output) = ([1; 16], [2; 16], [2; 16], [3; 16], [0; 16]);
    let data = Data::Apart { input: &input, output: &mut output };
    let mut jobs = [Job { key: 1, iv: &iv, associated: &[], data, tag: &mut [] }];
    let mut state = module.state();
    state.calls.clear();
    state.fault = Some((abi::GET_SESSION, 1, libc::ENOMEM));
    drop(state);
    let ran = provider.session(&workload, &[&one, &two], &mut jobs, &mut |_| {
        panic!("a session that was not opened")
    });
    assert_eq!(ran, Err(Unsupported::Memory.into()));
    assert_eq!(module.state().count(abi::FREE_SESSION), 1);
    nothing_left(&module);
}

#[test]
fn threads_do_not_share_an_open_file() {
    let module = Module::loaded();
    let provider = opened(&module, "sha256");
    let workload = CryptoWorkload::new(Algorithm::Sha256, Operation::Hash, 64);
    let both = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let (input, mut output) = ([7; 64], [0; 32]);
                let data = Data::Apart { input: &input, output: &mut output };
                let mut jobs = [Job { key: 0, iv: &[], associated: &[], data, tag: &mut [] }];
                let ran = provider.session(&workload, &[], &mut jobs, &mut |session| {
                    both.wait();
                    once(session, 0)
                });
                assert_eq!(ran, Ok(()));
            });
        }
    });
    let files: Vec<_> = module.state().messages.iter().map(|message| message.file).collect();
    assert!(matches!(files[..], [one, two] if one != two), "{files:?}");
    nothing_left(&module);
}
