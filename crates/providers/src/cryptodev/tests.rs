use super::stand_in::Module;
use super::*;
use crate::raw_jobs::RawJob;
use cpb_core::material::{self, Part};
use cpb_core::{Data, DataSet, KeyUse, Operation, Placement, check::once};
use std::sync::Arc;

type Tested = Cryptodev<Arc<Module>>;

/// Nothing, one byte, around a block, a page and the longest.
const LENGTHS: [u32; 8] = [0, 1, 15, 16, 17, 1000, 4096, LONGEST];

fn opened(module: &Arc<Module>, variant: &str) -> Tested {
    open(module.clone(), variant, Path::new("/nowhere"))
        .unwrap_or_else(|missing| panic!("{}", missing.detail))
}

fn software() -> Box<dyn Provider + Send + Sync> {
    (crate::mbedtls::C.open)("").unwrap_or_else(|missing| panic!("{}", missing.detail))
}

fn made(part: Part, index: usize, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    material::fill(part, index, &mut bytes);
    bytes
}

/// Memory of a job, at a place of the test's choice within its page.
struct Memory {
    bytes: Vec<u8>,
    start: usize,
}

impl Memory {
    fn new(content: &[u8], place: usize) -> Memory {
        let mut bytes = vec![0; content.len() + 2 * 4096];
        let start = bytes.as_ptr().align_offset(4096) + place;
        bytes[start..][..content.len()].copy_from_slice(content);
        Memory { bytes, start }
    }

    fn slice(&mut self, length: usize) -> &mut [u8] {
        &mut self.bytes[self.start..][..length]
    }
}

/// What a workload's operation comes to, with buffers at `place` within their pages.
fn run_at(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    input: &[u8],
    tag: &[u8],
    place: usize,
) -> Result<(Vec<u8>, Vec<u8>), Error> {
    let shape = workload.algorithm.shape();
    let length = workload.algorithm.output_length(input.len());
    let (key, iv) = (made(Part::Key, 0, shape.key), made(Part::Iv, 0, shape.iv));
    let associated = made(Part::Associated, 0, workload.associated as usize);
    let mut source = Memory::new(input, place);
    let mut output = Memory::new(&vec![0xa5; length], place);
    let mut tag = tag.to_vec();
    tag.resize(shape.tag, 0);
    let in_place = workload.placement == Placement::InPlace;
    let data = if in_place {
        Data::InPlace(source.slice(length))
    } else {
        Data::Apart { input: source.slice(input.len()), output: output.slice(length) }
    };
    let mut jobs = [Job { key: 0, iv: &iv, associated: &associated, data, tag: &mut tag }];
    provider.session(workload, &[&key], &mut jobs, &mut |session| once(session, 0))?;
    let written = if in_place { source.slice(length) } else { output.slice(length) };
    Ok((written.to_vec(), tag))
}

fn run(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    input: &[u8],
    tag: &[u8],
) -> Result<(Vec<u8>, Vec<u8>), Error> {
    run_at(provider, workload, input, tag, 0)
}

/// Every workload that `provider` supports, at some lengths.
fn supported(provider: &dyn Provider) -> Vec<CryptoWorkload> {
    let mut all = Vec::new();
    for &algorithm in Algorithm::ALL {
        for &operation in algorithm.operations() {
            for &phase in Phase::ALL {
                for &placement in Placement::ALL {
                    for message in LENGTHS {
                        let plain = CryptoWorkload::new(algorithm, operation, message);
                        let tagged = algorithm.shape().tag > 0 && phase != Phase::Setup;
                        let associated = if tagged { 13 } else { 0 };
                        all.push(CryptoWorkload { phase, placement, associated, ..plain });
                    }
                }
            }
        }
    }
    all.retain(|workload| provider.supports(workload).is_ok());
    all
}

/// Nothing was left open, and nothing was done that the module would not have reported.
fn nothing_left(module: &Module) {
    let state = module.state();
    assert_eq!(state.left(), (0, 0), "(files, sessions) are left");
    assert!(state.misuse.is_empty(), "{:?}", state.misuse);
}

