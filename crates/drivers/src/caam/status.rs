//! Status words of finished jobs: where an error came from, and which one it was (NXP's register header of the
//! i.MX RT1170 for the source, field SSRC of JRSTAR; Linux's and U-Boot's error tables for the numbers).

use core::fmt;

/// No error.
pub const GOOD: u32 = 0;

/// The source is in bits 31:28.
pub const SOURCE: u32 = 0xF << 28;
/// Source: an accelerator. Its identity is in bits 7:4 ([`cha`]), the error in bits 3:0 ([`ccb`]).
pub const CCB: u32 = 2 << 28;
/// Source: a JUMP command that halted with the status in bits 7:0.
pub const JUMP_HALT: u32 = 3 << 28;
/// Source: the descriptor controller. The error is in bits 7:0: see [`deco`].
pub const DECO: u32 = 4 << 28;
/// Source: the job ring. The error is in bits 7:0.
pub const RING: u32 = 6 << 28;
/// Source: a JUMP command that halted on conditions, whose codes are in bits 7:0.
pub const JUMP_CONDITIONS: u32 = 7 << 28;

/// The job descriptor had jumped to another one, so that the index is one of that.
pub const JUMPED: u32 = 1 << 27;
/// The index of the command, in words from the header, is in bits 15:8.
pub const INDEX: u32 = 8;
/// The mask of the index, before its shift.
pub const INDEX_MASK: u32 = 0xFF;
/// Identity of the accelerator, by its shift.
pub const CHA: u32 = 4;
/// The mask of the descriptor controller's error, and of the status of a JUMP command.
pub const ERROR_MASK: u32 = 0xFF;

/// The word of an accelerator's error.
pub const fn ccb_error(index: usize, cha: u32, error: u32) -> u32 {
    CCB | (index as u32 & INDEX_MASK) << INDEX | cha << CHA | error
}

/// The word of the descriptor controller's error.
pub const fn deco_error(index: usize, error: u32) -> u32 {
    DECO | (index as u32 & INDEX_MASK) << INDEX | error
}

/// The expected authentication code is not the computed one.
pub const fn is_mismatch(status: u32) -> bool {
    status & SOURCE == CCB && status & 0xF == ccb::ICV
}

/// Identities of accelerators.
pub mod cha {
    /// None: the cluster itself.
    pub const NONE: u32 = 0;
    /// AES.
    pub const AES: u32 = 1;
    /// DES.
    pub const DES: u32 = 2;
    /// Message digests.
    pub const MD: u32 = 4;
    /// Random numbers.
    pub const RNG: u32 = 5;
    /// Public keys.
    pub const PK: u32 = 8;
    /// CRC.
    pub const CRC: u32 = 9;
}

/// Errors of accelerators.
pub mod ccb {
    /// The mode does not exist.
    pub const MODE: u32 = 1;
    /// The size of the data is impossible in this mode.
    pub const DATA_SIZE: u32 = 2;
    /// The size of the key is impossible.
    pub const KEY_SIZE: u32 = 3;
    /// Data of a type arrived when another was due.
    pub const SEQUENCE: u32 = 6;
    /// Public keys: the size of the A memory is impossible.
    pub const PK_A_SIZE: u32 = 4;
    /// Public keys: the size of the B memory is impossible.
    pub const PK_B_SIZE: u32 = 5;
    /// Public keys: a division by zero.
    pub const PK_ZERO: u32 = 7;
    /// Public keys: the modulus is even.
    pub const PK_EVEN: u32 = 8;
    /// A DES key has bytes of even parity.
    pub const PARITY: u32 = 9;
    /// The authentication code is another one than expected.
    pub const ICV: u32 = 10;
    /// Hardware.
    pub const HARDWARE: u32 = 11;
    /// Associated data of 65,280 bytes or more in CCM.
    pub const CCM_AAD: u32 = 12;
    /// The accelerator has not been reset since its last operation.
    pub const NOT_RESET: u32 = 13;
    /// Accelerators were selected that do not go together.
    pub const COMBINATION: u32 = 14;
    /// The accelerator does not exist.
    pub const NO_CHA: u32 = 15;
    /// Random numbers: a state handle is instantiated already.
    pub const RNG_INSTANTIATE: u32 = 3;
    /// Random numbers: the state handle is not instantiated.
    pub const RNG_NOT_INSTANTIATED: u32 = 4;
    /// Random numbers: the secure keys have been made already.
    pub const RNG_SECURE_KEY: u32 = 9;
}

