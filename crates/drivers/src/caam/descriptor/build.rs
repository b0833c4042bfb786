//! A builder of descriptors.

use super::{EXTENDED, IMMEDIATE, WORDS, command, header, jump, register, sgt};

/// How descriptors, rings and tables lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// WordMemory have their most significant byte first.
    pub big_endian: bool,
    /// Pointers in descriptors and ring entries have 64 bits.
    pub long_pointers: bool,
    /// The upper word of a 64-bit pointer is first.
    pub high_word_first: bool,
}

impl Format {
    /// The i.MX RT1170: little-endian, pointers of 32 bits, and the upper word first in scatter-gather tables.
    pub const RT1170: Format =
        Format { big_endian: false, long_pointers: false, high_word_first: true };

    /// The bytes of a word.
    #[inline]
    pub const fn bytes(self, word: u32) -> [u8; 4] {
        if self.big_endian { word.to_be_bytes() } else { word.to_le_bytes() }
    }

    /// The word of four bytes.
    #[inline]
    pub const fn word(self, bytes: [u8; 4]) -> u32 {
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    /// The words of a pointer of 64 bits.
    #[inline]
    pub const fn long(self, address: u64) -> [u32; 2] {
        let (high, low) = ((address >> 32) as u32, address as u32);
        if self.high_word_first { [high, low] } else { [low, high] }
    }

    /// The pointer of 64 bits in two words.
    #[inline]
    pub const fn address(self, words: [u32; 2]) -> u64 {
        let [first, second] = words;
        let (high, low) = if self.high_word_first { (first, second) } else { (second, first) };
        (high as u64) << 32 | low as u64
    }

    /// The number of words of a pointer.
    #[inline]
    pub const fn pointer_words(self) -> usize {
        if self.long_pointers { 2 } else { 1 }
    }
}

/// Rules of descriptors that a builder's user can break.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// It has more than 64 words.
    TooLong,
}

/// An entry of a scatter-gather table.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SgtEntry {
    /// The address of the data, or of another table.
    pub address: u64,
    /// The length and flags: see [`sgt`].
    pub length: u32,
    /// Where the data begins, in bytes from the address.
    pub offset: u32,
}

impl SgtEntry {
    /// The entry as it lies in memory.
    #[inline]
    pub fn bytes(self, format: Format) -> [u8; sgt::SIZE] {
        let [first, second] = format.long(self.address);
        let mut bytes = [0; sgt::SIZE];
        let words = [first, second, self.length, self.offset];
        for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&format.bytes(word));
        }
        bytes
    }
}

/// Memory for the words of a descriptor.
pub trait WordMemory {
    /// Sets a word. WordMemory beyond the memory are not kept.
    fn set(&mut self, index: usize, word: u32, format: Format);

    /// A word that was set.
    fn get(&self, index: usize, format: Format) -> Option<u32>;
}

impl WordMemory for [u32; WORDS] {
    #[inline]
    fn set(&mut self, index: usize, word: u32, _: Format) {
        if let Some(place) = self.get_mut(index) {
            *place = word;
        }
    }

    #[inline]
    fn get(&self, index: usize, _: Format) -> Option<u32> {
        <[u32]>::get(self, index).copied()
    }
}

/// WordMemory as the engine reads them.
impl WordMemory for &mut [[u8; 4]] {
    #[inline]
    fn set(&mut self, index: usize, word: u32, format: Format) {
        if let Some(place) = self.get_mut(index) {
            *place = format.bytes(word);
        }
    }

    #[inline]
    fn get(&self, index: usize, format: Format) -> Option<u32> {
        <[[u8; 4]]>::get(self, index).map(|bytes| format.word(*bytes))
    }
}

/// A descriptor that is being written, in memory of its own or where the engine will read it. Its header is completed
/// by [`Descriptor::finish`] or [`Descriptor::finish_in_place`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptor<W = [u32; WORDS]> {
    words: W,
    length: usize,
    format: Format,
}

impl<'m> Descriptor<&'m mut [[u8; 4]]> {
    /// A job descriptor where the engine will read it.
    #[inline]
    pub fn job_in(words: &'m mut [[u8; 4]], format: Format) -> Self {
        let mut job = Descriptor { words, length: 0, format };
        job.push(command::HEADER | header::ONE);
        job
    }

    /// A copy of words where the engine will read them.
    #[inline]
    pub fn copied(from: &[u32], words: &'m mut [[u8; 4]], format: Format) -> Self {
        let mut copy = Descriptor { words, length: 0, format };
        from.iter().for_each(|word| _ = copy.push(*word));
        copy
    }

    /// Completes the header. Returns the number of words.
    ///
    /// # Errors
    /// Returns an error if there are more words than the memory has.
    #[inline]
    pub fn finish_in_place(mut self) -> Result<usize, Rule> {
        self.complete();
        if self.length > self.words.len() { Err(Rule::TooLong) } else { Ok(self.length) }
    }
}

