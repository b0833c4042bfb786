//! ECDSA and ECDH.

use super::super::descriptor::pkha;
use super::super::{Caam, Completion};
use super::accelerator::Operand;
use super::curve::{Curve, NUMBER, Number, Point, number};
use cpb_core::{Bus, Error, Meaning};

/// Bytes that are drawn beyond the order's, so that what is reduced is close to uniform (FIPS 186-5, A.3.1).
const EXTRA: usize = 8;

const _: () = assert!(NUMBER >= 48 + EXTRA, "random numbers for the longest order");

/// How often a number that turns out to be zero is drawn again.
const DRAWS: usize = 4;

/// An uncompressed point begins with this byte (SEC 1, 2.3.3).
const UNCOMPRESSED: u8 = 4;

/// A drawn number stays zero: the generator is broken.
const NO_NUMBER: Error = Error::Engine { code: 0, meaning: Meaning::Hardware };

impl<B: Bus> Caam<'_, B> {
    /// A scalar from 1 to what is below the order.
    fn scalar(&mut self, curve: &Curve, scalar: &mut Number, how: Completion) -> Result<(), Error> {
        let size = curve.size;
        for _ in 0..DRAWS {
            let mut drawn = number();
            self.random(&mut drawn.0, how)?;
            let order = &curve.order.0[..size];
            self.modular(pkha::REDUCE, [&drawn.0[..size + EXTRA], &[]], order, scalar, how)?;
            if is_positive(&scalar.0[..size]) {
                return Ok(());
            }
        }
        Err(NO_NUMBER)
    }

    /// Signs a digest (FIPS 186-5, 6.4.1).
    pub(super) fn sign(
        &mut self,
        curve: &Curve,
        private: &[u8],
        digest: &[u8],
        signature: &mut [u8],
        how: Completion,
    ) -> Result<(), Error> {
        let (size, order) = (curve.size, &curve.order.0[..curve.size]);
        let [mut secret, mut r, mut s, mut t, mut u] = [const { number() }; 5];
        let mut point = Point::new();
        for _ in 0..DRAWS {
            self.scalar(curve, &mut secret, how)?;
            let k = &secret.0[..size];
            self.point(curve, &curve.base, Operand::Scalar(k), &mut point, how)?;
            self.modular(pkha::REDUCE, [&point.x.0[..size], &[]], order, &mut r, how)?;
            self.modular(pkha::MULTIPLY, [&r.0[..size], private], order, &mut t, how)?;
            self.modular(pkha::REDUCE, [digest, &[]], order, &mut u, how)?;
            self.modular(pkha::ADD, [&t.0[..size], &u.0[..size]], order, &mut s, how)?;
            self.modular(pkha::INVERT, [k, &[]], order, &mut t, how)?;
            self.modular(pkha::MULTIPLY, [&s.0[..size], &t.0[..size]], order, &mut u, how)?;
            let (first, second) = signature.split_at_mut(size);
            first.copy_from_slice(&r.0[..size]);
            second.copy_from_slice(&u.0[..size]);
            if is_positive(first) && is_positive(second) {
                return Ok(());
            }
        }
        Err(NO_NUMBER)
    }

    /// Verifies the signature of a digest (FIPS 186-5, 6.4.2). The public key has been checked.
    pub(super) fn verify(
        &mut self,
        curve: &Curve,
        public: &[u8],
        digest: &[u8],
        signature: &[u8],
        how: Completion,
    ) -> Result<(), Error> {
        let (size, order) = (curve.size, &curve.order.0[..curve.size]);
        let (r, s) = signature.split_at(size);
        if !is_within(r, order) || !is_within(s, order) {
            return Err(Error::Refused);
        }
        let [mut inverse, mut e, mut u, mut v] = [const { number() }; 4];
        self.modular(pkha::INVERT, [s, &[]], order, &mut inverse, how)?;
        self.modular(pkha::REDUCE, [digest, &[]], order, &mut e, how)?;
        self.modular(pkha::MULTIPLY, [&e.0[..size], &inverse.0[..size]], order, &mut u, how)?;
        self.modular(pkha::MULTIPLY, [r, &inverse.0[..size]], order, &mut v, how)?;
        let key = point(curve, public)?;
        let mut sum = Point::new();
        self.point(curve, &key, Operand::Scalar(&v.0[..size]), &mut sum, how)?;
        if is_positive(&u.0) {
            let (of_key, mut of_base) = (sum, Point::new());
            let u = Operand::Scalar(&u.0[..size]);
            self.point(curve, &curve.base, u, &mut of_base, how)?;
            // Their sum is at infinity.
            if of_base.x.0 == of_key.x.0 && of_base.y.0 != of_key.y.0 {
                return Err(Error::Refused);
            }
            sum = Point::new();
            self.point(curve, &of_base, Operand::Point(&of_key), &mut sum, how)?;
        }
        self.modular(pkha::REDUCE, [&sum.x.0[..size], &[]], order, &mut e, how)?;
        if e.0[..size] == *r { Ok(()) } else { Err(Error::Refused) }
    }

    /// The secret of a private and a public key (SP 800-56A, 5.7.1.2).
    pub(super) fn agree(
        &mut self,
        curve: &Curve,
        private: &[u8],
        public: &[u8],
        secret: &mut [u8],
        how: Completion,
    ) -> Result<(), Error> {
        let peer = self.point_of(curve, public, how)?;
        let mut product = Point::new();
        self.point(curve, &peer, Operand::Scalar(private), &mut product, how)?;
        if !is_positive(&product.x.0) && !is_positive(&product.y.0) {
            return Err(Error::Refused);
        }
        secret.copy_from_slice(&product.x.0[..curve.size]);
        Ok(())
    }

    /// A new pair: the private key, and behind it the public one.
    pub(super) fn generate(
        &mut self,
        curve: &Curve,
        pair: &mut [u8],
        how: Completion,
    ) -> Result<(), Error> {
        let size = curve.size;
        let (mut private, mut public) = (number(), Point::new());
        self.scalar(curve, &mut private, how)?;
        let scalar = Operand::Scalar(&private.0[..size]);
        self.point(curve, &curve.base, scalar, &mut public, how)?;
        let parts = [&private.0[..size], &[UNCOMPRESSED], &public.x.0[..size], &public.y.0[..size]];
        let bytes = parts.into_iter().flatten();
        pair.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
        Ok(())
    }

    /// The point of a public key, which is checked to be one of the curve (SP 800-56A, 5.6.2.3.3): by the engine,
    /// y² = (x² + a) x + b.
    pub(super) fn point_of(
        &mut self,
        curve: &Curve,
        public: &[u8],
        how: Completion,
    ) -> Result<Point, Error> {
        let point = point(curve, public)?;
        let (size, prime) = (curve.size, &curve.prime.0[..curve.size]);
        let (x, y) = (&point.x.0[..size], &point.y.0[..size]);
        if x >= prime || y >= prime {
            return Err(Error::Refused);
        }
        let [mut left, mut t, mut u] = [const { number() }; 3];
        self.modular(pkha::MULTIPLY, [y, y], prime, &mut left, how)?;
        self.modular(pkha::MULTIPLY, [x, x], prime, &mut t, how)?;
        self.modular(pkha::ADD, [&t.0[..size], &curve.a.0[..size]], prime, &mut u, how)?;
        self.modular(pkha::MULTIPLY, [&u.0[..size], x], prime, &mut t, how)?;
        self.modular(pkha::ADD, [&t.0[..size], &curve.b.0[..size]], prime, &mut u, how)?;
        if left.0 == u.0 { Ok(point) } else { Err(Error::Refused) }
    }
}

/// The coordinates of an uncompressed point.
fn point(curve: &Curve, public: &[u8]) -> Result<Point, Error> {
    let Some((&UNCOMPRESSED, coordinates)) = public.split_first() else {
        return Err(Error::Refused);
    };
    if coordinates.len() != 2 * curve.size {
        return Err(Error::Refused);
    }
    let mut point = Point::new();
    let (x, y) = coordinates.split_at(curve.size);
    point.x.0[..x.len()].copy_from_slice(x);
    point.y.0[..y.len()].copy_from_slice(y);
    Ok(point)
}

/// Whether a number is not zero.
fn is_positive(number: &[u8]) -> bool {
    number.iter().any(|byte| *byte != 0)
}

/// Whether a number is from 1 to what is below `end`, which is as long.
fn is_within(number: &[u8], end: &[u8]) -> bool {
    is_positive(number) && number < end
}
