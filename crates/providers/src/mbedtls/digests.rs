// Sessions of one variant's hash functions and MACs, included behind context.rs, whose word on safety holds
// here, too.

/// A hash function: they differ in the names of their functions and in how they begin and end.
macro_rules! hash {
    ($name:ident, $Context:ident, $init:ident, $free:ident, $starts:expr, $update:ident, $finish:expr) => {
        fn $name(
            workload: &CryptoWorkload,
            jobs: &RawJobs<'_>,
            body: Body<'_>,
        ) -> Result<(), Error> {
            let (phase, length) = (workload.phase, jobs.message);
            let mut hash =
                Context::new(library::$Context::uninit(), library::$init, library::$free);
            // SAFETY: see the top of context.rs.
            succeeded(unsafe { $starts(hash.get()) })?;
            let run = |job: &RawJob| {
                let context = hash.get();
                // SAFETY: see the top of context.rs.
                unsafe {
                    if phase == Phase::Update {
                        return succeeded(library::$update(context, job.input, length));
                    }
                    succeeded($starts(context))?;
                    succeeded(library::$update(context, job.input, length))?;
                    succeeded($finish(context, job.output))
                }
            };
            body(&mut Submit { jobs, run })
        }
    };
}

hash!(
    md5, Md5Context, md5_init, md5_free, library::md5_starts, md5_update, library::md5_finish
);
hash!(
    sha1, Sha1Context, sha1_init, sha1_free, library::sha1_starts, sha1_update, library::sha1_finish
);
hash!(
    sha224, Sha256Context, sha256_init, sha256_free, |context| library::sha256_starts(context, 1),
    sha256_update, library::sha256_finish
);
hash!(
    sha256, Sha256Context, sha256_init, sha256_free, |context| library::sha256_starts(context, 0),
    sha256_update, library::sha256_finish
);
hash!(
    sha384, Sha512Context, sha512_init, sha512_free, |context| library::sha512_starts(context, 1),
    sha512_update, library::sha512_finish
);
hash!(
    sha512, Sha512Context, sha512_init, sha512_free, |context| library::sha512_starts(context, 0),
    sha512_update, library::sha512_finish
);

fn hmac(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    digest: c_int,
    body: Body<'_>,
) -> Result<(), Error> {
    let (phase, length) = (workload.phase, jobs.message);
    let mut md = Context::new(library::MdContext::uninit(), library::md_init, library::md_free);
    // SAFETY: see the top of context.rs; the info is static in the library.
    unsafe {
        let info = library::md_info_from_type(digest);
        if info.is_null() {
            return Err(Unsupported::BuildOption.into());
        }
        succeeded(library::md_setup(md.get(), info, 1))?;
        succeeded(library::md_hmac_starts(md.get(), keys[0].as_ptr(), keys[0].len()))?;
    }
    let run = |job: &RawJob| {
        let context = md.get();
        // SAFETY: see the top of context.rs.
        unsafe {
            match phase {
                Phase::Message => succeeded(library::md_hmac_reset(context))?,
                Phase::MessageWithKey | Phase::Setup => {
                    let key = keys[job.key];
                    succeeded(library::md_hmac_starts(context, key.as_ptr(), key.len()))?;
                }
                Phase::Update => {}
            }
            if phase == Phase::Setup {
                return Ok(());
            }
            succeeded(library::md_hmac_update(context, job.input, length))?;
            if phase == Phase::Update {
                return Ok(());
            }
            succeeded(library::md_hmac_finish(context, job.output))
        }
    };
    body(&mut Submit { jobs, run })
}

/// CMAC through the library's cipher layer, which has no other. A context that is given a second key loses
/// the memory of the first, so that each key has a context made anew in its place.
fn cmac(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    cipher: c_int,
    body: Body<'_>,
) -> Result<(), Error> {
    let (phase, length) = (workload.phase, jobs.message);
    // SAFETY: takes no pointer; the info is static in the library.
    let info = unsafe { library::cipher_info_from_type(cipher) };
    if info.is_null() {
        return Err(Unsupported::BuildOption.into());
    }
    let uninit = library::CipherContext::uninit();
    let mut cmac = Context::new(uninit, library::cipher_init, library::cipher_free);
    let set_key = |context: *mut library::CipherContext, key: &[u8]| {
        // SAFETY: see the top of context.rs; what was freed may be initialised again.
        unsafe {
            library::cipher_free(context);
            library::cipher_init(context);
            succeeded(library::cipher_setup(context, info))?;
            succeeded(library::cipher_cmac_starts(context, key.as_ptr(), key.len() * 8))
        }
    };
    set_key(cmac.get(), keys[0])?;
    let run = |job: &RawJob| {
        let context = cmac.get();
        // SAFETY: see the top of context.rs.
        unsafe {
            match phase {
                Phase::Message => succeeded(library::cipher_cmac_reset(context))?,
                Phase::MessageWithKey | Phase::Setup => set_key(context, keys[job.key])?,
                Phase::Update => {}
            }
            if phase == Phase::Setup {
                return Ok(());
            }
            succeeded(library::cipher_cmac_update(context, job.input, length))?;
            if phase == Phase::Update {
                return Ok(());
            }
            succeeded(library::cipher_cmac_finish(context, job.output))
        }
    };
    body(&mut Submit { jobs, run })
}

/// A key is good for one message: it is set for each.
fn poly1305(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let (phase, length) = (workload.phase, jobs.message);
    let uninit = library::Poly1305Context::uninit();
    let mut mac = Context::new(uninit, library::poly1305_init, library::poly1305_free);
    // SAFETY: see the top of context.rs.
    succeeded(unsafe { library::poly1305_starts(mac.get(), keys[0].as_ptr()) })?;
    let run = |job: &RawJob| {
        let context = mac.get();
        // SAFETY: see the top of context.rs.
        unsafe {
            if phase != Phase::Update {
                succeeded(library::poly1305_starts(context, keys[job.key].as_ptr()))?;
            }
            if phase == Phase::Setup {
                return Ok(());
            }
            succeeded(library::poly1305_update(context, job.input, length))?;
            if phase == Phase::Update {
                return Ok(());
            }
            succeeded(library::poly1305_finish(context, job.output))
        }
    };
    body(&mut Submit { jobs, run })
}
