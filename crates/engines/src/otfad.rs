//! OTFAD, the inline decryption of external flash: its registers, and what it does to the bytes that pass through.
//!
//! Unlike the other engines it is no bus master and has no jobs: it sits between the flash controller and the bus. Its
//! owner asks it to [decrypt](Otfad::contexts) what the core or a bus master reads.
//!
//! Registers: NXP, mcux-devices-rt, PERI_OTFAD.h, and mcuxsdk-core, drivers/otfad. Contexts and key blobs: `cpb-otfad`.

use cpb_otfad::{BLOBS, CONTEXTS, Context, Counter, Flags, Kek, Key, KeyBlobs, OpenError, Region};
use std::ops::RangeInclusive;

/// The registers' offsets from the engine's base, which is at 0xC00 in its controller.
pub mod register {
    /// Control.
    pub const CONTROL: u32 = 0x00;
    /// Status.
    pub const STATUS: u32 = 0x04;
    /// The registers of context 0. Those of context n are 0x40 × n behind.
    pub const CONTEXT: u32 = 0x100;
    /// From one context to the next.
    pub const CONTEXT_SIZE: u32 = 0x40;
    /// In a context, after four words of the key and two of the counter: start, and end with flags.
    pub const REGION: u32 = 0x18;
}

/// CR: decryption is on (GE).
const GLOBAL_ENABLE: u32 = 1 << 31;
/// CR: registers of contexts can neither be read nor written (RRAE).
const RESTRICTED: u32 = 1 << 7;
/// CR: key blobs were processed after reset (KBPE).
const BLOBS_ENABLED: u32 = 1 << 5;
/// SR: key blobs have been processed (KBD), decryption is on (GEM), registers are restricted (RRAM).
const BLOBS_DONE: u32 = 1 << 31;
const ENABLED: u32 = 1 << 29;
const IS_RESTRICTED: u32 = 1 << 28;
/// SR: the decryption path is present (MDPCP), and a key blob was wrong (KBERR).
const PRESENT: u32 = 1 << 1;
const BLOB_ERROR: u32 = 1 << 0;

/// The flags of a context's end word.
const VALID: u32 = 1 << 0;
const DECRYPTS: u32 = 1 << 1;
const LOCKED: u32 = 1 << 2;

/// The words of a context: key, counter, start, end with flags.
type Words = [u32; 8];

/// The engine.
#[derive(Default)]
pub struct Otfad {
    control: u32,
    status: u32,
    contexts: [Words; CONTEXTS],
}

impl Otfad {
    /// The engine after reset: everything passes through as it is.
    pub fn new() -> Self {
        Otfad { status: PRESENT, ..Otfad::default() }
    }

    /// What the boot ROM has the engine do first: unwrap the key blobs at the start of the flash with the fused key.
    ///
    /// # Errors
    /// Returns an error if a blob is wrong. The engine then is on without any context, and says so (KBERR).
    pub fn boot(&mut self, blobs: &[u8; BLOBS], kek: &Kek) -> Result<(), OpenError> {
        self.control |= GLOBAL_ENABLE | BLOBS_ENABLED;
        self.status |= BLOBS_DONE;
        let opened = KeyBlobs::open(blobs, kek).inspect_err(|_| self.status |= BLOB_ERROR)?;
        for (words, context) in self.contexts.iter_mut().zip(&opened.contexts) {
            *words = context.as_ref().map(words_of).unwrap_or_default();
        }
        Ok(())
    }

    /// Whether a key blob was wrong.
    pub fn has_failed(&self) -> bool {
        self.status & BLOB_ERROR != 0
    }

    /// Reads the register at `offset`. Keys read as 0.
    pub fn read(&self, offset: u32) -> u32 {
        let restricted = self.control & RESTRICTED != 0;
        match offset {
            register::CONTROL => self.control,
            register::STATUS => {
                let enabled = if self.is_on() { ENABLED } else { 0 };
                self.status | enabled | if restricted { IS_RESTRICTED } else { 0 }
            }
            _ => match place(offset) {
                Some((context, word)) if !restricted && word >= 4 => self.contexts[context][word],
                _ => 0,
            },
        }
    }

    /// Writes the register at `offset`. A locked context keeps its words, and all of them are kept once access is
    /// restricted, until the next reset.
    pub fn write(&mut self, offset: u32, value: u32) {
        match (offset, place(offset)) {
            // Once set, the restriction stays.
            (register::CONTROL, _) => self.control = value | self.control & RESTRICTED,
            (_, Some((context, word))) if self.control & RESTRICTED == 0 => {
                let words = &mut self.contexts[context];
                if words[7] & LOCKED == 0 {
                    words[word] = value;
                }
            }
            _ => {}
        }
    }

    fn is_on(&self) -> bool {
        self.control & GLOBAL_ENABLE != 0
    }

    /// What decrypts now: the contexts that are valid, if the engine is on.
    pub fn contexts(&self) -> KeyBlobs {
        let context = |words: &Words| context_of(words).filter(|_| self.is_on());
        KeyBlobs { contexts: self.contexts.each_ref().map(context) }
    }

    /// The addresses that are decrypted, without where contexts overlap.
    pub fn ranges(&self) -> Vec<RangeInclusive<u32>> {
        let contexts = self.contexts();
        let active = contexts.contexts.iter().flatten().filter(|context| context.is_active());
        active.map(|context| context.region.start()..=context.region.last()).collect()
    }
}

/// The context and the word of a register; `None` if there is no such register.
fn place(offset: u32) -> Option<(usize, usize)> {
    let offset = offset.checked_sub(register::CONTEXT)?;
    let context = (offset / register::CONTEXT_SIZE) as usize;
    let word = (offset % register::CONTEXT_SIZE / 4) as usize;
    (context < CONTEXTS && word < 8).then_some((context, word))
}

