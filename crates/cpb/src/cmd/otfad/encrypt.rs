//! `cpb otfad encrypt`.

use super::program::{self, PlacedProgram};
use super::secret::Source;
use super::{Device, Output, address, region};
use crate::cmd::{DONE, output};
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use clap::Args;
use cpb_otfad::boot::{self, Boot};
use cpb_otfad::{Context, Counter, Flags, Key, KeyBlobs, Region};
use std::path::PathBuf;
use zeroize::Zeroizing;

#[derive(Args)]
pub(super) struct Arguments {
    /// The program: an ELF file, or a binary
    image: PathBuf,
    /// Where the first byte of a binary is [default: the start of the flash]
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    at: Option<u32>,
    /// A region to encrypt, in whole KiB; up to four. `,unlocked` leaves its registers writable, `,bypass` leaves its
    /// bytes as they are
    #[arg(long = "region", value_name = "START..END", required = true, value_parser = region::parse)]
    regions: Vec<(Region, Flags)>,
    /// The AES key of a region: 16 bytes; once for each region, in the same order
    #[arg(long = "key", value_name = "SECRET", required = true, allow_hyphen_values = true)]
    keys: Vec<Source>,
    /// The counter of a region: 8 bytes, like a key, but no secret
    #[arg(long = "counter", value_name = "VALUE", required = true, allow_hyphen_values = true)]
    counters: Vec<Source>,
    /// The key that encrypts the key blobs: 16 bytes, as in the fuses
    #[arg(long, value_name = "SECRET", allow_hyphen_values = true)]
    kek: Source,
    /// Add a boot header with this flash configuration block of 512 bytes
    #[arg(long, value_name = "FILE")]
    flash_configuration: Option<PathBuf>,
    /// Address of the program's vector table, for the boot header [default: the program's start]
    #[arg(long, value_name = "ADDRESS", requires = "flash_configuration", value_parser = address)]
    entry: Option<u32>,
    /// Leave bytes of the program (from offset 0x2000, or from where it begins) plain if no region has them
    #[arg(long)]
    allow_plain: bool,
    #[command(flatten)]
    device: Device,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let kek = arguments.device.kek(&arguments.kek)?;
    let blobs = contexts(&arguments)?;
    let flash = arguments.device.flash();
    let program = PlacedProgram::read(&arguments.image, flash, arguments.at)?;
    let mut image = Zeroizing::new(program.flattened());
    let shown = arguments.image.display();
    if let Some(path) = &arguments.flash_configuration {
        let configuration = std::fs::read(path)
            .with_context(|| format!("--flash-configuration: cannot read {}", path.display()))?;
        add_header(&mut image, &configuration, &program, &arguments)?;
    }
    leaves_room(&image, &arguments).with_context(|| shown.to_string())?;
    let boot = boot::read(flash, &image);
    let begin = boot.map_or(boot::PROGRAM, |boot| {
        // `read` has checked that the program begins in the image.
        boot::PROGRAM.min((boot.entry - flash) as usize)
    });
    is_covered(&image, begin, &arguments).with_context(|| shown.to_string())?;
    if let (true, Err(error)) = (arguments.device.part.has_vector_table, boot) {
        output::say(&format!(
            "warning: {shown}: the boot ROM cannot start this image: {error}; \
             --flash-configuration adds a boot header"
        ));
    }
    blobs.apply(flash, &mut image);
    let length = image.len().max(boot::KEY_BLOBS.end);
    image.resize(length, program::FILL);
    image[boot::KEY_BLOBS].copy_from_slice(&blobs.seal(&kek));
    arguments.output.write(&image)?;
    let count = arguments.regions.len();
    let regions = if count == 1 { "1 region".to_owned() } else { format!("{count} regions") };
    output::say(&format!(
        "{}: {} bytes for {flash:#010x}, {regions}",
        arguments.output.output.display(),
        image.len()
    ));
    Ok(DONE)
}

