//! The CAAM's model, driven by descriptors that the tests write by hand: published answers, and each error with a
//! right job after it.

mod any;
mod authenticated;
mod ciphers;
mod digests;
mod driver;
mod errors;
mod guest;
mod interrupts;
mod key_pairs;
mod pkha;
mod port;
mod provider;
mod random;
mod rings;
mod rsa;
mod sequences;
mod timing;

use cpb_drivers::caam::descriptor::{
    Descriptor, Format, SgtEntry, class, fifo_load, fifo_store, operation, register,
};
use cpb_drivers::caam::registers::{self, jr, mcfgr};
use cpb_engines::caam::{Caam, Configuration, Timing};
use cpb_engines::{BusError, Engine, Memory};

/// Times of the order of the RT1170's, in nanoseconds.
const TIMING: Timing = Timing {
    ring_entry: 100.0,
    descriptor_word: 4.0,
    command: 8.0,
    register_word: 4.0,
    table_entry: 50.0,
    dma_start: 50.0,
    dma_beat: 4.0,
    aes_round: 16.7,
    des_round: 8.0,
    md5_block: 270.0,
    sha1_block: 340.0,
    sha256_block: 270.0,
    sha512_block: 340.0,
    random_word: 20.0,
    word_product: 0.2,
    finish: 50.0,
    latency: 0.0,
    coalescing: 267.0,
};

/// All ways in which words and pointers can lie in memory.
fn configurations() -> [Configuration; 5] {
    let imx = Configuration { rdsta: 0x4000_0033, aes: Some(4), ..Configuration::RT1170 };
    let classic = Configuration { page: registers::PAGE_4K, high_word_first: false, ..imx };
    [
        imx,
        classic,
        Configuration { long_pointers: true, ..imx },
        Configuration { long_pointers: true, ..classic },
        Configuration { big_endian: true, long_pointers: true, high_word_first: true, ..classic },
    ]
}

/// Memory from address 0 on.
pub(crate) struct Flat(pub(crate) Vec<u8>);

impl Flat {
    fn at(&self, address: u64, length: usize) -> Option<std::ops::Range<usize>> {
        let from = usize::try_from(address).ok()?;
        let to = from.checked_add(length)?;
        (to <= self.0.len()).then_some(from..to)
    }
}

impl Memory for Flat {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        let range = self.at(address, bytes.len()).ok_or(BusError { address })?;
        bytes.copy_from_slice(&self.0[range]);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        let range = self.at(address, bytes.len()).ok_or(BusError { address })?;
        self.0[range].copy_from_slice(bytes);
        Ok(())
    }
}

/// An address at which there is no memory.
const NOWHERE: u64 = 0xFFFF_0000;

/// The number of entries of each ring.
const ENTRIES: u32 = 8;

/// An engine with its memory and rings.
struct Machine {
    model: Caam,
    memory: Flat,
    format: Format,
    configuration: Configuration,
    now: u64,
    free: u64,
    /// Entries added to and removed from each ring.
    added: [u32; 4],
    removed: [u32; 4],
}

impl Machine {
    fn new(configuration: Configuration) -> Machine {
        Machine::with_timing(configuration, TIMING)
    }

    fn with_timing(configuration: Configuration, timing: Timing) -> Machine {
        let mut machine = Machine {
            model: Caam::new(timing, configuration),
            memory: Flat(vec![0; 0x4_0000]),
            format: configuration.format(configuration.long_pointers),
            configuration,
            now: 0,
            free: 0x1000,
            added: [0; 4],
            removed: [0; 4],
        };
        if configuration.long_pointers {
            let old = machine.read(registers::MCFGR);
            machine.write(registers::MCFGR, old | mcfgr::LONG_POINTERS);
        }
        (0..configuration.rings).for_each(|ring| machine.set_up(ring));
        machine
    }

    fn imx() -> Machine {
        Machine::new(configurations()[0])
    }

    /// Gives a ring its addresses and sizes.
    fn set_up(&mut self, ring: usize) {
        let input = Machine::input(ring);
        for (base, place) in [(jr::IRBAR, input), (jr::ORBAR, input + 0x100)] {
            let [first, second] = self.format.long(place);
            self.write_ring(ring, base, first);
            self.write_ring(ring, base + 4, second);
        }
        self.write_ring(ring, jr::IRSR, ENTRIES);
        self.write_ring(ring, jr::ORSR, ENTRIES);
        (self.added[ring], self.removed[ring]) = (0, 0);
    }

    /// Where a ring's input is; its output is 0x100 behind.
    fn input(ring: usize) -> u64 {
        0x200 + 0x200 * ring as u64
    }

    fn swapped(&self, value: u32) -> u32 {
        if self.configuration.big_endian { value.swap_bytes() } else { value }
    }

    fn read(&mut self, offset: u32) -> u32 {
        self.model.advance(self.now, &mut self.memory);
        let value = self.model.read(offset);
        self.swapped(value)
    }

    fn write(&mut self, offset: u32, value: u32) {
        self.model.advance(self.now, &mut self.memory);
        self.model.write(offset, self.swapped(value), self.now);
    }

