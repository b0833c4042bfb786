//! Descriptors: the commands, and a builder for them.
//!
//! Sources of the numbers: NXP's `desc.h` of the runtime assembler (in DPDK, `drivers/common/dpaax/caamflib`,
//! BSD-3-Clause), and the descriptors of NXP's driver `fsl_caam` 2.4.0 for what the i.MX RT1170 uses.

mod build;
mod control;
mod public_key;

pub use build::{Descriptor, Format, Rule, SgtEntry, WordMemory};
pub use control::{jump, math, moving};
pub use public_key::{pkha, rsa};

/// The largest number of words of a descriptor: its length has seven bits, but the buffer has 64 words.
pub const WORDS: usize = 64;

/// The kind of a command, in bits 31:27.
pub mod command {
    /// The shift of the kind.
    pub const SHIFT: u32 = 27;
    /// Loads a key.
    pub const KEY: u32 = 0x00 << SHIFT;
    /// Loads a key from the input sequence.
    pub const SEQ_KEY: u32 = 0x01 << SHIFT;
    /// Loads a register.
    pub const LOAD: u32 = 0x02 << SHIFT;
    /// Loads a register from the input sequence.
    pub const SEQ_LOAD: u32 = 0x03 << SHIFT;
    /// Loads data for an accelerator.
    pub const FIFO_LOAD: u32 = 0x04 << SHIFT;
    /// Loads data from the input sequence for an accelerator.
    pub const SEQ_FIFO_LOAD: u32 = 0x05 << SHIFT;
    /// Stores a register.
    pub const STORE: u32 = 0x0A << SHIFT;
    /// Stores a register to the output sequence.
    pub const SEQ_STORE: u32 = 0x0B << SHIFT;
    /// Stores an accelerator's output.
    pub const FIFO_STORE: u32 = 0x0C << SHIFT;
    /// Stores an accelerator's output to the output sequence.
    pub const SEQ_FIFO_STORE: u32 = 0x0D << SHIFT;
    /// Moves data between registers; a register holds the length.
    pub const MOVE_LEN: u32 = 0x0E << SHIFT;
    /// Moves data between registers.
    pub const MOVE: u32 = 0x0F << SHIFT;
    /// Starts an accelerator or a protocol.
    pub const OPERATION: u32 = 0x10 << SHIFT;
    /// Signs or verifies a trusted descriptor.
    pub const SIGNATURE: u32 = 0x12 << SHIFT;
    /// Jumps or halts.
    pub const JUMP: u32 = 0x14 << SHIFT;
    /// Calculates.
    pub const MATH: u32 = 0x15 << SHIFT;
    /// The header of a job descriptor.
    pub const HEADER: u32 = 0x16 << SHIFT;
    /// The header of a shared descriptor.
    pub const SHARED_HEADER: u32 = 0x17 << SHIFT;
    /// Calculates with a byte of the command.
    pub const MATH_IMMEDIATE: u32 = 0x1D << SHIFT;
    /// Begins the input sequence.
    pub const SEQ_IN_PTR: u32 = 0x1E << SHIFT;
    /// Begins the output sequence.
    pub const SEQ_OUT_PTR: u32 = 0x1F << SHIFT;
}

/// The class of a command, in bits 26:25.
pub mod class {
    /// None of them.
    pub const NONE: u32 = 0;
    /// Class 1: ciphers and random numbers.
    pub const ONE: u32 = 1 << 25;
    /// Class 2: message digests.
    pub const TWO: u32 = 2 << 25;
    /// Both.
    pub const BOTH: u32 = 3 << 25;
    /// In LOAD and STORE: the descriptor controller.
    pub const DECO: u32 = 3 << 25;
}

/// A scatter-gather table instead of data; in sequence commands, the length is that of a register.
pub const SGT: u32 = 1 << 24;
/// In sequence commands: the length is in VARIABLE SEQUENCE LENGTH (of input or output).
pub const VARIABLE: u32 = 1 << 24;
/// The data follows the command.
pub const IMMEDIATE: u32 = 1 << 23;
/// A word behind the pointer holds the length.
pub const EXTENDED: u32 = 1 << 22;