/// The contexts of the command line.
fn contexts(arguments: &Arguments) -> Result<KeyBlobs> {
    let flash = arguments.device.flash();
    let counts = [arguments.regions.len(), arguments.keys.len(), arguments.counters.len()];
    ensure!(
        counts[0] == counts[1] && counts[0] == counts[2],
        "{} --region, {} --key and {} --counter; give each once for each region, in the same order",
        counts[0],
        counts[1],
        counts[2]
    );
    let first = u64::from(flash) + boot::FIRST_ENCRYPTED as u64;
    let secrets = arguments.keys.iter().zip(&arguments.counters);
    let mut contexts = Vec::new();
    for ((region, flags), (key, counter)) in arguments.regions.iter().copied().zip(secrets) {
        ensure!(
            u64::from(region.start()) >= first,
            "--region {region}: the boot ROM reads key blobs and flash configuration below {first:#010x} before it \
             can decrypt; start there or above"
        );
        let key = Key::new(*key.read("--key")?);
        let counter = Counter(counter.read_public("--counter")?);
        contexts.push(Context { region, key, counter, flags });
    }
    KeyBlobs::new(contexts).map_err(|error| anyhow!("--region: {error}"))
}

/// Writes the boot header of a program that has none.
fn add_header(
    image: &mut [u8],
    configuration: &[u8],
    program: &PlacedProgram,
    arguments: &Arguments,
) -> Result<()> {
    let option = "--flash-configuration";
    let device = &arguments.device;
    let part = device.part.name;
    ensure!(
        device.part.has_vector_table,
        "{option}: {part} boots from a container, which cpb does not make; use an image that has one"
    );
    let length = configuration.len();
    let configuration: &[u8; 512] =
        configuration.try_into().map_err(|_| anyhow!("{option}: {length} bytes, not 512"))?;
    ensure!(configuration.starts_with(b"FCFB"), "{option}: it does not begin with FCFB");
    let (start, flash) = (program.start(), device.flash());
    let needed = u64::from(flash) + boot::BOOT_DATA.end as u64;
    ensure!(
        u64::from(start) >= needed,
        "{option}: the program begins at {start:#010x}, where the boot header lies (up to {needed:#010x}); link it for \
         {:#010x} or above, or use its own header",
        u64::from(flash) + boot::PROGRAM as u64
    );
    let entry = arguments.entry.unwrap_or(start);
    let boot = Boot { entry, start: flash, length: u32::try_from(image.len())? };
    boot::write(&boot, configuration, image)?;
    boot::read(flash, image).map(|_| ()).context("--entry")
}

/// Returns an error if the image has bytes where its key blobs go.
fn leaves_room(image: &[u8], arguments: &Arguments) -> Result<()> {
    let place = &image[..image.len().min(boot::KEY_BLOBS.end)];
    if !program::is_blank(place) {
        bail!(
            "there are bytes in its first {}, where the key blobs go; if it is encrypted, decrypt it first; if it \
             begins elsewhere, give --at or --base (now {:#010x})",
            boot::KEY_BLOBS.end,
            arguments.device.flash()
        );
    }
    Ok(())
}

/// Returns an error if bytes of the program, which begins at the offset `begin`, are in no region, or if a region has
/// no bytes of the image.
fn is_covered(image: &[u8], begin: usize, arguments: &Arguments) -> Result<()> {
    let flash = arguments.device.flash();
    let mut regions: Vec<Region> = arguments.regions.iter().map(|(region, _)| *region).collect();
    regions.sort_by_key(Region::start);
    let offset = |address: u64| image.len().min((address - u64::from(flash)) as usize);
    let ends = regions.iter().map(|region| offset(region.end()));
    let ends = [begin.min(image.len())].into_iter().chain(ends);
    let starts = regions.iter().map(|region| offset(region.start().into()));
    let gaps = ends.zip(starts.chain([image.len()]));
    for (from, to) in gaps.filter(|(from, to)| from < to && !arguments.allow_plain) {
        ensure!(
            program::is_blank(&image[from..to]),
            "it is larger than its regions: {} bytes from {:#010x} on would stay plain; extend --region, or give \
             --allow-plain",
            to - from,
            u64::from(flash) + from as u64
        );
    }
    let end = u64::from(flash) + image.len() as u64;
    if let Some(region) = regions.iter().find(|region| u64::from(region.start()) >= end) {
        bail!("--region {region} would encrypt nothing: the image ends at {end:#010x}");
    }
    Ok(())
}
