//! A runner on a simulated board: `cpb sim` as a process, whose serial port is its standard input and output.

use super::conversation::Conversation;
use super::process::Program;
use super::{Affinity, Launch, RunnerError, Timeouts};
use crate::library::{self, Carried};
use anyhow::{Context, Result, bail};
use cpb_core::Error;
use cpb_sim::Chip;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The suffix of a simulated target's name: `imxrt1060-sim`.
const SUFFIX: &str = "-sim";

/// A chip, and the firmware that it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulator {
    /// The chip, as in `cpb sim --chip`.
    pub chip: String,
    /// The firmware, an ELF file.
    pub image: PathBuf,
}

impl Simulator {
    /// The simulator that `target` names: `CHIP-sim`, or `CHIP-sim:FIRMWARE.elf`; `None` if it names something else. The
    /// chip is a name, or the path of a chip's file.
    ///
    /// # Errors
    /// Returns an error if there is no such chip, or if its firmware was not built.
    pub fn named(target: &str) -> Result<Option<Simulator>> {
        let (name, image) = match target.split_once(':') {
            Some((name, image)) => (name, Some(PathBuf::from(image))),
            None => (target, None),
        };
        let Some(given) = name.strip_suffix(SUFFIX) else { return Ok(None) };
        let chip = chip(given)?.name;
        let image = image.unwrap_or_else(|| usual_image(&chip));
        if !image.is_file() && carried(&image).is_none() {
            bail!(
                "{}: no such file; run `make firmware` and cpb in its source folder, or choose a firmware with \
                 `--target {chip}{SUFFIX}:FIRMWARE.elf`",
                image.display()
            );
        }
        Ok(Some(Simulator { chip: given.to_owned(), image }))
    }
}

/// The chip with this name, or that of a file whose name ends with `.toml`.
///
/// # Errors
/// Returns an error if there is no such chip, or if its file is wrong.
pub fn chip(name: &str) -> Result<Chip> {
    let path = Path::new(name);
    if path.extension().is_some_and(|extension| extension == "toml") {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
        return Chip::parse(&text).with_context(|| name.to_owned());
    }
    Ok(Chip::named(name)?)
}

impl Launch for Simulator {
    fn start(&self, _: &Affinity, timeouts: &Timeouts) -> Result<Conversation, RunnerError> {
        let path = std::env::current_exe().map_err(|error| RunnerError {
            error: Error::Crashed,
            detail: format!("cannot find cpb's own executable: {error}"),
            again: false,
        })?;
        let arguments = vec![
            "sim".into(),
            self.image.clone().into(),
            "--chip".into(),
            self.chip.clone().into(),
            "--max-cycles".into(),
            u64::MAX.to_string().into(),
        ];
        let program = Program { path, arguments, environment: Vec::new() };
        program.start(&Affinity::default(), timeouts)
    }

    fn serving(&self, _: &str) -> Arc<dyn Launch> {
        Arc::new(self.clone())
    }

    fn shared(&self) -> Option<String> {
        Some(format!("{}{SUFFIX}:{}", self.chip, self.image.display()))
    }
}

/// The built-in firmware with that name.
pub fn carried(image: &Path) -> Option<&'static Carried> {
    library::find(library::firmware(), image.to_str()?)
}

/// The path where `make firmware` puts a chip's firmware, or else the name of a built-in one. Images for the
/// i.MX RT are named after their boards.
fn usual_image(chip: &str) -> PathBuf {
    let board = if chip.starts_with("imxrt") { "-evk" } else { "" };
    let name = format!("{chip}{board}-O2");
    let folder = std::env::var_os("CPB_FIRMWARE_IMAGES");
    let folder = folder.map_or_else(|| Path::new("target/firmware").to_owned(), PathBuf::from);
    let built = folder.join(format!("{name}.elf"));
    match carried(Path::new(&name)) {
        Some(_) if !built.is_file() => name.into(),
        _ => built,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carried_firmware_is_a_program_for_its_chip() {
        for firmware in library::firmware() {
            let chip = firmware.name.trim_end_matches("-O2").trim_end_matches("-evk");
            let image = cpb_sim::Image::parse(&firmware.bytes().unwrap()).unwrap();
            let mut machine = cpb_sim::Machine::new(Chip::named(chip).unwrap());
            image.load(&mut machine).unwrap();
            let name = Simulator::named(&format!("{chip}-sim:{}", firmware.name)).unwrap();
            assert_eq!(name.unwrap().image, Path::new(firmware.name));
        }
    }

    #[test]
    fn a_target_names_a_chip_and_perhaps_its_firmware() {
        assert_eq!(Simulator::named("lab:x86_64-6.1").unwrap(), None);
        assert_eq!(Simulator::named("serial:/dev/ttyACM0").unwrap(), None);
        let unknown = Simulator::named("imxrt9999-sim").unwrap_err().to_string();
        assert!(unknown.contains("imxrt1060"), "{unknown}");
        let absent = Simulator::named("imxrt1060-sim:absent.elf").unwrap_err().to_string();
        assert!(absent.contains("make firmware"), "{absent}");
    }

    #[test]
    fn a_chip_s_file_stands_for_a_chip() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../sim/chips/imxrt1060.toml");
        let image = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let simulator = Simulator::named(&format!("{file}-sim:{image}")).unwrap().unwrap();
        assert_eq!((simulator.chip.as_str(), simulator.image.as_path()), (file, Path::new(image)));
        let absent = Simulator::named("absent.toml-sim:x").unwrap_err();
        assert!(format!("{absent:#}").contains("cannot read absent.toml"), "{absent:#}");
    }
}
