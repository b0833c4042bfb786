// Sessions of one variant's algorithms with key pairs, included behind context.rs, whose word on safety
// holds here, too. Keys are read before the clock starts; what is drawn comes from whoever opens a session.

use super::key_pairs::{curve, rsa_padding};
use cpb_core::public_key::{Parts, RSA_EXPONENT, parts};

/// What sessions are given from outside.
#[derive(Clone, Copy)]
struct Given {
    /// Draws random bytes for signing, blinding and making keys.
    draw: unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> c_int,
    /// What it is called with: lives as long as the session.
    source: *mut c_void,
    /// The library's number of SHA-256.
    sha_256: c_int,
}

/// Opens a session for what is done with key pairs.
fn key_pair(
    given: Given,
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let key = keys.first().copied().unwrap_or_default();
    let lengths = workload.lengths();
    let there = workload.operation == Operation::GenerateKey || key.len() == lengths.key;
    let parts = parts(workload.algorithm).filter(|_| there).ok_or(Unsupported::Length)?;
    if let Some(padding) = rsa_padding(workload.algorithm) {
        return rsa(given, workload, &parts, padding, key, jobs, body);
    }
    let id = curve(workload.algorithm).ok_or(Unsupported::Algorithm)?;
    let curve = Curve::new(id, parts, given)?;
    match workload.operation {
        Operation::Sign => curve.sign(key, jobs, body),
        Operation::Verify => curve.verify(key, jobs, body),
        Operation::KeyAgreement => curve.agree(key, workload.phase, jobs, body),
        _ => curve.generate(jobs, body),
    }
}

/// What a library says no to for its content.
fn refused(status: c_int) -> Result<(), Error> {
    if status == 0 { Ok(()) } else { Err(Error::Refused) }
}

/// A private key is blinded by one random number for as long as its context lives, squared for each operation
/// (`rsa_prepare_blinding` in rsa.c of 2.28 and 3.6): what an operation costs has no period.
fn rsa(
    given: Given,
    workload: &CryptoWorkload,
    parts: &Parts,
    padding: c_int,
    key: &[u8],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let Given { draw, source, sha_256 } = given;
    let mut context = rsa_context();
    if workload.operation == Operation::GenerateKey {
        let bits = parts.signature as core::ffi::c_uint * 8;
        let generate = |_: &RawJob| {
            // SAFETY: see the top of context.rs; what was freed may be initialised again.
            succeeded(unsafe {
                (context.free)(context.get());
                library::rsa_init(context.get());
                library::rsa_gen_key(context.get(), draw, source, bits, 65537)
            })
        };
        body(&mut Submit { jobs, run: generate })?;
        return jobs.all().iter().try_for_each(|job| {
            // SAFETY: the output has the pair's length.
            let pair = unsafe {
                core::slice::from_raw_parts_mut(job.output, parts.private + parts.public)
            };
            write_rsa(&mut context, pair, parts)
        });
    }
    read_rsa(&mut context, key, parts)?;
    // SAFETY: see the top of context.rs.
    unsafe { library::rsa_set_padding(context.get(), padding, sha_256) };
    let (length, pss) = (jobs.message, padding == ffi::RSA_PKCS_V21);
    if workload.operation == Operation::Sign {
        let sign = |job: &RawJob| {
            // SAFETY: see the top of context.rs; input and tag have the lengths of digest and modulus.
            succeeded(unsafe {
                let (input, tag) = (job.input, job.tag);
                if pss {
                    let salt = length as c_int;
                    library::rsa_rsassa_pss_sign_ext(
                        context.get(), draw, source, sha_256, length as _, input, salt, tag,
                    )
                } else {
                    let context = context.get();
                    library::rsa_sign(context, draw, source, sha_256, length as _, input, tag)
                }
            })
        };
        return body(&mut Submit { jobs, run: sign });
    }
    let verify = |job: &RawJob| {
        // SAFETY: as for signing.
        refused(unsafe {
            let (input, tag) = (job.input, job.tag);
            if pss {
                let salt = length as c_int;
                library::rsa_verify_pss(context.get(), sha_256, length as _, input, salt, tag)
            } else {
                library::rsa_verify(context.get(), sha_256, length as _, input, tag)
            }
        })
    };
    body(&mut Submit { jobs, run: verify })
}

fn rsa_context() -> Context<library::RsaContext> {
    Context::new(library::RsaContext::uninit(), library::rsa_init, library::rsa_free)
}

