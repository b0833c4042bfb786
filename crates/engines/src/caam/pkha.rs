//! The accelerator for public keys (PKHA) as a unit: its operations.
//!
//! Numbers are loaded and stored with the most significant byte first. Modelled: integers and curves over
//! primes, in normal form. Montgomery form, binary polynomials, projective points, a square of R that is given, greatest
//! common divisors and tests of primality end with a mode error.
//!
//! Assumed, because no public document states it: numbers that are not below the modulus are reduced, and the size of a
//! result is that of the modulus.

use super::curve::{Curve, Point};
use super::deco::Job;
use super::fault::Fault;
use super::memories::{BYTES, Memories, Numbers, QUARTER};
use super::modular::{fault, padded};
use cpb_drivers::caam::descriptor::pkha;
use cpb_drivers::caam::status::{ccb, deco};
use num_bigint::BigUint;

impl Job<'_> {
    /// FIFO LOAD of a number.
    pub(super) fn load_number(&mut self, kind: u32, bytes: &[u8]) -> Result<(), Fault> {
        let wrong = Fault::Deco(deco::FIFO_LOAD);
        let (numbers, quarter, is_quarter) = self.public_keys.named(kind).ok_or(wrong)?;
        if is_quarter && bytes.len() > QUARTER {
            return Err(wrong);
        }
        numbers.put(quarter, bytes.iter().rev().copied()).ok_or(wrong)
    }

    /// KEY into memory E.
    pub(super) fn load_exponent(&mut self, bytes: Vec<u8>) {
        self.public_keys.e = bytes;
    }

    /// FIFO STORE of a number, in `length` bytes.
    pub(super) fn stored_number(&mut self, kind: u32, length: usize) -> Result<Vec<u8>, Fault> {
        let wrong = Fault::Deco(deco::FIFO_STORE);
        let (numbers, quarter, is_quarter) = self.public_keys.named(kind).ok_or(wrong)?;
        let room = if is_quarter { QUARTER } else { BYTES };
        if length > room {
            return Err(wrong);
        }
        Ok(padded(&numbers.number(quarter, length), length))
    }

    /// OPERATION of public keys.
    pub(super) fn public_key(&mut self, word: u32) -> Result<(), Fault> {
        if self.configuration.pk.is_none() {
            return Err(fault(ccb::NO_CHA));
        }
        match word & pkha::FUNCTION {
            pkha::CLEAR => {
                self.clear_numbers(word);
                Ok(())
            }
            pkha::COPY_BY_MODULUS | pkha::COPY_BY_SOURCE => self.copy_number(word),
            _ if word & pkha::OTHER_FORMS != 0 => Err(fault(ccb::MODE)),
            pkha::POINT_SUM | pkha::POINT_DOUBLE | pkha::POINT_MULTIPLE => self.points(word),
            pkha::ADD..=pkha::INVERT => self.arithmetic(word),
            _ => Err(fault(ccb::MODE)),
        }
    }

    fn clear_numbers(&mut self, word: u32) {
        let Memories { a, b, n, e } = &mut *self.public_keys;
        for (bit, numbers) in [(pkha::CLEAR_A, a), (pkha::CLEAR_B, b), (pkha::CLEAR_N, n)] {
            if word & bit != 0 {
                *numbers = Numbers::EMPTY;
            }
        }
        if word & pkha::CLEAR_E != 0 {
            e.clear();
        }
    }

    fn copy_number(&mut self, word: u32) -> Result<(), Fault> {
        let wrong = fault(ccb::MODE);
        let by_modulus = word & pkha::FUNCTION == pkha::COPY_BY_MODULUS;
        let modulus = self.public_keys.n.size;
        let from_quarter = (word >> pkha::FROM_QUARTER & 3) as usize;
        let to_quarter = (word >> pkha::TO_QUARTER & 3) as usize;
        let from = self.public_keys.numbered(word >> pkha::FROM & 7).ok_or(wrong)?;
        let size = if by_modulus { modulus } else { from.size };
        let start = from_quarter * QUARTER;
        let bytes = from.bytes.get(start..start + size).ok_or(wrong)?.to_vec();
        match word >> pkha::TO & 7 {
            pkha::REGISTER_E => self.public_keys.e = bytes.into_iter().rev().collect(),
            to => {
                let to = self.public_keys.numbered(to).ok_or(wrong)?;
                to.put(to_quarter, bytes.into_iter()).ok_or(wrong)?;
            }
        }
        Ok(())
    }

    /// The modulus, and the numbers in A and B.
    fn operands(&self) -> Result<[BigUint; 3], Fault> {
        let Memories { a, b, n, .. } = &*self.public_keys;
        let modulus = n.number(0, n.size);
        if modulus.bits() == 0 {
            return Err(fault(ccb::PK_ZERO));
        }
        Ok([modulus, a.number(0, a.size), b.number(0, b.size)])
    }

    /// Puts a result where the operation says.
    fn put_result(&mut self, word: u32, quarter: usize, result: &BigUint) -> Result<(), Fault> {
        let size = self.public_keys.n.size;
        let memories = &mut self.public_keys;
        let to = if word & pkha::TO_A != 0 { &mut memories.a } else { &mut memories.b };
        let bytes = padded(result, size);
        to.put(quarter, bytes.into_iter().rev()).ok_or(fault(ccb::DATA_SIZE))
    }

    fn arithmetic(&mut self, word: u32) -> Result<(), Fault> {
        let [n, a, b] = self.operands()?;
        let Memories { a: in_a, b: in_b, n: in_n, e } = &*self.public_keys;
        let function = word & pkha::FUNCTION;
        // A reduction takes a number of any size.
        if function != pkha::REDUCE && in_a.size > in_n.size {
            return Err(fault(ccb::PK_A_SIZE));
        }
        let has_b = matches!(function, pkha::ADD..=pkha::MULTIPLY);
        if has_b && in_b.size > in_n.size {
            return Err(fault(ccb::PK_B_SIZE));
        }
        let exponent = BigUint::from_bytes_be(e);
        let result = match function {
            pkha::ADD => (a + b) % &n,
            pkha::SUBTRACT => (a + &n - b % &n) % &n,
            pkha::SUBTRACT_A => (b + &n - a % &n) % &n,
            pkha::MULTIPLY => self.multiply(&a, &b, &n)?,
            pkha::POWER if e.is_empty() => return Err(fault(ccb::KEY_SIZE)),
            pkha::POWER => {
                if word & pkha::EQUAL_TIME != 0 {
                    // A product for each bit, of which one for each one is counted already.
                    let zeros = exponent.bits() - exponent.count_ones();
                    self.spend(zeros as f64, &n)?;
                }
                self.power(&a, &exponent, &n)?
            }
            pkha::REDUCE => self.reduce(&a, &n)?,
            _ => self.inverse(&a, &n)?,
        };
        self.put_result(word, 0, &result)
    }

    /// Operations of curves: a point in A0 and A1, another one in B1 and B2, a in A3, b in B0, the scalar in E. The
    /// result is in B1 and B2, or in A0 and A1.
    fn points(&mut self, word: u32) -> Result<(), Fault> {
        let Memories { a, b, n, e } = &*self.public_keys;
        let size = n.size;
        if size > QUARTER {
            return Err(fault(ccb::DATA_SIZE));
        }
        let prime = n.number(0, size);
        if prime.bits() == 0 {
            return Err(fault(ccb::PK_ZERO));
        }
        let reduced = |numbers: &Numbers, quarter| numbers.number(quarter, size) % &prime;
        let one = Point { x: reduced(a, 0), y: reduced(a, 1) };
        let other = Point { x: reduced(b, 1), y: reduced(b, 2) };
        let curve = Curve { a: reduced(a, 3), prime: prime.clone() };
        let scalar = BigUint::from_bytes_be(e);
        let equal_time = word & pkha::EQUAL_TIME != 0;
        let result = match word & pkha::FUNCTION {
            pkha::POINT_SUM => self.point_sum(&curve, &one, &other)?,
            pkha::POINT_DOUBLE => self.point_sum(&curve, &other, &other)?,
            _ if e.is_empty() => return Err(fault(ccb::KEY_SIZE)),
            _ => self.point_multiple(&curve, &one, &scalar, equal_time)?,
        };
        let first = if word & pkha::TO_A != 0 { 0 } else { 1 };
        self.put_result(word, first, &result.x)?;
        self.put_result(word, first + 1, &result.y)
    }
}
