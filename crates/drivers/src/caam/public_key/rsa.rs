//! RSA with PKCS #1's older padding (RFC 8017, 8.2), by the engine's protocols.

use super::super::descriptor::{Descriptor, Format, operation, rsa};
use super::super::ring::Lines;
use super::super::{Caam, Completion};
use crate::queue::address;
use cpb_core::public_key::rsa_numbers;
use cpb_core::{Bus, Error, Unsupported};

/// The room for a modulus of 4096 bits.
const MODULUS: usize = 512;

/// A number as long as the modulus, in cache lines of its own.
type Long = Lines<[u8; MODULUS]>;

/// A prime, in cache lines of its own.
type Prime = Lines<[u8; MODULUS / 2]>;

/// The beginning of a DigestInfo of SHA-256 (RFC 8017, 9.2, note 1).
const SHA_256: [u8; 19] = [
    0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05,
    0x00, 0x04, 0x20,
];

/// Pads a digest of SHA-256 (RFC 8017, 9.2).
fn encoded(digest: &[u8], size: usize) -> Result<Long, Error> {
    let mut encoded = Lines([0xFF; MODULUS]);
    let place = encoded.0.get_mut(..size).ok_or(Unsupported::Length)?;
    let end = place.len().checked_sub(digest.len()).ok_or(Unsupported::Length)?;
    let info = end.checked_sub(SHA_256.len() + 1).ok_or(Unsupported::Length)?;
    place[..2].copy_from_slice(&[0, 1]);
    place[info] = 0;
    place[info + 1..end].copy_from_slice(&SHA_256);
    place[end..].copy_from_slice(digest);
    Ok(encoded)
}

impl<B: Bus> Caam<'_, B> {
    /// Signs a digest with the primes of a private key.
    pub(super) fn sign_rsa(
        &mut self,
        private: &[u8],
        digest: &[u8],
        signature: &mut [u8],
        how: Completion,
    ) -> Result<(), Error> {
        let size = signature.len();
        let encoded = encoded(digest, size)?;
        let mut numbers = rsa_numbers(size, private).skip(3);
        let mut next = || numbers.next().ok_or(Error::from(Unsupported::Length));
        let [p, q, exponent_p, exponent_q, coefficient] =
            [next()?, next()?, next()?, next()?, next()?];
        let mut scratch: [Prime; 2] = [const { Lines([0; MODULUS / 2]) }; 2];
        let mut output: Long = Lines([0; MODULUS]);
        let mut job = Descriptor::job(Format::RT1170);
        job.push(size as u32);
        let scratch_places = scratch.each_ref().map(|prime| &prime.0[..]);
        let keys = [coefficient, p, q, exponent_p, exponent_q];
        let places = [&encoded.0[..size], &output.0].into_iter().chain(keys).chain(scratch_places);
        for place in places {
            self.bus.clean(place);
            job.pointer(address(&self.bus, place)?.into());
        }
        job.push((q.len() << rsa::LENGTH | p.len()) as u32).commands_begin();
        job.operation(operation::PROTOCOL | rsa::PRIVATE | rsa::FORM_3);
        self.run(job, how)?;
        scratch.iter_mut().for_each(|prime| self.bus.invalidate(&mut prime.0));
        self.bus.invalidate(&mut output.0);
        signature.copy_from_slice(&output.0[..size]);
        Ok(())
    }

    /// Verifies the signature of a digest.
    pub(super) fn verify_rsa(
        &mut self,
        public: &[u8],
        digest: &[u8],
        signature: &[u8],
        how: Completion,
    ) -> Result<(), Error> {
        let size = signature.len();
        let (modulus, exponent) = public.split_at_checked(size).ok_or(Unsupported::Length)?;
        let encoded = encoded(digest, size)?;
        if signature >= modulus {
            return Err(Error::Refused);
        }
        let mut output: Long = Lines([0; MODULUS]);
        let mut job = Descriptor::job(Format::RT1170);
        job.push((exponent.len() << rsa::LENGTH | size) as u32);
        for place in [signature, &output.0, modulus, exponent] {
            self.bus.clean(place);
            job.pointer(address(&self.bus, place)?.into());
        }
        job.push(size as u32).commands_begin();
        job.operation(operation::PROTOCOL | rsa::PUBLIC);
        self.run(job, how)?;
        self.bus.invalidate(&mut output.0);
        if output.0[..size] == encoded.0[..size] { Ok(()) } else { Err(Error::Refused) }
    }
}
