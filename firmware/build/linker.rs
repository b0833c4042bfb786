//! The linker script: one template for all boards and placements, generated for each build.

use crate::memory::{MEMORY, Region};
use crate::options::{Options, Place};
use std::fmt::Write;

/// Size of the stack, for the C code, the frames and the loop: `frame::encode` alone takes 13 KiB.
const STACK: u32 = 32 << 10;
/// Size of the heap for contexts and other small, timed data. RSA-2048 has 32 powers of 140 bytes at a time.
const HEAP: u32 = 16 << 10;
/// Size of the heap for big data that is not timed: known answers, samples.
const BULK: u32 = 256 << 10;
/// The image vector table: `IVT_OFFSET` of the boot ROM for serial NOR flash.
const IMAGE_VECTOR_TABLE: u32 = 0x1000;
/// The offset of the image after the boot header.
const IMAGE: u32 = 0x2000;

/// Rust functions, with either mangling of their names, and reads of memory. When the library's code runs in flash, these
/// stay in the ITCM, so that the loop takes as long as in every other placement.
const OWN: &str = "*(.text._ZN* .text._R* .text.cpb_read_*)";

pub(crate) fn script(options: &Options) -> String {
    let mut script = String::from("ENTRY(reset)\nMEMORY {\n");
    let regions = [
        ("FLASH", MEMORY.flash),
        ("ITCM", MEMORY.itcm),
        ("DTCM", MEMORY.dtcm),
        ("OCRAM", MEMORY.ocram),
        ("OCRAM_NC", MEMORY.ocram_nc),
    ];
    for (name, Region { start, size }) in regions {
        _ = writeln!(script, "  {name} : ORIGIN = {start:#010x}, LENGTH = {size:#x}");
    }
    script += "}\nSECTIONS {\n";
    script += &boot();
    let [code, tables, stack, buffers] =
        [options.code, options.tables, options.stack, options.buffers].map(memory);
    // Data in flash that is used elsewhere is copied there by the startup code.
    script += &format!(
        "  .vectors : ALIGN(1024) {{ __vectors = .; KEEP(*(.vectors)) }} > FLASH
  .startup : ALIGN(4) {{
    *(.startup .startup.*)
    . = ALIGN(4);
    __copies = .;
    LONG(LOADADDR(.loop)); LONG(ADDR(.loop)); LONG(__loop_end);
    LONG(LOADADDR(.text)); LONG(ADDR(.text)); LONG(__text_end);
    LONG(LOADADDR(.rodata)); LONG(ADDR(.rodata)); LONG(__rodata_end);
    LONG(LOADADDR(.data)); LONG(ADDR(.data)); LONG(__data_end);
    __copies_end = .;
  }} > FLASH
  .key_pairs : ALIGN(32) {{ {} . = ALIGN(4); }} > FLASH
  .untimed : ALIGN(32) {{ {} . = ALIGN(4); }} > FLASH
  .read_buffers : ALIGN(4096) {{ *(.read_buffers) }} > FLASH
  .loop : ALIGN(32) {{ {} . = ALIGN(4); }} > ITCM AT > FLASH
  __loop_end = ADDR(.loop) + SIZEOF(.loop);
  .text : ALIGN(32) {{
    *(.text .text.*) . = ALIGN(4);
  }} > {code} AT > FLASH
  __text_end = ADDR(.text) + SIZEOF(.text);
  .stack (NOLOAD) : ALIGN(32) {{ __stack = .; . += {STACK}; __stack_top = .; }} > {stack}
  .rodata : ALIGN(32) {{
    *(.rodata .rodata.*) . = ALIGN(4);
  }} > {tables} AT > FLASH
  __rodata_end = ADDR(.rodata) + SIZEOF(.rodata);
  .data : ALIGN(32) {{
    *(.data .data.*) . = ALIGN(4);
  }} > {stack} AT > FLASH
  __data_end = ADDR(.data) + SIZEOF(.data);
  __image_end = LOADADDR(.data) + SIZEOF(.data);
  .bss (NOLOAD) : ALIGN(32) {{
    __bss = .; *(.bss .bss.* COMMON) . = ALIGN(4);
  }} > {stack}
  __bss_end = ADDR(.bss) + SIZEOF(.bss);
  .heap (NOLOAD) : ALIGN(32) {{ __heap = .; . += {HEAP}; __heap_end = .; }} > {stack}
  .bulk (NOLOAD) : ALIGN(32) {{ __bulk = .; . += {BULK}; __bulk_end = .; }} > OCRAM
  .buffers (NOLOAD) : ALIGN(32) {{ __buffers = .; }} > {buffers}
  __buffers_end = {:#x};
  __sizes_text = SIZEOF(.vectors) + SIZEOF(.startup) + SIZEOF(.key_pairs) + SIZEOF(.untimed)
    + SIZEOF(.loop) + SIZEOF(.text);
  __sizes_rodata = SIZEOF(.rodata);
  __sizes_data = SIZEOF(.data);
  __sizes_bss = SIZEOF(.bss);
  /DISCARD/ : {{ *(.ARM.exidx .ARM.exidx.* .ARM.extab.* .comment .note.*) }}
}}
",
        key_pairs(),
        untimed(),
        if options.code.name == "flash" { OWN } else { "" },
        options.buffers.region.start + options.buffers.region.size
    );
    script
}

