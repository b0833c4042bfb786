//! S-expressions, numbers and curves: what the library's key pair functions take and return.

use super::{ffi, succeeded};
use crate::loaded::Owned;
use core::ffi::{CStr, c_int, c_uint, c_void};
use core::{ptr, slice};
use cpb_core::Error;

/// The most byte strings in one expression here.
const MOST: usize = 6;

/// An S-expression.
pub(super) type Expression = Owned<ffi::gcry_sexp>;

impl Expression {
    /// Makes an expression from a format with a `%b` for each of `parts`, none of which is empty.
    #[inline]
    pub(super) fn new<const N: usize>(
        format: &'static CStr,
        parts: [&[u8]; N],
    ) -> Result<Expression, Error> {
        const { assert!(N <= MOST) };
        debug_assert_eq!(format.to_bytes().iter().filter(|byte| **byte == b'%').count(), N);
        let mut lengths: [c_int; MOST] = [0; MOST];
        let mut bytes = [ptr::null(); MOST];
        let mut arguments: [*mut c_void; 2 * MOST] = [ptr::null_mut(); 2 * MOST];
        for (place, part) in parts.iter().enumerate() {
            lengths[place] = part.len() as c_int;
            bytes[place] = part.as_ptr();
            arguments[2 * place] = (&raw mut lengths[place]).cast();
            arguments[2 * place + 1] = (&raw mut bytes[place]).cast();
        }
        // SAFETY: there is an argument for each `%b` of the format, and all are read during the call.
        Expression::by(|made| unsafe {
            let (format, arguments) = (format.as_ptr(), arguments.as_mut_ptr());
            ffi::gcry_sexp_build_array(made, ptr::null_mut(), format, arguments)
        })
    }

    /// Takes what one of the library's functions makes.
    #[inline]
    pub(super) fn by(
        make: impl FnOnce(*mut *mut ffi::gcry_sexp) -> c_uint,
    ) -> Result<Expression, Error> {
        let mut made = ptr::null_mut();
        succeeded(make(&mut made))?;
        Expression::own(made)
    }

    fn own(made: *mut ffi::gcry_sexp) -> Result<Expression, Error> {
        // SAFETY: as promised by the caller of `Owned`.
        Owned::take(made, |made| unsafe { ffi::gcry_sexp_release(made) })
    }

    /// Returns the list in it that begins with `name`.
    #[inline]
    fn list(&self, name: &CStr) -> Result<Expression, Error> {
        // SAFETY: live; without a length the name is a C string.
        Expression::own(unsafe { ffi::gcry_sexp_find_token(self.0, name.as_ptr(), 0) })
    }

    /// Writes the value called `name`, a number or bytes, as exactly as many digits as `output` has. The
    /// library writes a zero before a first bit of one, and omits other leading zeros.
    #[inline]
    pub(super) fn write(&self, name: &CStr, output: &mut [u8]) -> Result<(), Error> {
        let (list, mut length) = (self.list(name)?, 0);
        // SAFETY: the value belongs to the list, which is live, and has the length that the library returns.
        let value = unsafe {
            let value = ffi::gcry_sexp_nth_data(list.0, 1, &mut length);
            if value.is_null() {
                return Err(Error::WrongAnswer);
            }
            slice::from_raw_parts(value, length)
        };
        let digits = match value.len().checked_sub(output.len()) {
            Some(more) => {
                let (zeros, digits) = value.split_at(more);
                if zeros.iter().any(|byte| *byte != 0) {
                    return Err(Error::WrongAnswer);
                }
                digits
            }
            None => value,
        };
        let (high, low) = output.split_at_mut(output.len() - digits.len());
        high.fill(0);
        low.copy_from_slice(digits);
        Ok(())
    }

    /// Returns the number called `name`.
    pub(super) fn number(&self, name: &CStr) -> Result<Number, Error> {
        let list = self.list(name)?;
        // SAFETY: the expression is live.
        own_number(unsafe { ffi::gcry_sexp_nth_mpi(list.0, 1, ffi::GCRYMPI_FMT_USG) })
    }
}

/// A number, or bytes in place of a number.
pub(super) type Number = Owned<ffi::gcry_mpi>;