/// Errors of the descriptor controller.
pub mod deco {
    /// A scatter-gather table is shorter than the data.
    pub const SGT_LENGTH: u32 = 0x01;
    /// An entry of a scatter-gather table is null.
    pub const SGT_NULL: u32 = 0x02;
    /// Job ring control.
    pub const RING_CONTROL: u32 = 0x03;
    /// No such command.
    pub const COMMAND: u32 = 0x04;
    /// Invalid KEY command.
    pub const KEY: u32 = 0x06;
    /// Invalid LOAD command.
    pub const LOAD: u32 = 0x07;
    /// Invalid STORE command.
    pub const STORE: u32 = 0x08;
    /// Invalid OPERATION command.
    pub const OPERATION: u32 = 0x09;
    /// Invalid FIFO LOAD command.
    pub const FIFO_LOAD: u32 = 0x0A;
    /// Invalid FIFO STORE command.
    pub const FIFO_STORE: u32 = 0x0B;
    /// Invalid MOVE command.
    pub const MOVE: u32 = 0x0C;
    /// Invalid JUMP command.
    pub const JUMP: u32 = 0x0D;
    /// Invalid MATH command.
    pub const MATH: u32 = 0x0E;
    /// Invalid SIGNATURE command.
    pub const SIGNATURE: u32 = 0x0F;
    /// Invalid sequence command, or a sequence that is too short.
    pub const SEQUENCE: u32 = 0x10;
    /// The data type of a skip is invalid.
    pub const SKIP: u32 = 0x11;
    /// The header of a shared descriptor is wrong.
    pub const SHARED_HEADER: u32 = 0x12;
    /// The header is wrong: its length, or the bits that tell the byte order.
    pub const HEADER: u32 = 0x13;
    /// The burster is in an illegal state.
    pub const BURSTER: u32 = 0x14;
    /// A context is longer than its register.
    pub const CONTEXT: u32 = 0x15;
    /// A transfer failed.
    pub const DMA: u32 = 0x16;
    /// The job did not run because its ring was reset.
    pub const RESET: u32 = 0x1A;
    /// The job did not run because the engine is in fail mode.
    pub const FAIL_MODE: u32 = 0x1B;
    /// The watchdog expired.
    pub const WATCHDOG: u32 = 0x1C;
    /// The frame could not be read.
    pub const FRAME: u32 = 0x23;
    /// A secure key that the command needs has not been loaded.
    pub const NO_SECURE_KEY: u32 = 0x24;
    /// The descriptor is marked as not to be run.
    pub const DO_NOT_RUN: u32 = 0x80;
    /// No such protocol.
    pub const PROTOCOL: u32 = 0x81;
    /// The protocol's data block is wrong.
    pub const PROTOCOL_DATA: u32 = 0x82;
    /// The sizes in a protocol do not fit.
    pub const PROTOCOL_SIZE: u32 = 0x89;
}

/// A status word in words: its source, its error, and the command's index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Word(pub u32);

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Word(word) = *self;
        let error = word & ERROR_MASK;
        match word & SOURCE {
            GOOD => return f.write_str("no error"),
            CCB => write!(f, "{}: {}", cha_name(word >> CHA & 0xF), ccb_words(word))?,
            DECO => write!(f, "descriptor controller: {}", deco_words(error))?,
            RING => write!(f, "job ring: {}", deco_words(error))?,
            JUMP_HALT => write!(f, "halted with status {error}")?,
            JUMP_CONDITIONS => write!(f, "halted with conditions {error:#04x}")?,
            other => write!(f, "undocumented source {}", other >> 28)?,
        }
        let index = word >> INDEX & INDEX_MASK;
        let of = if word & JUMPED != 0 { " of a descriptor that was jumped to" } else { "" };
        write!(f, ", at word {index}{of}")
    }
}

fn cha_name(identity: u32) -> &'static str {
    match identity {
        cha::NONE => "accelerators",
        cha::AES => "AES",
        cha::DES => "DES",
        cha::MD => "message digest",
        cha::RNG => "random numbers",
        cha::PK => "public keys",
        cha::CRC => "CRC",
        _ => "undocumented accelerator",
    }
}