    fn read_ring(&mut self, ring: usize, register: u32) -> u32 {
        self.read(registers::ring(ring, self.configuration.page) + register)
    }

    fn write_ring(&mut self, ring: usize, register: u32, value: u32) {
        self.write(registers::ring(ring, self.configuration.page) + register, value);
    }

    /// Puts bytes into memory.
    fn put(&mut self, bytes: &[u8]) -> u64 {
        let at = self.room(bytes.len());
        self.memory.0[at as usize..][..bytes.len()].copy_from_slice(bytes);
        at
    }

    /// Memory that nothing else uses.
    fn room(&mut self, length: usize) -> u64 {
        let at = self.free;
        self.free += length.next_multiple_of(16) as u64 + 16;
        at
    }

    fn bytes(&self, at: u64, length: usize) -> &[u8] {
        &self.memory.0[at as usize..][..length]
    }

    /// A scatter-gather table of parts of these lengths, which cover `length` bytes at `at`.
    fn table(&mut self, at: u64, lengths: &[u32]) -> u64 {
        let mut entries = Vec::new();
        let mut address = at;
        for (number, length) in lengths.iter().enumerate() {
            let last = if number + 1 == lengths.len() { 1 << 30 } else { 0 };
            let entry = SgtEntry { address, length: length | last, offset: 0 };
            entries.extend(entry.bytes(self.format));
            address += u64::from(*length);
        }
        self.put(&entries)
    }

    fn job(&self) -> Descriptor {
        Descriptor::job(self.format)
    }

    /// Puts a descriptor into memory.
    fn place(&mut self, descriptor: &mut Descriptor) -> u64 {
        let mut bytes = [0; 256];
        let size = descriptor.write(&mut bytes).expect("64 words");
        self.put(&bytes[..size])
    }

    /// Adds the descriptor at `address` to a ring.
    fn add(&mut self, ring: usize, address: u64) {
        let size = 4 * self.format.pointer_words();
        let entry: Vec<u8> = if size == 8 {
            self.format.long(address).into_iter().flat_map(|word| self.format.bytes(word)).collect()
        } else {
            self.format.bytes(address as u32).to_vec()
        };
        let at = Machine::input(ring) as usize + size * (self.added[ring] % ENTRIES) as usize;
        self.memory.0[at..at + size].copy_from_slice(&entry);
        self.added[ring] += 1;
        self.write_ring(ring, jr::IRJAR, 1);
    }

    /// Lets time pass until nothing happens any more.
    fn settle(&mut self) {
        while let Some(event) = self.model.next_event() {
            self.now = self.now.max(event);
            self.model.advance(self.now, &mut self.memory);
        }
    }

    /// Removes the oldest finished job of a ring: its descriptor's address and its status.
    fn remove(&mut self, ring: usize) -> Option<(u64, u32)> {
        if self.read_ring(ring, jr::ORSFR) == 0 {
            return None;
        }
        let pointer = 4 * self.format.pointer_words();
        let slot = (self.removed[ring] % ENTRIES) as usize;
        let at = Machine::input(ring) as usize + 0x100 + (pointer + 4) * slot;
        let bytes = &self.memory.0[at..at + pointer + 4];
        let words: Vec<u32> =
            bytes.as_chunks::<4>().0.iter().map(|bytes| self.format.word(*bytes)).collect();
        let (address, status) = match words[..] {
            [first, second, status] => (self.format.address([first, second]), status),
            _ => (words[0].into(), words[1]),
        };
        self.removed[ring] += 1;
        self.write_ring(ring, jr::ORJRR, 1);
        Some((address, status))
    }

    /// Runs the descriptor at `address` and returns its status.
    fn run_at(&mut self, address: u64) -> u32 {
        self.add(0, address);
        self.settle();
        let (told, status) = self.remove(0).expect("a finished job");
        assert_eq!(told, address);
        status
    }

    fn run(&mut self, descriptor: &mut Descriptor) -> u32 {
        let address = self.place(descriptor);
        self.run_at(address)
    }

    /// AES-128-CBC of SP 800-38A, F.2.1: shows that the engine works.
    fn works(&mut self) {
        let key = self.put(&hex("2b7e151628aed2a6abf7158809cf4f3c"));
        let iv = self.put(&hex("000102030405060708090a0b0c0d0e0f"));
        let input = self.put(&hex("6bc1bee22e409f96e93d7e117393172a"));
        let output = self.room(16);
        let mut job = self.job();
        job.key(class::ONE, key, 16)
            .load(class::ONE | register::CONTEXT, 0, iv, 16)
            .fifo_load(message(), input, 16)
            .fifo_store(fifo_store::MESSAGE, output, 16)
            .operation(operation::CLASS_1 | operation::AES | operation::CBC | operation::ENCRYPT);
        assert_eq!(self.run(&mut job), 0);
        assert_eq!(self.bytes(output, 16), hex("7649abac8119b246cee98e9b12e9197d"));
    }
}

/// FIFO LOAD of class 1's only message.
fn message() -> u32 {
    class::ONE | fifo_load::MESSAGE | fifo_load::LAST_1 | fifo_load::FLUSH_1
}

fn hex(text: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hex");
    (0..text.len()).step_by(2).map(digit).collect()
}
