//! The protocols of RSA: numbers in, a number out. Formatting by PKCS #1 is not modelled.
//!
//! Assumed, because no public document states it: an input that is not below the modulus is an error of the data's size;
//! the scratch buffers stay as they are.

use super::deco::Job;
use super::fault::Fault;
use super::memories::BYTES;
use super::modular::{self, padded};
use super::place::Cursor;
use cpb_drivers::caam::descriptor::{Format, header, rsa};
use cpb_drivers::caam::status::{ccb, deco};
use num_bigint::BigUint;

/// The data block of a protocol, which is read word by word.
struct DataBlock {
    words: std::vec::IntoIter<u32>,
    format: Format,
    tables: u32,
}

impl DataBlock {
    fn word(&mut self) -> Result<u32, Fault> {
        self.words.next().ok_or(Fault::Deco(deco::PROTOCOL_DATA))
    }

    /// The next pointer. The flags of pointers are in the order of pointers.
    fn pointer(&mut self) -> Result<Cursor, Fault> {
        let first = self.word()?;
        let address = if self.format.long_pointers {
            self.format.address([first, self.word()?])
        } else {
            first.into()
        };
        let is_table = self.tables & rsa::TABLE != 0;
        self.tables <<= 1;
        Ok(Cursor::new(address, is_table))
    }
}

/// The two lengths of a word, the lower one first. Each is at least 1.
fn lengths(word: u32) -> Result<[usize; 2], Fault> {
    let lengths = [0, rsa::LENGTH].map(|shift| (word >> shift & rsa::LENGTH_MASK) as usize);
    lengths.iter().all(|length| (1..=BYTES).contains(length)).then_some(lengths).ok_or(WRONG_SIZE)
}

const WRONG_SIZE: Fault = Fault::Deco(deco::PROTOCOL_SIZE);

/// What the private forms two and three compute with.
struct Primes {
    p: BigUint,
    q: BigUint,
    exponent_p: BigUint,
    exponent_q: BigUint,
    coefficient: BigUint,
}