fn ccb_words(word: u32) -> &'static str {
    match (word >> CHA & 0xF, word & 0xF) {
        (cha::RNG, ccb::RNG_INSTANTIATE) => "the state handle is instantiated already",
        (cha::RNG, ccb::RNG_NOT_INSTANTIATED) => "the state handle is not instantiated",
        (cha::RNG, ccb::RNG_SECURE_KEY) => "the secure keys have been made already",
        (cha::PK, ccb::PK_A_SIZE) => "no number of this size in memory A",
        (cha::PK, ccb::PK_B_SIZE) => "no number of this size in memory B",
        (cha::PK, ccb::PK_ZERO) => "division by zero",
        (cha::PK, ccb::PK_EVEN) => "the modulus is even",
        (_, ccb::MODE) => "no such mode",
        (_, ccb::DATA_SIZE) => "the mode does not take data of this size",
        (_, ccb::KEY_SIZE) => "no key of this size",
        (_, ccb::SEQUENCE) => "data of another type was due",
        (_, ccb::PARITY) => "a byte of the key has even parity",
        (_, ccb::ICV) => "the authentication code is another one",
        (_, ccb::HARDWARE) => "hardware error",
        (_, ccb::CCM_AAD) => "too much associated data for CCM",
        (_, ccb::NOT_RESET) => "not reset since its last operation",
        (_, ccb::COMBINATION) => "accelerators that do not go together",
        (_, ccb::NO_CHA) => "the accelerator does not exist",
        _ => "undocumented error",
    }
}

fn deco_words(error: u32) -> &'static str {
    match error {
        deco::SGT_LENGTH => "a scatter-gather table is shorter than the data",
        deco::SGT_NULL => "an entry of a scatter-gather table is null",
        deco::RING_CONTROL => "job ring control",
        deco::COMMAND => "no such command",
        deco::KEY => "invalid KEY command",
        deco::LOAD => "invalid LOAD command",
        deco::STORE => "invalid STORE command",
        deco::OPERATION => "invalid OPERATION command",
        deco::FIFO_LOAD => "invalid FIFO LOAD command",
        deco::FIFO_STORE => "invalid FIFO STORE command",
        deco::MOVE => "invalid MOVE command",
        deco::JUMP => "invalid JUMP command",
        deco::MATH => "invalid MATH command",
        deco::SIGNATURE => "invalid SIGNATURE command",
        deco::SEQUENCE => "invalid sequence command, or a sequence that is too short",
        deco::SKIP => "a skip of data of this type",
        deco::SHARED_HEADER => "wrong header of a shared descriptor",
        deco::HEADER => "wrong header",
        deco::BURSTER => "illegal state of the burster",
        deco::CONTEXT => "a context is longer than its register",
        deco::DMA => "a transfer failed",
        deco::RESET => "not run, because the ring was reset",
        deco::FAIL_MODE => "not run, because the engine is in fail mode",
        deco::WATCHDOG => "the watchdog expired",
        deco::FRAME => "the frame could not be read",
        deco::NO_SECURE_KEY => "a secure key has not been loaded",
        deco::DO_NOT_RUN => "marked as not to be run",
        deco::PROTOCOL => "no such protocol",
        deco::PROTOCOL_DATA => "wrong data block of a protocol",
        deco::PROTOCOL_SIZE => "sizes that do not fit the protocol",
        _ => "undocumented error",
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn a_status_word_is_told_in_words() {
        for (word, told) in [
            (GOOD, "no error"),
            (ccb_error(3, cha::AES, ccb::KEY_SIZE), "AES: no key of this size, at word 3"),
            (
                ccb_error(5, cha::RNG, ccb::RNG_INSTANTIATE),
                "random numbers: the state handle is instantiated already, at word 5",
            ),
            (
                deco_error(7, deco::DMA) | JUMPED,
                "descriptor controller: a transfer failed, at word 7 of a descriptor that was jumped to",
            ),
            (JUMP_HALT | 2 << INDEX | 9, "halted with status 9, at word 2"),
            (RING | deco::RESET, "job ring: not run, because the ring was reset, at word 0"),
        ] {
            assert_eq!(std::format!("{}", Word(word)), told);
        }
    }
}