/// The numbers of a key in the encoding of `cpb_core::public_key`: n and e, and of a private one d, p and
/// q. The others follow from these.
fn read_rsa(
    context: &mut Context<library::RsaContext>,
    key: &[u8],
    parts: &Parts,
) -> Result<(), Error> {
    let (n, rest) = key.split_at(parts.signature);
    let (e, rest) = rest.split_at(RSA_EXPONENT);
    let d = rest.get(..n.len()).unwrap_or_default();
    let factors = rest.get(n.len()..2 * n.len()).unwrap_or_default();
    let (p, q) = factors.split_at(factors.len() / 2);
    // What is not there is told by a null pointer.
    let part = |part: &[u8]| match part {
        [] => core::ptr::null(),
        _ => part.as_ptr(),
    };
    // SAFETY: see the top of context.rs; each length is its number's.
    unsafe {
        succeeded(library::rsa_import_raw(
            context.get(),
            part(n), n.len(), part(p), p.len(), part(q), q.len(), part(d), d.len(), part(e), e.len(),
        ))?;
        succeeded(library::rsa_complete(context.get()))
    }
}

fn write_rsa(
    context: &mut Context<library::RsaContext>,
    pair: &mut [u8],
    parts: &Parts,
) -> Result<(), Error> {
    let (private, public) = pair.split_at_mut(parts.private);
    let (n, rest) = private.split_at_mut(parts.signature);
    let (e, rest) = rest.split_at_mut(RSA_EXPONENT);
    let (d, rest) = rest.split_at_mut(n.len());
    let (p, rest) = rest.split_at_mut(n.len() / 2);
    let (q, rest) = rest.split_at_mut(n.len() / 2);
    let (mut dp, mut dq, mut qp) = (Number::new(), Number::new(), Number::new());
    // SAFETY: see the top of context.rs; each length is its number's.
    unsafe {
        succeeded(library::rsa_export_raw(
            context.get(),
            n.as_mut_ptr(), n.len(), p.as_mut_ptr(), p.len(), q.as_mut_ptr(), q.len(),
            d.as_mut_ptr(), d.len(), e.as_mut_ptr(), e.len(),
        ))?;
        succeeded(library::rsa_export_crt(context.get(), dp.0.get(), dq.0.get(), qp.0.get()))?;
    }
    for (number, output) in [&mut dp, &mut dq, &mut qp].into_iter().zip(rest.chunks_mut(p.len())) {
        number.write(output)?;
    }
    public.copy_from_slice(&private[..parts.public]);
    Ok(())
}

/// A big number.
struct Number(Context<library::Mpi>);

impl Number {
    fn new() -> Self {
        Number(Context::new(library::Mpi::uninit(), library::mpi_init, library::mpi_free))
    }

    fn read(&mut self, digits: &[u8]) -> Result<(), Error> {
        // SAFETY: see the top of context.rs.
        succeeded(unsafe {
            library::mpi_read_binary(self.0.get(), digits.as_ptr(), digits.len())
        })
    }

    fn write(&mut self, output: &mut [u8]) -> Result<(), Error> {
        // SAFETY: see the top of context.rs.
        succeeded(unsafe {
            library::mpi_write_binary(self.0.get(), output.as_mut_ptr(), output.len())
        })
    }
}

/// A group, and what is to be done in it.
struct Curve {
    group: Context<library::EcpGroup>,
    parts: Parts,
    given: Given,
    /// Numbers and points are little-endian, and a scalar's bits are clamped: RFC 7748.
    montgomery: bool,
}

fn point() -> Context<library::EcpPoint> {
    let uninit = library::EcpPoint::uninit();
    Context::new(uninit, library::ecp_point_init, library::ecp_point_free)
}

impl Curve {
    fn new(id: c_int, parts: Parts, given: Given) -> Result<Self, Error> {
        let uninit = library::EcpGroup::uninit();
        let mut group = Context::new(uninit, library::ecp_group_init, library::ecp_group_free);
        // SAFETY: see the top of context.rs.
        succeeded(unsafe { library::ecp_group_load(group.get(), id) })?;
        Ok(Curve { group, parts, given, montgomery: id == ffi::ECP_DP_CURVE25519 })
    }

    fn scalar(&self, key: &[u8]) -> Result<Number, Error> {
        let mut number = Number::new();
        if !self.montgomery {
            number.read(key)?;
            return Ok(number);
        }
        let mut digits: [u8; 32] = key.try_into().map_err(|_| Unsupported::Length)?;
        digits[0] &= 0xf8;
        digits[31] = digits[31] & 0x7f | 0x40;
        digits.reverse();
        number.read(&digits)?;
        Ok(number)
    }

