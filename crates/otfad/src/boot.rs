//! What a boot ROM reads from the flash before the first instruction, by offset: key blobs, flash configuration block,
//! image vector table, boot data. Offsets are those of SPSDK 3.12 (`data/devices/mimxrt1166`, `bootable_image`), fields
//! those that imxrt-rt 0.1.8 writes. It applies to parts with a [vector table](crate::Part::has_vector_table).
//!
//! The ROM needs blobs and flash configuration block to set OTFAD and flash up, so they are never encrypted. The vector
//! table comes after them and may lie in a region, as in SPSDK's template.

use core::fmt;
use core::ops::Range;

/// The key blobs.
pub const KEY_BLOBS: Range<usize> = 0..crate::BLOBS;
/// The flash configuration block.
pub const FLASH_CONFIGURATION: Range<usize> = 0x400..0x600;
/// The image vector table.
pub const VECTOR_TABLE: Range<usize> = 0x1000..0x1020;
/// The boot data, where [`write()`] puts them. An image may have them elsewhere.
pub const BOOT_DATA: Range<usize> = 0x1020..0x1030;
/// The first offset that may be encrypted.
pub const FIRST_ENCRYPTED: usize = VECTOR_TABLE.start;
/// Where a program usually begins.
pub const PROGRAM: usize = 0x2000;

/// `FCFB`, the first bytes of a flash configuration block.
const FLASH_TAG: [u8; 4] = *b"FCFB";
/// The first bytes of a vector table: tag, length (big-endian), and a version from 0x40 to 0x4F.
const VECTOR_TAG: [u8; 3] = [0xD1, 0x00, 0x20];
const VERSION: u8 = 0x40;

/// The addresses that the boot ROM starts a program by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Boot {
    /// Where the program's vector table is.
    pub entry: u32,
    /// The first address of the image.
    pub start: u32,
    /// The length of the image in bytes, from `start` on.
    pub length: u32,
}

/// An error in what the boot ROM reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BootError {
    /// The image ends before this part.
    Short(&'static str, usize),
    /// There is no flash configuration block at offset 0x400.
    NoFlashConfiguration,
    /// There is no image vector table at offset 0x1000.
    NoVectorTable,
    /// The vector table says that it is at this address, but it is at the other one.
    Moved(u32, u32),
    /// The vector table names boot data at this address, outside the image.
    BootData(u32),
    /// The boot data say that the image has this many bytes, but there are fewer.
    Length(u32, usize),
    /// The program begins at this address, outside the image.
    Entry(u32),
}

impl fmt::Display for BootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BootError::Short(part, at) => {
                write!(f, "it ends before the {part} at offset {at:#x}")
            }
            BootError::NoFlashConfiguration => {
                f.write_str("it has no flash configuration block (FCFB) at offset 0x400")
            }
            BootError::NoVectorTable => {
                f.write_str("it has no image vector table (tag 0xD1) at offset 0x1000")
            }
            BootError::Moved(said, is) => write!(
                f,
                "its image vector table is for address {said:#010x} and lies at {is:#010x}: the flash begins elsewhere"
            ),
            BootError::BootData(address) => {
                write!(f, "its boot data are at {address:#010x}, outside the image")
            }
            BootError::Length(said, is) => {
                write!(f, "its boot data say {said} bytes, but it has {is}: it is not complete")
            }
            BootError::Entry(address) => {
                write!(f, "its program begins at {address:#010x}, outside the image")
            }
        }
    }
}

impl core::error::Error for BootError {}

