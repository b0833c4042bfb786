//! The program that an image is made of: an ELF file, or a binary that begins at a known address.

use anyhow::{Context, Result, bail, ensure};
use cpb_sim::{Image, Segment};
use std::path::Path;

/// What is between the pieces of a program, as with objcopy and SPSDK.
pub(super) const FILL: u8 = 0;

/// The window through which the CPU sees the flash, in bytes: that of FlexSPI1 on the i.MX RT1170.
const WINDOW: u64 = 256 << 20;

/// Bytes in flash, in pieces that do not overlap, by address.
pub(super) struct PlacedProgram {
    segments: Vec<Segment>,
    flash: u32,
}

impl PlacedProgram {
    /// Reads an ELF file, or a binary that begins at `at`, for a flash at address `flash`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or parsed, or if a part of it is not in flash.
    pub(super) fn read(path: &Path, flash: u32, at: Option<u32>) -> Result<Self> {
        let shown = path.display();
        let file = std::fs::read(path).with_context(|| format!("cannot read {shown}"))?;
        let segments = if is_elf(&file) {
            ensure!(at.is_none(), "--at: {shown} is an ELF file, which has its own addresses");
            Image::parse(&file).with_context(|| shown.to_string())?.segments
        } else {
            ensure!(!file.is_empty(), "{shown} is empty");
            vec![Segment { address: at.unwrap_or(flash), bytes: file }]
        };
        PlacedProgram::new(segments, flash).with_context(|| shown.to_string())
    }

    fn new(mut segments: Vec<Segment>, flash: u32) -> Result<Self> {
        segments.sort_by_key(|segment| segment.address);
        let mut end = u64::from(flash);
        for Segment { address, bytes } in &segments {
            let (start, length) = (u64::from(*address), bytes.len());
            if start < flash.into() || start + length as u64 > u64::from(flash) + WINDOW {
                bail!(
                    "{length} bytes at {start:#010x} are not in the flash at {flash:#010x}; \
                     check --base and --part, or link the program for flash"
                );
            }
            ensure!(start >= end, "two segments are at {start:#010x}");
            end = start + length as u64;
        }
        Ok(PlacedProgram { segments, flash })
    }

    /// The first address of the program.
    pub(super) fn start(&self) -> u32 {
        self.segments.first().map_or(self.flash, |segment| segment.address)
    }

    /// The pieces, by offset in flash.
    pub(super) fn pieces(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let place = |segment: &Segment| (segment.address - self.flash) as usize;
        self.segments.iter().map(move |segment| (place(segment), segment.bytes.as_slice()))
    }

    /// The flash from its start to the end of the program.
    pub(super) fn flattened(&self) -> Vec<u8> {
        let mut image = Vec::new();
        for (offset, bytes) in self.pieces() {
            image.resize(offset, FILL);
            image.extend_from_slice(bytes);
        }
        image
    }
}

pub(super) fn is_elf(file: &[u8]) -> bool {
    file.starts_with(b"\x7fELF")
}

/// Whether nothing is there: fill, or erased flash.
pub(super) fn is_blank(bytes: &[u8]) -> bool {
    [FILL, 0xFF].iter().any(|blank| bytes.iter().all(|byte| byte == blank))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(address: u32, length: usize) -> Segment {
        Segment { address, bytes: vec![7; length] }
    }

    #[test]
    fn segments_are_placed_by_address_with_fill_between_them() {
        let program = PlacedProgram::new(vec![segment(0x108, 2), segment(0x104, 2)], 0x100);
        let expected = [0, 0, 0, 0, 7, 7, 0, 0, 7, 7];
        assert_eq!(program.expect("a program").flattened(), expected);
    }

    #[test]
    fn segments_outside_flash_or_above_each_other_are_refused() {
        for segments in [
            vec![segment(0xFF, 2)],
            vec![segment(0x100 + (256 << 20) - 1, 2)],
            vec![segment(0x100, 3), segment(0x102, 2)],
        ] {
            assert!(PlacedProgram::new(segments, 0x100).is_err());
        }
    }
}
