//! What the key pairs of several libraries have in common: blinding, making pairs, and signatures in DER.

use cpb_core::public_key::Parts;
use cpb_core::{Error, Progress, Session};
use cpb_session::Body;
use cpb_session::raw_jobs::RawJobs;

/// After this many uses, a private RSA key is blinded by a new random number (`BN_BLINDING_COUNTER` in
/// OpenSSL's crypto/bn/bn_blind.c and AWS-LC's crypto/fipsmodule/rsa/blinding.c). This is a twentieth of the
/// cost of OpenSSL's RSA-2048 signatures.
pub(crate) const BLINDING: u32 = 32;

/// Reports a library's error as a refusal of what it was given.
pub(crate) fn refused<T>(error: Error) -> Result<T, Error> {
    match error {
        Error::Device(_) => Err(Error::Refused),
        other => Err(other),
    }
}

/// Hands `body` a session that makes a pair for each job. Each job's last pair, its private half and then its
/// public half, is written when the session has ended, because writing it out is not part of making it.
pub(crate) fn make_pairs<P>(
    jobs: &RawJobs<'_>,
    parts: &Parts,
    make: impl FnMut() -> Result<P, Error>,
    write: impl Fn(&P, &mut [u8], &mut [u8]) -> Result<(), Error>,
    body: Body<'_>,
) -> Result<(), Error> {
    let mut session = Make { jobs, make, pairs: jobs.all().iter().map(|_| None).collect() };
    body(&mut session)?;
    for (pair, job) in session.pairs.iter().zip(jobs.all()) {
        let Some(pair) = pair else { continue };
        // SAFETY: the output has the pair's length.
        let output =
            unsafe { core::slice::from_raw_parts_mut(job.output, parts.private + parts.public) };
        let (private, public) = output.split_at_mut(parts.private);
        write(pair, private, public)?;
    }
    Ok(())
}

struct Make<'a, P, F> {
    jobs: &'a RawJobs<'a>,
    make: F,
    pairs: Vec<Option<P>>,
}

impl<P, F: FnMut() -> Result<P, Error>> Session for Make<'_, P, F> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        *self.pairs.get_mut(job).ok_or(Error::Contract)? = Some((self.make)()?);
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}

/// Checks that as much was written as was asked for.
pub(crate) fn whole(written: usize, length: usize) -> Result<(), Error> {
    if written == length { Ok(()) } else { Err(Error::WrongAnswer) }
}

/// The longest DER of an ECDSA signature here: two numbers of 49 bytes, with tags and lengths.
pub(crate) const MAX_DER: usize = 3 + 2 * (2 + 49);

/// Encodes `r` and `s`, one after the other in `signature`, as `SEQUENCE { INTEGER r, INTEGER s }`. Returns the
/// length.
pub(crate) fn to_der(signature: &[u8], der: &mut [u8; MAX_DER]) -> usize {
    let mut length = 2;
    for number in signature.chunks(signature.len().div_ceil(2).max(1)) {
        let zeros = number.iter().take_while(|byte| **byte == 0).count();
        let digits = number.get(zeros..).unwrap_or_default();
        // A first bit of one would make the number negative. Zero has one digit.
        let sign = digits.first().is_none_or(|first| *first >= 0x80);
        der[length] = 0x02;
        der[length + 1] = (digits.len() + usize::from(sign)) as u8;
        length += 2;
        if sign {
            der[length] = 0;
            length += 1;
        }
        der[length..length + digits.len()].copy_from_slice(digits);
        length += digits.len();
    }
    der[0] = 0x30;
    der[1] = (length - 2) as u8;
    length
}

/// Decodes such a sequence. The library made it, and it is so short that each length is one byte.
pub(crate) fn from_der(der: &[u8], signature: &mut [u8]) -> Result<(), Error> {
    let mut rest = der.get(2..).ok_or(Error::WrongAnswer)?;
    let half = signature.len() / 2;
    for number in signature.chunks_mut(half) {
        let length = usize::from(*rest.get(1).ok_or(Error::WrongAnswer)?);
        let digits = rest.get(2..2 + length).ok_or(Error::WrongAnswer)?;
        rest = &rest[2 + length..];
        let zeros = digits.len().saturating_sub(half);
        let digits = &digits[zeros..];
        let (high, low) = number.split_at_mut(half - digits.len());
        high.fill(0);
        low.copy_from_slice(digits);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn der_and_back_is_the_same_signature() {
        for (first, second) in [(0x00, 0x00), (0x00, 0x80), (0x7f, 0xff), (0x80, 0x01)] {
            for half in [32, 48] {
                let mut signature = vec![0x11; 2 * half];
                signature[0] = first;
                signature[1] = second;
                signature[half] = second;
                signature[half + 1] = first;
                let mut der = [0; MAX_DER];
                let length = to_der(&signature, &mut der);
                assert_eq!(usize::from(der[1]), length - 2);
                let mut back = vec![0xff; 2 * half];
                from_der(&der[..length], &mut back).unwrap();
                assert_eq!(back, signature);
            }
        }
    }

    #[test]
    fn zero_is_one_digit() {
        let mut der = [0; MAX_DER];
        assert_eq!(to_der(&[0; 64], &mut der), 8);
        assert_eq!(der[..8], [0x30, 6, 2, 1, 0, 2, 1, 0]);
    }
}
