//! `cpb otfad verify`.

use super::program::PlacedProgram;
use super::secret::Source;
use super::{Device, address, encrypted, opened};
use crate::cmd::{DONE, FAILED, output};
use anyhow::Result;
use clap::Args;
use cpb_otfad::boot::KEY_BLOBS;
use std::path::PathBuf;

#[derive(Args)]
pub(super) struct Arguments {
    /// The encrypted image, from the start of the flash on
    image: PathBuf,
    /// The program that it should decrypt to: an ELF file, or a binary
    program: PathBuf,
    /// Where the first byte of a binary is [default: the start of the flash]
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    at: Option<u32>,
    /// The key that encrypts the key blobs: 16 bytes, as in the fuses
    #[arg(long, value_name = "SECRET", allow_hyphen_values = true)]
    kek: Source,
    #[command(flatten)]
    device: Device,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let Arguments { image: path, program, at, kek, device } = arguments;
    let kek = device.kek(&kek)?;
    let flash = device.flash();
    let image = encrypted(&path)?;
    let contexts = opened(&path, &image, &kek)?;
    let program = PlacedProgram::read(&program, flash, at)?;
    let mut decrypted = image.clone();
    contexts.apply(flash, &mut decrypted);

    let at = |offset: usize| flash + offset as u32;
    let (mut compared, mut hidden, mut different, mut first) = (0_usize, 0_usize, 0_usize, None);
    for (start, bytes) in program.pieces() {
        for (offset, byte) in (start..).zip(bytes) {
            if KEY_BLOBS.contains(&offset) {
                continue;
            }
            compared += 1;
            hidden += usize::from(contexts.at(at(offset)).is_some());
            if decrypted.get(offset) != Some(byte) {
                different += 1;
                first = first.or(Some(at(offset)));
            }
        }
    }
    let Some(first) = first else {
        output::print(&format!("{compared} bytes agree; {hidden} of them are encrypted\n"))?;
        return Ok(DONE);
    };
    let place = contexts.contexts.iter().flatten().map(|context| context.region);
    let place = place.enumerate().find(|(_, region)| region.contains(first));
    let place = place.map_or("in no region".to_owned(), |(index, region)| {
        format!("in region {index}, {region}")
    });
    output::print(&format!(
        "{different} of {compared} bytes differ, first at {first:#010x}, {place}\n"
    ))?;
    Ok(FAILED)
}
