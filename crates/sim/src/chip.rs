//! A chip: one data file with memories, clocks, devices and timing constants, each with its source.

use crate::flash_configuration::{FlashRead, ReadSequence};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// The built-in chips, with one file each in `chips/`.
pub const CHIPS: [(&str, &str); 3] = [
    ("imxrt1060", include_str!("../chips/imxrt1060.toml")),
    ("imxrt1170", include_str!("../chips/imxrt1170.toml")),
    ("mps2-an500", include_str!("../chips/mps2-an500.toml")),
];

/// A figure and its source.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// The value, in the unit given in the field's documentation.
    pub value: f64,
    /// A document, `inferred: …` or `fitted to …`.
    pub source: String,
}

/// A chip, as described by its file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Chip {
    /// The name for `--chip`.
    pub name: String,
    /// A description in words.
    pub description: String,
    /// Clocks in MHz.
    pub clock: Clocks,
    /// First-level caches.
    #[serde(default)]
    pub cache: Caches,
    /// Timing costs of the core and the buses.
    pub timing: TimingFile,
    /// Memories.
    pub memory: Vec<MemoryDescription>,
    /// Devices.
    #[serde(default)]
    pub device: Vec<DeviceDescription>,
    /// Where the boot ROM looks for an image.
    pub boot: Option<Boot>,
}

/// Clocks, MHz.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    /// The core clock.
    pub core: Constant,
    /// The bus clock at which on-chip memory responds.
    pub bus: Constant,
    /// The serial flash clock.
    pub flash: Option<Constant>,
}

/// Sizes of the first-level caches.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caches {
    /// Instructions.
    pub instruction: Option<CacheShape>,
    /// Data.
    pub data: Option<CacheShape>,
}

/// One cache. Lines have 32 bytes (Cortex-M7 Technical Reference Manual).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheShape {
    /// Size in bytes.
    pub size: u32,
    /// The number of lines that can hold one address.
    pub ways: u32,
    /// Source document.
    pub source: String,
}

/// One memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryDescription {
    /// ITCM, OCRAM, ...
    pub name: String,
    /// First address.
    pub base: u32,
    /// Size in bytes.
    pub size: u32,
    /// How the core reaches it.
    pub kind: MemoryKind,
    /// Source document.
    pub source: String,
}

/// How the core reaches a memory.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryKind {
    /// Tightly coupled, without delay.
    Tcm,
    /// On-chip, behind the bus.
    Sram,
    /// Serial flash behind the bus, read-only.
    Flash,
}

/// A device, or a block of registers that only store values.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceDescription {
    /// The name of the model's file.
    pub kind: String,
    /// The name of an `unmodelled` device.
    #[serde(default)]
    pub name: String,
    /// First address.
    pub base: u32,
    /// Size in bytes.
    pub size: u32,
    /// Interrupt number.
    pub interrupt: Option<u16>,
    /// The interrupt numbers of a device with several, in the order of its lines.
    #[serde(default)]
    pub interrupts: Vec<u16>,
    /// For an engine: its clock in MHz, and by name the time of each step in cycles of that clock.
    #[serde(default)]
    pub timing: BTreeMap<String, Constant>,
    /// For `registers`: bits that always read as one, by offset.
    #[serde(default)]
    pub ones: Vec<(u32, u32)>,
    /// For `registers`: bits that always read as zero, by offset.
    #[serde(default)]
    pub zeros: Vec<(u32, u32)>,
    /// For `registers`: whether each is followed by three registers that set, clear and toggle its bits.
    #[serde(default)]
    pub set_clear_toggle: bool,
    /// Source document.
    pub source: String,
}

/// The name of an engine's clock, MHz, among its times. All others are in cycles of it.
pub(crate) const ENGINE_CLOCK: &str = "clock";

impl DeviceDescription {
    /// The names of the times that an engine of this kind needs; `None` for a device that is no engine.
    pub(crate) fn engine_times(&self) -> Option<&'static [&'static str]> {
        match self.kind.as_str() {
            "dcp" => Some(&[
                ENGINE_CLOCK,
                "fetch",
                "context",
                "payload",
                "aes-block",
                "sha1-block",
                "sha256-block",
                "word",
                "finish",
            ]),
            "caam" => Some(&[
                ENGINE_CLOCK,
                "ring-entry",
                "descriptor-word",
                "command",
                "register-word",
                "table-entry",
                "dma-start",
                "dma-beat",
                "aes-round",
                "des-round",
                "md5-block",
                "sha1-block",
                "sha256-block",
                "sha512-block",
                "random-word",
                "word-product",
                "finish",
                "latency",
            ]),
            _ => None,
        }
    }

    /// Whether it states exactly the times that its engine needs, all of them possible.
    fn check(&self) -> Result<(), String> {
        let kind = &self.kind;
        let wanted = self.engine_times().unwrap_or_default();
        if let Some(name) = wanted.iter().find(|name| !self.timing.contains_key(**name)) {
            return Err(format!("device {kind}: timing.{name} is missing"));
        }
        for (name, constant) in &self.timing {
            if !wanted.contains(&name.as_str()) {
                return Err(format!("device {kind}: timing.{name} is not known"));
            }
            let least = if name == ENGINE_CLOCK { 1e-3 } else { 0.0 };
            if !(least..1e9).contains(&constant.value) {
                return Err(format!("device {kind}: timing.{name} is out of range"));
            }
        }
        Ok(())
    }
}

