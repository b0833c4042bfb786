//! Operations with key pairs. Keys are read before the clock starts.

use crate::key_pairs::{ECP_DP_CURVE25519, RSA_PKCS_V21, curve, rsa_padding};
use crate::types::*;
use crate::{Functions, Held, Sha, succeeded};
use cpb_core::public_key::{Parts, RSA_EXPONENT, parts};
use cpb_core::{CryptoWorkload, Error, Operation, Phase, Unsupported};
use cpb_session::Body;
use cpb_session::raw_jobs::{RawJob, RawJobs};
use cpb_session::submit::{agree, each};

// ecp.h: the form of a point
const ECP_PF_UNCOMPRESSED: c_int = 0;

/// The source of random bytes for signing, blinding and generating keys.
#[derive(Clone, Copy)]
pub struct Random {
    /// The function that draws them.
    pub draw: Draw,
    /// The argument for that function. It lives as long as the session.
    pub source: *mut c_void,
}

/// Opens a session for an operation with key pairs.
///
/// # Errors
/// Returns an error if the library does not have the algorithm or rejects the key, or any error from `body`.
pub fn key_pair<L: Functions>(
    random: Random,
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
        return rsa::<L>(random, workload, &parts, padding, key, jobs, body);
    }
    let id = curve(workload.algorithm).ok_or(Unsupported::Algorithm)?;
    let curve = Curve::<L>::new(id, parts, random)?;
    match workload.operation {
        Operation::Sign => curve.sign(key, jobs, body),
        Operation::Verify => curve.verify(key, jobs, body),
        Operation::KeyAgreement => curve.agree(key, workload.phase, jobs, body),
        _ => curve.generate(jobs, body),
    }
}

/// Converts the status of a call that rejects input because of its content.
fn refused(status: c_int) -> Result<(), Error> {
    if status == 0 { Ok(()) } else { Err(Error::Refused) }
}

/// RSA operations. A private key is blinded with one random number for as long as its context lives, squared
/// for each operation (`rsa_prepare_blinding` in rsa.c of 2.28 and 3.6), so the cost of an operation has no
/// period.
fn rsa<L: Functions>(
    random: Random,
    workload: &CryptoWorkload,
    parts: &Parts,
    padding: c_int,
    key: &[u8],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let Random { draw, source } = random;
    let mut context = Held::<L, RsaContext>::new();
    if workload.operation == Operation::GenerateKey {
        let bits = parts.signature as c_uint * 8;
        let generate = |_: &RawJob| {
            context.renew();
            // SAFETY: see the crate documentation.
            succeeded(unsafe { L::rsa_gen_key(context.get(), draw, source, bits, 65537) })
        };
        each(jobs, generate, body)?;
        return jobs.all().iter().try_for_each(|job| {
            // SAFETY: the output has the pair's length.
            let pair = unsafe {
                core::slice::from_raw_parts_mut(job.output, parts.private + parts.public)
            };
            write_rsa(&mut context, pair, parts)
        });
    }
    read_rsa(&mut context, key, parts)?;
    let sha_256 = L::md_type(Sha::Sha256);
    // SAFETY: see the crate documentation.
    unsafe { L::rsa_set_padding(context.get(), padding, sha_256) };
    let (length, pss) = (jobs.message, padding == RSA_PKCS_V21);
    if workload.operation == Operation::Sign {
        let sign = |job: &RawJob| {
            // SAFETY: see the crate documentation; input and tag have the lengths of digest and modulus.
            succeeded(unsafe {
                let (input, tag) = (job.input, job.tag);
                if pss {
                    let salt = length as c_int;
                    L::rsa_rsassa_pss_sign_ext(
                        context.get(),
                        draw,
                        source,
                        sha_256,
                        length as _,
                        input,
                        salt,
                        tag,
                    )
                } else {
                    let context = context.get();
                    L::rsa_sign(context, draw, source, sha_256, length as _, input, tag)
                }
            })
        };
        return each(jobs, sign, body);
    }
    let verify = |job: &RawJob| {
        // SAFETY: as for signing.
        refused(unsafe {
            let (input, tag) = (job.input, job.tag);
            if pss {
                let salt = length as c_int;
                L::rsa_verify_pss(context.get(), sha_256, length as _, input, salt, tag)
            } else {
                L::rsa_verify(context.get(), sha_256, length as _, input, tag)
            }
        })
    };
    each(jobs, verify, body)
}