    /// A point that is one of the group's.
    fn read_point(
        &mut self,
        point: &mut Context<library::EcpPoint>,
        key: *const u8,
    ) -> Result<(), Error> {
        let (group, length) = (self.group.get(), self.parts.public);
        // SAFETY: see the top of context.rs; the key is a public one.
        unsafe {
            refused(library::ecp_point_read_binary(group, point.get(), key, length))?;
            refused(library::ecp_check_pubkey(group, point.get()))
        }
    }

    fn sign(mut self, key: &[u8], jobs: &RawJobs<'_>, body: Body<'_>) -> Result<(), Error> {
        let mut scalar = self.scalar(key)?;
        let (mut r, mut s) = (Number::new(), Number::new());
        let (length, half) = (jobs.message, self.parts.signature / 2);
        let Given { draw, source, .. } = self.given;
        let run = |job: &RawJob| {
            // SAFETY: see the top of context.rs; the tag has a signature's length.
            let tag = unsafe {
                let (r, s, own) = (r.0.get(), s.0.get(), scalar.0.get());
                let group = self.group.get();
                succeeded(library::ecdsa_sign(group, r, s, own, job.input, length, draw, source))?;
                core::slice::from_raw_parts_mut(job.tag, 2 * half)
            };
            let (first, second) = tag.split_at_mut(half);
            r.write(first)?;
            s.write(second)
        };
        body(&mut Submit { jobs, run })
    }

    fn verify(mut self, key: &[u8], jobs: &RawJobs<'_>, body: Body<'_>) -> Result<(), Error> {
        let mut public = point();
        self.read_point(&mut public, key.as_ptr())?;
        let (mut r, mut s) = (Number::new(), Number::new());
        let (length, half) = (jobs.message, self.parts.signature / 2);
        let run = |job: &RawJob| {
            // SAFETY: see the top of context.rs; the tag has a signature's length.
            let tag = unsafe { core::slice::from_raw_parts(job.tag, 2 * half) };
            let (first, second) = tag.split_at(half);
            r.read(first)?;
            s.read(second)?;
            // SAFETY: see the top of context.rs.
            refused(unsafe {
                let (group, public) = (self.group.get(), public.get());
                library::ecdsa_verify(group, job.input, length, public, r.0.get(), s.0.get())
            })
        };
        body(&mut Submit { jobs, run })
    }

    fn agree(
        mut self,
        key: &[u8],
        phase: Phase,
        jobs: &RawJobs<'_>,
        body: Body<'_>,
    ) -> Result<(), Error> {
        let mut own = self.scalar(key)?;
        let (mut peer, mut secret) = (point(), Number::new());
        if phase == Phase::Update {
            self.read_point(&mut peer, jobs.job(0)?.input)?;
        }
        let length = self.parts.secret;
        let Given { draw, source, .. } = self.given;
        let run = |job: &RawJob| {
            if phase != Phase::Update {
                self.read_point(&mut peer, job.input)?;
            }
            // SAFETY: see the top of context.rs; the output has the secret's length.
            let output = unsafe {
                let (group, secret) = (self.group.get(), secret.0.get());
                let (peer, own) = (peer.get(), own.0.get());
                refused(library::ecdh_compute_shared(group, secret, peer, own, draw, source))?;
                core::slice::from_raw_parts_mut(job.output, length)
            };
            secret.write(output)?;
            if self.montgomery {
                output.reverse();
            }
            Ok(())
        };
        body(&mut Submit { jobs, run })
    }

    fn generate(mut self, jobs: &RawJobs<'_>, body: Body<'_>) -> Result<(), Error> {
        let (mut own, mut public) = (Number::new(), point());
        let Given { draw, source, .. } = self.given;
        let run = |_: &RawJob| {
            // SAFETY: see the top of context.rs.
            succeeded(unsafe {
                let (group, own) = (self.group.get(), own.0.get());
                library::ecp_gen_keypair(group, own, public.get(), draw, source)
            })
        };
        body(&mut Submit { jobs, run })?;
        for job in jobs.all() {
            let Parts { private: half, public: other, .. } = self.parts;
            // SAFETY: the output has the pair's length.
            let pair = unsafe { core::slice::from_raw_parts_mut(job.output, half + other) };
            let (private, encoded) = pair.split_at_mut(half);
            own.write(private)?;
            if self.montgomery {
                private.reverse();
            }
            let (mut written, form) = (0, ffi::ECP_PF_UNCOMPRESSED);
            // SAFETY: see the top of context.rs.
            succeeded(unsafe {
                let (point, buffer) = (public.get(), encoded.as_mut_ptr());
                let group = self.group.get();
                library::ecp_point_write_binary(group, point, form, &mut written, buffer, other)
            })?;
            if written != other {
                return Err(Error::WrongAnswer);
            }
        }
        Ok(())
    }
}
