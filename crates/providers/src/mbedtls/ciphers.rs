// Sessions of one variant's ciphers, included behind context.rs, whose word on safety holds here, too.

fn aes_context() -> Context<library::AesContext> {
    Context::new(library::AesContext::uninit(), library::aes_init, library::aes_free)
}

/// Cipher block chaining: ciphers differ in the names of their functions, in how they are told a key, and in
/// the length of a block.
macro_rules! cbc {
    ($name:ident, $block:literal, $Context:ident, $init:ident, $free:ident, $set_key:expr, $crypt:ident) => {
        fn $name(
            workload: &CryptoWorkload,
            keys: &[&[u8]],
            jobs: &RawJobs<'_>,
            body: Body<'_>,
        ) -> Result<(), Error> {
            let (phase, length) = (workload.phase, jobs.message);
            let decrypts = workload.operation == Operation::Decrypt;
            let mode = if decrypts { ffi::DECRYPT } else { ffi::ENCRYPT };
            let mut cipher =
                Context::new(library::$Context::uninit(), library::$init, library::$free);
            // SAFETY: see the top of context.rs.
            succeeded(unsafe { $set_key(cipher.get(), decrypts, keys[0]) })?;
            // SAFETY: the IV of this algorithm is a block.
            let mut iv = unsafe { start::<$block>(jobs.job(0)?.iv) };
            let run = |job: &RawJob| {
                // SAFETY: see the top of context.rs.
                unsafe {
                    if matches!(phase, Phase::MessageWithKey | Phase::Setup) {
                        succeeded($set_key(cipher.get(), decrypts, keys[job.key]))?;
                    }
                    if phase == Phase::Setup {
                        return Ok(());
                    }
                    if phase != Phase::Update {
                        iv = start(job.iv);
                    }
                    let (iv, input, output) = (iv.as_mut_ptr(), job.input, job.output);
                    succeeded(library::$crypt(cipher.get(), mode, length, iv, input, output))
                }
            };
            body(&mut Submit { jobs, run })
        }
    };
}

cbc!(aes_cbc, 16, AesContext, aes_init, aes_free, aes_set_key, aes_crypt_cbc);
cbc!(
    camellia_cbc, 16, CamelliaContext, camellia_init, camellia_free, camellia_set_key,
    camellia_crypt_cbc
);
cbc!(des_cbc, 8, DesContext, des_init, des_free, des_set_key, des_crypt_cbc);
cbc!(
    triple_des_cbc, 8, Des3Context, des3_init, des3_free, triple_des_set_key, des3_crypt_cbc
);

/// # Safety
/// The context is initialised, the key of a length that AES has.
unsafe fn aes_set_key(aes: *mut library::AesContext, decrypts: bool, key: &[u8]) -> c_int {
    let set = if decrypts { library::aes_setkey_dec } else { library::aes_setkey_enc };
    // SAFETY: as promised by the caller.
    unsafe { set(aes, key.as_ptr(), bits(key)) }
}

/// # Safety
/// The context is initialised, the key of a length that Camellia has.
unsafe fn camellia_set_key(
    camellia: *mut library::CamelliaContext,
    decrypts: bool,
    key: &[u8],
) -> c_int {
    let set = if decrypts { library::camellia_setkey_dec } else { library::camellia_setkey_enc };
    // SAFETY: as promised by the caller.
    unsafe { set(camellia, key.as_ptr(), bits(key)) }
}

/// # Safety
/// The context is initialised, the key has 8 bytes.
unsafe fn des_set_key(des: *mut library::DesContext, decrypts: bool, key: &[u8]) -> c_int {
    let set = if decrypts { library::des_setkey_dec } else { library::des_setkey_enc };
    // SAFETY: as promised by the caller.
    unsafe { set(des, key.as_ptr()) }
}

/// # Safety
/// The context is initialised, the key has 24 bytes.
unsafe fn triple_des_set_key(des: *mut library::Des3Context, decrypts: bool, key: &[u8]) -> c_int {
    let set = if decrypts { library::des3_set3key_dec } else { library::des3_set3key_enc };
    // SAFETY: as promised by the caller.
    unsafe { set(des, key.as_ptr()) }
}

