//! The commands that move data through the FIFOs: FIFO LOAD, FIFO STORE, the pointers of sequences, and the info FIFO.

use super::class::{Chunk, Kind};
use super::deco::Job;
use super::fault::Fault;
use super::place::{Cursor, Range, Store};
use cpb_drivers::caam::descriptor::{
    EXTENDED, IMMEDIATE, SGT, VARIABLE, class, fifo_load, fifo_store, info, pkha, sequence,
};
use cpb_drivers::caam::status::deco;

/// The class of a command.
const CLASS: u32 = class::BOTH;

/// The longest key that is stored.
const KEY: usize = 128;

impl Job<'_> {
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
        if word & pkha::OTHER_TYPES == 0 {
            return match word & CLASS {
                class::ONE => self.load_number(word & fifo_store::TYPE, &bytes),
                _ => Err(wrong),
            };
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
            let bytes = bytes.clone();
            self.class2.queue.push_back(Chunk { kind, bytes, last: last2, snoop: None });
        }
        if to_1 || snoops {
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
                key.resize((length as usize).min(KEY).next_multiple_of(16), 0);
                let key = self.random.wrap(&key).ok_or(Fault::Deco(deco::NO_SECURE_KEY))?;
                let ranges = self.room(place, key.len() as u32)?;
                self.write(&ranges, &key);
                Ok(())
            }
            kind if kind & pkha::OTHER_TYPES == 0 => {
                let bytes = self.stored_number(kind, length as usize)?;
                let ranges = self.room(place, length)?;
                self.write(&ranges, &bytes);
                Ok(())
            }
            // Metadata is not modelled.
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
