//! Points of the curves y² = x³ + ax + b over a prime field.
//!
//! Cost in modular products (assumed): Jacobian coordinates; 10 a doubling with any a, 11 an addition of an affine point
//! (Bernstein and Lange, Explicit-Formulas Database, dbl-2007-bl and madd-2007-bl, squares counted as products); bits of
//! the scalar one by one; an inversion at the end.

use super::deco::Job;
use super::fault::Fault;
use num_bigint::BigUint;

/// Products of a doubling.
const DOUBLING: f64 = 10.0;
/// Products of an addition.
const ADDITION: f64 = 11.0;
/// Products that turn a result into affine coordinates.
const CONVERSION: f64 = 4.0;

/// A point in affine coordinates. The point at infinity is (0, 0) (assumed; it is on no curve that has b).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Point {
    pub(super) x: BigUint,
    pub(super) y: BigUint,
}

impl Point {
    fn is_infinite(&self) -> bool {
        self.x.bits() == 0 && self.y.bits() == 0
    }
}

/// A point in Jacobian coordinates: x is X/Z², y is Y/Z³; Z is zero at infinity.
#[derive(Clone, Debug)]
struct Jacobian {
    x: BigUint,
    y: BigUint,
    z: BigUint,
}

/// A curve: its prime and its a. Sums of points do not need b.
pub(super) struct Curve {
    pub(super) prime: BigUint,
    pub(super) a: BigUint,
}

impl Curve {
    fn product(&self, one: &BigUint, other: &BigUint) -> BigUint {
        one * other % &self.prime
    }

    /// Both must be below the prime.
    fn difference(&self, one: &BigUint, other: &BigUint) -> BigUint {
        (one + &self.prime - other) % &self.prime
    }

    fn times(&self, factor: u32, number: &BigUint) -> BigUint {
        number * factor % &self.prime
    }

    fn infinity() -> Jacobian {
        Jacobian { x: 1u8.into(), y: 1u8.into(), z: BigUint::ZERO }
    }

    fn jacobian(point: &Point) -> Jacobian {
        if point.is_infinite() {
            return Curve::infinity();
        }
        Jacobian { x: point.x.clone(), y: point.y.clone(), z: 1u8.into() }
    }

    fn doubled(&self, point: &Jacobian) -> Jacobian {
        let Jacobian { x, y, z } = point;
        if z.bits() == 0 || y.bits() == 0 {
            return Curve::infinity();
        }
        let y2 = self.product(y, y);
        let s = self.times(4, &self.product(x, &y2));
        let z2 = self.product(z, z);
        let m = self.times(3, &self.product(x, x));
        let m = (m + self.product(&self.a, &self.product(&z2, &z2))) % &self.prime;
        let new_x = self.difference(&self.product(&m, &m), &self.times(2, &s));
        let rest = self.times(8, &self.product(&y2, &y2));
        let new_y = self.difference(&self.product(&m, &self.difference(&s, &new_x)), &rest);
        Jacobian { x: new_x, y: new_y, z: self.times(2, &self.product(y, z)) }
    }

    fn sum(&self, one: &Jacobian, other: &Point) -> Jacobian {
        if other.is_infinite() {
            return one.clone();
        }
        let Jacobian { x, y, z } = one;
        if z.bits() == 0 {
            return Curve::jacobian(other);
        }
        let z2 = self.product(z, z);
        let h = self.difference(&self.product(&other.x, &z2), x);
        let r = self.difference(&self.product(&other.y, &self.product(z, &z2)), y);
        if h.bits() == 0 {
            return if r.bits() == 0 { self.doubled(one) } else { Curve::infinity() };
        }
        let h2 = self.product(&h, &h);
        let h3 = self.product(&h, &h2);
        let v = self.product(x, &h2);
        let new_x = self.difference(&self.product(&r, &r), &h3);
        let new_x = self.difference(&new_x, &self.times(2, &v));
        let new_y = self.product(&r, &self.difference(&v, &new_x));
        let new_y = self.difference(&new_y, &self.product(y, &h3));
        Jacobian { x: new_x, y: new_y, z: self.product(z, &h) }
    }
}

impl Job<'_> {
    /// The multiple of a point. With `equal_time`, zeros of the scalar cost as much as ones.
    pub(super) fn point_multiple(
        &mut self,
        curve: &Curve,
        point: &Point,
        scalar: &BigUint,
        equal_time: bool,
    ) -> Result<Point, Fault> {
        Self::check_odd(&curve.prime)?;
        let additions = if equal_time { scalar.bits() } else { scalar.count_ones() };
        let products = DOUBLING * scalar.bits() as f64 + ADDITION * additions as f64;
        self.spend(products, &curve.prime)?;
        let mut result = Curve::infinity();
        for bit in (0..scalar.bits()).rev() {
            result = curve.doubled(&result);
            if scalar.bit(bit) {
                result = curve.sum(&result, point);
            }
        }
        self.affine(curve, &result)
    }

    /// The sum of two points.
    pub(super) fn point_sum(
        &mut self,
        curve: &Curve,
        one: &Point,
        other: &Point,
    ) -> Result<Point, Fault> {
        Self::check_odd(&curve.prime)?;
        self.spend(ADDITION, &curve.prime)?;
        let sum = curve.sum(&Curve::jacobian(one), other);
        self.affine(curve, &sum)
    }

    fn affine(&mut self, curve: &Curve, point: &Jacobian) -> Result<Point, Fault> {
        if point.z.bits() == 0 {
            return Ok(Point::default());
        }
        self.spend(CONVERSION, &curve.prime)?;
        let inverse = self.inverse(&point.z, &curve.prime)?;
        let square = curve.product(&inverse, &inverse);
        let cube = curve.product(&inverse, &square);
        Ok(Point { x: curve.product(&point.x, &square), y: curve.product(&point.y, &cube) })
    }
}