/// Reads the numbers of a key in the encoding of `cpb_core::public_key`: n and e, and for a private key also
/// d, p and q. The others follow from these.
fn read_rsa<L: Functions>(
    context: &mut Held<L, RsaContext>,
    key: &[u8],
    parts: &Parts,
) -> Result<(), Error> {
    let (n, rest) = key.split_at(parts.signature);
    let (e, rest) = rest.split_at(RSA_EXPONENT);
    let d = rest.get(..n.len()).unwrap_or_default();
    let factors = rest.get(n.len()..2 * n.len()).unwrap_or_default();
    let (p, q) = factors.split_at(factors.len() / 2);
    // A null pointer stands for a missing number.
    let part = |part: &[u8]| match part {
        [] => core::ptr::null(),
        _ => part.as_ptr(),
    };
    // SAFETY: see the crate documentation; each length is that of its number.
    unsafe {
        succeeded(L::rsa_import_raw(
            context.get(),
            part(n),
            n.len(),
            part(p),
            p.len(),
            part(q),
            q.len(),
            part(d),
            d.len(),
            part(e),
            e.len(),
        ))?;
        succeeded(L::rsa_complete(context.get()))
    }
}

fn write_rsa<L: Functions>(
    context: &mut Held<L, RsaContext>,
    pair: &mut [u8],
    parts: &Parts,
) -> Result<(), Error> {
    let (private, public) = pair.split_at_mut(parts.private);
    let (n, rest) = private.split_at_mut(parts.signature);
    let (e, rest) = rest.split_at_mut(RSA_EXPONENT);
    let (d, rest) = rest.split_at_mut(n.len());
    let (p, rest) = rest.split_at_mut(n.len() / 2);
    let (q, rest) = rest.split_at_mut(n.len() / 2);
    let (mut dp, mut dq, mut qp) = (Number::<L>::new(), Number::<L>::new(), Number::<L>::new());
    // SAFETY: see the crate documentation; each length is that of its number.
    unsafe {
        succeeded(L::rsa_export_raw(
            context.get(),
            n.as_mut_ptr(),
            n.len(),
            p.as_mut_ptr(),
            p.len(),
            q.as_mut_ptr(),
            q.len(),
            d.as_mut_ptr(),
            d.len(),
            e.as_mut_ptr(),
            e.len(),
        ))?;
        succeeded(L::rsa_export_crt(context.get(), dp.0.get(), dq.0.get(), qp.0.get()))?;
    }
    for (number, output) in [&mut dp, &mut dq, &mut qp].into_iter().zip(rest.chunks_mut(p.len())) {
        number.write(output)?;
    }
    public.copy_from_slice(&private[..parts.public]);
    Ok(())
}

/// A big number.
struct Number<L: Functions>(Held<L, Mpi>);

impl<L: Functions> Number<L> {
    fn new() -> Self {
        Number(Held::new())
    }

    fn read(&mut self, digits: &[u8]) -> Result<(), Error> {
        // SAFETY: see the crate documentation.
        succeeded(unsafe { L::mpi_read_binary(self.0.get(), digits.as_ptr(), digits.len()) })
    }

    fn write(&mut self, output: &mut [u8]) -> Result<(), Error> {
        // SAFETY: see the crate documentation.
        succeeded(unsafe { L::mpi_write_binary(self.0.get(), output.as_mut_ptr(), output.len()) })
    }
}

/// A group, and the parameters of the operation in it.
struct Curve<L: Functions> {
    group: Held<L, EcpGroup>,
    parts: Parts,
    random: Random,
    /// Whether numbers and points are little-endian and the bits of a scalar are clamped, as in RFC 7748.
    montgomery: bool,
}

impl<L: Functions> Curve<L> {
    fn new(id: c_int, parts: Parts, random: Random) -> Result<Self, Error> {
        let mut group = Held::<L, EcpGroup>::new();
        // SAFETY: see the crate documentation.
        succeeded(unsafe { L::ecp_group_load(group.get(), id) })?;
        Ok(Curve { group, parts, random, montgomery: id == ECP_DP_CURVE25519 })
    }