impl Descriptor {
    /// A job descriptor.
    #[inline]
    pub const fn job(format: Format) -> Descriptor {
        Descriptor::begin(format, command::HEADER | header::ONE)
    }

    /// A shared descriptor. `flags` are of [`header`].
    #[inline]
    pub const fn shared(format: Format, flags: u32) -> Descriptor {
        Descriptor::begin(format, command::SHARED_HEADER | header::ONE | 1 << header::START | flags)
    }

    /// A job descriptor that runs before the shared descriptor of `length` words at `address`.
    #[inline]
    pub fn job_of_shared(format: Format, address: u64, length: usize) -> Descriptor {
        let flags = header::SHARED | header::REVERSE | header::SHARE_DEFER;
        let start = (length as u32 & header::START_MASK) << header::START;
        let mut job = Descriptor::begin(format, command::HEADER | header::ONE | flags | start);
        job.pointer(address);
        job
    }

    const fn begin(format: Format, word: u32) -> Descriptor {
        let mut words = [0; WORDS];
        words[0] = word;
        Descriptor { words, length: 1, format }
    }
}

impl<W: WordMemory> Descriptor<W> {
    /// The number of words.
    #[inline]
    pub const fn here(&self) -> usize {
        self.length
    }

    /// Adds a word. WordMemory after the 64th are counted but not kept.
    #[inline]
    pub fn push(&mut self, word: u32) -> &mut Self {
        self.words.set(self.length, word, self.format);
        self.length += 1;
        self
    }

    /// The descriptor's commands begin at the next word. What is between the header and there is a protocol's data block.
    #[inline]
    pub fn commands_begin(&mut self) -> &mut Self {
        let start = (self.length as u32 & header::START_MASK) << header::START;
        if let Some(word) = self.words.get(0, self.format) {
            self.words.set(0, word | start, self.format);
        }
        self
    }

    /// Changes the word at `index`, so that it jumps to the next command.
    #[inline]
    pub fn land(&mut self, index: usize) {
        let offset = self.length.wrapping_sub(index) as u32 & jump::OFFSET;
        if let Some(word) = self.words.get(index, self.format) {
            self.words.set(index, word & !jump::OFFSET | offset, self.format);
        }
    }

    /// Adds a pointer.
    #[inline]
    pub fn pointer(&mut self, address: u64) -> &mut Self {
        if !self.format.long_pointers {
            return self.push(address as u32);
        }
        let [first, second] = self.format.long(address);
        self.push(first).push(second)
    }