#[test]
fn its_answers_are_those_of_software_in_every_way_it_supports() {
    let (module, software) = (Module::loaded(), software());
    let provider = opened(&module, "");
    let mut compared = 0;
    for workload in supported(&provider) {
        if workload.phase == Phase::Setup {
            continue;
        }
        let plain =
            CryptoWorkload { phase: Phase::Message, placement: Placement::Apart, ..workload };
        let encrypt = CryptoWorkload { operation: Operation::Encrypt, ..plain };
        let message = made(Part::Message, 0, workload.message as usize);
        let (input, tag) = match workload.operation {
            Operation::Decrypt => run(software.as_ref(), &encrypt, &message, &[]).expect("sealed"),
            _ => (message, Vec::new()),
        };
        let right = run(software.as_ref(), &plain, &input, &tag);
        assert!(right.is_ok(), "{workload}");
        let answer = run(&provider, &workload, &input, &tag);
        assert!(answer == right, "{workload}: {:?}", answer.err());
        compared += 1;
    }
    assert!(compared > 250, "only {compared} answers were compared");
    nothing_left(&module);
}

#[test]
fn a_forged_tag_is_refused_and_its_message_not_given_out() {
    let module = Module::loaded();
    let provider = opened(&module, "gcm(aes)");
    let encrypt = CryptoWorkload::new(Algorithm::Aes128Gcm, Operation::Encrypt, 100);
    let message = made(Part::Message, 0, 100);
    let (sealed, mut tag) = run(&provider, &encrypt, &message, &[]).expect("sealed");
    tag[15] ^= 1;
    let decrypt = CryptoWorkload { operation: Operation::Decrypt, ..encrypt };
    let (iv, key) = (made(Part::Iv, 0, 12), made(Part::Key, 0, 16));
    let mut output = [0xa5; 100];
    let data = Data::Apart { input: &sealed, output: &mut output };
    let mut jobs = [Job { key: 0, iv: &iv, associated: &[], data, tag: &mut tag }];
    let ran = provider.session(&decrypt, &[&key], &mut jobs, &mut |session| once(session, 0));
    assert_eq!(ran, Err(Error::Refused));
    assert_eq!(output, [0xa5; 100]);
    nothing_left(&module);
}

#[test]
fn the_module_gets_the_jobs_own_buffers() {
    let module = Module::loaded();
    let provider = opened(&module, "");
    for (algorithm, operation) in [
        (Algorithm::Aes128Cbc, Operation::Encrypt),
        (Algorithm::Aes128Cbc, Operation::Decrypt),
        (Algorithm::Aes256Ctr, Operation::Encrypt),
        (Algorithm::Sha256, Operation::Hash),
        (Algorithm::HmacSha256, Operation::Mac),
    ] {
        let workload = CryptoWorkload::new(algorithm, operation, 64);
        let shape = algorithm.shape();
        let (key, iv) = (made(Part::Key, 0, shape.key), made(Part::Iv, 0, shape.iv));
        let (input, mut output) = ([7; 64], vec![0; algorithm.output_length(64)]);
        let pointers = (input.as_ptr(), output.as_ptr());
        let data = Data::Apart { input: &input, output: &mut output };
        let mut jobs = [Job { key: 0, iv: &iv, associated: &[], data, tag: &mut [] }];
        module.state().messages.clear();
        let ran = provider.session(&workload, &[&key], &mut jobs, &mut |session| once(session, 0));
        assert_eq!(ran, Ok(()), "{workload}");
        let asked = module.state().messages[0];
        assert_eq!((asked.source, asked.output), pointers, "{workload}");
    }
}

