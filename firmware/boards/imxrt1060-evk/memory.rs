// Memory of MIMXRT1060-EVK: i.MX RT1062 with FlexRAM as set by its fuses (128 KiB ITCM, 128 KiB DTCM, 256 KiB
// more OCRAM after the 512 KiB that are always present), 8 MiB of QSPI flash. Addresses: memory map of the
// i.MX RT1060 as in imxrt-rt 0.1.8.

/// The memories for placement.
pub(crate) const MEMORY: Memory = Memory {
    flash: Region { start: 0x6000_0000, size: 8 << 20 },
    itcm: Region { start: 0x0000_0000, size: 128 << 10 },
    dtcm: Region { start: 0x2000_0000, size: 128 << 10 },
    ocram: Region { start: 0x2020_0000, size: 512 << 10 },
    ocram_nc: Region { start: 0x2028_0000, size: 256 << 10 },
    boot: Some(Boot { flash_configuration: 0x0000 }),
};
