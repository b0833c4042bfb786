//! `cpb otfad decrypt`.

use super::program::FILL;
use super::secret::Source;
use super::{Device, Output, encrypted, opened};
use crate::cmd::{DONE, output};
use anyhow::Result;
use clap::Args;
use cpb_otfad::boot::KEY_BLOBS;
use std::path::PathBuf;

#[derive(Args)]
pub(super) struct Arguments {
    /// The encrypted image, from the start of the flash on
    image: PathBuf,
    /// The key that encrypts the key blobs: 16 bytes, as in the fuses
    #[arg(long, value_name = "SECRET", allow_hyphen_values = true)]
    kek: Source,
    #[command(flatten)]
    device: Device,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let Arguments { image: path, kek, device, output: target } = arguments;
    let kek = device.kek(&kek)?;
    let mut image = encrypted(&path)?;
    opened(&path, &image, &kek)?.apply(device.flash(), &mut image);
    image[KEY_BLOBS].fill(FILL);
    target.write(&image)?;
    output::say(&format!("{}: {} bytes, decrypted", target.output.display(), image.len()));
    Ok(DONE)
}