    fn scalar(&self, key: &[u8]) -> Result<Number<L>, Error> {
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

    /// Reads a public key and checks that it is a point of the group.
    fn read_point(&mut self, point: &mut Held<L, EcpPoint>, key: *const u8) -> Result<(), Error> {
        let (group, length) = (self.group.get(), self.parts.public);
        // SAFETY: see the crate documentation; the key is a public one.
        unsafe {
            refused(L::ecp_point_read_binary(group, point.get(), key, length))?;
            refused(L::ecp_check_pubkey(group, point.get()))
        }
    }

    fn sign(mut self, key: &[u8], jobs: &RawJobs<'_>, body: Body<'_>) -> Result<(), Error> {
        let mut scalar = self.scalar(key)?;
        let (mut r, mut s) = (Number::<L>::new(), Number::<L>::new());
        let (length, half) = (jobs.message, self.parts.signature / 2);
        let Random { draw, source } = self.random;
        let run = |job: &RawJob| {
            // SAFETY: see the crate documentation; the tag has a signature's length.
            let tag = unsafe {
                let (r, s, own) = (r.0.get(), s.0.get(), scalar.0.get());
                let group = self.group.get();
                succeeded(L::ecdsa_sign(group, r, s, own, job.input, length, draw, source))?;
                core::slice::from_raw_parts_mut(job.tag, 2 * half)
            };
            let (first, second) = tag.split_at_mut(half);
            r.write(first)?;
            s.write(second)
        };
        each(jobs, run, body)
    }

    fn verify(mut self, key: &[u8], jobs: &RawJobs<'_>, body: Body<'_>) -> Result<(), Error> {
        let mut public = Held::new();
        self.read_point(&mut public, key.as_ptr())?;
        let (mut r, mut s) = (Number::<L>::new(), Number::<L>::new());
        let (length, half) = (jobs.message, self.parts.signature / 2);
        let run = |job: &RawJob| {
            // SAFETY: see the crate documentation; the tag has a signature's length.
            let tag = unsafe { core::slice::from_raw_parts(job.tag, 2 * half) };
            let (first, second) = tag.split_at(half);
            r.read(first)?;
            s.read(second)?;
            // SAFETY: see the crate documentation.
            refused(unsafe {
                let (group, public) = (self.group.get(), public.get());
                L::ecdsa_verify(group, job.input, length, public, r.0.get(), s.0.get())
            })
        };
        each(jobs, run, body)
    }

    fn agree(
        mut self,
        key: &[u8],
        phase: Phase,
        jobs: &RawJobs<'_>,
        body: Body<'_>,
    ) -> Result<(), Error> {
        let (mut own, mut secret) = (self.scalar(key)?, Number::<L>::new());
        let mut point = Held::<L, EcpPoint>::new();
        let (group, peer, scalar) = (self.group.get(), point.get(), own.0.get());
        let (length, montgomery) = (self.parts.secret, self.montgomery);
        let Random { draw, source } = self.random;
        let read = |job: &RawJob| self.read_point(&mut point, job.input);
        let derive = |job: &RawJob, (): &()| {
            // SAFETY: see the crate documentation; the output has the secret's length.
            let output = unsafe {
                let secret = secret.0.get();
                refused(L::ecdh_compute_shared(group, secret, peer, scalar, draw, source))?;
                core::slice::from_raw_parts_mut(job.output, length)
            };
            secret.write(output)?;
            if montgomery {
                output.reverse();
            }
            Ok(())
        };
        agree(jobs, phase, read, derive, body)
    }

    fn generate(mut self, jobs: &RawJobs<'_>, body: Body<'_>) -> Result<(), Error> {
        let (mut own, mut public) = (Number::<L>::new(), Held::<L, EcpPoint>::new());
        let Random { draw, source } = self.random;
        let run = |_: &RawJob| {
            // SAFETY: see the crate documentation.
            succeeded(unsafe {
                let (group, own) = (self.group.get(), own.0.get());
                L::ecp_gen_keypair(group, own, public.get(), draw, source)
            })
        };
        each(jobs, run, body)?;
        for job in jobs.all() {
            let Parts { private: half, public: other, .. } = self.parts;
            // SAFETY: the output has the pair's length.
            let pair = unsafe { core::slice::from_raw_parts_mut(job.output, half + other) };
            let (private, encoded) = pair.split_at_mut(half);
            own.write(private)?;
            if self.montgomery {
                private.reverse();
            }
            let (mut written, form) = (0, ECP_PF_UNCOMPRESSED);
            // SAFETY: see the crate documentation.
            succeeded(unsafe {
                let (point, buffer) = (public.get(), encoded.as_mut_ptr());
                let group = self.group.get();
                L::ecp_point_write_binary(group, point, form, &mut written, buffer, other)
            })?;
            if written != other {
                return Err(Error::WrongAnswer);
            }
        }
        Ok(())
    }
}
