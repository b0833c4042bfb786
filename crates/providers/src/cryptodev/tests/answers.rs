//! Correct answers, compared with software.

use super::*;

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
        // The module's answer says that it copied. The next request must not repeat that flag.
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
                    // SAFETY: three different vectors each, which nothing else uses meanwhile.
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

/// Compared with software, if the module is here. This is the only test that uses the real module.
#[test]
fn the_real_module_answers_as_software_does() {
    let provider = match open(Node, "", Path::new("/")) {
        Ok(provider) => provider,
        Err(missing) => {
            let name = "cryptodev::tests::answers::the_real_module_answers_as_software_does";
            cpb_test_support::skip(name, &format!("not run: module absent: {}", missing.detail));
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
