// Memory of the MPS2 FPGA board with application note AN500 (Cortex-M7), as in QEMU (hw/arm/mps2.c): two
// SSRAMs of 4 MiB, and nothing else that matters here. They stand in for every kind of memory, so that every
// placement can be tried.

/// The memories for placement.
pub(crate) const MEMORY: Memory = Memory {
    flash: Region { start: 0x0000_0000, size: 2 << 20 },
    itcm: Region { start: 0x0020_0000, size: 2 << 20 },
    dtcm: Region { start: 0x2000_0000, size: 2 << 20 },
    ocram: Region { start: 0x2020_0000, size: 1 << 20 },
    ocram_nc: Region { start: 0x2030_0000, size: 1 << 20 },
    boot: None,
};