impl Job<'_> {
    /// OPERATION of a protocol of RSA.
    pub(super) fn rsa(&mut self, word: u32) -> Result<(), Fault> {
        if self.configuration.pk.is_none() {
            return Err(modular::fault(ccb::NO_CHA));
        }
        // A job descriptor with a shared one has its pointer there.
        let start = match self.begin {
            0 => (self.buffer[0] >> header::START & header::START_MASK) as usize,
            _ => 0,
        };
        let words = self.buffer.get(1..start.min(self.end)).unwrap_or_default().to_vec();
        let mut block = DataBlock { words: words.into_iter(), format: self.format, tables: 0 };
        let first = block.word()?;
        block.tables = first & !(rsa::LENGTH_MASK << rsa::LENGTH | rsa::LENGTH_MASK);
        let options = word & 0xFFFF;
        match (word & 0xFF << 16, options) {
            (rsa::PUBLIC, 0) => self.rsa_public(first, block),
            (rsa::PRIVATE, rsa::FORM_1) => self.rsa_private(first, block),
            (rsa::PRIVATE, rsa::FORM_2) => self.rsa_primes(first, block, false),
            (rsa::PRIVATE, rsa::FORM_3) => self.rsa_primes(first, block, true),
            _ => Err(Fault::Deco(deco::PROTOCOL)),
        }
    }

    fn rsa_public(&mut self, first: u32, mut block: DataBlock) -> Result<(), Fault> {
        let [size, exponent_size] = lengths(first)?;
        let (mut from, to) = (block.pointer()?, block.pointer()?);
        let (mut modulus, mut exponent) = (block.pointer()?, block.pointer()?);
        let length = block.word()? as usize;
        if length > size {
            return Err(WRONG_SIZE);
        }
        let input = self.number(&mut from, length)?;
        let modulus = self.number(&mut modulus, size)?;
        let exponent = self.number(&mut exponent, exponent_size)?;
        let output = self.rsa_power(&input, &exponent, &modulus)?;
        self.put_number(to, &output, size)
    }

    fn rsa_private(&mut self, first: u32, mut block: DataBlock) -> Result<(), Fault> {
        let [size, exponent_size] = lengths(first)?;
        let (mut from, to) = (block.pointer()?, block.pointer()?);
        let (mut modulus, mut exponent) = (block.pointer()?, block.pointer()?);
        let input = self.number(&mut from, size)?;
        let modulus = self.number(&mut modulus, size)?;
        let exponent = self.number(&mut exponent, exponent_size)?;
        let output = self.rsa_power(&input, &exponent, &modulus)?;
        self.put_number(to, &output, size)
    }

    fn rsa_power(
        &mut self,
        input: &BigUint,
        exponent: &BigUint,
        modulus: &BigUint,
    ) -> Result<BigUint, Fault> {
        Self::check_odd(modulus)?;
        if input >= modulus {
            return Err(modular::fault(ccb::DATA_SIZE));
        }
        self.power(input, exponent, modulus)
    }

    /// Forms two and three. `is_complete` means that the exponents and the coefficient of the primes are there.
    fn rsa_primes(
        &mut self,
        first: u32,
        mut block: DataBlock,
        is_complete: bool,
    ) -> Result<(), Fault> {
        // Form 3 has no length of an exponent; tables of its last pointers have their flags there.
        let size = (first & rsa::LENGTH_MASK) as usize;
        let mut pointers = Vec::new();
        for _ in 0..if is_complete { 9 } else { 7 } {
            pointers.push(block.pointer()?);
        }
        let [p_size, q_size] = lengths(block.word()?)?;
        if !(1..=BYTES).contains(&size) || size > p_size + q_size {
            return Err(WRONG_SIZE);
        }
        let input = self.number(&mut pointers[0], size)?;
        let primes = if is_complete {
            let mut next = |at: usize, size| self.number(&mut pointers[at], size);
            Primes {
                coefficient: next(2, p_size)?,
                p: next(3, p_size)?,
                q: next(4, q_size)?,
                exponent_p: next(5, p_size)?,
                exponent_q: next(6, q_size)?,
            }
        } else {
            let [_, exponent_size] = lengths(first)?;
            let exponent = self.number(&mut pointers[2], exponent_size)?;
            let p = self.number(&mut pointers[3], p_size)?;
            let q = self.number(&mut pointers[4], q_size)?;
            self.primes(&exponent, p, q)?
        };
        let output = self.by_primes(&input, &primes)?;
        self.put_number(pointers[1], &output, size)
    }

    /// The exponents and the coefficient of the primes.
    fn primes(&mut self, exponent: &BigUint, p: BigUint, q: BigUint) -> Result<Primes, Fault> {
        Self::check_odd(&p)?;
        Self::check_odd(&q)?;
        let exponent_p = self.reduce(exponent, &(&p - 1u8))?;
        let exponent_q = self.reduce(exponent, &(&q - 1u8))?;
        let coefficient = self.inverse(&q, &p)?;
        Ok(Primes { p, q, exponent_p, exponent_q, coefficient })
    }

    /// The Chinese remainder theorem (RFC 8017, 5.1.2, step 2b).
    fn by_primes(&mut self, input: &BigUint, primes: &Primes) -> Result<BigUint, Fault> {
        let Primes { p, q, exponent_p, exponent_q, coefficient } = primes;
        Self::check_odd(p)?;
        Self::check_odd(q)?;
        if *input >= p * q {
            return Err(modular::fault(ccb::DATA_SIZE));
        }
        let (input_p, input_q) = (self.reduce(input, p)?, self.reduce(input, q)?);
        let output_p = self.power(&input_p, exponent_p, p)?;
        let output_q = self.power(&input_q, exponent_q, q)?;
        let difference = output_p + p - &output_q % p;
        let lift = self.multiply(coefficient, &difference, p)?;
        Ok(output_q + lift * q)
    }

    /// Reads a number, the most significant byte first.
    fn number(&mut self, cursor: &mut Cursor, length: usize) -> Result<BigUint, Fault> {
        let bytes = self.read(cursor, length as u32)?;
        Ok(BigUint::from_bytes_be(&bytes))
    }

    /// Writes a number of `length` bytes.
    fn put_number(&mut self, mut to: Cursor, number: &BigUint, length: usize) -> Result<(), Fault> {
        let ranges = self.ranges(&mut to, length as u32)?;
        let bytes = padded(number, length);
        // Primes whose product is longer than the modulus are not those of the key.
        if bytes.len() > length {
            return Err(WRONG_SIZE);
        }
        self.write(&ranges, &bytes);
        Ok(())
    }
}