/// Fields of headers.
pub mod header {
    /// Always set; with bit 15 clear it tells the byte order.
    pub const ONE: u32 = 1 << 23;
    /// Always clear.
    pub const ZERO: u32 = 1 << 15;
    /// Do not run: an earlier descriptor failed. In shared descriptors, the bit has no meaning.
    pub const DO_NOT_RUN: u32 = 1 << 24;
    /// The index of the first command, or the length of the shared descriptor; six bits, by its shift.
    pub const START: u32 = 16;
    /// The mask of the start, before its shift.
    pub const START_MASK: u32 = 0x3F;
    /// The next word points to a shared descriptor.
    pub const SHARED: u32 = 1 << 12;
    /// The job descriptor runs before the shared one.
    pub const REVERSE: u32 = 1 << 11;
    /// In job descriptors, the sharing is in bits 10:8; in shared ones, in bits 9:8.
    pub const SHARE: u32 = 8;
    /// Sharing: one after the other, with keys and contexts.
    pub const SHARE_SERIAL: u32 = 2 << SHARE;
    /// Sharing: at any time.
    pub const SHARE_ALWAYS: u32 = 3 << SHARE;
    /// Sharing: as the shared descriptor says.
    pub const SHARE_DEFER: u32 = 4 << SHARE;
    /// In shared descriptors: saves the context if the next job shares it.
    pub const SAVE_CONTEXT: u32 = 1 << 12;
    /// The mask of a job descriptor's length.
    pub const LENGTH: u32 = 0x7F;
    /// The mask of a shared descriptor's length.
    pub const SHARED_LENGTH: u32 = 0x3F;
}

/// Fields of KEY.
pub mod key {
    /// The key is encrypted (a black key).
    pub const ENCRYPTED: u32 = 1 << 22;
    /// The key cannot be stored again.
    pub const NO_WRITE_BACK: u32 = 1 << 21;
    /// The encryption is AES-CCM instead of AES-ECB.
    pub const CCM: u32 = 1 << 20;
    /// Encrypted with the key for trusted descriptors.
    pub const TRUSTED: u32 = 1 << 15;
    /// Destination, bits 17:16: the class's key register.
    pub const REGISTER: u32 = 0 << 16;
    /// Destination: the E memory of public keys.
    pub const PK_E: u32 = 1 << 16;
    /// Destination: the key register as a split key, the two states of HMAC.
    pub const SPLIT: u32 = 3 << 16;
    /// The mask of the destination.
    pub const DESTINATION: u32 = 3 << 16;
    /// The mask of the length.
    pub const LENGTH: u32 = 0x3FF;
}

/// What LOAD and STORE address, in bits 22:16. Those of the classes need one of [`class::ONE`] and [`class::TWO`];
/// those of the controller need [`class::DECO`].
pub mod register {
    /// The shift of the register.
    pub const SHIFT: u32 = 16;
    /// The mask of the register, before its shift.
    pub const MASK: u32 = 0x7F;
    /// Classes: mode.
    pub const MODE: u32 = 0x00 << SHIFT;
    /// Classes: size of the key.
    pub const KEY_SIZE: u32 = 0x01 << SHIFT;
    /// Classes: size of the data.
    pub const DATA_SIZE: u32 = 0x02 << SHIFT;
    /// Classes: size of the authentication code.
    pub const ICV_SIZE: u32 = 0x03 << SHIFT;
    /// No class: resets accelerators.
    pub const CHA_CONTROL: u32 = 0x06 << SHIFT;
    /// Controller: control. The command itself holds the bits: see [`super::deco_control`].
    pub const DECO_CONTROL: u32 = 0x06 << SHIFT;
    /// No class: interrupt control.
    pub const INTERRUPT_CONTROL: u32 = 0x07 << SHIFT;
    /// Controller: protocol override.
    pub const PROTOCOL_OVERRIDE: u32 = 0x07 << SHIFT;
    /// No class: clears registers: see [`super::clear`].
    pub const CLEAR_WRITTEN: u32 = 0x08 << SHIFT;
    /// Controller: MATH register 0; those of 1 to 3 follow.
    pub const MATH_0: u32 = 0x08 << SHIFT;
    /// Classes: size of the associated data.
    pub const AAD_SIZE: u32 = 0x0B << SHIFT;
    /// Class 1: size of the IV.
    pub const IV_SIZE: u32 = 0x0C << SHIFT;
    /// Classes: context.
    pub const CONTEXT: u32 = 0x20 << SHIFT;
    /// Classes: key.
    pub const KEY: u32 = 0x40 << SHIFT;
    /// Controller: the descriptor buffer.
    pub const DESCRIPTOR: u32 = 0x40 << SHIFT;
    /// Controller: the descriptor buffer, written back to the job descriptor in memory.
    pub const JOB_DESCRIPTOR: u32 = 0x41 << SHIFT;
    /// Controller: the descriptor buffer, written back to the shared descriptor in memory.
    pub const SHARED_DESCRIPTOR: u32 = 0x42 << SHIFT;
    /// No class: an entry of the info FIFO: see [`super::info`].
    pub const INFO_FIFO: u32 = 0x7A << SHIFT;
    /// No class: the input data FIFO.
    pub const INPUT_FIFO: u32 = 0x7C << SHIFT;
    /// No class: the output data FIFO.
    pub const OUTPUT_FIFO: u32 = 0x7E << SHIFT;
    /// The shift of the offset in the register: bytes; words in the descriptor buffer.
    pub const OFFSET: u32 = 8;
}