fn words_of(context: &Context) -> Words {
    let mut words = [0; 8];
    let bytes = context.key.bytes().iter().chain(&context.counter.0);
    for (index, byte) in bytes.enumerate() {
        words[index / 4] |= u32::from(*byte) << (8 * (index % 4));
    }
    words[6] = context.region.start();
    let Flags { valid, decrypts, locked } = context.flags;
    let flags = [(valid, VALID), (decrypts, DECRYPTS), (locked, LOCKED)];
    let flags = flags.iter().filter(|(is_set, _)| *is_set).fold(0, |all, (_, bit)| all | bit);
    words[7] = context.region.last() & !0x3FF | flags;
    words
}

/// The context of these words; `None` if it is not valid or has no region.
fn context_of(words: &Words) -> Option<Context> {
    let mut bytes = [0; 24];
    let each = words[..6].iter().flat_map(|word| word.to_le_bytes());
    bytes.iter_mut().zip(each).for_each(|(place, byte)| *place = byte);
    let (key, counter) = (bytes.first_chunk()?, bytes.last_chunk()?);
    let flags = words[7];
    let region = Region::new(words[6] & !0x3FF, u64::from(flags | 0x3FF) + 1).ok()?;
    let is_set = |bit| flags & bit != 0;
    is_set(VALID).then_some(Context {
        region,
        key: Key::new(*key),
        counter: Counter(*counter),
        flags: Flags { valid: true, decrypts: is_set(DECRYPTS), locked: is_set(LOCKED) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpb_otfad::Part;

    fn context(start: u32, end: u64) -> Context {
        Context {
            region: Region::new(start, end).unwrap(),
            key: Key::new(core::array::from_fn(|index| index as u8)),
            counter: Counter([7; 8]),
            flags: Flags::ALL,
        }
    }

    fn kek(byte: u8) -> Kek {
        let part = Part::named("imxrt1170").unwrap();
        Kek { key: Key::new([byte; 16]), scramble: None, part }
    }

    #[test]
    fn after_boot_it_decrypts_what_the_tool_encrypted() {
        let blobs = KeyBlobs::new([context(0x3000_1000, 0x3000_2000)]).unwrap();
        let mut bytes = [0x5A; 64];
        blobs.apply(0x3000_1FE0, &mut bytes);
        assert_ne!(bytes[..32], [0x5A; 32]);
        assert_eq!(bytes[32..], [0x5A; 32]);
        let mut otfad = Otfad::new();
        otfad.boot(&blobs.seal(&kek(1)), &kek(1)).unwrap();
        otfad.contexts().apply(0x3000_1FE0, &mut bytes);
        assert_eq!(bytes, [0x5A; 64]);
        assert_eq!(otfad.read(register::STATUS), BLOBS_DONE | ENABLED | PRESENT);
        assert_eq!(otfad.ranges(), [0x3000_1000..=0x3000_1FFF]);
    }

    #[test]
    fn a_wrong_fuse_is_an_error_in_the_status() {
        let blobs = KeyBlobs::new([context(0x3000_1000, 0x3000_2000)]).unwrap();
        let mut otfad = Otfad::new();
        assert_eq!(otfad.boot(&blobs.seal(&kek(1)), &kek(2)), Err(OpenError::Kek));
        assert_eq!(otfad.read(register::STATUS) & BLOB_ERROR, 1);
        assert!(otfad.ranges().is_empty());
    }

    #[test]
    fn keys_cannot_be_read_and_locked_contexts_cannot_be_changed() {
        let words = words_of(&context(0x3000_1000, 0x3000_2000));
        let at = |word: u32| register::CONTEXT + register::CONTEXT_SIZE + 4 * word;
        let mut otfad = Otfad::new();
        for (word, value) in (0..).zip(words) {
            otfad.write(at(word), value);
        }
        assert_eq!(otfad.read(at(0)), 0);
        assert_eq!(otfad.read(at(6)), 0x3000_1000);
        assert!(otfad.ranges().is_empty(), "it is not on yet");
        otfad.write(register::CONTROL, GLOBAL_ENABLE);
        assert_eq!(otfad.ranges(), [0x3000_1000..=0x3000_1FFF]);
        otfad.write(at(7), 0);
        assert_eq!(otfad.ranges().len(), 1, "it is locked");
        otfad.write(register::CONTROL, GLOBAL_ENABLE | RESTRICTED);
        otfad.write(register::CONTROL, GLOBAL_ENABLE);
        assert_eq!(otfad.read(at(6)), 0);
        assert_ne!(otfad.read(register::STATUS) & IS_RESTRICTED, 0);
    }

    #[test]
    fn what_two_contexts_contain_passes_as_it_is() {
        let mut otfad = Otfad::new();
        let contexts = [context(0x3000_1000, 0x3000_2000), context(0x3000_1C00, 0x3000_3000)];
        for (context, words) in (0..).zip(contexts.iter().map(words_of)) {
            for (word, value) in (0..).zip(words) {
                otfad.write(register::CONTEXT + register::CONTEXT_SIZE * context + 4 * word, value);
            }
        }
        otfad.write(register::CONTROL, GLOBAL_ENABLE);
        let mut bytes = [0; 0x3000];
        otfad.contexts().apply(0x3000_0000, &mut bytes);
        let is_plain = |range: std::ops::Range<usize>| bytes[range].iter().all(|byte| *byte == 0);
        assert!(is_plain(0..0x1000) && is_plain(0x1C00..0x2000));
        assert!(!is_plain(0x1000..0x1C00) && !is_plain(0x2000..0x3000));
    }
}
