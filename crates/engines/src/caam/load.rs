//! The commands that load and store registers: KEY, LOAD and STORE.

use super::deco::Job;
use super::fault::Fault;
use super::memories::BYTES;
use super::place::Cursor;
use cpb_drivers::caam::descriptor::{
    IMMEDIATE, SGT, VARIABLE, WORDS, class, clear, deco_control, key, register,
};
use cpb_drivers::caam::status::deco;

/// The bytes that the class's key registers have room for.
const KEY_1: usize = 64;
const KEY_2: usize = 128;

/// Which accelerator's registers a LOAD or STORE names.
const CLASS: u32 = class::BOTH;

impl Job<'_> {
    /// KEY and SEQ KEY. Keys that AES-CCM encrypted are not modelled.
    pub(super) fn key(&mut self, word: u32, is_sequence: bool) -> Result<(), Fault> {
        let wrong = Fault::Deco(deco::KEY);
        let length = (word & key::LENGTH) as usize;
        let is_exponent = word & key::DESTINATION == key::PK_E;
        let is_split = match word & key::DESTINATION {
            key::REGISTER => false,
            key::PK_E if word & CLASS == class::ONE => false,
            key::SPLIT if word & CLASS == class::TWO => true,
            _ => return Err(wrong),
        };
        let room = match word & CLASS {
            _ if is_exponent => BYTES,
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
        if is_exponent {
            self.load_exponent(bytes);
            return Ok(());
        }
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
}