#[test]
fn an_aead_reads_the_jobs_own_message_and_writes_where_a_tag_has_room() {
    let module = Module::loaded();
    let provider = opened(&module, "gcm(aes)");
    let workload = CryptoWorkload::new(Algorithm::Aes128Gcm, Operation::Encrypt, 64);
    let (key, iv) = (made(Part::Key, 0, 16), made(Part::Iv, 0, 12));
    let (input, mut output, mut tag) = ([7; 64], [0; 64], [0; 16]);
    let (source, place) = (input.as_ptr(), output.as_ptr());
    let data = Data::Apart { input: &input, output: &mut output };
    let mut jobs = [Job { key: 0, iv: &iv, associated: &[], data, tag: &mut tag }];
    let ran = provider.session(&workload, &[&key], &mut jobs, &mut |session| once(session, 0));
    assert_eq!(ran, Ok(()));
    let asked = module.state().messages[0];
    assert_eq!(asked.source, source);
    assert_ne!(asked.output, place);
    assert_eq!(asked.output.addr() % 4096, place.addr() % 4096, "another place within the page");
}

#[test]
fn a_request_names_the_jobs_pointers_and_lengths_and_no_others() {
    let (mut input, mut output, mut tag) = ([1; 32], [2; 32], [3; 16]);
    let (iv, associated) = ([4; 16], [5; 8]);
    let job = RawJob {
        key: 0,
        iv: iv.as_ptr(),
        associated: associated.as_ptr(),
        input: input.as_mut_ptr(),
        output: output.as_mut_ptr(),
        tag: tag.as_mut_ptr(),
    };
    let lengths = |direction| Lengths { direction, message: 32, associated: 8, iv: 16, tag: 16 };
    let cipher = messages::cipher(77, &job, &lengths(abi::DECRYPT));
    assert_eq!((cipher.ses, cipher.op, cipher.flags, cipher.len), (77, 1, 0, 32));
    assert_eq!((cipher.src, cipher.dst.cast_const()), (job.input, job.output.cast_const()));
    assert_eq!((cipher.iv, cipher.mac.is_null()), (job.iv, true));

    let digest = messages::digest(77, &job, &lengths(abi::ENCRYPT));
    assert_eq!((digest.ses, digest.op, digest.flags, digest.len), (77, 0, 0, 32));
    assert_eq!((digest.src, digest.mac.cast_const()), (job.input, job.output.cast_const()));
    assert_eq!((digest.dst.is_null(), digest.iv.is_null()), (true, true));

    let place = sealed::Place { source: job.input, destination: job.output };
    for (direction, length) in [(abi::ENCRYPT, 32), (abi::DECRYPT, 48)] {
        let aead = messages::aead(77, &job, &place, &lengths(direction));
        assert_eq!((aead.ses, aead.op, aead.flags, aead.len), (77, direction, 0, length));
        assert_eq!((aead.src, aead.dst.cast_const()), (job.input, job.output.cast_const()));
        assert_eq!((aead.auth_src, aead.auth_len), (job.associated, 8));
        assert_eq!((aead.iv, aead.iv_len, aead.tag_len), (job.iv, 16, 16));
        assert!(aead.tag.is_null());
    }
    let key = [6; 24];
    let aes = session::request(&TRANSFORMS[0], &key);
    assert_eq!((aes.cipher, aes.keylen, aes.key), (abi::AES_CBC, 24, key.as_ptr()));
    assert_eq!((aes.mac, aes.mackeylen, aes.mackey.is_null()), (0, 0, true));
    let hmac = session::request(&TRANSFORMS[6], &key);
    assert_eq!((hmac.mac, hmac.mackeylen, hmac.mackey), (abi::HMAC_SHA256, 24, key.as_ptr()));
    assert_eq!((hmac.cipher, hmac.keylen, hmac.key.is_null()), (0, 0, true));
}