/// Bits of a LOAD of [`register::DECO_CONTROL`].
pub mod deco_control {
    /// FIFO loads make info FIFO entries again.
    pub const ENABLE_AUTO_INFO: u32 = 1 << (8 + 2);
    /// FIFO loads make no info FIFO entries.
    pub const DISABLE_AUTO_INFO: u32 = 1 << (8 + 3);
    /// Resets the output FIFO.
    pub const RESET_OUTPUT_FIFO: u32 = 1 << 5;
}

/// Bits of a LOAD of [`register::CLEAR_WRITTEN`].
pub mod clear {
    /// Class 1: mode.
    pub const MODE_1: u32 = 1 << 0;
    /// Class 1: size of the data.
    pub const DATA_SIZE_1: u32 = 1 << 2;
    /// Class 1: size of the authentication code.
    pub const ICV_SIZE_1: u32 = 1 << 3;
    /// Class 1: context.
    pub const CONTEXT_1: u32 = 1 << 5;
    /// Class 1: key.
    pub const KEY_1: u32 = 1 << 6;
    /// Class 2: mode.
    pub const MODE_2: u32 = 1 << 16;
    /// Class 2: size of the key.
    pub const KEY_SIZE_2: u32 = 1 << 17;
    /// Class 2: size of the data.
    pub const DATA_SIZE_2: u32 = 1 << 18;
    /// Class 2: context.
    pub const CONTEXT_2: u32 = 1 << 21;
    /// Class 2: key.
    pub const KEY_2: u32 = 1 << 22;
    /// Class 2 is no longer done.
    pub const DONE_2: u32 = 1 << 26;
    /// Class 1 is no longer done.
    pub const DONE_1: u32 = 1 << 27;
    /// Resets the accelerator of class 2.
    pub const CHA_2: u32 = 1 << 28;
    /// Resets the accelerator of class 1.
    pub const CHA_1: u32 = 1 << 29;
    /// Empties the output FIFO.
    pub const OUTPUT_FIFO: u32 = 1 << 30;
    /// Empties the input FIFOs.
    pub const INPUT_FIFO: u32 = 1 << 31;
}

/// Types of FIFO LOAD, in bits 21:16.
pub mod fifo_load {
    /// The shift of the type.
    pub const SHIFT: u32 = 16;
    /// The mask of the type without its action.
    pub const TYPE: u32 = 0x38 << SHIFT;
    /// No entry in the info FIFO: the data waits for one that a LOAD makes.
    pub const NO_INFO: u32 = 0x0F << SHIFT;
    /// Message.
    pub const MESSAGE: u32 = 0x10 << SHIFT;
    /// Message for class 1, whose output is the message of class 2.
    pub const MESSAGE_OUT_TO_2: u32 = 0x18 << SHIFT;
    /// IV.
    pub const IV: u32 = 0x20 << SHIFT;
    /// Associated data.
    pub const AAD: u32 = 0x30 << SHIFT;
    /// Authentication code.
    pub const ICV: u32 = 0x38 << SHIFT;
    /// The mask of the action.
    pub const ACTION: u32 = 7 << SHIFT;
    /// Action: the last data of its type for class 1. For class 1 alone, a flag that stands beside [`LAST_1`].
    pub const FLUSH_1: u32 = 1 << SHIFT;
    /// Action: the last data for class 1. For class 1 alone, a flag.
    pub const LAST_1: u32 = 2 << SHIFT;
    /// Action: the last data for class 2, the last of its type for both.
    pub const LAST_2_FLUSH: u32 = 3 << SHIFT;
    /// Action: the last data for class 2. For class 2 alone, a flag.
    pub const LAST_2: u32 = 4 << SHIFT;
    /// Action: the last data for class 2, the last of its type for class 1.
    pub const LAST_2_FLUSH_1: u32 = 5 << SHIFT;
    /// Action: the last data for both classes.
    pub const LAST_BOTH: u32 = 6 << SHIFT;
    /// Action: the last data for both classes, the last of its type.
    pub const LAST_BOTH_FLUSH: u32 = 7 << SHIFT;
}

