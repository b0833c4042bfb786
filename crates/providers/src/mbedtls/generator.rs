// Sessions of one variant's random bit generators, included behind context.rs, whose word on safety
// holds here, too. A context is seeded once in its life: whoever seeds anew makes a new one, in place.

use crate::lengths::{REQUEST, SEED};

/// What a generator does in a session, whichever it is.
struct Generator<T, S> {
    context: Context<T>,
    init: unsafe extern "C" fn(*mut T),
    seed: S,
    random: unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> c_int,
}

impl<T, S: FnMut(*mut T, &[u8]) -> c_int> Generator<T, S> {
    fn seed(&mut self, key: &[u8]) -> Result<(), Error> {
        let context = self.context.get();
        // SAFETY: see the top of context.rs; what was freed may be initialised again.
        unsafe {
            (self.context.free)(context);
            (self.init)(context);
        }
        succeeded((self.seed)(context, key))
    }

    #[inline]
    fn generate(&mut self, output: *mut u8, length: usize) -> Result<(), Error> {
        let mut done = 0;
        while done < length {
            let piece = REQUEST.min(length - done);
            // SAFETY: see the top of context.rs.
            succeeded(unsafe {
                (self.random)(self.context.get().cast(), output.add(done), piece)
            })?;
            done += piece;
        }
        Ok(())
    }

    fn run(
        mut self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &RawJobs<'_>,
        body: Body<'_>,
    ) -> Result<(), Error> {
        let (phase, length) = (workload.phase, jobs.message);
        self.seed(keys[jobs.job(0)?.key])?;
        let run = |job: &RawJob| {
            if phase != Phase::Message {
                self.seed(keys[job.key])?;
            }
            if phase == Phase::Setup {
                return Ok(());
            }
            self.generate(job.output, length)
        };
        body(&mut Submit { jobs, run })
    }
}

fn hmac_drbg(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    digest: c_int,
    body: Body<'_>,
) -> Result<(), Error> {
    // SAFETY: takes a number; the info is static in the library.
    let info = unsafe { library::md_info_from_type(digest) };
    if info.is_null() {
        return Err(Unsupported::BuildOption.into());
    }
    let (init, free) = (library::hmac_drbg_init as unsafe extern "C" fn(_), library::hmac_drbg_free);
    let generator = Generator {
        context: Context::new(library::HmacDrbgContext::uninit(), init, free),
        init,
        // SAFETY: see the top of context.rs. Seed and personalisation string in a row are the seed
        // material of SP 800-90A, section 10.1.2.3.
        seed: |context, key: &[u8]| unsafe {
            library::hmac_drbg_seed_buf(context, info, key.as_ptr(), key.len())
        },
        random: library::hmac_drbg_random,
    };
    generator.run(workload, keys, jobs, body)
}

fn ctr_drbg(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let (init, free) = (library::ctr_drbg_init as unsafe extern "C" fn(_), library::ctr_drbg_free);
    let generator = Generator {
        context: Context::new(library::CtrDrbgContext::uninit(), init, free),
        init,
        seed: |context, key: &[u8]| {
            let (mut entropy, personal) = key.split_at(SEED);
            let source = core::ptr::from_mut(&mut entropy).cast();
            // SAFETY: see the top of context.rs; the source lives as long as seeding takes, and is
            // not asked again: the interval is the longest there is.
            unsafe {
                library::ctr_drbg_set_entropy_len(context, SEED);
                library::ctr_drbg_set_nonce_len(context, 0);
                library::ctr_drbg_set_reseed_interval(context, c_int::MAX);
                let (personal, length) = (personal.as_ptr(), personal.len());
                library::ctr_drbg_seed(context, hand_out, source, personal, length)
            }
        },
        random: library::ctr_drbg_random,
    };
    generator.run(workload, keys, jobs, body)
}

/// Hands out a seed piece by piece, to a generator that asks for entropy.
///
/// # Safety
/// `source` is a `&mut &[u8]`, and there is room for `length` bytes at `output`.
unsafe extern "C" fn hand_out(source: *mut c_void, output: *mut u8, length: usize) -> c_int {
    /// MBEDTLS_ERR_CTR_DRBG_ENTROPY_SOURCE_FAILED of mbedtls/ctr_drbg.h.
    const NO_MORE: c_int = -0x0034;
    // SAFETY: as promised by the caller.
    let (rest, room) =
        unsafe { (&mut *source.cast::<&[u8]>(), core::slice::from_raw_parts_mut(output, length)) };
    let Some((piece, after)) = rest.split_at_checked(length) else { return NO_MORE };
    room.copy_from_slice(piece);
    *rest = after;
    0
}
