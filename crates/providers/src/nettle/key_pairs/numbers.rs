//! Structures of the library that own memory, and numbers.

use super::ffi::{self, Integer};
use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};
use cpb_core::Error;

/// A structure that owns memory of GMP.
pub(super) struct OwnedNumber<T> {
    value: T,
    clear: unsafe fn(*mut T),
}

impl<T> OwnedNumber<T> {
    /// The structure that `init` fills in, and whose memory `clear` frees.
    ///
    /// # Safety
    /// `init` and `clear` do so, and the structure may be moved.
    pub(super) unsafe fn new(
        init: impl FnOnce(*mut T),
        clear: unsafe fn(*mut T),
    ) -> OwnedNumber<T> {
        let mut value = MaybeUninit::uninit();
        init(value.as_mut_ptr());
        // SAFETY: as promised by the caller.
        OwnedNumber { value: unsafe { value.assume_init() }, clear }
    }
}

impl<T> Deref for OwnedNumber<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for OwnedNumber<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> Drop for OwnedNumber<T> {
    fn drop(&mut self) {
        // SAFETY: we own it, and nothing uses it afterwards.
        unsafe { (self.clear)(&mut self.value) }
    }
}

/// Returns a new number.
pub(super) fn number() -> OwnedNumber<Integer> {
    // SAFETY: gmp.h; a number may be moved.
    unsafe { OwnedNumber::new(|number| ffi::__gmpz_init(number), ffi::__gmpz_clear) }
}

/// Reads a number from its big-endian digits.
#[inline]
pub(super) fn read(number: &mut Integer, digits: &[u8]) {
    // SAFETY: the number is live, as every number is that has a reference, and the length is that of the
    // digits.
    unsafe { ffi::nettle_mpz_set_str_256_u(number, digits.len(), digits.as_ptr()) };
}

/// Writes a number as big-endian digits. It must fit into `digits`.
#[inline]
pub(super) fn write(number: &Integer, digits: &mut [u8]) -> Result<(), Error> {
    // SAFETY: as above. A number that does not fit would end the process.
    unsafe {
        if ffi::nettle_mpz_sizeinbase_256_u(number) > digits.len() {
            return Err(Error::WrongAnswer);
        }
        ffi::nettle_mpz_get_str_256(digits.len(), digits.as_mut_ptr(), number);
    }
    Ok(())
}
