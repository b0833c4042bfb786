//! The options of an image, read from the environment: `cargo xtask firmware` sets it.

use crate::memory::{MEMORY, Region};
use std::env;

/// A place for a part of the image.
pub(crate) struct Place {
    /// The name that a user types.
    pub(crate) name: &'static str,
    pub(crate) region: Region,
}

const PLACES: [Place; 5] = [
    Place { name: "itcm", region: MEMORY.itcm },
    Place { name: "dtcm", region: MEMORY.dtcm },
    Place { name: "ocram", region: MEMORY.ocram },
    Place { name: "ocram-nc", region: MEMORY.ocram_nc },
    Place { name: "flash", region: MEMORY.flash },
];

/// Optimisation levels of the C compiler.
const LEVELS: [&str; 5] = ["O0", "O1", "O2", "O3", "Os"];

/// Clocks of the flash: `flash_configuration.rs` has a name for each.
const FLASH_CLOCKS: [&str; 4] = ["60", "100", "133", "166"];

/// All options.
pub(crate) struct Options {
    /// Optimisation of Mbed TLS. The Rust code is always built with the same level.
    pub(crate) level: String,
    /// Where code runs. The timed loop and all other Rust code is always in the ITCM.
    pub(crate) code: &'static Place,
    /// Where constants are placed: tables of AES, round constants.
    pub(crate) tables: &'static Place,
    /// Where the stack, variables and contexts are placed.
    pub(crate) stack: &'static Place,
    /// Where messages and outputs are placed.
    pub(crate) buffers: &'static Place,
    /// The clock of the flash in MHz that the boot ROM is asked for.
    pub(crate) flash_clock: String,
    /// The speed of the UART in bits per second.
    pub(crate) baud: u32,
}

impl Options {
    pub(crate) fn read() -> Result<Options, String> {
        let level = variable("CPB_FIRMWARE_OPT", "O2");
        if !LEVELS.contains(&level.as_str()) {
            return Err(format!("CPB_FIRMWARE_OPT={level}: it is one of {}", LEVELS.join(", ")));
        }
        let flash_clock = variable("CPB_FIRMWARE_FLASH_CLOCK", "100");
        if !FLASH_CLOCKS.contains(&flash_clock.as_str()) {
            let known = FLASH_CLOCKS.join(", ");
            return Err(format!("CPB_FIRMWARE_FLASH_CLOCK={flash_clock}: it is one of {known}"));
        }
        let baud = variable("CPB_FIRMWARE_BAUD", "115200");
        let baud = baud.parse().ok().filter(|baud| (1200..=3_000_000).contains(baud));
        Ok(Options {
            level,
            code: place("CPB_FIRMWARE_CODE", "itcm", &["itcm", "flash"])?,
            tables: place("CPB_FIRMWARE_TABLES", "dtcm", &PLACES.map(|place| place.name))?,
            stack: place("CPB_FIRMWARE_STACK", "dtcm", &["dtcm", "ocram", "ocram-nc"])?,
            buffers: place("CPB_FIRMWARE_BUFFERS", "dtcm", &["dtcm", "ocram", "ocram-nc"])?,
            flash_clock,
            baud: baud.ok_or("CPB_FIRMWARE_BAUD: a number from 1200 to 3000000")?,
        })
    }
}

fn place(name: &str, usual: &str, allowed: &[&str]) -> Result<&'static Place, String> {
    let value = variable(name, usual);
    let place = PLACES.iter().find(|place| place.name == value && allowed.contains(&place.name));
    place.ok_or_else(|| format!("{name}={value}: it is one of {}", allowed.join(", ")))
}

fn variable(name: &str, usual: &str) -> String {
    println!("cargo:rerun-if-env-changed={name}");
    env::var(name).ok().filter(|value| !value.is_empty()).unwrap_or_else(|| usual.to_owned())
}
