//! Public keys: the protocols of RSA and their data blocks.
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
