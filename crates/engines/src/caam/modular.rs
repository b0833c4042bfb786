//! Modular arithmetic of the accelerator for public keys (PKHA), and its cost in products of 32-bit words.
//!
//! How the accelerator computes is not public. Assumed: products are Montgomery products of 2w² + w word products for
//! a modulus of w words (Koç, Acar and Kaliski, "Analyzing and Comparing Montgomery Multiplication Algorithms", IEEE
//! Micro 16(3), 1996, table 1); exponents are scanned bit by bit; inverses take a pass over both numbers for each bit of
//! each (the binary Euclidean algorithm).

use super::deco::Job;
use super::fault::Fault;
use cpb_drivers::caam::status::{ccb, cha, deco};
use num_bigint::BigUint;

/// How many word products a job may need, so that a descriptor cannot keep the host busy: more than a private operation
/// of 4096 bits without the primes, with an exponent of ones. A job that needs more expires (assumed).
const PRODUCTS: f64 = 300e6;

/// What a Montgomery product counts at least towards that: the host takes as long for numbers of a few words.
const LEAST: f64 = 256.0;

/// An error of the accelerator.
pub(super) fn fault(error: u32) -> Fault {
    Fault::Cha(cha::PK, error)
}

/// The number of 32-bit words of a number.
fn words(number: &BigUint) -> f64 {
    number.bits().div_ceil(32) as f64
}

/// The word products of a Montgomery product.
fn product_cost(modulus: &BigUint) -> f64 {
    let words = words(modulus);
    2.0 * words * words + words
}

/// The number in bytes, the most significant first, filled up with zeros. It must fit.
pub(super) fn padded(number: &BigUint, length: usize) -> Vec<u8> {
    let digits = if number.bits() == 0 { Vec::new() } else { number.to_bytes_be() };
    let mut bytes = vec![0; length.saturating_sub(digits.len())];
    bytes.extend(digits);
    bytes
}

impl Job<'_> {
    /// Adds the time of Montgomery products.
    pub(super) fn spend(&mut self, products: f64, modulus: &BigUint) -> Result<(), Fault> {
        let cost = product_cost(modulus);
        self.time.compute += self.timing.word_product * products * cost;
        self.count(products * cost.max(LEAST))
    }

    /// Adds the time of word products.
    fn multiply_words(&mut self, products: f64) -> Result<(), Fault> {
        self.time.compute += self.timing.word_product * products;
        self.count(products)
    }

    fn count(&mut self, products: f64) -> Result<(), Fault> {
        self.products += products;
        if self.products > PRODUCTS { Err(Fault::Deco(deco::WATCHDOG)) } else { Ok(()) }
    }

    /// Checks a modulus of Montgomery products, which must be odd.
    pub(super) fn check_odd(modulus: &BigUint) -> Result<(), Fault> {
        match (modulus.bits(), modulus.bit(0)) {
            (0, _) => Err(fault(ccb::PK_ZERO)),
            (_, false) => Err(fault(ccb::PK_EVEN)),
            _ => Ok(()),
        }
    }

    /// `base` to the power of `exponent` modulo `modulus`.
    pub(super) fn power(
        &mut self,
        base: &BigUint,
        exponent: &BigUint,
        modulus: &BigUint,
    ) -> Result<BigUint, Fault> {
        Self::check_odd(modulus)?;
        // A square for each bit, a product for each one, and two conversions.
        let steps = exponent.bits() + exponent.count_ones() + 2;
        self.spend(steps as f64, modulus)?;
        Ok(base.modpow(exponent, modulus))
    }

    /// `number` modulo `modulus`.
    pub(super) fn reduce(&mut self, number: &BigUint, modulus: &BigUint) -> Result<BigUint, Fault> {
        if modulus.bits() == 0 {
            return Err(fault(ccb::PK_ZERO));
        }
        self.multiply_words(words(number) * words(modulus))?;
        Ok(number % modulus)
    }

    /// The product of two numbers modulo `modulus`.
    pub(super) fn multiply(
        &mut self,
        one: &BigUint,
        other: &BigUint,
        modulus: &BigUint,
    ) -> Result<BigUint, Fault> {
        Self::check_odd(modulus)?;
        // One product, and one that takes the factor out which the first one brought in.
        self.spend(2.0, modulus)?;
        Ok(one * other % modulus)
    }

    /// The inverse of a number modulo `modulus`.
    pub(super) fn inverse(
        &mut self,
        number: &BigUint,
        modulus: &BigUint,
    ) -> Result<BigUint, Fault> {
        if modulus.bits() == 0 {
            return Err(fault(ccb::PK_ZERO));
        }
        self.multiply_words(2.0 * modulus.bits() as f64 * words(modulus))?;
        // What has no inverse is divided by zero (assumed).
        number.modinv(modulus).ok_or(fault(ccb::PK_ZERO))
    }
}