/// Where the boot ROM looks, as offsets from `flash`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Boot {
    /// The start of the flash.
    pub flash: u32,
    /// The flash configuration block.
    pub configuration: u32,
    /// The image vector table.
    pub vectors: u32,
    /// The clocks of the flash in MHz that a flash configuration block can ask for, by their number in it.
    #[serde(default)]
    pub serial_clocks: BTreeMap<String, f64>,
    /// Source document.
    pub source: String,
}

/// Timing constants as written in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TimingFile {
    /// Cycles lost by a mispredicted branch.
    pub mispredict: Constant,
    /// The same if the flags were set three cycles before.
    pub mispredict_early: Constant,
    /// Additional cycles of an unaligned load.
    pub unaligned_load: Constant,
    /// The number of stores that can wait in the store buffer.
    pub store_buffer: Constant,
    /// Cycles for which a store of less than an aligned word occupies a bank.
    pub partial_store: Constant,
    /// Cycles to enter or leave an exception.
    pub exception: Constant,
    /// Bus clocks of one read of on-chip memory.
    pub bus_read: Constant,
    /// Bus clocks of one beat: a write, which the core does not wait for, and every further eight bytes of a
    /// line.
    pub bus_beat: Constant,
    /// Bus clocks that a transfer of the core waits while an engine has a job running.
    pub bus_turn: Option<Constant>,
    /// Flash clocks of a read's command, address and dummies, for a program without a flash configuration block.
    pub flash_command: Option<Constant>,
    /// Flash clocks per byte, for a program without a flash configuration block.
    pub flash_byte: Option<Constant>,
    /// Flash clocks that the controller takes up to the first byte, besides the command.
    pub flash_first: Option<Constant>,
    /// Bytes that the flash controller reads ahead; 0 if it keeps nothing of what it read.
    pub flash_ahead: Option<Constant>,
    /// Core cycles of a read from the flash controller's prefetch buffer.
    pub flash_buffered: Option<Constant>,
    /// Flash clocks beyond its bytes that each further window of 1,024 bytes of a stream costs.
    pub flash_window: Option<Constant>,
    /// Like `flash-buffered`, of what the inline engine decrypts; the same if it is not given.
    pub otfad_buffered: Option<Constant>,
    /// Like `flash-window`, of what the inline engine decrypts; the same if it is not given.
    pub otfad_window: Option<Constant>,
    /// Bus clocks that a new stream costs if the inline engine decrypts it with another context than the last.
    pub otfad_context: Option<Constant>,
}

/// Timing constants in core cycles, as used by the scoreboard.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the fields of TimingFile")]
pub struct Timing {
    pub mispredict: u32,
    pub mispredict_early: u32,
    pub unaligned_load: u32,
    pub store_buffer: u32,
    pub partial_store: u32,
    pub exception: u32,
    /// One uncached read of on-chip memory.
    pub bus_read: u32,
    /// One write to on-chip memory.
    pub bus_write: u32,
    /// A line of 32 bytes from on-chip memory.
    pub bus_line: u32,
    /// The wait of a transfer while an engine has a job running.
    pub bus_turn: u32,
    pub flash: FlashTiming,
}

/// Timing constants of serial flash, as used by its model. Clocks are those of the flash.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlashTiming {
    /// Core cycles of a clock.
    pub clock: f64,
    /// The command of a read.
    pub sequence: ReadSequence,
    /// Clocks that the controller takes up to the first byte, besides the command.
    pub first: f64,
    /// Bytes that are read ahead.
    pub ahead: u32,
    /// Core cycles of a read of data that is in the buffer.
    pub buffered: f64,
    /// Clocks of each further window of a stream.
    pub window: f64,
    /// Like `buffered`, if it is decrypted.
    pub otfad_buffered: f64,
    /// Like `window`, if it is decrypted.
    pub otfad_window: f64,
    /// Core cycles to change to another context.
    pub otfad_context: f64,
}

/// An error in a chip's file or name.
#[derive(Debug)]
pub struct ChipError(String);

impl fmt::Display for ChipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ChipError {}

impl Chip {
    /// Returns a built-in chip.
    ///
    /// # Errors
    ///
    /// Returns an error if no chip has that name. The message lists the existing names.
    pub fn named(name: &str) -> Result<Chip, ChipError> {
        let found = CHIPS.iter().find(|(known, _)| *known == name);
        let Some((_, text)) = found else {
            let known: Vec<&str> = CHIPS.iter().map(|(name, _)| *name).collect();
            return Err(ChipError(format!("no chip is called {name}: {}", known.join(", "))));
        };
        Chip::parse(text)
    }