#[test]
fn buffers_out_of_line_are_copied_by_the_module_and_answers_stay_right() {
    let (module, software) = (Module::loaded(), software());
    module.state().alignmask = 15;
    let provider = opened(&module, "");
    assert!(provider.identity().options.contains("aligned to 16 B"), "{}", provider.options);
    for (algorithm, operation) in
        [(Algorithm::Sha256, Operation::Hash), (Algorithm::Aes128Cbc, Operation::Encrypt)]
    {
        let workload = CryptoWorkload::new(algorithm, operation, 4096);
        let message = made(Part::Message, 0, 4096);
        let right = run(software.as_ref(), &workload, &message, &[]);
        for (place, copied) in [(0, false), (2048, false), (8, true), (1, true)] {
            module.state().messages.clear();
            assert!(run_at(&provider, &workload, &message, &[], place) == right, "{workload}");
            assert_eq!(module.state().messages[0].copied, copied, "{workload} at {place}");
        }
        // The module's answer says that it copied; the next request must not say it back.
        let shape = algorithm.shape();
        let (key, iv) = (made(Part::Key, 0, shape.key), made(Part::Iv, 0, shape.iv));
        let mut source = Memory::new(&message, 1);
        let mut output = vec![0; algorithm.output_length(4096)];
        let data = Data::Apart { input: source.slice(4096), output: &mut output };
        let mut jobs = [Job { key: 0, iv: &iv, associated: &[], data, tag: &mut [] }];
        let ran = provider.session(&workload, &[&key], &mut jobs, &mut |session| {
            once(session, 0)?;
            once(session, 0)
        });
        assert_eq!(ran, Ok(()));
        assert!(Ok((output, Vec::new())) == right, "{workload}, the second time");
    }
    nothing_left(&module);
}

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

#[test]
fn each_message_has_its_own_key_where_the_workload_says_so() {
    let (module, software) = (Module::loaded(), software());
    let provider = opened(&module, "");
    for algorithm in [Algorithm::Aes256Cbc, Algorithm::HmacSha256, Algorithm::Aes128Gcm] {
        let operation = algorithm.operations()[0];
        let workload = CryptoWorkload {
            phase: Phase::MessageWithKey,
            keys: KeyUse::PerMessage,
            data: DataSet::Unique { chunks: 3 },
            ..CryptoWorkload::new(algorithm, operation, 64)
        };
        let answers = |provider: &dyn Provider| {
            let shape = algorithm.shape();
            let keys: Vec<_> = (0..3).map(|index| made(Part::Key, index, shape.key)).collect();
            let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
            let (iv, input) = (made(Part::Iv, 0, shape.iv), made(Part::Message, 0, 64));
            let mut outputs = vec![vec![0; algorithm.output_length(64)]; 3];
            let mut tags = vec![vec![0; shape.tag]; 3];
            let jobs = outputs.iter_mut().zip(&mut tags).enumerate();
            let job = |(key, (output, tag)): (usize, (&'_ mut Vec<u8>, &'_ mut Vec<u8>))| {
                (key, output.as_mut_slice() as *mut [u8], tag.as_mut_slice() as *mut [u8])
            };
            let places: Vec<_> = jobs.map(job).collect();
            let mut jobs: Vec<Job<'_>> = places
                .into_iter()
                .map(|(key, output, tag)| {
                    // SAFETY: three different vectors each, which nobody else uses meanwhile.
                    let (output, tag) = unsafe { (&mut *output, &mut *tag) };
                    let data = Data::Apart { input: &input, output };
                    Job { key, iv: &iv, associated: &[], data, tag }
                })
                .collect();
            let ran = provider.session(&workload, &keys, &mut jobs, &mut |session| {
                (0..3).try_for_each(|job| once(session, job))
            });
            assert_eq!(ran, Ok(()), "{workload}");
            drop(jobs);
            (outputs, tags)
        };
        let (outputs, tags) = answers(&provider);
        assert!(outputs[0] != outputs[1] && outputs[1] != outputs[2], "{workload}");
        assert!((outputs, tags) == answers(software.as_ref()), "{workload}");
    }
    nothing_left(&module);
}

/// A session of `workload` in which three messages are run.
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
                        // A session that the module would not free goes with its file.
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

