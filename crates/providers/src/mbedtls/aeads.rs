// Sessions of one variant's authenticated ciphers, included behind context.rs, whose word on safety holds
// here, too.

fn aes_gcm(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let (phase, length, associated) = (workload.phase, jobs.message, jobs.associated);
    let shape = workload.algorithm.shape();
    let decrypts = workload.operation == Operation::Decrypt;
    let mode = if decrypts { ffi::DECRYPT } else { ffi::ENCRYPT };
    let mut gcm = Context::new(library::GcmContext::uninit(), library::gcm_init, library::gcm_free);
    let set_key = |gcm: &mut Context<library::GcmContext>, key: &[u8]| {
        // SAFETY: see the top of context.rs.
        succeeded(unsafe {
            library::gcm_setkey(gcm.get(), ffi::CIPHER_ID_AES, key.as_ptr(), bits(key))
        })
    };
    set_key(&mut gcm, keys[0])?;
    if phase == Phase::Update {
        let job = jobs.job(0)?;
        // SAFETY: see the top of context.rs.
        unsafe {
            let (iv, aad) = (job.iv, job.associated);
            succeeded(library::gcm_begin(gcm.get(), mode, iv, shape.iv, aad, associated))?;
        }
    }
    let run = |job: &RawJob| {
        if matches!(phase, Phase::MessageWithKey | Phase::Setup) {
            set_key(&mut gcm, keys[job.key])?;
        }
        let (input, output) = (job.input, job.output);
        // SAFETY: see the top of context.rs.
        succeeded(unsafe {
            match phase {
                Phase::Setup => 0,
                Phase::Update => {
                    let mut written = 0;
                    library::gcm_update(gcm.get(), input, length, output, length, &mut written)
                }
                _ if decrypts => library::gcm_auth_decrypt(
                    gcm.get(), length, job.iv, shape.iv, job.associated, associated, job.tag,
                    shape.tag, input, output,
                ),
                _ => library::gcm_crypt_and_tag(
                    gcm.get(), mode, length, job.iv, shape.iv, job.associated, associated, input,
                    output, shape.tag, job.tag,
                ),
            }
        })
    };
    body(&mut Submit { jobs, run })
}

/// A message has its length in its first block, so that there is no `Update`.
fn aes_ccm(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let (phase, length, associated) = (workload.phase, jobs.message, jobs.associated);
    let shape = workload.algorithm.shape();
    let decrypts = workload.operation == Operation::Decrypt;
    let mut ccm = Context::new(library::CcmContext::uninit(), library::ccm_init, library::ccm_free);
    let set_key = |ccm: &mut Context<library::CcmContext>, key: &[u8]| {
        // SAFETY: see the top of context.rs.
        succeeded(unsafe {
            library::ccm_setkey(ccm.get(), ffi::CIPHER_ID_AES, key.as_ptr(), bits(key))
        })
    };
    set_key(&mut ccm, keys[0])?;
    let run = |job: &RawJob| {
        if matches!(phase, Phase::MessageWithKey | Phase::Setup) {
            set_key(&mut ccm, keys[job.key])?;
        }
        if phase == Phase::Setup {
            return Ok(());
        }
        let (input, output) = (job.input, job.output);
        // SAFETY: see the top of context.rs.
        succeeded(unsafe {
            if decrypts {
                library::ccm_auth_decrypt(
                    ccm.get(), length, job.iv, shape.iv, job.associated, associated, input, output,
                    job.tag, shape.tag,
                )
            } else {
                library::ccm_encrypt_and_tag(
                    ccm.get(), length, job.iv, shape.iv, job.associated, associated, input, output,
                    job.tag, shape.tag,
                )
            }
        })
    };
    body(&mut Submit { jobs, run })
}

fn chachapoly(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let (phase, length, associated) = (workload.phase, jobs.message, jobs.associated);
    let decrypts = workload.operation == Operation::Decrypt;
    let mode = if decrypts { ffi::CHACHAPOLY_DECRYPT } else { ffi::CHACHAPOLY_ENCRYPT };
    let mut chachapoly = Context::new(
        library::ChachapolyContext::uninit(),
        library::chachapoly_init,
        library::chachapoly_free,
    );
    // SAFETY: see the top of context.rs.
    succeeded(unsafe { library::chachapoly_setkey(chachapoly.get(), keys[0].as_ptr()) })?;
    if phase == Phase::Update {
        let job = jobs.job(0)?;
        // SAFETY: see the top of context.rs.
        unsafe {
            let context = chachapoly.get();
            succeeded(library::chachapoly_starts(context, job.iv, mode))?;
            succeeded(library::chachapoly_update_aad(context, job.associated, associated))?;
        }
    }
    let run = |job: &RawJob| {
        let context = chachapoly.get();
        let (input, output) = (job.input, job.output);
        // SAFETY: see the top of context.rs.
        unsafe {
            if matches!(phase, Phase::MessageWithKey | Phase::Setup) {
                succeeded(library::chachapoly_setkey(context, keys[job.key].as_ptr()))?;
            }
            succeeded(match phase {
                Phase::Setup => 0,
                Phase::Update => library::chachapoly_update(context, length, input, output),
                _ if decrypts => library::chachapoly_auth_decrypt(
                    context, length, job.iv, job.associated, associated, job.tag, input, output,
                ),
                _ => library::chachapoly_encrypt_and_tag(
                    context, length, job.iv, job.associated, associated, input, output, job.tag,
                ),
            })
        }
    };
    body(&mut Submit { jobs, run })
}