/// Reads the parts of an image whose vector table is not encrypted (any more), and checks that they agree. `image`
/// begins at the address `flash`.
///
/// # Errors
/// Returns an error if a part is missing or points outside the image.
pub fn read(flash: u32, image: &[u8]) -> Result<Boot, BootError> {
    let configuration = FLASH_CONFIGURATION.start;
    let tag = image
        .get(configuration..configuration + FLASH_TAG.len())
        .ok_or(BootError::Short("flash configuration block", configuration))?;
    if tag != FLASH_TAG {
        return Err(BootError::NoFlashConfiguration);
    }
    let table = image
        .get(VECTOR_TABLE)
        .ok_or(BootError::Short("image vector table", VECTOR_TABLE.start))?;
    if table[..3] != VECTOR_TAG || table[3] & 0xF0 != VERSION {
        return Err(BootError::NoVectorTable);
    }
    let here = flash.wrapping_add(VECTOR_TABLE.start as u32);
    let (entry, data, own) = (word(table, 4), word(table, 16), word(table, 20));
    if own != here {
        return Err(BootError::Moved(own, here));
    }
    let inside = |address: u32, length: usize| {
        let offset = address.checked_sub(flash)? as usize;
        image.get(offset..)?.get(..length)
    };
    let fields = inside(data, 8).ok_or(BootError::BootData(data))?;
    let (start, length) = (word(fields, 0), word(fields, 4));
    let available = start.checked_sub(flash).and_then(|at| image.len().checked_sub(at as usize));
    if available.is_none_or(|available| available < length as usize) {
        return Err(BootError::Length(length, available.unwrap_or(0)));
    }
    if inside(entry, 8).is_none() {
        return Err(BootError::Entry(entry));
    }
    Ok(Boot { entry, start, length })
}

/// Writes flash configuration block, vector table and boot data into an image that begins at the address `boot.start`,
/// the start of the flash. Boot data say that it is not a plugin.
///
/// # Errors
/// Returns an error if the image ends before the boot data do.
pub fn write(
    boot: &Boot,
    flash_configuration: &[u8; 512],
    image: &mut [u8],
) -> Result<(), BootError> {
    let short = BootError::Short("boot data", BOOT_DATA.start);
    let head = image.get_mut(..BOOT_DATA.end).ok_or(short)?;
    head[FLASH_CONFIGURATION].copy_from_slice(flash_configuration);
    let at = |offset: usize| boot.start.wrapping_add(offset as u32);
    let tag = u32::from_le_bytes([VECTOR_TAG[0], VECTOR_TAG[1], VECTOR_TAG[2], VERSION]);
    let (table, data) = (at(VECTOR_TABLE.start), at(BOOT_DATA.start));
    // Tag, entry, reserved, device configuration data, boot data, itself, signature, reserved; then the boot data.
    let words = [tag, boot.entry, 0, 0, data, table, 0, 0, boot.start, boot.length, 0, 0];
    let places = head[VECTOR_TABLE.start..].chunks_exact_mut(4);
    places.zip(words).for_each(|(place, word)| place.copy_from_slice(&word.to_le_bytes()));
    Ok(())
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLASH: u32 = 0x3000_0000;
    const BOOT: Boot = Boot { entry: FLASH + 0x2000, start: FLASH, length: 0x2100 };

    fn image() -> [u8; 0x2100] {
        let mut image = [0xFF; 0x2100];
        let mut configuration = [0; 512];
        configuration[..4].copy_from_slice(&FLASH_TAG);
        write(&BOOT, &configuration, &mut image).expect("room");
        image
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(read(FLASH, &image()), Ok(BOOT));
    }

    #[test]
    fn each_wrong_part_has_its_own_error() {
        let image = image();
        let changed = |at: usize, value: u32| {
            let mut image = image;
            image[at..at + 4].copy_from_slice(&value.to_le_bytes());
            read(FLASH, &image).expect_err("an error")
        };
        assert_eq!(changed(0x400, 0), BootError::NoFlashConfiguration);
        assert_eq!(changed(0x1000, 0), BootError::NoVectorTable);
        assert_eq!(changed(0x1004, 0x2000), BootError::Entry(0x2000));
        assert_eq!(changed(0x1010, FLASH + 0x20FC), BootError::BootData(FLASH + 0x20FC));
        assert_eq!(changed(0x1024, 0x2101), BootError::Length(0x2101, 0x2100));
        let moved = read(0x6000_0000, &image);
        assert_eq!(moved, Err(BootError::Moved(FLASH + 0x1000, 0x6000_1000)));
        for length in 0..0x1020 {
            assert!(matches!(read(FLASH, &image[..length]), Err(BootError::Short(..))));
        }
    }
}
