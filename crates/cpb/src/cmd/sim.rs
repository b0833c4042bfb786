//! `cpb sim`: runs a bare-metal program on a simulated Cortex-M7 and counts its cycles.

mod fuses;
mod report;

use super::{BAD_INPUT, DONE, FAILED, output};
use crate::transport::sim::{carried, chip};
use anyhow::{Context, Result, bail};
use clap::Args;
use cpb_sim::{Chip, Console, Image, Machine, Start, Stop};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The limit for the cycles of a run without `--max-cycles`: some minutes.
const MAX_CYCLES: u64 = 10_000_000_000;

#[derive(Args)]
#[command(after_help = "Examples:\n  cpb sim hello.elf --chip imxrt1060\n  \
    cpb sim bench.elf --time mbedtls_sha256_process\n  \
    cpb sim bench.elf --profile bench    writes bench.txt and bench.folded\n\n\
    The program's output (UART or semihosting) goes to standard output, the cycle report to standard \
    error. Exit status: 0 the program ended normally, 1 it did not or --check-caches found a mistake, 2 bad \
    input.")]
pub(super) struct Arguments {
    /// The program: an ELF file, or the content of the chip's flash, such as `cpb otfad encrypt` makes
    firmware: PathBuf,
    /// The chip: imxrt1060, imxrt1170, mps2-an500, or a TOML file that describes one
    #[arg(long, default_value = "imxrt1060")]
    chip: String,
    /// The fuses of a chip that decrypts its flash: a TOML file with part, kek and, if it is scrambled, scramble-mask and
    /// scramble-align [default: FIRMWARE.fuses.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    fuses: Option<PathBuf>,
    /// Stop the run after this many cycles
    #[arg(long, default_value_t = MAX_CYCLES, value_name = "N")]
    max_cycles: u64,
    /// Time each call of a function; may be given several times
    #[arg(long, value_name = "FUNCTION")]
    time: Vec<String>,
    /// Write cycles by function and cause to NAME.txt, and by call stack to NAME.folded
    #[arg(long, value_name = "NAME")]
    profile: Option<PathBuf>,
    /// Report missing cleans and invalidates of caches around an engine's jobs, and buffers that share a cache line
    #[arg(long)]
    check_caches: bool,
    /// Print everything as JSON, including the program's output
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Output that is kept for the JSON.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut kept = self.0.lock().map_err(|_| std::io::Error::other("a writer panicked"))?;
        kept.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let chip = chip(&arguments.chip)?;
    let path = &arguments.firmware;
    let file = match carried(path) {
        Some(firmware) if !path.exists() => firmware.bytes()?,
        _ => std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?,
    };
    let (image, mut machine) = started(chip, file, &arguments)?;
    machine.set_max_cycles(arguments.max_cycles);
    if arguments.check_caches {
        machine.check_caches();
    }
    let kept = Kept::default();
    let output: Box<dyn Write + Send> =
        if arguments.json { Box::new(kept.clone()) } else { Box::new(std::io::stdout()) };
    let input: Box<dyn Read + Send> = Box::new(std::io::stdin());
    machine.set_console(Console::new(output, Some(input)));
    if !watch(&mut machine, &image, &arguments) {
        return Ok(BAD_INPUT);
    }
    let stop = machine.run();
    account(&machine, &image, stop, &arguments, &kept)?;
    let clean = machine.cache_findings(&image).is_none_or(|findings| findings.is_empty());
    Ok(if stop.is_success() && clean { DONE } else { FAILED })
}

/// The program and the chip, ready to run it.
fn started(chip: Chip, file: Vec<u8>, arguments: &Arguments) -> Result<(Image, Machine)> {
    let path = &arguments.firmware;
    let is_elf = file.starts_with(b"\x7fELF");
    let image = match &chip.boot {
        Some(boot) if !is_elf => Image::flash(boot.flash, file),
        _ => Image::parse(&file).with_context(|| path.display().to_string())?,
    };
    let mut machine = Machine::new(chip);
    image.load(&mut machine).with_context(|| path.display().to_string())?;
    let fuses = fuses::find(path, arguments.fuses.as_deref())?;
    if let Some(kek) = fuses {
        machine.fuse(kek);
    }
    match machine.boot(&image) {
        Start::KeyBlobs(error) => {
            bail!("{}: the boot ROM refuses the image: {error}", path.display())
        }
        Start::FlashConfiguration(error) => {
            bail!("{}: the boot ROM refuses the image: {error}", path.display())
        }
        Start::Entry if !is_elf => bail!(
            "{}: the boot ROM finds no program: no flash configuration block and image vector table; if they are \
             encrypted, give the key with --fuses",
            path.display()
        ),
        _ => Ok((image, machine)),
    }
}

/// Sets up what is to be measured. Returns false if a function does not exist.
fn watch(machine: &mut Machine, image: &Image, arguments: &Arguments) -> bool {
    for name in &arguments.time {
        let Some(symbol) = image.function(name) else {
            output::say(&format!("cpb: {} has no function {name}", arguments.firmware.display()));
            return false;
        };
        machine.measure_mut().time(name, symbol.address);
    }
    if arguments.profile.is_some() {
        machine.measure_mut().keep_profile(image);
    }
    true
}

fn account(
    machine: &Machine,
    image: &Image,
    stop: Stop,
    arguments: &Arguments,
    kept: &Kept,
) -> Result<()> {
    if let Some(name) = &arguments.profile {
        let text = name.with_extension("txt");
        let folded = name.with_extension("folded");
        let profile = machine.measure().profiled().context("no profile was kept")?;
        for (path, content) in [(text, report::profile(profile)), (folded, profile.folded())] {
            std::fs::write(&path, content)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    if arguments.json {
        let output = kept.0.lock().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let text = report::json(machine, image, stop, &output.unwrap_or_default())?;
        return output::print_json(&text);
    }
    if !stop.is_success() {
        output::say(&machine.diagnose(stop, image));
    }
    output::say(&report::render(machine));
    if let Some(findings) = machine.cache_findings(image) {
        output::say(&report::cache_findings(&findings, image));
    }
    Ok(())
}