#[test]
fn what_the_interface_does_not_take_is_refused_by_its_reason() {
    let module = Module::loaded();
    let provider = opened(&module, "");
    let cbc = CryptoWorkload::new(Algorithm::Aes128Cbc, Operation::Encrypt, 16);
    let gcm = CryptoWorkload::new(Algorithm::Aes128Gcm, Operation::Encrypt, 16);
    let refused = |workload: CryptoWorkload| provider.supports(&workload).err();
    assert_eq!(refused(cbc), None);
    assert_eq!(refused(CryptoWorkload { message: LONGEST, ..cbc }), None);
    let longer = CryptoWorkload { message: LONGEST + 16, ..cbc };
    assert_eq!(refused(longer), Some(Unsupported::Length));
    assert_eq!(refused(CryptoWorkload { associated: 4096, ..gcm }), None);
    let more = CryptoWorkload { associated: 4097, ..gcm };
    assert_eq!(refused(more), Some(Unsupported::Length));
    let update = CryptoWorkload { phase: Phase::Update, ..cbc };
    assert_eq!(refused(update), Some(Unsupported::Phase));
    let chacha = CryptoWorkload::new(Algorithm::Chacha20Poly1305, Operation::Encrypt, 16);
    assert_eq!(refused(chacha), Some(Unsupported::Algorithm));

    let hmac = CryptoWorkload::new(Algorithm::HmacSha256, Operation::Mac, 1);
    for (length, right) in [(0, false), (1, true), (32, true), (512, true), (513, false)] {
        let (key, input, mut output) = (vec![1; length], [1], [0; 32]);
        let data = Data::Apart { input: &input, output: &mut output };
        let mut jobs = [Job { key: 0, iv: &[], associated: &[], data, tag: &mut [] }];
        let ran = provider.session(&hmac, &[&key], &mut jobs, &mut |session| once(session, 0));
        let expected = if right { Ok(()) } else { Err(Unsupported::Length.into()) };
        assert_eq!(ran, expected, "an HMAC key of {length} bytes");
    }
    nothing_left(&module);
}

#[test]
fn it_says_which_driver_the_kernel_took() {
    let module = Module::loaded();
    let mut state = module.state();
    (state.alignmask, state.flags) = (63, abi::KERNEL_DRIVER_ONLY);
    drop(state);
    let provider = opened(&module, "cbc(aes)");
    let identity = provider.identity();
    assert_eq!((identity.provider, identity.executor), ("cryptodev:cbc(aes)", "cbc-aes-stand-in"));
    assert_eq!(
        identity.options,
        "cbc-aes-stand-in: buffers aligned to 64 B are mapped, others copied, kernel driver only"
    );
    let gcm = CryptoWorkload::new(Algorithm::Aes128Gcm, Operation::Encrypt, 16);
    assert_eq!(provider.supports(&gcm), Err(Unsupported::Algorithm));

    let all = opened(&module, "");
    let identity = all.identity();
    assert_eq!(identity.provider, "cryptodev");
    assert!(identity.executor.starts_with("cbc(aes) by cbc-aes-stand-in, ctr(aes) by "));
    nothing_left(&module);
}

#[test]
fn the_floor_is_a_null_cipher_for_ciphers_only() {
    let module = Module::loaded();
    let floor = opened(&module, FLOOR);
    assert_eq!(floor.identity().provider, "cryptodev:null");
    assert_eq!(floor.identity().executor, "ecb-cipher_null-stand-in");
    let cbc = CryptoWorkload::new(Algorithm::Aes128Cbc, Operation::Encrypt, 48);
    let message = made(Part::Message, 0, 48);
    assert_eq!(run(&floor, &cbc, &message, &[]), Ok((message, Vec::new())));
    let hash = CryptoWorkload::new(Algorithm::Sha256, Operation::Hash, 48);
    assert_eq!(floor.supports(&hash), Err(Unsupported::Algorithm));
    let gcm = CryptoWorkload::new(Algorithm::Aes128Gcm, Operation::Encrypt, 48);
    assert_eq!(floor.supports(&gcm), Err(Unsupported::Algorithm));
    nothing_left(&module);
}

/// Why a variant cannot be opened.
fn missing(module: &Arc<Module>, variant: &str) -> Unavailable {
    match open(module.clone(), variant, Path::new("/nowhere")) {
        Ok(_) => panic!("it opened"),
        Err(unavailable) => unavailable,
    }
}