/// Types of FIFO STORE, in bits 21:16.
pub mod fifo_store {
    /// The shift of the type.
    pub const SHIFT: u32 = 16;
    /// The mask of the type.
    pub const TYPE: u32 = 0x3F << SHIFT;
    /// More output follows: the FIFO keeps its offset.
    pub const CONTINUE: u32 = 1 << 23;
    /// The key register, encrypted with AES-ECB.
    pub const KEY: u32 = 0x24 << SHIFT;
    /// The split key, encrypted with AES-ECB.
    pub const SPLIT_KEY: u32 = 0x26 << SHIFT;
    /// The output FIFO.
    pub const MESSAGE: u32 = 0x30 << SHIFT;
    /// The output FIFO; the end of the job need not wait for it.
    pub const MESSAGE_NO_WAIT: u32 = 0x31 << SHIFT;
    /// Random numbers, to memory.
    pub const RANDOM: u32 = 0x34 << SHIFT;
    /// Random numbers, to the output FIFO.
    pub const RANDOM_FIFO: u32 = 0x35 << SHIFT;
    /// Metadata: from input to output sequence.
    pub const METADATA: u32 = 0x3E << SHIFT;
    /// Leaves out bytes of the output sequence.
    pub const SKIP: u32 = 0x3F << SHIFT;
}

/// Entries of the info FIFO.
pub mod info {
    /// Destination, bits 31:30: the descriptor controller.
    pub const TO_DECO: u32 = 0;
    /// Destination: class 1.
    pub const TO_1: u32 = 1 << 30;
    /// Destination: class 2.
    pub const TO_2: u32 = 2 << 30;
    /// Destination: both classes.
    pub const TO_BOTH: u32 = 3 << 30;
    /// The last data for class 2.
    pub const LAST_2: u32 = 1 << 29;
    /// The last data for class 1.
    pub const LAST_1: u32 = 1 << 28;
    /// The last data of its type for class 2.
    pub const FLUSH_2: u32 = 1 << 27;
    /// The last data of its type for class 1.
    pub const FLUSH_1: u32 = 1 << 26;
    /// Source, bits 25:24: the input data FIFO.
    pub const FROM_INPUT: u32 = 0;
    /// Source: the output data FIFO.
    pub const FROM_OUTPUT: u32 = 1 << 24;
    /// Source: padding.
    pub const FROM_PADDING: u32 = 2 << 24;
    /// Source: the input data FIFO for class 1, whose output goes to class 2.
    pub const SNOOP_OUTPUT: u32 = 3 << 24;
    /// Type, four bits, by its shift.
    pub const TYPE: u32 = 20;
    /// Type: associated data.
    pub const AAD: u32 = 1 << TYPE;
    /// Type: IV.
    pub const IV: u32 = 2 << TYPE;
    /// Type: authentication code.
    pub const ICV: u32 = 0xA << TYPE;
    /// Type: message.
    pub const MESSAGE: u32 = 0xF << TYPE;
    /// Kind of padding, three bits, by its shift: 0 zeros, 1 random without zeros, 2 counting bytes, 3 random.
    pub const PADDING: u32 = 16;
    /// The mask of the length.
    pub const LENGTH: u32 = 0xFFF;
}

