//! Public keys: the protocols of RSA with their data blocks, and the accelerator by itself.
//!
//! Sources of the numbers: NXP's runtime assembler (in DPDK, `drivers/common/dpaax/caamflib`, `desc.h` and the flags of
//! `desc/rsa.h`, BSD-3-Clause), and `pdb.h` of Linux's driver.

/// The protocols of RSA, their forms, and their data blocks.
///
/// A data block is between the header and the command that the header's start names. It begins with a word of flags and
/// lengths, which pointers follow:
///
/// | | pointers | last word |
/// |---|---|---|
/// | public | F (input), G (output), n, e | the length of F |
/// | private, form 1 | G (input), F (output), n, d | none |
/// | private, form 2 | G, F, d, p, q, two scratch buffers as long as p and q | the lengths of p and q |
/// | private, form 3 | G, F, c (1/q modulo p), p, q, d mod p-1, d mod q-1, two scratch buffers | the lengths of p and q |
pub mod rsa {
    /// Protocol: the public operation.
    pub const PUBLIC: u32 = 0x18 << 16;
    /// Protocol: the private operation; the form is in bits 3:0 of the command.
    pub const PRIVATE: u32 = 0x19 << 16;
    /// The mask of the form.
    pub const FORM: u32 = 0xF;
    /// Form 1: the modulus and the private exponent.
    pub const FORM_1: u32 = 0;
    /// Form 2: the private exponent and the primes.
    pub const FORM_2: u32 = 1;
    /// Form 3: the primes, their exponents and their coefficient.
    pub const FORM_3: u32 = 2;
    /// Flag in the first word: the first pointer is that of a table. The flags of the other pointers follow downwards.
    pub const TABLE: u32 = 1 << 31;
    /// The shift of the second length: of e or d in the first word, of q in the last one. The modulus and p are below.
    pub const LENGTH: u32 = 12;
    /// The mask of a length.
    pub const LENGTH_MASK: u32 = 0xFFF;
}

/// The accelerator for public keys: its memories as types of FIFO LOAD and FIFO STORE, and its operations.
///
/// OPERATION has the type [`super::operation::PUBLIC_KEY`]. Modular operations take A and B, and N as modulus. Operations
/// of curves take a point in A0 and A1, another one in B1 and B2, the curve's a in A3 and b in B0, and N as prime; their
/// result is in B1 and B2. E has the exponent or the scalar. (NXP's driver `fsl_caam` 2.4.0, `templateArithmeticPKHA`
/// and `templateArithmeticECC`; the flags are Linux's `desc.h`, `OP_ALG_PKMODE_…`.)
pub mod pkha {
    use super::super::operation;

    /// The shift of the types.
    pub const TYPE_SHIFT: u32 = 16;
    /// The bits of a type that are clear in all of these.
    pub const OTHER_TYPES: u32 = 0x30 << TYPE_SHIFT;
    /// Type: the first quarter of A; those of the other quarters follow.
    pub const A0: u32 = 0x00 << TYPE_SHIFT;
    /// Type: the second quarter of A.
    pub const A1: u32 = 0x01 << TYPE_SHIFT;
    /// Type: the fourth quarter of A.
    pub const A3: u32 = 0x03 << TYPE_SHIFT;
    /// Type: the first quarter of B; those of the other quarters follow.
    pub const B0: u32 = 0x04 << TYPE_SHIFT;
    /// Type: the second quarter of B.
    pub const B1: u32 = 0x05 << TYPE_SHIFT;
    /// Type: the third quarter of B.
    pub const B2: u32 = 0x06 << TYPE_SHIFT;
    /// Type: N.
    pub const N: u32 = 0x08 << TYPE_SHIFT;
    /// Type: all of A.
    pub const A: u32 = 0x0C << TYPE_SHIFT;
    /// Type: all of B.
    pub const B: u32 = 0x0D << TYPE_SHIFT;

    /// OPERATION: public keys, with the bit that all of NXP's commands set.
    pub const OPERATION: u32 = operation::PUBLIC_KEY | 1 << 23;
    /// The mask of the function.
    pub const FUNCTION: u32 = 0x3F;
    /// Function: clears memories.
    pub const CLEAR: u32 = 1;
    /// Function: A + B.
    pub const ADD: u32 = 2;
    /// Function: A - B.
    pub const SUBTRACT: u32 = 3;
    /// Function: B - A.
    pub const SUBTRACT_A: u32 = 4;
    /// Function: A times B.
    pub const MULTIPLY: u32 = 5;
    /// Function: A to the power of E.
    pub const POWER: u32 = 6;
    /// Function: A modulo N.
    pub const REDUCE: u32 = 7;
    /// Function: the inverse of A.
    pub const INVERT: u32 = 8;
    /// Function: the sum of two points.
    pub const POINT_SUM: u32 = 9;
    /// Function: the double of the point in B.
    pub const POINT_DOUBLE: u32 = 10;
    /// Function: E times the point in A.
    pub const POINT_MULTIPLE: u32 = 11;
    /// Function: copies as many bytes as N has.
    pub const COPY_BY_MODULUS: u32 = 0x10;
    /// Function: copies as many bytes as the source has.
    pub const COPY_BY_SOURCE: u32 = 0x11;

    /// Flag of [`CLEAR`]: A.
    pub const CLEAR_A: u32 = 1 << 19;
    /// Flag of [`CLEAR`]: B.
    pub const CLEAR_B: u32 = 1 << 18;
    /// Flag of [`CLEAR`]: E.
    pub const CLEAR_E: u32 = 1 << 17;
    /// Flag of [`CLEAR`]: N.
    pub const CLEAR_N: u32 = 1 << 16;
    /// Flags of arithmetic: Montgomery form of inputs or output, binary polynomials, a given square of R, and projective
    /// points.
    pub const OTHER_FORMS: u32 = 0xF << 16 | 1 << 11;
    /// Flag of arithmetic: the time does not depend on the exponent's or scalar's ones.
    pub const EQUAL_TIME: u32 = 1 << 10;
    /// Flag of arithmetic: the result goes to A instead of B.
    pub const TO_A: u32 = 1 << 8;

    /// The shift of a copy's source, three bits.
    pub const FROM: u32 = 17;
    /// The shift of a copy's destination, three bits.
    pub const TO: u32 = 10;
    /// The shift of the quarter of a copy's source.
    pub const FROM_QUARTER: u32 = 8;
    /// The shift of the quarter of a copy's destination.
    pub const TO_QUARTER: u32 = 6;
    /// The number of A in copies.
    pub const REGISTER_A: u32 = 0;
    /// The number of B in copies.
    pub const REGISTER_B: u32 = 1;
    /// The number of E in copies; it can only be the destination.
    pub const REGISTER_E: u32 = 2;
    /// The number of N in copies.
    pub const REGISTER_N: u32 = 3;
}
