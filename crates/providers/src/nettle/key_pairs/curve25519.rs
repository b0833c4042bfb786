//! Ed25519 and X25519. Their keys are octet strings, which need no reading.

use super::{Body, Buffers, Open, Random, ffi, taken};
use cpb_core::{Error, Operation};

/// Bytes of a key of either.
const KEY: usize = 32;

// SAFETY of all calls below: keys and secrets have 32 bytes and signatures 64, as the algorithms' parts say;
// messages have the stated lengths.

/// Opens a session of Ed25519.
pub(super) fn serve_ed25519(open: &Open<'_>, body: Body<'_>) -> Result<(), Error> {
    let key = open.key.as_ptr();
    match open.operation {
        Operation::Sign => {
            let mut public = [0; KEY];
            // SAFETY: as above.
            unsafe { ffi::nettle_ed25519_sha512_public_key(public.as_mut_ptr(), key) };
            let public = public.as_ptr();
            open.run(body, |Buffers { input, tag, .. }| {
                let (length, message) = (input.len(), input.as_ptr());
                // SAFETY: as above.
                unsafe {
                    ffi::nettle_ed25519_sha512_sign(public, key, length, message, tag.as_mut_ptr());
                }
                Ok(())
            })
        }
        Operation::Verify => open.run(body, |Buffers { input, tag, .. }| {
            let (length, message) = (input.len(), input.as_ptr());
            // SAFETY: as above.
            taken(unsafe { ffi::nettle_ed25519_sha512_verify(key, length, message, tag.as_ptr()) })
        }),
        _ => generate(open, ffi::nettle_ed25519_sha512_public_key, body),
    }
}

/// Opens a session of X25519. Secrets that are all zeros are refused, as RFC 7748, section 6.1, allows and as
/// GnuTLS does, because the library leaves that to its caller.
pub(super) fn serve_x25519(open: &Open<'_>, body: Body<'_>) -> Result<(), Error> {
    if open.operation == Operation::GenerateKey {
        return generate(open, ffi::nettle_curve25519_mul_g, body);
    }
    let key = open.key.as_ptr();
    open.run(body, |Buffers { input, output, .. }| {
        // SAFETY: as above.
        unsafe { ffi::nettle_curve25519_mul(output.as_mut_ptr(), key, input.as_ptr()) };
        let zero = output.iter().fold(0, |all, byte| all | byte) == 0;
        if zero { Err(Error::Refused) } else { Ok(()) }
    })
}

/// Makes pairs: random bytes, and what `public_key` derives from them.
fn generate(
    open: &Open<'_>,
    public_key: unsafe fn(*mut u8, *const u8),
    body: Body<'_>,
) -> Result<(), Error> {
    let mut source = Random::new()?;
    open.run(body, |Buffers { output, .. }| {
        let (private, public) = output.split_at_mut(KEY);
        source.fill(private);
        // SAFETY: as above.
        unsafe { public_key(public.as_mut_ptr(), private.as_ptr()) };
        Ok(())
    })
}