    /// Parses the text of a chip file like those in `chips/`.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a valid chip file, or if memories overlap.
    pub fn parse(text: &str) -> Result<Chip, ChipError> {
        let chip: Chip = toml::from_str(text).map_err(|e| ChipError(e.to_string()))?;
        for device in &chip.device {
            device.check().map_err(ChipError)?;
        }
        let mut taken: Vec<(u64, u64, &str)> = Vec::new();
        for memory in &chip.memory {
            let (first, size) = (u64::from(memory.base), u64::from(memory.size));
            let range = (first >> 20, (first + size.max(1) - 1) >> 20, memory.name.as_str());
            if first + size > 1 << 32 || size > 1 << 28 {
                return Err(ChipError(format!("{} is too large", memory.name)));
            }
            // The simulator finds a memory by the upper twelve bits of an address.
            if let Some(other) = taken.iter().find(|t| t.0 <= range.1 && range.0 <= t.1) {
                let message = format!("{} and {} share a MiB", other.2, memory.name);
                return Err(ChipError(message));
            }
            taken.push(range);
        }
        Ok(chip)
    }

    /// The timing constants in core cycles.
    pub fn timing(&self) -> Timing {
        let t = &self.timing;
        let cycles = |c: &Constant| c.value.round().clamp(0.0, 1e6) as u32;
        let per_bus = self.clock.core.value / self.clock.bus.value.max(1e-3);
        let bus = |clocks: f64| (clocks * per_bus).round().clamp(0.0, 1e6) as u32;
        Timing {
            mispredict: cycles(&t.mispredict),
            mispredict_early: cycles(&t.mispredict_early),
            unaligned_load: cycles(&t.unaligned_load),
            store_buffer: cycles(&t.store_buffer),
            partial_store: cycles(&t.partial_store),
            exception: cycles(&t.exception),
            bus_read: bus(t.bus_read.value),
            bus_write: bus(t.bus_beat.value),
            bus_line: bus(t.bus_read.value + 3.0 * t.bus_beat.value),
            bus_turn: t.bus_turn.as_ref().map_or(0, |turn| bus(turn.value)),
            flash: self.flash_timing(),
        }
    }

    /// The timing constants of the flash, with the clock and the command that the chip's file states.
    fn flash_timing(&self) -> FlashTiming {
        let t = &self.timing;
        let of = |c: &Option<Constant>| c.as_ref().map_or(0.0, |c| c.value);
        let or = |own: &Option<Constant>, plain| own.as_ref().map_or(of(plain), |c| c.value);
        let per_bus = self.clock.core.value / self.clock.bus.value.max(1e-3);
        FlashTiming {
            clock: self.per_flash_clock(of(&self.clock.flash)),
            sequence: ReadSequence {
                clocks: of(&t.flash_command).clamp(0.0, 1e6) as u32,
                per_byte: of(&t.flash_byte),
            },
            first: of(&t.flash_first),
            ahead: of(&t.flash_ahead).clamp(0.0, 1e6) as u32,
            buffered: of(&t.flash_buffered),
            window: of(&t.flash_window),
            otfad_buffered: or(&t.otfad_buffered, &t.flash_buffered),
            otfad_window: or(&t.otfad_window, &t.flash_window),
            otfad_context: of(&t.otfad_context) * per_bus,
        }
    }

    /// Core cycles of a flash clock of so many MHz; 0 if there is no flash.
    fn per_flash_clock(&self, mhz: f64) -> f64 {
        if mhz > 0.0 { self.clock.core.value / mhz } else { 0.0 }
    }

    /// The timing constants of the flash, with the clock and the command of a flash configuration block; `None` if the
    /// chip has no such clock.
    pub(crate) fn configured_flash(&self, read: &FlashRead) -> Option<FlashTiming> {
        let clocks = &self.boot.as_ref()?.serial_clocks;
        let mhz = clocks.get(&read.serial_clock.to_string())?;
        let (clock, sequence) = (self.per_flash_clock(*mhz), read.sequence);
        Some(FlashTiming { clock, sequence, ..self.flash_timing() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chip_of_the_folder_is_built_in_and_every_constant_has_a_source() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/chips");
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let chip = Chip::named(&stem).unwrap();
            assert_eq!(chip.name, stem);
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!text.contains("source = \"\""), "{stem}: a source is missing");
        }
    }

    #[test]
    fn a_device_may_have_several_interrupts() {
        let file = "kind = 'registers'\nbase = 0\nsize = 4\ninterrupts = [50, 51]\nsource = 'x'";
        let device: DeviceDescription = toml::from_str(file).unwrap();
        assert_eq!((device.interrupt, device.interrupts), (None, vec![50, 51]));
    }

    #[test]
    fn an_unknown_chip_is_answered_with_those_there_are() {
        let error = Chip::named("imxrt9999").unwrap_err().to_string();
        assert!(error.contains("imxrt1060, imxrt1170"), "{error}");
    }
}
