//! `cpb otfad`: images for external flash that the i.MX RT decrypts as it reads.

mod decrypt;
mod encrypt;
mod inspect;
mod program;
mod region;
mod secret;
mod verify;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Subcommand};
use cpb_otfad::{BLOBS, Kek, Key, KeyBlobs, PARTS, Part, Scramble};
use secret::Source;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

#[derive(Args)]
#[command(after_help = "Examples:
  cpb otfad encrypt app.elf -o xip.bin --kek kek.bin \\
      --region 0x30002000..0x30040000 --key app.key --counter app.ctr
  cpb otfad encrypt app.bin -o boots.bin --kek env:KEK --at 0x30002000 \\
      --flash-configuration fcb.bin --region 0x30001000..0x30040000 \\
      --key env:KEY --counter 0123456789abcdef
  cpb otfad inspect xip.bin --kek kek.bin
  cpb otfad verify xip.bin app.elf --kek kek.bin
  cpb otfad decrypt xip.bin -o plain.bin --kek kek.bin

A SECRET is a file, or env:NAME for an environment variable: the bytes, or
their hexadecimal digits. Digits on the command line work too, with a warning:
other users can see them.

OTFAD keeps secrets, it proves nothing: a changed bit of an encrypted image
changes the same bit of the program, and nothing notices. Use a new key or a
new counter for each image.")]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Operation,
}

#[derive(Subcommand)]
enum Operation {
    /// Encrypt an image and put its key blobs at the start
    Encrypt(Box<encrypt::Arguments>),
    /// Decrypt an image
    Decrypt(decrypt::Arguments),
    /// Show the regions of an encrypted image and what the boot ROM reads
    Inspect(inspect::Arguments),
    /// Check that an encrypted image decrypts to a program
    Verify(verify::Arguments),
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    match arguments.command {
        Operation::Encrypt(arguments) => encrypt::run(*arguments),
        Operation::Decrypt(arguments) => decrypt::run(arguments),
        Operation::Inspect(arguments) => inspect::run(arguments),
        Operation::Verify(arguments) => verify::run(arguments),
    }
}

/// The device that an image is for.
#[derive(Args)]
struct Device {
    /// The part: imxrt1010, imxrt1170 or imxrt1180
    #[arg(long, default_value = "imxrt1170", value_parser = part, help_heading = "Device")]
    part: &'static Part,
    /// Address of the flash, where the image begins [default: that of the part's first FlexSPI]
    #[arg(long, value_name = "ADDRESS", value_parser = address, help_heading = "Device")]
    base: Option<u32>,
    /// Fused mask that changes the KEK for each blob: 4 bytes, the most significant one first
    #[arg(
        long,
        value_name = "SECRET",
        requires = "scramble_align",
        allow_hyphen_values = true,
        help_heading = "Device"
    )]
    scramble_mask: Option<Source>,
    /// Fused byte that says which word of the KEK the mask changes, two bits for each blob
    #[arg(
        long,
        value_name = "BYTE",
        requires = "scramble_mask",
        value_parser = byte,
        help_heading = "Device"
    )]
    scramble_align: Option<u8>,
}

impl Device {
    fn flash(&self) -> u32 {
        self.base.unwrap_or(self.part.flash)
    }

    /// The key encryption key from `source`, with the scramble.
    ///
    /// # Errors
    /// Returns an error if a secret cannot be read or has the wrong length.
    fn kek(&self, source: &Source) -> Result<Kek> {
        let key = Key::new(*source.read("--kek")?);
        let mask = self.scramble_mask.as_ref().map(|source| source.read("--scramble-mask"));
        let mask = mask.transpose()?;
        let scramble = mask.zip(self.scramble_align);
        let scramble =
            scramble.map(|(mask, align)| Scramble { mask: u32::from_be_bytes(*mask), align });
        Ok(Kek { key, scramble, part: self.part })
    }
}

fn part(name: &str) -> Result<&'static Part, String> {
    if name.starts_with("imxrt105") || name.starts_with("imxrt106") {
        return Err("this part has BEE, another engine, and not OTFAD".to_owned());
    }
    Part::named(name).ok_or_else(|| {
        let names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        format!("there is no such part; there are: {}", names.join(", "))
    })
}

fn byte(text: &str) -> Result<u8, String> {
    let number = number(text).and_then(|number| u8::try_from(number).ok());
    number.ok_or_else(|| "not a byte, such as 0x72".to_owned())
}

fn address(text: &str) -> Result<u32, String> {
    let number = number(text).and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| "not an address, such as 0x30000000".to_owned())
}

/// A number in decimal or, after `0x`, in hexadecimal notation. `_` may separate digits.
fn number(text: &str) -> Option<u64> {
    let text = text.replace('_', "");
    let (digits, radix) = text.strip_prefix("0x").map_or((text.as_str(), 10), |hex| (hex, 16));
    // `from_str_radix` accepts a sign.
    let are_digits = digits.chars().all(|digit| digit.is_digit(radix));
    are_digits.then(|| u64::from_str_radix(digits, radix).ok()).flatten()
}

/// An encrypted image: bytes of the flash from its start on.
///
/// # Errors
/// Returns an error if the file cannot be read or is too short for key blobs.
fn encrypted(path: &Path) -> Result<Zeroizing<Vec<u8>>> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let shown = path.display();
    if program::is_elf(&bytes) {
        bail!("{shown} is an ELF file; give the binary that `cpb otfad encrypt` wrote");
    }
    let length = bytes.len();
    ensure!(length >= BLOBS, "{shown} has {length} bytes, fewer than four key blobs ({BLOBS})");
    Ok(Zeroizing::new(bytes))
}

/// The key blobs of an image, wrapped.
///
/// # Errors
/// Returns an error if the image has no key blobs.
fn blobs<'image>(path: &Path, image: &'image [u8]) -> Result<&'image [u8; BLOBS]> {
    let blobs = image.first_chunk().filter(|blobs: &&[u8; BLOBS]| !program::is_blank(*blobs));
    let shown = path.display();
    blobs.with_context(|| {
        format!("{shown} has no key blobs in its first {BLOBS} bytes: it is not encrypted")
    })
}

/// The contexts of an image.
///
/// # Errors
/// Returns an error if there are no key blobs, or if one of them does not open.
fn opened(path: &Path, image: &[u8], kek: &Kek) -> Result<KeyBlobs> {
    KeyBlobs::open(blobs(path, image)?, kek).with_context(|| path.display().to_string())
}

/// Hexadecimal digits.
fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Where an image is written.
#[derive(Args)]
struct Output {
    /// File to write
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: PathBuf,
    /// Replace an existing file
    #[arg(long, help_heading = "Output")]
    overwrite: bool,
}

impl Output {
    /// Writes the image, completely or not at all.
    ///
    /// # Errors
    /// Returns an error if the file exists and may not be replaced, or cannot be written.
    fn write(&self, image: &[u8]) -> Result<()> {
        ensure!(self.output != Path::new("-"), "--output: give a file; images are not printed");
        super::file::may_replace(&self.output, self.overwrite)?;
        super::file::write(&self.output, image)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_sign_and_no_rest() {
        assert_eq!(number("0x3000_2000"), Some(0x3000_2000));
        assert_eq!(number("1024"), Some(1024));
        for text in ["", "0x", "-1", "+1", "0x+1", "1k", "0X10"] {
            assert_eq!(number(text), None, "{text}");
        }
        assert!(address("0x1_0000_0000").is_err() && byte("256").is_err());
    }
}
