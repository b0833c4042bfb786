// A board's memory: what its folder states, both for the build script (linker script) and for the firmware
// (MPU).

/// A piece of the address space.
#[derive(Clone, Copy)]
pub(crate) struct Region {
    /// First address.
    pub(crate) start: u32,
    /// Size in bytes.
    pub(crate) size: u32,
}

/// The memories in which something can be placed.
pub(crate) struct Memory {
    /// The memory that the image is written to and executed from in place (XIP).
    pub(crate) flash: Region,
    /// Instruction TCM.
    pub(crate) itcm: Region,
    /// Data TCM.
    pub(crate) dtcm: Region,
    /// On-chip RAM behind the caches.
    pub(crate) ocram: Region,
    /// On-chip RAM that the MPU keeps out of the caches.
    pub(crate) ocram_nc: Region,
    /// What a boot ROM expects at the beginning of flash, if there is one.
    pub(crate) boot: Option<Boot>,
}

/// Where the boot ROM of an i.MX RT looks. The image vector table is at 0x1000 on all of them.
pub(crate) struct Boot {
    /// Offset of the flash configuration block.
    pub(crate) flash_configuration: u32,
}