    /// Adds bytes as they are, filled up to whole words.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        for part in bytes.chunks(4) {
            let mut word = [0; 4];
            word[..part.len()].copy_from_slice(part);
            self.push(self.format.word(word));
        }
        self
    }

    /// KEY from memory. `kind` has class and flags of [`super::key`].
    #[inline]
    pub fn key(&mut self, kind: u32, address: u64, length: usize) -> &mut Self {
        self.push(command::KEY | kind | length as u32).pointer(address)
    }

    /// KEY with the key behind the command.
    #[inline]
    pub fn key_immediate(&mut self, kind: u32, key: &[u8]) -> &mut Self {
        self.push(command::KEY | IMMEDIATE | kind | key.len() as u32).bytes(key)
    }

    /// LOAD from memory. `target` has class and [`register`].
    #[inline]
    pub fn load(&mut self, target: u32, offset: usize, address: u64, length: usize) -> &mut Self {
        let place = (offset as u32) << register::OFFSET | length as u32;
        self.push(command::LOAD | target | place).pointer(address)
    }

    /// LOAD of bytes behind the command.
    #[inline]
    pub fn load_immediate(&mut self, target: u32, offset: usize, bytes: &[u8]) -> &mut Self {
        let place = (offset as u32) << register::OFFSET | bytes.len() as u32;
        self.push(command::LOAD | IMMEDIATE | target | place).bytes(bytes)
    }

    /// LOAD of a word behind the command.
    #[inline]
    pub fn load_word(&mut self, target: u32, word: u32) -> &mut Self {
        self.push(command::LOAD | IMMEDIATE | target | 4).push(word)
    }

    /// STORE to memory. `source` has class and [`register`].
    #[inline]
    pub fn store(&mut self, source: u32, offset: usize, address: u64, length: usize) -> &mut Self {
        let place = (offset as u32) << register::OFFSET | length as u32;
        self.push(command::STORE | source | place).pointer(address)
    }

    /// FIFO LOAD. `kind` has class, type and action of [`super::fifo_load`]. The length is extended if it must be.
    #[inline]
    pub fn fifo_load(&mut self, kind: u32, address: u64, length: u32) -> &mut Self {
        self.data(command::FIFO_LOAD | kind, address, length)
    }

    /// FIFO LOAD of bytes behind the command.
    #[inline]
    pub fn fifo_load_immediate(&mut self, kind: u32, bytes: &[u8]) -> &mut Self {
        self.push(command::FIFO_LOAD | IMMEDIATE | kind | bytes.len() as u32).bytes(bytes)
    }

    /// FIFO STORE. `kind` is of [`super::fifo_store`]. The length is extended if it must be.
    #[inline]
    pub fn fifo_store(&mut self, kind: u32, address: u64, length: u32) -> &mut Self {
        self.data(command::FIFO_STORE | kind, address, length)
    }

    /// SEQ IN PTR. `flags` are [`super::SGT`] and those of [`super::sequence`].
    #[inline]
    pub fn seq_in_ptr(&mut self, flags: u32, address: u64, length: u32) -> &mut Self {
        self.data(command::SEQ_IN_PTR | flags, address, length)
    }

    /// SEQ OUT PTR. `flags` are [`super::SGT`] and those of [`super::sequence`].
    #[inline]
    pub fn seq_out_ptr(&mut self, flags: u32, address: u64, length: u32) -> &mut Self {
        self.data(command::SEQ_OUT_PTR | flags, address, length)
    }

    #[inline]
    fn data(&mut self, word: u32, address: u64, length: u32) -> &mut Self {
        if length <= 0xFFFF {
            return self.push(word | length).pointer(address);
        }
        self.push(word | EXTENDED).pointer(address).push(length)
    }

    /// OPERATION: `fields` are of [`super::operation`].
    #[inline]
    pub fn operation(&mut self, fields: u32) -> &mut Self {
        self.push(command::OPERATION | fields)
    }

    /// JUMP: `fields` are class and those of [`jump`].
    #[inline]
    pub fn jump(&mut self, fields: u32) -> &mut Self {
        self.push(command::JUMP | fields)
    }

    /// Halts with a status; 0 is a normal end.
    #[inline]
    pub fn halt(&mut self, status: u8) -> &mut Self {
        self.jump(jump::HALT_STATUS | u32::from(status))
    }

    /// MATH: `fields` are of [`super::math`].
    #[inline]
    pub fn math(&mut self, fields: u32) -> &mut Self {
        self.push(command::MATH | fields)
    }

    /// MOVE: `fields` are of [`super::moving`].
    #[inline]
    pub fn move_data(&mut self, fields: u32) -> &mut Self {
        self.push(command::MOVE | fields)
    }

    /// Writes the length into the header.
    #[inline]
    fn complete(&mut self) {
        if let Some(word) = self.words.get(0, self.format) {
            self.words.set(0, word & !header::LENGTH | self.length as u32, self.format);
        }
    }
}

impl Descriptor {
    /// Completes the header.
    ///
    /// # Errors
    /// Returns an error if there are more than 64 words.
    #[inline]
    pub fn finish(&mut self) -> Result<&[u32], Rule> {
        self.complete();
        <[u32]>::get(&self.words, ..self.length).ok_or(Rule::TooLong)
    }

    /// Completes the header and writes the descriptor as it lies in memory. Returns the number of bytes.
    ///
    /// # Errors
    /// Returns an error if there are more than 64 words, or more than `place` has room for.
    #[inline]
    pub fn write(&mut self, place: &mut [u8]) -> Result<usize, Rule> {
        let format = self.format;
        let words = self.finish()?;
        let size = 4 * words.len();
        let place = place.get_mut(..size).ok_or(Rule::TooLong)?;
        for (place, word) in place.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&format.bytes(*word));
        }
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caam::descriptor::{class, fifo_load, fifo_store, operation};

    /// The words of NXP's driver for AES-CBC.
    #[test]
    fn the_builder_makes_the_words_of_nxp_s_driver() {
        let mut job = Descriptor::job(Format::RT1170);
        let message = class::ONE | fifo_load::MESSAGE | fifo_load::LAST_1 | fifo_load::FLUSH_1;
        job.key(class::ONE, 0x1000, 16)
            .load(class::ONE | register::CONTEXT, 0, 0x2000, 16)
            .fifo_load(message, 0x3000, 0x10000)
            .fifo_store(fifo_store::MESSAGE, 0x4000, 0x10000)
            .operation(operation::CLASS_1 | operation::AES | operation::CBC);
        let right = [
            0xB080_000C,
            0x0200_0010,
            0x1000,
            0x1220_0010,
            0x2000,
            0x2253_0000,
            0x3000,
            0x1_0000,
            0x6070_0000,
            0x4000,
            0x1_0000,
            0x8210_0100,
        ];
        assert_eq!(job.finish(), Ok(&right[..]));
    }

    #[test]
    fn a_descriptor_of_more_than_64_words_is_refused() {
        let mut job = Descriptor::job(Format::RT1170);
        for word in 0..63 {
            job.push(word);
        }
        assert_eq!(job.finish().map(<[u32]>::len), Ok(64));
        job.push(0);
        assert_eq!(job.finish(), Err(Rule::TooLong));
        assert_eq!(job.write(&mut [0; 512]), Err(Rule::TooLong));
    }
}
