//! Transfers from and to plain ranges of memory, scatter-gather tables and sequences.

use super::deco::Job;
use super::fault::Fault;
use super::place::{Cursor, Output, Range};
use cpb_drivers::caam::descriptor::sgt;
use cpb_drivers::caam::status::deco;

/// Memory is read in pieces, so that a transfer of 4 GiB fails at the end of memory instead of being allocated.
const PIECE: u64 = 4096;

/// How many table entries a job reads at most. Tables that lead to themselves have no end; a job that reads them
/// expires (assumed: the watchdog's time is not public).
const TABLE_ENTRIES: u32 = 4096;

/// How many bytes a job reads at most, so that a descriptor in a loop cannot use up the host's memory. A job that reads
/// more expires (assumed).
const DATA: u64 = 256 << 20;

impl Job<'_> {
    /// The parts of memory that the next `length` bytes are in.
    pub(super) fn ranges(&mut self, cursor: &mut Cursor, length: u32) -> Result<Vec<Range>, Fault> {
        let mut ranges = Vec::new();
        let mut length = u64::from(length);
        while length > 0 {
            while cursor.left == 0 {
                self.next_entry(cursor)?;
            }
            let part = length.min(cursor.left);
            ranges.push((cursor.address, part));
            self.time.dma += self.timing.dma_start + self.timing.dma_beat * part.div_ceil(8) as f64;
            cursor.address = cursor.address.wrapping_add(part);
            cursor.left -= part;
            length -= part;
        }
        Ok(ranges)
    }

    fn next_entry(&mut self, cursor: &mut Cursor) -> Result<(), Fault> {
        if cursor.ended {
            return Err(Fault::Deco(deco::SGT_LENGTH));
        }
        self.table_entries += 1;
        if self.table_entries > TABLE_ENTRIES {
            return Err(Fault::Deco(deco::WATCHDOG));
        }
        let mut entry = [0; sgt::SIZE];
        self.memory.read(cursor.table, &mut entry).map_err(|error| self.dma_fault(error))?;
        self.time.dma += self.timing.table_entry;
        let word =
            |place: usize| self.format.word(core::array::from_fn(|byte| entry[4 * place + byte]));
        let address = self.format.address([word(0), word(1)]);
        let (length, offset) = (word(2), word(3) & sgt::OFFSET);
        let place = address.wrapping_add(offset.into());
        if length & sgt::TABLE != 0 {
            cursor.table = place;
            return Ok(());
        }
        if address == 0 && length & sgt::LENGTH == 0 {
            return Err(Fault::Deco(deco::SGT_NULL));
        }
        cursor.table = cursor.table.wrapping_add(sgt::SIZE as u64);
        cursor.address = place;
        cursor.left = (length & sgt::LENGTH).into();
        cursor.ended = length & sgt::FINAL != 0;
        Ok(())
    }

    /// Reads the next `length` bytes.
    pub(super) fn read(&mut self, cursor: &mut Cursor, length: u32) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        for (address, length) in self.ranges(cursor, length)? {
            let mut done = 0;
            while done < length {
                let part = PIECE.min(length - done);
                self.data += part;
                if self.data > DATA {
                    return Err(Fault::Deco(deco::WATCHDOG));
                }
                let from = bytes.len();
                bytes.resize(from + part as usize, 0);
                let place = address.wrapping_add(done);
                self.memory
                    .read(place, &mut bytes[from..])
                    .map_err(|error| self.dma_fault(error))?;
                done += part;
            }
        }
        Ok(bytes)
    }

    /// Writes `bytes` at the end of the job.
    pub(super) fn write(&mut self, ranges: &[Range], mut bytes: &[u8]) {
        for (address, length) in ranges {
            let part = bytes.len().min(*length as usize);
            let (now, later) = bytes.split_at(part);
            self.outputs.push(Output { index: self.index, address: *address, bytes: now.to_vec() });
            bytes = later;
        }
    }

    /// Takes `length` bytes of the input sequence.
    pub(super) fn read_sequence(&mut self, length: u32) -> Result<Vec<u8>, Fault> {
        let mut sequence = self.sequence_in;
        sequence.left = sequence.left.checked_sub(length).ok_or(Fault::Deco(deco::SEQUENCE))?;
        let bytes = self.read(&mut sequence.cursor, length);
        self.sequence_in = sequence;
        bytes
    }

    /// Takes room of `length` bytes in the output sequence.
    pub(super) fn output_sequence(&mut self, length: u32) -> Result<Vec<Range>, Fault> {
        let mut sequence = self.sequence_out;
        sequence.left = sequence.left.checked_sub(length).ok_or(Fault::Deco(deco::SEQUENCE))?;
        let ranges = self.ranges(&mut sequence.cursor, length);
        self.sequence_out = sequence;
        ranges
    }

    /// Gives output to the stores that wait for it, in their order.
    pub(super) fn drain(&mut self) {
        while let Some(mut store) = self.stores.pop_front() {
            while let Some((address, length)) = store.ranges.pop_front() {
                let wanted = length as usize;
                let bytes: Vec<u8> =
                    if store.random || (self.generates.is_some() && self.output_fifo.is_empty()) {
                        self.random_bytes(wanted)
                    } else {
                        let ready = wanted.min(self.output_fifo.len());
                        self.output_fifo.drain(..ready).collect()
                    };
                let got = bytes.len() as u64;
                if got > 0 {
                    self.outputs.push(Output { index: store.index, address, bytes });
                }
                if got < length {
                    store.ranges.push_front((address.wrapping_add(got), length - got));
                    break;
                }
            }
            if !store.ranges.is_empty() {
                self.stores.push_front(store);
                return;
            }
        }
    }
}
