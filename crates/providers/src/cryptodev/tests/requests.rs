//! Which pointers and lengths the module gets, and which requests it does not get.

use super::*;

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
    let lengths =
        |direction| SessionLengths { direction, message: 32, associated: 8, iv: 16, tag: 16 };
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
    let hmac = session::request(transform(Algorithm::HmacSha256).expect("one"), &key);
    assert_eq!((hmac.mac, hmac.mackeylen, hmac.mackey), (abi::HMAC_SHA256, 24, key.as_ptr()));
    assert_eq!((hmac.cipher, hmac.keylen, hmac.key.is_null()), (0, 0, true));
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