/// Block by block, each by a call of its own: the library has no other way.
fn aes_ecb(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let (phase, length) = (workload.phase, jobs.message);
    let decrypts = workload.operation == Operation::Decrypt;
    let mode = if decrypts { ffi::DECRYPT } else { ffi::ENCRYPT };
    let mut aes = aes_context();
    // SAFETY: see the top of context.rs.
    succeeded(unsafe { aes_set_key(aes.get(), decrypts, keys[0]) })?;
    let run = |job: &RawJob| {
        // SAFETY: see the top of context.rs; the message is whole blocks, and `Setup` has none.
        unsafe {
            if matches!(phase, Phase::MessageWithKey | Phase::Setup) {
                succeeded(aes_set_key(aes.get(), decrypts, keys[job.key]))?;
            }
            let mut at = 0;
            while at < length {
                let (input, output) = (job.input.add(at), job.output.add(at));
                succeeded(library::aes_crypt_ecb(aes.get(), mode, input, output))?;
                at += 16;
            }
            Ok(())
        }
    };
    body(&mut Submit { jobs, run })
}

fn aes_xts(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let (phase, length) = (workload.phase, jobs.message);
    let (mode, set_key): (c_int, unsafe extern "C" fn(_, _, _) -> c_int) =
        match workload.operation {
            Operation::Decrypt => (ffi::DECRYPT, library::aes_xts_setkey_dec),
            _ => (ffi::ENCRYPT, library::aes_xts_setkey_enc),
        };
    let uninit = library::AesXtsContext::uninit();
    let mut xts = Context::new(uninit, library::aes_xts_init, library::aes_xts_free);
    // SAFETY: see the top of context.rs.
    succeeded(unsafe { set_key(xts.get(), keys[0].as_ptr(), bits(keys[0])) })?;
    let run = |job: &RawJob| {
        // SAFETY: see the top of context.rs; the tweak of this algorithm is a block.
        unsafe {
            if matches!(phase, Phase::MessageWithKey | Phase::Setup) {
                let key = keys[job.key];
                succeeded(set_key(xts.get(), key.as_ptr(), bits(key)))?;
            }
            if phase == Phase::Setup {
                return Ok(());
            }
            let (tweak, input, output) = (job.iv, job.input, job.output);
            succeeded(library::aes_crypt_xts(xts.get(), mode, length, tweak, input, output))
        }
    };
    body(&mut Submit { jobs, run })
}

fn chacha20(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let (phase, length) = (workload.phase, jobs.message);
    let uninit = library::Chacha20Context::uninit();
    let mut chacha = Context::new(uninit, library::chacha20_init, library::chacha20_free);
    // SAFETY: see the top of context.rs.
    succeeded(unsafe { library::chacha20_setkey(chacha.get(), keys[0].as_ptr()) })?;
    let begin = |chacha: *mut library::Chacha20Context, job: &RawJob| {
        // SAFETY: see the top of context.rs; this algorithm's IV is a counter of 4 bytes and a nonce of 12.
        succeeded(unsafe {
            let counter = u32::from_le_bytes(start(job.iv));
            library::chacha20_starts(chacha, job.iv.add(4), counter)
        })
    };
    begin(chacha.get(), jobs.job(0)?)?;
    let run = |job: &RawJob| {
        if matches!(phase, Phase::MessageWithKey | Phase::Setup) {
            // SAFETY: see the top of context.rs.
            succeeded(unsafe { library::chacha20_setkey(chacha.get(), keys[job.key].as_ptr()) })?;
        }
        if phase == Phase::Setup {
            return Ok(());
        }
        if phase != Phase::Update {
            begin(chacha.get(), job)?;
        }
        // SAFETY: see the top of context.rs.
        succeeded(unsafe { library::chacha20_update(chacha.get(), length, job.input, job.output) })
    };
    body(&mut Submit { jobs, run })
}

fn aes_ctr(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let (phase, length) = (workload.phase, jobs.message);
    let mut aes = aes_context();
    // SAFETY: see the top of context.rs.
    succeeded(unsafe { library::aes_setkey_enc(aes.get(), keys[0].as_ptr(), bits(keys[0])) })?;
    // SAFETY: the initial counter of this algorithm is a block.
    let mut counter = unsafe { start::<16>(jobs.job(0)?.iv) };
    let (mut offset, mut stream) = (0, [0; 16]);
    let run = |job: &RawJob| {
        // SAFETY: see the top of context.rs.
        unsafe {
            if matches!(phase, Phase::MessageWithKey | Phase::Setup) {
                let key = keys[job.key];
                succeeded(library::aes_setkey_enc(aes.get(), key.as_ptr(), bits(key)))?;
            }
            if phase == Phase::Setup {
                return Ok(());
            }
            if phase != Phase::Update {
                counter = start(job.iv);
                offset = 0;
            }
            let (counter, stream) = (counter.as_mut_ptr(), stream.as_mut_ptr());
            let (input, output) = (job.input, job.output);
            succeeded(library::aes_crypt_ctr(
                aes.get(), length, &mut offset, counter, stream, input, output,
            ))
        }
    };
    body(&mut Submit { jobs, run })
}
