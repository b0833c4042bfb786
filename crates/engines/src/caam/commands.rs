//! The commands that move data between memory and the controller: KEY, LOAD, STORE, FIFO LOAD, FIFO STORE, and the
//! pointers of sequences.

use super::class::{Chunk, Kind};
use super::deco::{Fault, Job};
use super::transfer::{Cursor, Range, Store};
use cpb_drivers::caam::descriptor::{
    EXTENDED, IMMEDIATE, SGT, VARIABLE, WORDS, class, clear, deco_control, fifo_load, fifo_store,
    info, key, register, sequence,
};
use cpb_drivers::caam::status::deco;

/// The bytes that the class's key registers have room for.
const KEY_1: usize = 64;
const KEY_2: usize = 128;

/// Which accelerator's registers a LOAD or STORE names.
const CLASS: u32 = class::BOTH;

impl Job<'_> {
    /// KEY and SEQ KEY. Keys that AES-CCM encrypted, and keys of public-key operations, are not modelled.
    pub(super) fn key(&mut self, word: u32, is_sequence: bool) -> Result<(), Fault> {
        let wrong = Fault::Deco(deco::KEY);
        let length = (word & key::LENGTH) as usize;
        let is_split = match word & key::DESTINATION {
            key::REGISTER => false,
            key::SPLIT if word & CLASS == class::TWO => true,
            _ => return Err(wrong),
        };
        let room = match word & CLASS {
            class::ONE => KEY_1,
            class::TWO => KEY_2,
            _ => return Err(wrong),
        };
        if length > room || word & (key::CCM | key::TRUSTED) != 0 {
            return Err(wrong);
        }
        let is_black = word & key::ENCRYPTED != 0;
        let stored = if is_black { length.next_multiple_of(16) } else { length };
        let mut bytes = if is_sequence {
            let stored =
                if word & VARIABLE != 0 { self.sequence_in.variable } else { stored as u32 };
            self.read_sequence(stored)?
        } else if word & IMMEDIATE != 0 {
            self.immediate(stored)?
        } else {
            let mut cursor = Cursor::new(self.pointer()?, word & SGT != 0);
            self.read(&mut cursor, stored as u32)?
        };
        if bytes.len() > room {
            return Err(wrong);
        }
        if is_black {
            bytes = self.random.unwrap(&bytes).ok_or(Fault::Deco(deco::NO_SECURE_KEY))?;
            bytes.truncate(length);
        }
        self.time.commands += self.timing.register_word * bytes.len().div_ceil(4) as f64;
        let class = if word & CLASS == class::ONE { &mut self.class1 } else { &mut self.class2 };
        class.registers.key = bytes;
        class.registers.is_split = is_split;
        Ok(())
    }

    /// LOAD and SEQ LOAD.
    pub(super) fn load(&mut self, word: u32, is_sequence: bool) -> Result<(), Fault> {
        let target = word & register::MASK << register::SHIFT;
        if word & CLASS == class::DECO && target == register::DECO_CONTROL {
            self.deco_control(word);
            return Ok(());
        }
        let offset = (word >> register::OFFSET & 0xFF) as usize;
        let mut length = word & 0xFF;
        let is_descriptor = word & CLASS == class::DECO && (0x40..=0x46).contains(&(target >> 16));
        if is_descriptor {
            length *= 4;
        }
        let bytes = if is_sequence {
            let length = if word & VARIABLE != 0 { self.sequence_in.variable } else { length };
            self.read_sequence(length)?
        } else if word & IMMEDIATE != 0 {
            self.immediate(length as usize)?
        } else {
            let mut cursor = Cursor::new(self.pointer()?, word & SGT != 0);
            self.read(&mut cursor, length)?
        };
        self.time.commands += self.timing.register_word * bytes.len().div_ceil(4) as f64;
        self.load_register(word & CLASS, target, offset, &bytes)
    }

    fn load_register(
        &mut self,
        class: u32,
        target: u32,
        offset: usize,
        bytes: &[u8],
    ) -> Result<(), Fault> {
        let wrong = Fault::Deco(deco::LOAD);
        let end = offset + bytes.len();
        let value = self.value(bytes);
        match (class, target) {
            (class::ONE | class::TWO, register::CONTEXT) => {
                let registers = &mut self.class_of(class).registers;
                let place = registers.context.get_mut(offset..end);
                place.ok_or(Fault::Deco(deco::CONTEXT))?.copy_from_slice(bytes);
            }
            (class::ONE | class::TWO, register::KEY) => {
                let room = if class == class::ONE { KEY_1 } else { KEY_2 };
                let registers = &mut self.class_of(class).registers;
                if end > room {
                    return Err(wrong);
                }
                registers.key.resize(end.max(registers.key.len()), 0);
                registers.key[offset..end].copy_from_slice(bytes);
            }
            (class::ONE | class::TWO, register::KEY_SIZE) => {
                let room = if class == class::ONE { KEY_1 } else { KEY_2 };
                let size = (value as usize).min(room);
                self.class_of(class).registers.key.resize(size, 0);
            }
            (class::ONE | class::TWO, register::ICV_SIZE) => {
                self.class_of(class).registers.icv_size = value as u32;
            }
            // Sizes of data are those of the loads themselves.
            (
                class::ONE | class::TWO,
                register::DATA_SIZE | register::AAD_SIZE | register::IV_SIZE,
            ) => {}
            (class::NONE, register::CLEAR_WRITTEN) => self.clear(value as u32),
            (class::NONE, register::CHA_CONTROL) => {
                self.class1.reset();
                self.class2.reset();
            }
            (class::NONE, register::INTERRUPT_CONTROL) => {}
            (class::NONE, register::INFO_FIFO) => self.info.push_back(value as u32),
            (class::NONE, register::INPUT_FIFO) => self.input_fifo.extend(bytes),
            (class::NONE, register::OUTPUT_FIFO) => self.output_fifo.extend(bytes),
            (class::DECO, register::PROTOCOL_OVERRIDE) => self.protocol_override = value as u32,
            (class::DECO, math)
                if (register::MATH_0..register::MATH_0 + (4 << 16)).contains(&math) =>
            {
                let first = ((math - register::MATH_0) >> 16) as usize;
                let mut all = self.math_bytes();
                let place = all.get_mut(8 * first + offset..8 * first + end).ok_or(wrong)?;
                // Whole words are values in the engine's byte order; the bytes of others stay as they are.
                place.copy_from_slice(&self.registered(bytes));
                self.set_math_bytes(&all);
            }
            (class::DECO, register::DESCRIPTOR) => {
                let words = bytes.as_chunks::<4>().0;
                let at = self.begin + offset;
                let format = self.format;
                let place = self.buffer.get_mut(at..at + words.len()).ok_or(wrong)?;
                for (place, bytes) in place.iter_mut().zip(words) {
                    *place = format.word(*bytes);
                }
            }
            _ => return Err(wrong),
        }
        Ok(())
    }

    /// The value of a register's bytes in the engine's byte order.
    fn value(&self, bytes: &[u8]) -> u64 {
        let registered = self.registered(bytes);
        registered.iter().take(8).fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    /// Bytes as a register holds them, the most significant first.
    fn registered(&self, bytes: &[u8]) -> Vec<u8> {
        if !bytes.len().is_multiple_of(4) {
            return bytes.to_vec();
        }
        let words: Vec<u32> =
            bytes.as_chunks::<4>().0.iter().map(|bytes| self.format.word(*bytes)).collect();
        let pairs = words.chunks(2).flat_map(|pair| match *pair {
            [first, second] if !self.format.high_word_first => vec![second, first],
            _ => pair.to_vec(),
        });
        pairs.flat_map(u32::to_be_bytes).collect()
    }

    fn deco_control(&mut self, word: u32) {
        if word & deco_control::DISABLE_AUTO_INFO != 0 {
            self.makes_info = false;
        }
        if word & deco_control::ENABLE_AUTO_INFO != 0 {
            self.makes_info = true;
        }
        if word & deco_control::RESET_OUTPUT_FIFO != 0 {
            self.output_fifo.clear();
        }
    }

    fn clear(&mut self, bits: u32) {
        let has = |bit| bits & bit != 0;
        if has(clear::MODE_1) || has(clear::DONE_1) || has(clear::CHA_1) {
            self.class1.reset();
        }
        if has(clear::MODE_2) || has(clear::DONE_2) || has(clear::CHA_2) {
            self.class2.reset();
        }
        if has(clear::ICV_SIZE_1) {
            self.class1.registers.icv_size = 0;
        }
        if has(clear::CONTEXT_1) {
            self.class1.registers.context.fill(0);
        }
        if has(clear::CONTEXT_2) {
            self.class2.registers.context.fill(0);
        }
        if has(clear::KEY_1) {
            self.class1.registers.key.clear();
        }
        if has(clear::KEY_2) || has(clear::KEY_SIZE_2) {
            self.class2.registers.key.clear();
            self.class2.registers.is_split = false;
        }
        if has(clear::OUTPUT_FIFO) {
            self.output_fifo.clear();
        }
        if has(clear::INPUT_FIFO) {
            self.input_fifo.clear();
            self.info.clear();
            self.class1.queue.clear();
            self.class2.queue.clear();
        }
    }

    /// STORE and SEQ STORE.
    pub(super) fn store(&mut self, word: u32, is_sequence: bool) -> Result<(), Fault> {
        let wrong = Fault::Deco(deco::STORE);
        let source = word & register::MASK << register::SHIFT;
        let is_descriptor = word & CLASS == class::DECO && (0x40..=0x46).contains(&(source >> 16));
        let offset = (word >> register::OFFSET & 0xFF) as usize;
        let mut length = word & 0xFF;
        if is_sequence && word & VARIABLE != 0 {
            length = self.sequence_out.variable;
        }
        if is_descriptor {
            length = length.checked_mul(4).ok_or(wrong)?;
        }
        let size = length as usize;
        let bytes = if word & IMMEDIATE != 0 && !is_descriptor {
            None
        } else {
            let bytes = self.stored(word & CLASS, source).ok_or(wrong)?;
            let from = if is_descriptor { 4 * offset } else { offset };
            let short =
                if source == register::CONTEXT { Fault::Deco(deco::CONTEXT) } else { wrong };
            Some(bytes.get(from..from.saturating_add(size)).ok_or(short)?.to_vec())
        };
        self.time.commands += self.timing.register_word * f64::from(length.div_ceil(4));
        // Written back into the descriptor in memory.
        if is_descriptor && source != register::DESCRIPTOR {
            let is_job = (source >> 16) & 1 != 0;
            let place = self.addresses[usize::from(!is_job)].wrapping_add(4 * offset as u64);
            let ranges = self.ranges(&mut Cursor::plain(place), length)?;
            self.write(&ranges, &bytes.unwrap_or_default());
            return Ok(());
        }
        let ranges = if is_sequence {
            self.output_sequence(length)?
        } else {
            let mut cursor = Cursor::new(self.pointer()?, word & SGT != 0);
            self.ranges(&mut cursor, length)?
        };
        let bytes = match bytes {
            Some(bytes) => bytes,
            None => self.immediate(size)?,
        };
        self.write(&ranges, &bytes);
        Ok(())
    }

    /// The bytes of a register, for STORE.
    fn stored(&mut self, class: u32, source: u32) -> Option<Vec<u8>> {
        let format = self.format;
        let words = |words: &[u32]| words.iter().flat_map(|word| format.bytes(*word)).collect();
        Some(match (class, source) {
            (class::ONE | class::TWO, register::CONTEXT) => {
                self.class_of(class).registers.context.clone()
            }
            (class::ONE | class::TWO, register::ICV_SIZE) => {
                words(&[self.class_of(class).registers.icv_size])
            }
            (class::ONE | class::TWO, register::KEY_SIZE) => {
                words(&[self.class_of(class).registers.key.len() as u32])
            }
            (class::DECO, register::PROTOCOL_OVERRIDE) => words(&[self.protocol_override]),
            (class::DECO, math)
                if (register::MATH_0..register::MATH_0 + (4 << 16)).contains(&math) =>
            {
                let first = ((math - register::MATH_0) >> 16) as usize;
                let pairs: Vec<u32> =
                    self.math[first..].iter().flat_map(|value| format.long(*value)).collect();
                words(&pairs)
            }
            (class::DECO, register::JOB_DESCRIPTOR) => words(&self.buffer[self.job_at..]),
            (class::DECO, at) if (0x40..=0x46).contains(&(at >> 16)) => {
                words(&self.buffer[..WORDS])
            }
            _ => return None,
        })
    }

    /// FIFO LOAD and SEQ FIFO LOAD.
    pub(super) fn fifo_load(&mut self, word: u32, is_sequence: bool) -> Result<(), Fault> {
        let wrong = Fault::Deco(deco::FIFO_LOAD);
        let is_immediate = word & IMMEDIATE != 0 && !is_sequence;
        if is_immediate && word & EXTENDED != 0 {
            return Err(wrong);
        }
        let mut length = word & 0xFFFF;
        let bytes = if is_sequence {
            if word & VARIABLE != 0 {
                length = self.sequence_in.variable;
            } else if word & EXTENDED != 0 {
                length = self.word()?;
            }
            if word & CLASS == class::NONE {
                return self.skip(length);
            }
            self.read_sequence(length)?
        } else if is_immediate {
            self.immediate(length as usize)?
        } else {
            let address = self.pointer()?;
            if word & EXTENDED != 0 {
                length = self.word()?;
            }
            self.read(&mut Cursor::new(address, word & SGT != 0), length)?
        };
        let action = word & fifo_load::ACTION;
        if !self.makes_info || word & (fifo_load::TYPE | fifo_load::ACTION) == fifo_load::NO_INFO {
            if !self.makes_info {
                self.recent.clear();
            }
            self.input_fifo.extend(bytes);
            return Ok(());
        }
        self.recent = bytes.iter().copied().collect();
        let kind = match word & fifo_load::TYPE {
            fifo_load::MESSAGE | fifo_load::MESSAGE_OUT_TO_2 => Kind::Message,
            fifo_load::IV => Kind::Iv,
            fifo_load::AAD => Kind::Aad,
            fifo_load::ICV => Kind::Icv,
            _ => return Err(wrong),
        };
        self.counts.bytes += u64::from(length);
        let snoops = word & fifo_load::TYPE == fifo_load::MESSAGE_OUT_TO_2;
        let (last1, last2) = match word & CLASS {
            class::ONE => (action & fifo_load::LAST_1 != 0, false),
            class::TWO => (false, action >= fifo_load::LAST_2_FLUSH),
            class::BOTH => (
                matches!(
                    action,
                    fifo_load::LAST_1 | fifo_load::LAST_BOTH | fifo_load::LAST_BOTH_FLUSH
                ),
                action >= fifo_load::LAST_2_FLUSH,
            ),
            _ => return Err(wrong),
        };
        let to_1 = word & class::ONE != 0;
        let to_2 = word & class::TWO != 0 && !snoops;
        if to_2 {
            let bytes = if to_1 { bytes.clone() } else { bytes };
            self.class2.queue.push_back(Chunk { kind, bytes, last: last2, snoop: None });
            if !to_1 {
                return Ok(());
            }
            let bytes = self.class2.queue.back().map_or_else(Vec::new, |chunk| chunk.bytes.clone());
            self.class1.queue.push_back(Chunk { kind, bytes, last: last1, snoop: None });
        } else {
            let snoop = snoops.then_some(last2);
            self.class1.queue.push_back(Chunk { kind, bytes, last: last1, snoop });
        }
        Ok(())
    }

    fn skip(&mut self, length: u32) -> Result<(), Fault> {
        let mut sequence = self.sequence_in;
        sequence.left = sequence.left.checked_sub(length).ok_or(Fault::Deco(deco::SEQUENCE))?;
        self.ranges(&mut sequence.cursor, length)?;
        self.sequence_in = sequence;
        Ok(())
    }

    /// FIFO STORE and SEQ FIFO STORE.
    pub(super) fn fifo_store(&mut self, word: u32, is_sequence: bool) -> Result<(), Fault> {
        let wrong = Fault::Deco(deco::FIFO_STORE);
        let kind = word & fifo_store::TYPE;
        let mut length = word & 0xFFFF;
        if is_sequence && word & VARIABLE != 0 {
            length = self.sequence_out.variable;
        } else if is_sequence && word & EXTENDED != 0 {
            length = self.word()?;
        }
        let place = if is_sequence || kind == fifo_store::RANDOM_FIFO {
            None
        } else {
            let address = self.pointer()?;
            if word & EXTENDED != 0 {
                length = self.word()?;
            }
            Some(Cursor::new(address, word & SGT != 0))
        };
        match kind {
            fifo_store::SKIP if is_sequence => self.output_sequence(length).map(drop),
            fifo_store::RANDOM_FIFO => {
                let bytes = self.random_bytes(length as usize);
                self.output_fifo.extend(bytes);
                Ok(())
            }
            fifo_store::MESSAGE | fifo_store::MESSAGE_NO_WAIT | fifo_store::RANDOM => {
                let ranges = self.room(place, length)?.into();
                let random = kind == fifo_store::RANDOM;
                self.stores.push_back(Store { index: self.index, ranges, random });
                Ok(())
            }
            fifo_store::KEY | fifo_store::SPLIT_KEY => {
                let class = match word & CLASS {
                    class::ONE => &self.class1,
                    class::TWO => &self.class2,
                    _ => return Err(wrong),
                };
                if (kind == fifo_store::SPLIT_KEY) != class.registers.is_split {
                    return Err(wrong);
                }
                let mut key = class.registers.key.clone();
                key.resize((length as usize).min(KEY_2).next_multiple_of(16), 0);
                let key = self.random.wrap(&key).ok_or(Fault::Deco(deco::NO_SECURE_KEY))?;
                let ranges = self.room(place, key.len() as u32)?;
                self.write(&ranges, &key);
                Ok(())
            }
            // Public-key memory and metadata are not modelled.
            _ => Err(wrong),
        }
    }

    fn room(&mut self, place: Option<Cursor>, length: u32) -> Result<Vec<Range>, Fault> {
        match place {
            Some(mut cursor) => self.ranges(&mut cursor, length),
            None => self.output_sequence(length),
        }
    }

    /// SEQ IN PTR and SEQ OUT PTR.
    pub(super) fn seq_ptr(&mut self, word: u32, is_input: bool) -> Result<(), Fault> {
        // Inline and replacement job descriptors, and sequences out of sequences.
        if is_input && word & (1 << 25 | 1 << 20 | 1 << 19) != 0 {
            return Err(Fault::Deco(deco::SEQUENCE));
        }
        let is_previous = word & sequence::PREVIOUS != 0;
        let restores = word & sequence::RESTORE != 0;
        let address = if is_previous || restores { None } else { Some(self.pointer()?) };
        let length = if word & EXTENDED != 0 { self.word()? } else { word & 0xFFFF };
        let sequence = if is_input { &mut self.sequence_in } else { &mut self.sequence_out };
        if restores {
            (sequence.cursor, sequence.left) = sequence.start;
            return Ok(());
        }
        match address {
            Some(address) => {
                sequence.cursor = Cursor::new(address, word & SGT != 0);
                sequence.left = length;
                sequence.start = (sequence.cursor, length);
            }
            None => {
                let left = sequence.left.checked_add(length);
                sequence.left = left.ok_or(Fault::Deco(deco::SEQUENCE))?;
            }
        }
        Ok(())
    }

    /// Serves the entries of the info FIFO whose data is there.
    pub(super) fn pump_info(&mut self) -> Result<(), Fault> {
        while let Some(entry) = self.info.pop_front() {
            let length = (entry & info::LENGTH) as usize;
            let bytes: Vec<u8> = match entry & info::SNOOP_OUTPUT {
                info::FROM_PADDING => self.padding(entry >> info::PADDING & 7, length & 0xFF),
                // A look at the output, which stays where it is.
                info::FROM_OUTPUT => {
                    if self.output_fifo.len() < length {
                        self.info.push_front(entry);
                        return Ok(());
                    }
                    let from = self.output_fifo.len() - length;
                    self.output_fifo.range(from..).copied().collect()
                }
                _ => {
                    if self.input_fifo.len() < length {
                        self.info.push_front(entry);
                        return Ok(());
                    }
                    self.input_fifo.drain(..length).collect()
                }
            };
            let kind = match entry & 0xF << info::TYPE {
                info::AAD => Kind::Aad,
                info::IV => Kind::Iv,
                info::ICV => Kind::Icv,
                _ => Kind::Message,
            };
            let (last1, last2) = (entry & info::LAST_1 != 0, entry & info::LAST_2 != 0);
            let snoops = entry & info::SNOOP_OUTPUT == info::SNOOP_OUTPUT;
            match entry & info::TO_BOTH {
                info::TO_DECO => self.for_deco.extend(bytes),
                to => {
                    let one = Chunk {
                        kind,
                        bytes: bytes.clone(),
                        last: last1,
                        snoop: snoops.then_some(last2),
                    };
                    let two = Chunk { kind, bytes, last: last2, snoop: None };
                    if to & info::TO_1 != 0 {
                        self.class1.queue.push_back(one);
                    }
                    if to & info::TO_2 != 0 && !snoops {
                        self.class2.queue.push_back(two);
                    }
                }
            }
        }
        Ok(())
    }

    fn padding(&mut self, kind: u32, length: usize) -> Vec<u8> {
        match kind {
            0 | 4 | 6 => vec![0; length],
            2 => (1..=length).map(|byte| byte as u8).collect(),
            3 => self.random.bytes(length),
            _ => self.random.bytes(length).into_iter().map(|byte| byte.max(1)).collect(),
        }
    }
}
