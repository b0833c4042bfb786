//! `cpb otfad inspect`.

use super::secret::Source;
use super::{Device, blobs, encrypted, hexadecimal, region};
use crate::cmd::{DONE, FAILED, output};
use anyhow::{Result, bail};
use clap::Args;
use cpb_otfad::boot::{self, Boot, BootError};
use cpb_otfad::{BLOB, BlobError, CONTEXTS, Context, Kek, KeyBlobs, OpenError, open};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(super) struct Arguments {
    /// The encrypted image, from the start of the flash on
    image: PathBuf,
    /// The key that encrypts the key blobs; without it, only what is plain is shown
    #[arg(long, value_name = "SECRET", allow_hyphen_values = true)]
    kek: Option<Source>,
    #[command(flatten)]
    device: Device,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// The context of each blob, or what is wrong with it.
type Contexts = [Result<Option<Context>, BlobError>; CONTEXTS];

/// What an image says.
struct Findings {
    part: &'static str,
    flash: u32,
    length: usize,
    /// `None` for a part without a vector table.
    boot: Option<Result<Boot, BootError>>,
    /// `None` without a KEK.
    blobs: Option<Contexts>,
    overlap: Option<(usize, usize)>,
    is_blank: bool,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let Arguments { image: path, kek, device, json } = arguments;
    let kek = kek.map(|source| device.kek(&source)).transpose()?;
    let mut image = encrypted(&path)?;
    let is_blank = blobs(&path, &image).is_err();
    let open = |kek: Kek| open_all(&path, &image, &kek);
    let opened = kek.map(open).transpose()?;
    let contexts =
        opened.clone().map(|all| KeyBlobs { contexts: all.map(|one| one.ok().flatten()) });
    if let Some(contexts) = &contexts {
        contexts.apply(device.flash(), &mut image);
    }
    let (part, flash) = (device.part, device.flash());
    let findings = Findings {
        part: part.name,
        flash,
        length: image.len(),
        boot: part.has_vector_table.then(|| boot::read(flash, &image)),
        overlap: contexts.and_then(|contexts| contexts.overlap()),
        blobs: opened,
        is_blank,
    };
    if json {
        output::print_json(&(serde_json::to_string_pretty(&to_json(&findings))? + "\n"))?;
    } else {
        output::print(&render(&findings))?;
    }
    let is_right =
        findings.overlap.is_none() && findings.blobs.iter().flatten().all(|blob| blob.is_ok());
    Ok(if is_right { DONE } else { FAILED })
}

/// Each blob, opened.
///
/// # Errors
/// Returns an error if there are no blobs, or if none of them unwraps.
fn open_all(path: &Path, image: &[u8], kek: &Kek) -> Result<Contexts> {
    let bytes = blobs(path, image)?;
    if let Err(error @ OpenError::Kek) = KeyBlobs::open(bytes, kek) {
        bail!("{}: {error}", path.display());
    }
    let blobs = bytes.as_chunks::<BLOB>().0;
    Ok(std::array::from_fn(|index| open(&blobs[index], index, kek)))
}

fn render(findings: &Findings) -> String {
    let Findings { part, flash, length, boot, blobs, overlap, is_blank } = findings;
    let mut text = format!("image   {length} bytes for {part}, flash at {flash:#010x}\n");
    let _ = match boot {
        None => writeln!(text, "boot    by a container, which is not read"),
        Some(Ok(Boot { entry, start, length })) => {
            writeln!(text, "boot    program at {entry:#010x}, {length} bytes from {start:#010x}")
        }
        Some(Err(error @ BootError::NoVectorTable)) if blobs.is_none() && !is_blank => {
            writeln!(text, "boot    {error}, or it is encrypted")
        }
        Some(Err(error)) => writeln!(text, "boot    {error}"),
    };
    match blobs {
        None if *is_blank => text.push_str("blobs   none: it is not encrypted\n"),
        None => text.push_str("blobs   wrapped; --kek opens them\n"),
        Some(blobs) => {
            for (index, blob) in blobs.iter().enumerate() {
                let _ = match blob {
                    Ok(None) => writeln!(text, "blob {index}  unused"),
                    Ok(Some(Context { region, counter, flags, .. })) => writeln!(
                        text,
                        "blob {index}  {region}  {}  counter {}",
                        region::describe(*flags),
                        hexadecimal(&counter.0)
                    ),
                    Err(error) => writeln!(text, "blob {index}  wrong: {error}"),
                };
            }
        }
    }
    if let Some((first, second)) = overlap {
        let _ = writeln!(
            text,
            "wrong   regions {first} and {second} overlap; OTFAD decrypts nothing where they do"
        );
    }
    text
}

fn to_json(findings: &Findings) -> Value {
    let Findings { part, flash, length, boot, blobs, overlap, is_blank } = findings;
    let boot = boot.as_ref().map(|boot| match boot {
        Ok(Boot { entry, start, length }) => {
            json!({"entry": entry, "start": start, "length": length})
        }
        Err(error) => json!({"error": error.to_string()}),
    });
    let blob = |blob: &Result<Option<Context>, BlobError>| match blob {
        Ok(None) => Value::Null,
        Ok(Some(Context { region, counter, flags, .. })) => json!({
            "start": region.start(), "end": region.end(), "counter": hexadecimal(&counter.0),
            "valid": flags.valid, "decrypts": flags.decrypts, "locked": flags.locked,
        }),
        Err(error) => json!({"error": error.to_string()}),
    };
    let blobs = blobs.as_ref().map(|blobs| blobs.iter().map(blob).collect::<Vec<_>>());
    json!({
        "part": part, "flash": flash, "length": length, "boot": boot, "blobs": blobs,
        "encrypted": !is_blank, "overlap": overlap,
    })
}