/// Rust code that never runs while the clock does: the communication with the host, and the preparation and
/// checks of a round; and the sessions of key pairs, whose operations take milliseconds. `cpb_core::measure` and all
/// other sessions are not included.
fn untimed() -> String {
    let modules = [
        // These open sessions; what a session does in the loop has symbols of its own.
        "cpb_firmware..mbedtls",
        "cpb_drivers..dcp..provider..DcpProvider",
        "cpb_drivers..caam..provider..CaamProvider",
        "cpb_firmware4solo",
        "cpb_firmware5serve",
        "cpb_mbedtls4open",
        "cpb_mbedtls10public_key",
        "cpb_session8raw_jobs",
        "cpb_core8workload",
        "cpb_round",
        "cpb_core5check",
        "cpb_core5frame",
        "core5slice4sort",
        "core3fmt",
        "postcard",
        "serde",
    ];
    let modules = modules.map(|module| format!("*(.text.*{module}*) ")).concat();
    modules + "*(.text.main) "
}

/// The library's code for key pairs. It stays in flash in every placement, because code would not fit into
/// the ITCM with it. Its loops are small and run for milliseconds at a time, so the caches hold the needed
/// parts.
fn key_pairs() -> String {
    crate::mbedtls::KEY_PAIRS.iter().map(|name| format!("*-{name}.o(.text .text.*) ")).collect()
}

/// The data that the boot ROM reads, if there is a boot ROM: flash configuration block, image vector table,
/// boot data (i.MX RT1060 reference manual, "Program image"; the fields as written by imxrt-rt 0.1.8).
fn boot() -> String {
    let flash = MEMORY.flash.start;
    let Some(boot) = &MEMORY.boot else { return String::new() };
    // In this linker (rust-lld), the location counter is an address inside a section as well.
    format!(
        "  .boot {flash:#010x} : {{
    . = {:#x};
    KEEP(*(.fcb))
    . = {:#x};
    __image_vector_table = .;
    LONG(0x402000d1) LONG(__vectors) LONG(0) LONG(0)
    LONG(__boot_data) LONG(__image_vector_table) LONG(0) LONG(0)
    __boot_data = .;
    LONG({flash:#010x}) LONG(__image_end - {flash:#010x}) LONG(0) LONG(0)
    . = {:#x};
  }} > FLASH
",
        flash + boot.flash_configuration,
        flash + IMAGE_VECTOR_TABLE,
        flash + IMAGE
    )
}

fn memory(place: &Place) -> &'static str {
    match place.name {
        "itcm" => "ITCM",
        "dtcm" => "DTCM",
        "ocram" => "OCRAM",
        "ocram-nc" => "OCRAM_NC",
        _ => "FLASH",
    }
}
