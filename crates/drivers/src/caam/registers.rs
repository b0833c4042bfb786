//! Registers of the CAAM: offsets from its base and the fields in use (NXP's register header of the i.MX RT1170,
//! `PERI_CAAM.h` in mcux-devices-rt; the performance counters and era 10's version registers are those that Linux
//! names).
//!
//! The first block holds what all job rings share. Each job ring has a block of its own, which ends with a copy of the
//! version registers.

/// Master configuration: see [`mcfgr`].
pub const MCFGR: u32 = 0x04;
/// Security configuration: see [`scfgr`].
pub const SCFGR: u32 = 0x0C;
/// The owner of job ring 0, upper half; the lower half follows, and the other rings at 8 bytes each.
pub const JRDID: u32 = 0x10;
/// Which job rings have been started, one bit each. A ring that is stopped cannot be set up.
pub const JRSTARTR: u32 = 0x5C;
/// On whose behalf DECO 0 works when software runs it.
pub const DECORSR: u32 = 0x94;
/// Requests DECO 0 for software (bit 0); bit 16 tells that it is granted.
pub const DECORR: u32 = 0x9C;
/// Which DECOs are not available.
pub const DAR: u32 = 0x120;
/// Resets DECOs, one bit each.
pub const DRR: u32 = 0x124;
/// The key that encrypts black keys: eight words. Zero until the random number generator has made it.
pub const JDKEKR: u32 = 0x400;
/// The key that encrypts trusted descriptors' keys: eight words.
pub const TDKEKR: u32 = 0x420;
/// The key that signs trusted descriptors: eight words.
pub const TDSKR: u32 = 0x440;
/// True random number generator: control.
pub const RTMCTL: u32 = 0x600;
/// True random number generator: seed control.
pub const RTSDCTL: u32 = 0x610;
/// True random number generator: status.
pub const RTSTATUS: u32 = 0x63C;
/// The state of the deterministic generators: see [`rdsta`].
pub const RDSTA: u32 = 0x6C0;

/// Era 10 and later: version and number of each block, in place of [`CHAVID_LS`] and [`CHANUM_LS`]. The words are
/// those of CRC, AFHA, KFHA, PKHA, AES, MDHA, DES, SNOW 8, SNOW 9, ZUC E, ZUC A, RNG, and others: see [`vreg`].
pub const VREG: u32 = 0xE80;
/// Performance counter, 64 bits: requests dequeued.
pub const REQUESTS_DEQUEUED: u32 = 0xF00;
/// Performance counter, 64 bits: requests that encrypted.
pub const REQUESTS_ENCRYPTED: u32 = 0xF08;
/// Performance counter, 64 bits: requests that decrypted.
pub const REQUESTS_DECRYPTED: u32 = 0xF10;
/// Performance counter, 64 bits: bytes encrypted.
pub const BYTES_ENCRYPTED: u32 = 0xF18;
/// Performance counter, 64 bits: bytes protected (authenticated outwards).
pub const BYTES_PROTECTED: u32 = 0xF20;
/// Performance counter, 64 bits: bytes decrypted.
pub const BYTES_DECRYPTED: u32 = 0xF28;
/// Performance counter, 64 bits: bytes validated (authenticated inwards).
pub const BYTES_VALIDATED: u32 = 0xF30;
/// Revisions of the accelerators, upper half.
pub const CRNR_MS: u32 = 0xFA0;
/// Revisions of the accelerators, lower half.
pub const CRNR_LS: u32 = 0xFA4;
/// Compile-time parameters, upper half: see [`ctpr`].
pub const CTPR_MS: u32 = 0xFA8;
/// Compile-time parameters, lower half.
pub const CTPR_LS: u32 = 0xFAC;
/// The address of the last failed transfer, 64 bits.
pub const FAR: u32 = 0xFC0;
/// Details of the last failed transfer.
pub const FADR: u32 = 0xFCC;
/// Status: see [`csta`].
pub const CSTA: u32 = 0xFD4;
/// Version of the runtime integrity checker.
pub const RVID: u32 = 0xFE0;
/// Version of the accelerators' cluster; the era is in bits 31:24.
pub const CCBVID: u32 = 0xFE4;
/// Versions of the accelerators, upper half.
pub const CHAVID_MS: u32 = 0xFE8;
/// Versions of the accelerators, lower half: see [`cha`].
pub const CHAVID_LS: u32 = 0xFEC;
/// Numbers of the accelerators, upper half: DECOs in bits 27:24, job rings in bits 31:28.
pub const CHANUM_MS: u32 = 0xFF0;
/// Numbers of the accelerators, lower half: see [`cha`].
pub const CHANUM_LS: u32 = 0xFF4;
/// The module's version, upper half.
pub const CAAMVID_MS: u32 = 0xFF8;
/// The module's version, lower half.
pub const CAAMVID_LS: u32 = 0xFFC;

/// The largest number of job rings.
pub const RINGS: usize = 4;
/// The largest number of entries of a ring: the fields of its size have ten bits.
pub const RING_ENTRIES: u32 = 0x3FF;