fn own_number(made: *mut ffi::gcry_mpi) -> Result<Number, Error> {
    // SAFETY: as promised by the caller of `Owned`.
    Owned::take(made, |made| unsafe { ffi::gcry_mpi_release(made) })
}

impl Number {
    /// Writes `self` mod (`prime` - 1) as exactly as many digits as `output` has. The result also replaces
    /// `prime`.
    pub(super) fn write_modulo_less_one(
        &self,
        prime: &Number,
        output: &mut [u8],
    ) -> Result<(), Error> {
        let mut written = 0;
        // SAFETY: all are live; the output has the stated length.
        succeeded(unsafe {
            ffi::gcry_mpi_sub_ui(prime.0, prime.0, 1);
            ffi::gcry_mpi_mod(prime.0, self.0, prime.0);
            let (output, room) = (output.as_mut_ptr(), output.len());
            ffi::gcry_mpi_print(ffi::GCRYMPI_FMT_USG, output, room, &mut written, prime.0)
        })?;
        // The digits are written from the left, however few they are.
        output.rotate_right(output.len() - written);
        output.get_mut(..output.len() - written).unwrap_or_default().fill(0);
        Ok(())
    }

    /// Copies the bytes that are there in place of a number.
    pub(super) fn copy_bytes(&self, output: &mut [u8]) -> Result<(), Error> {
        let mut bits = 0;
        // SAFETY: the bytes belong to the number, which is live, and have the length that the library returns.
        let bytes = unsafe {
            let bytes = ffi::gcry_mpi_get_opaque(self.0, &mut bits);
            if bytes.is_null() || bits.div_ceil(8) as usize != output.len() {
                return Err(Error::WrongAnswer);
            }
            slice::from_raw_parts(bytes, output.len())
        };
        output.copy_from_slice(bytes);
        Ok(())
    }
}

/// A curve, and a key of it.
pub(super) struct CurveContext(Owned<ffi::gcry_context>);

impl CurveContext {
    /// The curve called `name`. Returns an error if the library does not have it or may not use it.
    pub(super) fn named(name: &CStr) -> Result<CurveContext, Error> {
        CurveContext::open(ptr::null_mut(), name.as_ptr())
    }

    /// The curve of a key.
    pub(super) fn of(key: &Expression) -> Result<CurveContext, Error> {
        CurveContext::open(key.0, ptr::null())
    }

    fn open(
        key: *mut ffi::gcry_sexp,
        name: *const core::ffi::c_char,
    ) -> Result<CurveContext, Error> {
        let mut made = ptr::null_mut();
        // SAFETY: the key is live and the name a C string, or they are null.
        succeeded(unsafe { ffi::gcry_mpi_ec_new(&mut made, key, name) })?;
        // SAFETY: as promised by the caller of `Owned`.
        Owned::take(made, |made| unsafe { ffi::gcry_ctx_release(made) }).map(CurveContext)
    }

    /// A number of the curve or of the key.
    pub(super) fn number(&self, name: &CStr) -> Result<Number, Error> {
        // SAFETY: the context is live. No copy is requested, but the result is released all the same.
        own_number(unsafe { ffi::gcry_mpi_ec_get_mpi(name.as_ptr(), self.0.0, 0) })
    }

    /// Whether the private key is one of the curve's scalars: not 0, and less than its order.
    pub(super) fn has_scalar(&self) -> Result<bool, Error> {
        let (scalar, order) = (self.number(c"d")?, self.number(c"n")?);
        // SAFETY: both are live.
        Ok(unsafe {
            ffi::gcry_mpi_cmp_ui(scalar.0, 0) > 0 && ffi::gcry_mpi_cmp(scalar.0, order.0) < 0
        })
    }

    /// Whether the public key is one of the curve's points.
    pub(super) fn has_point(&self) -> bool {
        // SAFETY: the curve is live, and we release the point.
        unsafe {
            let point = ffi::gcry_mpi_ec_get_point(c"q".as_ptr(), self.0.0, 0);
            if point.is_null() {
                return false;
            }
            let there = ffi::gcry_mpi_ec_curve_point(point, self.0.0) != 0;
            ffi::gcry_mpi_point_release(point);
            there
        }
    }
}
