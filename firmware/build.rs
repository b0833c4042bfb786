//! Builds Mbed TLS for the target and writes the linker script.

#[path = "build/linker.rs"]
mod linker;
#[path = "build/mbedtls.rs"]
mod mbedtls;
mod memory {
    include!("build/memory.rs");
    #[cfg(feature = "imxrt1060-evk")]
    include!("boards/imxrt1060-evk/memory.rs");
    #[cfg(feature = "imxrt1170-evk")]
    include!("boards/imxrt1170-evk/memory.rs");
    #[cfg(feature = "mps2-an500")]
    include!("boards/mps2-an500/memory.rs");
}
#[path = "build/options.rs"]
mod options;
#[path = "../crates/providers/build/registry_source.rs"]
mod registry_source;

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-changed=boards");
    println!("cargo:rerun-if-changed=../crates/providers/build/registry_source.rs");
    if let Err(message) = build() {
        eprintln!("\ncpb-firmware: {message}\n");
        std::process::exit(1);
    }
}

fn build() -> Result<(), String> {
    let options = options::Options::read()?;
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("cargo gave no OUT_DIR")?);
    let script = out.join("firmware.ld");
    std::fs::write(&script, linker::script(&options))
        .map_err(|error| format!("{}: {error}", script.display()))?;
    println!("cargo:rustc-link-arg-bins=-T{}", script.display());
    write_read_buffers(&out)?;
    println!("cargo:rustc-env=CPB_BOARD={}", mbedtls::board()?);
    println!("cargo:rustc-env=CPB_BAUD={}", options.baud);
    println!("cargo:rustc-env=CPB_FLASH_CLOCK={}", options.flash_clock);
    println!("cargo:rustc-check-cfg=cfg(code_in_flash)");
    let in_flash = options.code.name == "flash";
    if in_flash {
        println!("cargo:rustc-cfg=code_in_flash");
    }
    println!(
        "cargo:rustc-env=CPB_PLACEMENT=code {} (key pairs: flash{}), tables {}, stack {}, buffers {}{}",
        options.code.name,
        if in_flash { "; cpb's own: itcm" } else { "" },
        options.tables.name,
        options.stack.name,
        options.buffers.name,
        match options.flash_clock.as_str() {
            "100" => String::new(),
            clock => format!(", flash at {clock} MHz"),
        }
    );
    mbedtls::build(&options)
}

/// Writes what the buffers in flash hold that memory reads read.
fn write_read_buffers(out: &Path) -> Result<(), String> {
    for index in 0..2 {
        let mut bytes = vec![0; 16 << 10];
        cpb_core::sums::fill(index, &mut bytes);
        let file = out.join(format!("read-buffer-{index}"));
        std::fs::write(&file, bytes).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(())
}