/// The distance from one block to the next on the i.MX RT1170.
pub const PAGE_64K: u32 = 0x1_0000;
/// The distance from one block to the next on older parts.
pub const PAGE_4K: u32 = 0x1000;

/// The number of the block that is DECO 0's.
pub const DECO_BLOCK: u32 = 8;

/// Where the registers of a job ring begin, given the distance of blocks.
pub const fn ring(number: usize, page: u32) -> u32 {
    page * (number as u32 + 1)
}

/// Registers of a job ring: offsets from the ring's block.
pub mod jr {
    /// The address of the input ring, 64 bits. On i.MX the upper word is first, at this offset.
    pub const IRBAR: u32 = 0x00;
    /// The number of entries of the input ring.
    pub const IRSR: u32 = 0x0C;
    /// How many entries of the input ring are free.
    pub const IRSAR: u32 = 0x14;
    /// Adds this many jobs.
    pub const IRJAR: u32 = 0x1C;
    /// The address of the output ring, 64 bits.
    pub const ORBAR: u32 = 0x20;
    /// The number of entries of the output ring.
    pub const ORSR: u32 = 0x2C;
    /// Removes this many jobs.
    pub const ORJRR: u32 = 0x34;
    /// How many entries of the output ring are filled.
    pub const ORSFR: u32 = 0x3C;
    /// The status of the last job: see [`crate::caam::status`].
    pub const JRSTAR: u32 = 0x44;
    /// Interrupt status: see [`super::jrint`].
    pub const JRINTR: u32 = 0x4C;
    /// Configuration, upper half: see [`super::jrcfg_ms`].
    pub const JRCFGR_MS: u32 = 0x50;
    /// Configuration, lower half: see [`super::jrcfg`].
    pub const JRCFGR_LS: u32 = 0x54;
    /// Where the engine reads the input ring next, in bytes.
    pub const IRRIR: u32 = 0x5C;
    /// Where the engine writes the output ring next, in bytes.
    pub const ORWIR: u32 = 0x64;
    /// Commands: see [`super::jrcr`].
    pub const JRCR: u32 = 0x6C;
}

/// Bits of [`MCFGR`].
pub mod mcfgr {
    /// Resets the engine.
    pub const RESET: u32 = 1 << 31;
    /// Enables the watchdog of the DECOs.
    pub const WATCHDOG: u32 = 1 << 30;
    /// Resets the DMA controller.
    pub const DMA_RESET: u32 = 1 << 28;
    /// Pointers have 64 bits (of which 36 are used).
    pub const LONG_POINTERS: u32 = 1 << 16;
    /// Exchanges the words of 64-bit pointers in descriptors and tables. Set after a reset of the i.MX RT1170.
    pub const TRANSPOSE: u32 = 1 << 19;
}

/// Bits of [`SCFGR`].
pub mod scfgr {
    /// Which blobs can be made: bits 1:0. 3 is normal operation.
    pub const BLOBS: u32 = 3;
    /// State handle 0 cannot be instantiated in its test mode.
    pub const RANDOM_HANDLE_0: u32 = 1 << 9;
    /// Locks the program mode of the true random number generator.
    pub const LOCK_TRNG: u32 = 1 << 11;
    /// Job rings must be started before use.
    pub const VIRTUALIZATION: u32 = 1 << 15;
}

/// Bits of [`RDSTA`].
pub mod rdsta {
    /// State handle 0 is instantiated; that of handle 1 follows.
    pub const INSTANTIATED: u32 = 1;
    /// State handle 0 has prediction resistance; that of handle 1 follows.
    pub const PREDICTION_RESISTANCE: u32 = 1 << 4;
    /// The secure keys have been made.
    pub const KEYS: u32 = 1 << 30;
}

/// Bits of [`CTPR_MS`].
pub mod ctpr {
    /// Virtualization is included.
    pub const VIRTUALIZATION: u32 = 1;
    /// Virtualization is on at reset.
    pub const VIRTUALIZATION_AT_RESET: u32 = 1 << 1;
    /// Blocks are 64 KiB apart.
    pub const PAGE_64K: u32 = 1 << 4;
    /// Pointers of 64 bits are supported.
    pub const LONG_POINTERS: u32 = 1 << 17;
    /// There is a queue interface.
    pub const QUEUE_INTERFACE: u32 = 1 << 25;
}

/// Bits of [`CSTA`].
pub mod csta {
    /// The engine works.
    pub const BUSY: u32 = 1;
    /// It has nothing to do.
    pub const IDLE: u32 = 1 << 1;
    /// Its words are in big-endian order. Drivers take either this or bit 18.
    pub const BIG_ENDIAN: u32 = 1 << 10;
}

/// Fields of [`CHAVID_LS`] and [`CHANUM_LS`], four bits each, by their shift.
pub mod cha {
    /// AES. Version 3 is the low-power one, 4 the fast one with XTS.
    pub const AES: u32 = 0;
    /// DES and triple DES.
    pub const DES: u32 = 4;
    /// Message digests. Version 0 has SHA-1, SHA-224, SHA-256 and MD5; from version 1 on SHA-384 and SHA-512 as well.
    pub const MD: u32 = 12;
    /// Random numbers. Version 4 is RNG4.
    pub const RNG: u32 = 16;
    /// Public keys.
    pub const PK: u32 = 28;
}