#[test]
fn what_is_missing_is_named_with_what_would_bring_it() {
    let module = Module::loaded();
    let says = |unavailable: Unavailable, reason, words: &[&str]| {
        assert_eq!(unavailable.reason, reason, "{}", unavailable.detail);
        for word in words {
            assert!(unavailable.detail.contains(word), "{word}: {}", unavailable.detail);
        }
    };
    for errno in [libc::ENOENT, libc::ENXIO, libc::ENODEV] {
        module.state().node = Err(Errno(errno));
        let words = ["/dev/crypto", "modprobe cryptodev", "ships no package"];
        says(missing(&module, ""), Unsupported::Device, &words);
    }
    for errno in [libc::EACCES, libc::EPERM] {
        module.state().node = Err(Errno(errno));
        says(missing(&module, ""), Unsupported::Permission, &["/dev/crypto is there", "user"]);
    }
    module.state().node = Err(Errno(libc::EMFILE));
    says(missing(&module, ""), Unsupported::Device, &["cannot be opened", "open files"]);
    module.state().node = Ok(());

    let fail = |request, errno| {
        let mut state = module.state();
        state.calls.clear();
        state.fault = Some((request, 0, errno));
        drop(state);
        missing(&module, "cbc(aes)")
    };
    let other = fail(abi::GET_SESSION, libc::ENOTTY);
    says(other, Unsupported::Device, &["/dev/crypto is not the module cryptodev's"]);
    let forbidden = fail(abi::GET_SESSION, libc::EPERM);
    says(forbidden, Unsupported::Permission, &["makes no session of cbc(aes)"]);
    let memory = fail(abi::SESSION_INFO, libc::ENOMEM);
    says(memory, Unsupported::Device, &["makes no session of cbc(aes)", "memory"]);
    nothing_left(&module);

    let mut state = module.state();
    state.fault = None;
    state.lacks = vec!["gcm(aes)", "ecb(cipher_null)"];
    drop(state);
    let gcm = missing(&module, "gcm(aes)");
    says(gcm, Unsupported::Algorithm, &["the kernel has no gcm(aes)"]);
    let floor = missing(&module, FLOOR);
    says(floor, Unsupported::Algorithm, &["modprobe crypto_null", "CONFIG_CRYPTO_NULL"]);
    let unknown = missing(&module, "rot13");
    says(unknown, Unsupported::Algorithm, &["no rot13", "cbc(aes), ctr(aes)", "null"]);
    let all = opened(&module, "");
    let gcm = CryptoWorkload::new(Algorithm::Aes128Gcm, Operation::Encrypt, 16);
    assert_eq!(all.supports(&gcm), Err(Unsupported::Algorithm));
    nothing_left(&module);
}

#[test]
fn the_driver_that_the_module_names_leads_to_its_devices_interrupts() {
    let module = Module::loaded();
    let root = Root::new(&[
        ("proc/sys/kernel/osrelease", "6.1.0-test\n"),
        (
            "proc/crypto",
            "name         : cbc(aes)\ndriver       : virtio_crypto_aes_cbc\nmodule       : \
             virtio_crypto\npriority     : 500\nrefcnt       : 1\nselftest     : passed\n\
             internal     : no\ntype         : skcipher\n\n\
             name         : cbc(aes)\ndriver       : cbc-aes-stand-in\nmodule       : kernel\n\
             priority     : 400\nrefcnt       : 1\nselftest     : passed\ninternal     : no\n\
             type         : skcipher\n\n\
             name         : sha256\ndriver       : sha256-stand-in\nmodule       : kernel\n\
             priority     : 100\nrefcnt       : 1\nselftest     : passed\ninternal     : no\n\
             type         : shash\n",
        ),
        ("sys/devices/virtio2/name", ""),
        (
            "proc/interrupts",
            "            CPU0\n  24:       1111   PCI-MSI 16384-edge      virtio1-input.0\n  \
             25:       4321   PCI-MSI 32768-edge      virtio2-virtqueues\n",
        ),
    ]);
    root.link("sys/module/virtio_crypto/drivers/virtio:virtio_crypto", "sys/bus/virtio_crypto");
    root.link("sys/bus/virtio_crypto/virtio2", "sys/devices/virtio2");
    let open_at = |variant| match open(module.clone(), variant, &root.0) {
        Ok(provider) => provider,
        Err(missing) => panic!("{}", missing.detail),
    };
    // The engine is there, and this kernel took another driver all the same.
    let fallen_back = open_at("cbc(aes)");
    assert_eq!((fallen_back.claim(), fallen_back.interrupts()), (Claim::Fallback, None));
    assert_eq!(fallen_back.identity().version, "6.1.0-test");
    assert_eq!(open_at("sha256").claim(), Claim::Kernel);
    assert_eq!(open_at("sha512").claim(), Claim::Unknown);

    module.state().drivers.insert("cbc(aes)", "virtio_crypto_aes_cbc");
    let engine = open_at("cbc(aes)");
    assert_eq!(engine.identity().executor, "virtio_crypto_aes_cbc");
    assert_eq!((engine.claim(), engine.interrupts()), (Claim::Engine, Some(4321)));
    nothing_left(&module);
}

