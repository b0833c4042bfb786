//! Registers of the DCP: offsets from its base and the fields in use (NXP's register header of the i.MX RT1060, and
//! the driver `fsl_dcp` 2.1.7).
//!
//! Each of the first registers is followed by three that set, clear and toggle its bits, at +4, +8 and +12.

/// Control.
pub const CTRL: u32 = 0x00;
/// State of the channels.
pub const STAT: u32 = 0x10;
/// Which channels are enabled, and their priority.
pub const CHANNELCTRL: u32 = 0x20;
/// Capabilities: the number of key slots and of channels.
pub const CAPABILITY0: u32 = 0x30;
/// Capabilities: the algorithms.
pub const CAPABILITY1: u32 = 0x40;
/// The address of the buffer for context switching.
pub const CONTEXT: u32 = 0x50;
/// The key slot and word that [`KEYDATA`] writes.
pub const KEY: u32 = 0x60;
/// Writes a word of a key, and moves on to the next.
pub const KEYDATA: u32 = 0x70;
/// The eight words of the packet in work, 16 bytes apart.
pub const PACKET: u32 = 0x80;
/// Version.
pub const VERSION: u32 = 0x430;

/// In [`CHANNELCTRL`]: channel 0 shares the interrupt line of the others.
pub const MERGE_CHANNEL_0: u32 = 1 << 16;

/// From a register to the one that sets its bits.
pub const SET: u32 = 0x4;
/// From a register to the one that clears its bits.
pub const CLEAR: u32 = 0x8;
/// From a register to the one that toggles its bits.
pub const TOGGLE: u32 = 0xC;

/// The number of channels.
pub const CHANNELS: usize = 4;

/// The registers of a channel.
pub const fn channel(number: usize) -> Channel {
    let base = 0x100 + 0x40 * number as u32;
    Channel { packet: base, semaphore: base + 0x10, status: base + 0x20, options: base + 0x30 }
}

/// The offsets of one channel's registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Channel {
    /// The address of its next packet.
    pub packet: u32,
    /// Its semaphore: a write adds bits 7:0 to the value in bits 23:16. The channel works while that is not 0.
    pub semaphore: u32,
    /// Its status: see [`status`].
    pub status: u32,
    /// Its recovery time.
    pub options: u32,
}

/// Bits of [`CTRL`].
pub mod ctrl {
    /// Resets the engine.
    pub const RESET: u32 = 1 << 31;
    /// Stops its clock.
    pub const CLOCK_GATE: u32 = 1 << 30;
    /// It has AES.
    pub const HAS_CRYPTO: u32 = 1 << 29;
    /// It has SHA.
    pub const HAS_SHA: u32 = 1 << 28;
    /// Gathers the writes of odd lengths.
    pub const GATHER_RESIDUAL_WRITES: u32 = 1 << 23;
    /// Keeps a channel's context in the engine as long as no other channel needs it.
    pub const CACHE_CONTEXT: u32 = 1 << 22;
    /// Loads and stores the contexts of channels.
    pub const SWITCH_CONTEXT: u32 = 1 << 21;
    /// Interrupts of channels 0 to 3 are bits 0 to 3.
    pub const INTERRUPTS: u32 = 0xF;
}

/// Bits of [`STAT`].
pub mod stat {
    /// The keys in fuses can be used.
    pub const OTP_KEY_READY: u32 = 1 << 28;
    /// Channel 0 has work to do; those of channels 1 to 3 follow.
    pub const READY: u32 = 1 << 16;
    /// The interrupt of channel 0 is raised; those of channels 1 to 3 follow.
    pub const INTERRUPT: u32 = 1;
}

/// Fields of a channel's status.
pub mod status {
    /// The hash is not the expected one.
    pub const HASH_MISMATCH: u32 = 1 << 1;
    /// The packet asks for what cannot be done.
    pub const SETUP: u32 = 1 << 2;
    /// The packet cannot be read.
    pub const PACKET: u32 = 1 << 3;
    /// The source cannot be read.
    pub const SOURCE: u32 = 1 << 4;
    /// The destination cannot be written.
    pub const DESTINATION: u32 = 1 << 5;
    /// Page fault.
    pub const PAGE_FAULT: u32 = 1 << 6;
    /// All errors.
    pub const ERRORS: u32 = 0x7E;
    /// The error code is in bits 23:16.
    pub const CODE: u32 = 16;
    /// The tag of the last packet is in bits 31:24.
    pub const TAG: u32 = 24;

    /// Code: the address of the next packet is 0.
    pub const NEXT_IS_ZERO: u32 = 1;
    /// Code: the semaphore is not 0 and the packet does not say that another follows.
    pub const NO_CHAIN: u32 = 2;
    /// Code: the context buffer cannot be read or written.
    pub const CONTEXT_ERROR: u32 = 3;
    /// Code: the payload cannot be read or written.
    pub const PAYLOAD_ERROR: u32 = 4;
    /// Code: the functions that the packet selects do not go together.
    pub const INVALID_MODE: u32 = 5;
}

/// The size of the context buffer in bytes: 13 words a channel, those of channel 3 first.
pub const CONTEXT_SIZE: usize = 4 * 52;

/// Where a channel's words begin in the context buffer, in bytes.
pub const fn context_of(channel: usize) -> usize {
    52 * (CHANNELS - 1 - channel)
}

/// Where the state of a hash begins in a channel's part of the context buffer, in bytes. Before it is the chaining
/// block of AES-CBC.
pub const CONTEXT_HASH: usize = 16;