/// Words of [`VREG`], in bytes from there (Linux's `struct version_regs`).
pub mod vreg {
    /// Public keys.
    pub const PK: u32 = 0x0C;
    /// AES.
    pub const AES: u32 = 0x10;
    /// Message digests.
    pub const MD: u32 = 0x14;
    /// DES.
    pub const DES: u32 = 0x18;
    /// Random numbers.
    pub const RNG: u32 = 0x2C;
    /// In each: the number is in bits 7:0, the version in bits 31:24.
    pub const VERSION: u32 = 24;
}

/// Fields of [`jr::JRINTR`].
pub mod jrint {
    /// A job is done. Writing 1 clears it.
    pub const DONE: u32 = 1;
    /// The ring has an error, whose type is in bits 12:8. Writing 1 clears it.
    pub const ERROR: u32 = 1 << 1;
    /// The ring is being halted.
    pub const HALTING: u32 = 1 << 2;
    /// The ring is halted. Writing 1 to bit 2 or 3 clears it.
    pub const HALTED: u32 = 2 << 2;
    /// Both bits of the halt state.
    pub const HALT: u32 = 3 << 2;
    /// The type of the error, by its shift: see [`super::ring_error`].
    pub const ERROR_TYPE: u32 = 8;
    /// The mask of the type, before its shift.
    pub const ERROR_TYPE_MASK: u32 = 0x1F;
    /// Where the output ring would have been written, in bytes, by its shift.
    pub const ERROR_INDEX: u32 = 16;
}

/// Types of ring errors, in bits 12:8 of [`jr::JRINTR`].
pub mod ring_error {
    /// The output ring could not be written.
    pub const OUTPUT: u32 = 1;
    /// The input ring's address is not a multiple of 4.
    pub const INPUT_BASE: u32 = 3;
    /// The output ring's address is not a multiple of 4.
    pub const OUTPUT_BASE: u32 = 4;
    /// The input ring was moved or resized while it held jobs.
    pub const INPUT_BUSY: u32 = 5;
    /// The output ring was moved or resized while it held jobs or jobs were in work.
    pub const OUTPUT_BUSY: u32 = 6;
    /// The reset was released before the ring was halted.
    pub const RESET_EARLY: u32 = 7;
    /// More jobs were removed than there were.
    pub const REMOVED: u32 = 8;
    /// More jobs were added than there was room for.
    pub const ADDED: u32 = 9;
}

/// Bits of [`jr::JRCFGR_MS`]: byte swaps, and the order of words.
pub mod jrcfg_ms {
    /// Reverses the bytes of each word of messages that are read.
    pub const MESSAGE_IN_BYTES: u32 = 1;
    /// Reverses the bytes of each word of descriptors, ring entries and tables that are read.
    pub const CONTROL_IN_BYTES: u32 = 1 << 4;
    /// Reverses the bytes of each word of messages that are written.
    pub const MESSAGE_OUT_BYTES: u32 = 1 << 8;
    /// Reverses the bytes of each word of ring entries that are written.
    pub const CONTROL_OUT_BYTES: u32 = 1 << 12;
    /// Inverts the platform's byte order for this ring.
    pub const PLATFORM_ENDIAN_OVERRIDE: u32 = 1 << 17;
    /// Inverts the order of the words of 64-bit pointers for this ring.
    pub const DOUBLE_WORD_SWAP_OVERRIDE: u32 = 1 << 18;
}

/// Fields of [`jr::JRCFGR_LS`].
pub mod jrcfg {
    /// Masks the ring's interrupt.
    pub const MASKED: u32 = 1;
    /// Coalesces interrupts.
    pub const COALESCE: u32 = 1 << 1;
    /// How many finished jobs raise the interrupt, eight bits, by its shift.
    pub const COUNT: u32 = 8;
    /// How long the oldest finished job waits at most, sixteen bits, by its shift: units of 64 engine clocks.
    pub const TIMER: u32 = 16;
}

/// Bits of [`jr::JRCR`].
pub mod jrcr {
    /// The first write halts the ring and flushes its jobs, the second resets it.
    pub const RESET: u32 = 1;
    /// Halts the ring once the jobs in flight are done. Its other jobs stay in the ring.
    pub const PARK: u32 = 1 << 1;
}

/// Registers of DECO 0 when software runs it: offsets from its block (Linux's `struct caam_deco`).
pub mod deco {
    /// Job queue control: bit 29 runs the whole descriptor in the buffer.
    pub const CONTROL: u32 = 0x800;
    /// In [`CONTROL`]: runs the descriptor.
    pub const RUN: u32 = 1 << 29;
    /// Operation status: error bits 31:28 and 7:0.
    pub const STATUS: u32 = 0x810;
    /// The descriptor buffer: 64 words.
    pub const BUFFER: u32 = 0xA00;
    /// Debug: bit 31 is set while a descriptor runs.
    pub const DEBUG: u32 = 0xE04;
}
