// Memory of MIMXRT1170-EVK: i.MX RT1176 with FlexRAM as set by its fuses (256 KiB ITCM, 256 KiB DTCM), OCRAM
// 1 of 512 KiB, and OCRAM 2, of which 256 KiB are not cached, as in NXP's examples; 16 MiB of QSPI flash.
// Addresses: memory map of the i.MX RT1170 as in imxrt-rt 0.1.8.

/// The memories for placement.
pub(crate) const MEMORY: Memory = Memory {
    flash: Region { start: 0x3000_0000, size: 16 << 20 },
    itcm: Region { start: 0x0000_0000, size: 256 << 10 },
    dtcm: Region { start: 0x2000_0000, size: 256 << 10 },
    ocram: Region { start: 0x2024_0000, size: 512 << 10 },
    ocram_nc: Region { start: 0x202c_0000, size: 256 << 10 },
    boot: Some(Boot { flash_configuration: 0x0400 }),
};