/// Fields of OPERATION.
pub mod operation {
    /// Type, bits 26:24: a protocol in one direction.
    pub const PROTOCOL: u32 = 0;
    /// Type: public keys.
    pub const PUBLIC_KEY: u32 = 1 << 24;
    /// Type: an algorithm of class 1.
    pub const CLASS_1: u32 = 2 << 24;
    /// Type: an algorithm of class 2.
    pub const CLASS_2: u32 = 4 << 24;
    /// Type: a protocol that decapsulates.
    pub const DECAPSULATE: u32 = 6 << 24;
    /// Type: a protocol that encapsulates.
    pub const ENCAPSULATE: u32 = 7 << 24;
    /// The mask of the type.
    pub const TYPE: u32 = 7 << 24;
    /// The mask of the algorithm or protocol.
    pub const ALGORITHM: u32 = 0xFF << 16;
    /// AES.
    pub const AES: u32 = 0x10 << 16;
    /// DES.
    pub const DES: u32 = 0x20 << 16;
    /// Triple DES.
    pub const TRIPLE_DES: u32 = 0x21 << 16;
    /// MD5.
    pub const MD5: u32 = 0x40 << 16;
    /// SHA-1.
    pub const SHA_1: u32 = 0x41 << 16;
    /// SHA-224.
    pub const SHA_224: u32 = 0x42 << 16;
    /// SHA-256.
    pub const SHA_256: u32 = 0x43 << 16;
    /// SHA-384.
    pub const SHA_384: u32 = 0x44 << 16;
    /// SHA-512.
    pub const SHA_512: u32 = 0x45 << 16;
    /// Random numbers.
    pub const RNG: u32 = 0x50 << 16;
    /// CRC.
    pub const CRC: u32 = 0x90 << 16;
    /// Additional algorithm information, nine bits, by its shift.
    pub const MODE: u32 = 4;
    /// The mask of the mode, after its shift.
    pub const MODE_MASK: u32 = 0x1FF << MODE;
    /// AES: counter.
    pub const CTR: u32 = 0x00 << MODE;
    /// AES and DES: cipher block chaining.
    pub const CBC: u32 = 0x10 << MODE;
    /// AES and DES: electronic codebook.
    pub const ECB: u32 = 0x20 << MODE;
    /// AES: XTS.
    pub const XTS: u32 = 0x50 << MODE;
    /// AES: CMAC.
    pub const CMAC: u32 = 0x60 << MODE;
    /// AES: XCBC-MAC.
    pub const XCBC_MAC: u32 = 0x70 << MODE;
    /// AES: CCM.
    pub const CCM: u32 = 0x80 << MODE;
    /// AES: GCM.
    pub const GCM: u32 = 0x90 << MODE;
    /// DES: checks that the bytes of the key have odd parity.
    pub const CHECK_ODD: u32 = 0x80 << MODE;
    /// AES: the key is that of decryption already.
    pub const DECRYPT_KEY: u32 = 0x100 << MODE;
    /// Digests: HMAC with the key itself.
    pub const HMAC: u32 = 0x01 << MODE;
    /// Digests: SMAC.
    pub const SMAC: u32 = 0x02 << MODE;
    /// Digests: HMAC with a split key.
    pub const HMAC_SPLIT: u32 = 0x04 << MODE;
    /// Random numbers: state handle 1; else state handle 0.
    pub const RNG_HANDLE_1: u32 = 0x01 << MODE;
    /// Random numbers: without bytes of zero.
    pub const RNG_NOT_ZERO: u32 = 0x10 << MODE;
    /// Random numbers: bytes have odd parity.
    pub const RNG_ODD_PARITY: u32 = 0x20 << MODE;
    /// Random numbers: makes the secure keys.
    pub const RNG_SECURE_KEYS: u32 = 0x100 << MODE;
    /// The mask of the state.
    pub const STATE: u32 = 3 << 2;
    /// State: neither begins nor ends. Random numbers: generates.
    pub const UPDATE: u32 = 0 << 2;
    /// State: begins. Random numbers: instantiates.
    pub const INIT: u32 = 1 << 2;
    /// State: ends. Random numbers: reseeds.
    pub const FINAL: u32 = 2 << 2;
    /// State: begins and ends. Random numbers: uninstantiates.
    pub const INIT_FINAL: u32 = 3 << 2;
    /// Compares the authentication code. Random numbers: prediction resistance.
    pub const CHECK_ICV: u32 = 1 << 1;
    /// Encrypts.
    pub const ENCRYPT: u32 = 1;

    /// Protocol: derives a split key; the algorithm's low four bits are those of the digest.
    pub const DKP: u32 = 0x20 << 16;
    /// Derived key: where the key comes from, bits 15:14. 0 immediate, 1 sequence, 2 pointer, 3 table.
    pub const DKP_SOURCE: u32 = 14;
    /// Derived key: where the split key goes, bits 13:12, in the same code.
    pub const DKP_DESTINATION: u32 = 12;
    /// Derived key: the mask of the key's length.
    pub const DKP_LENGTH: u32 = 0xFFF;
}

/// Fields of SEQ IN PTR and SEQ OUT PTR, beside [`SGT`] and [`EXTENDED`].
pub mod sequence {
    /// Adds to the sequence instead of beginning it anew: the pointer stays.
    pub const PREVIOUS: u32 = 1 << 23;
    /// Begins the sequence again where it began first.
    pub const RESTORE: u32 = 1 << 21;
}

/// Fields of an entry of a scatter-gather table: 64 bits of address, then a word of length and one of offset.
pub mod sgt {
    /// The size of an entry in bytes.
    pub const SIZE: usize = 16;
    /// In the length: the last entry.
    pub const FINAL: u32 = 1 << 30;
    /// In the length: the address is that of another table.
    pub const TABLE: u32 = 1 << 31;
    /// The mask of the length.
    pub const LENGTH: u32 = (1 << 30) - 1;
    /// In the offset: its mask.
    pub const OFFSET: u32 = 0x1FFF;
}