/// The kernel's files, in a folder that goes with it.
struct Root(std::path::PathBuf);

impl Root {
    fn new(files: &[(&str, &str)]) -> Root {
        let name = format!("cpb-cryptodev-{}", std::process::id());
        let root = Root(std::env::temp_dir().join(name));
        for (path, text) in files {
            let path = root.0.join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        root
    }

    /// Makes `path` a link to the folder `target`.
    fn link(&self, path: &str, target: &str) {
        let (path, target) = (self.0.join(path), self.0.join(target));
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::create_dir_all(&target).expect("a folder");
        std::os::unix::fs::symlink(target, path).expect("a link");
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn variants_are_what_this_kernel_has() {
    let module = Module::loaded();
    let all = ["cbc(aes)", "ctr(aes)", "gcm(aes)", "sha1", "sha256", "sha512", "hmac(sha256)"];
    assert_eq!(variants(&module), [&all[..], &[FLOOR]].concat());
    for variant in variants(&module) {
        assert_eq!(opened(&module, &variant).name, format!("cryptodev:{variant}"));
    }
    module.state().lacks = vec!["gcm(aes)", "sha1", "ecb(cipher_null)"];
    assert_eq!(variants(&module), ["cbc(aes)", "ctr(aes)", "sha256", "sha512", "hmac(sha256)"]);
    nothing_left(&module);
    module.state().node = Err(Errno(libc::ENOENT));
    assert!(variants(&module).is_empty());
}

/// Held against software, if it is here: the only test that the real module takes part in.
#[test]
fn the_real_module_answers_as_software_does() {
    let provider = match open(Node, "", Path::new("/")) {
        Ok(provider) => provider,
        Err(missing) => {
            let name = "cryptodev::tests::the_real_module_answers_as_software_does";
            println!("not run: module absent: {}", missing.detail);
            if let Some(log) = std::env::var_os("CPB_SKIP_LOG") {
                let file = std::fs::OpenOptions::new().create(true).append(true).open(log);
                let line = format!("{name}\tnot run: module absent: {}\n", missing.detail);
                std::io::Write::write_all(&mut file.expect("the skip log"), line.as_bytes())
                    .expect("the skip log");
            }
            return;
        }
    };
    let software = software();
    for workload in supported(&provider) {
        if workload.operation == Operation::Decrypt || workload.phase == Phase::Setup {
            continue;
        }
        let plain =
            CryptoWorkload { phase: Phase::Message, placement: Placement::Apart, ..workload };
        let message = made(Part::Message, 0, workload.message as usize);
        let right = run(software.as_ref(), &plain, &message, &[]);
        for place in [0, 2048, 1] {
            let answer = run_at(&provider, &workload, &message, &[], place);
            assert!(answer == right, "{workload} at {place}: {:?}", answer.err());
        }
        let Ok((sealed, tag)) = right else { panic!("{workload}: software fails") };
        let decrypt = CryptoWorkload { operation: Operation::Decrypt, ..workload };
        if workload.operation == Operation::Encrypt {
            let opened = run(&provider, &decrypt, &sealed, &tag).map(|(output, _)| output);
            assert!(opened == Ok(message), "{decrypt}: {:?}", opened.err());
        }
    }
}
