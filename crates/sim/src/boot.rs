//! The state before the program's first instruction: after reset, or after the boot ROM's work.

use crate::flash_configuration::{FlashConfigurationError, FlashRead};
use crate::image::Image;
use crate::machine::Machine;
use cpb_otfad::{Kek, OpenError};

/// The tag at the start of a flash configuration block, "FCFB" (NXP, i.MX RT boot ROM).
const CONFIGURATION_TAG: u32 = 0x4246_4346;
/// Tag, length and version of an image vector table: D1 00 20 4x, little-endian.
const VECTORS_TAG: u32 = 0x4020_00D1;

/// How the program was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The ROM found a flash image with its vector table at this address.
    Rom(u32),
    /// A vector table was found at this address.
    Vectors(u32),
    /// No vector table was found: the program starts at the file's entry point.
    Entry,
    /// The ROM could not open the key blobs at the start of the flash, so nothing starts.
    KeyBlobs(OpenError),
    /// The ROM could not set the flash up as its configuration block says, so nothing starts.
    FlashConfiguration(FlashConfigurationError),
}

impl Machine {
    /// Fuses the key that the boot ROM opens key blobs with.
    pub fn fuse(&mut self, kek: Kek) {
        self.kek = Some(kek);
    }

    /// Starts the core at the beginning of the program.
    ///
    /// Like the boot ROM, this first has the inline engine open the key blobs, if a key is fused. Then it looks
    /// for a flash configuration block, which the flash is set up by, and an image vector table. Without them, it looks for a vector table at
    /// the start of a segment (its second word is the entry point). Otherwise it starts at the entry point, with
    /// a stack at the end of the first memory that is not for code.
    pub fn boot(&mut self, image: &Image) -> Start {
        let start = if let Some(Err(error)) = self.open_key_blobs() {
            Start::KeyBlobs(error)
        } else if let Some(vectors) = self.rom_vectors() {
            match self.set_up_flash() {
                Ok(()) => Start::Rom(vectors),
                Err(error) => Start::FlashConfiguration(error),
            }
        } else if let Some(vectors) = self.find_vectors(image) {
            Start::Vectors(vectors)
        } else {
            Start::Entry
        };
        match start {
            Start::Rom(vectors) | Start::Vectors(vectors) => {
                self.system.vtor = vectors;
                self.r[13] = self.memory.word(vectors).unwrap_or(0) & !3;
                self.next = self.memory.word(vectors.wrapping_add(4)).unwrap_or(0) & !1;
            }
            Start::Entry => {
                self.r[13] = self.default_stack();
                self.next = image.entry;
            }
            Start::KeyBlobs(_) | Start::FlashConfiguration(_) => {}
        }
        self.r[14] = u32::MAX;
        start
    }

    /// Has the key blobs opened; `None` if no key is fused, or if the chip has no inline engine.
    fn open_key_blobs(&mut self) -> Option<Result<(), OpenError>> {
        let (kek, boot) = (self.kek.as_ref()?, self.chip.boot.as_ref()?);
        let blobs = *self.memory.bytes(boot.flash).first_chunk()?;
        self.devices.open_key_blobs(&blobs, kek, &mut self.memory)
    }

    /// The vector table that the flash image refers to; `None` if there is no such image.
    fn rom_vectors(&self) -> Option<u32> {
        let boot = self.chip.boot.as_ref()?;
        let word = |offset: u32| self.memory.word(boot.flash.wrapping_add(offset));
        if word(boot.configuration)? != CONFIGURATION_TAG {
            return None;
        }
        let tag = word(boot.vectors)?;
        // The last digit of the version differs between ROMs.
        if tag & 0xF0FF_FFFF != VECTORS_TAG & 0xF0FF_FFFF {
            return None;
        }
        word(boot.vectors + 4)
    }

    /// Reads the flash with the clock and the command of its configuration block. A chip whose file names no clocks
    /// keeps its own.
    fn set_up_flash(&mut self) -> Result<(), FlashConfigurationError> {
        let boot = self.chip.boot.as_ref().filter(|boot| !boot.serial_clocks.is_empty());
        let Some(boot) = boot else { return Ok(()) };
        let block = self.memory.bytes(boot.flash.wrapping_add(boot.configuration));
        let read = FlashRead::parse(block)?;
        let flash = self.chip.configured_flash(&read);
        let flash = flash.ok_or(FlashConfigurationError::Clock(read.serial_clock))?;
        self.memory.set_up_flash(&flash);
        Ok(())
    }

    fn find_vectors(&self, image: &Image) -> Option<u32> {
        let candidates = image.segments.iter().map(|segment| segment.address);
        candidates.into_iter().find(|address| {
            let reset = self.memory.word(address.wrapping_add(4));
            let stack = self.memory.word(*address).unwrap_or(0);
            reset == Some(image.entry | 1) && !self.memory.bytes(stack.wrapping_sub(4)).is_empty()
        })
    }

    fn default_stack(&self) -> u32 {
        let regions = self.memory.regions();
        let data = regions.iter().find(|r| r.base >= 0x2000_0000).or(regions.first());
        data.map_or(0, |region| region.range().1 & !7)
    }
}
