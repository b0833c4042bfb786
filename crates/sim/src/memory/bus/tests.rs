//! Random accesses of the core and of an engine, compared with a simple write-back cache.

use super::Bus;
use crate::chip::Chip;
use crate::memory::Memory;
use crate::memory::mpu::Attributes;
use crate::system::System;
use crate::timing::Scoreboard;
use cpb_engines::Memory as _;
use fastrand::Rng;

const BASE: u32 = 0x2020_0000;
const SIZE: usize = 1024;
const LINE: usize = 32;
const SETS: usize = 4;
const WAYS: usize = 2;

#[derive(Clone, Copy)]
struct Held {
    line: usize,
    bytes: [u8; LINE],
    dirty: bool,
}

/// A cache with contents: write-back, write-allocate.
struct Reference {
    bus: Vec<u8>,
    ways: [[Option<Held>; WAYS]; SETS],
    victim: [usize; SETS],
    enabled: bool,
}

impl Reference {
    fn new() -> Self {
        let ways = [[None; WAYS]; SETS];
        Reference { bus: vec![0; SIZE], ways, victim: [0; SETS], enabled: true }
    }

    fn held(&mut self, line: usize) -> Option<&mut Held> {
        self.ways[line % SETS].iter_mut().flatten().find(|held| held.line == line)
    }

    fn on_bus(&mut self, line: usize) -> &mut [u8] {
        &mut self.bus[line * LINE..(line + 1) * LINE]
    }

    fn write_back(&mut self, held: Held) {
        if held.dirty && self.enabled {
            self.on_bus(held.line).copy_from_slice(&held.bytes);
        }
    }

    fn fetch(&mut self, line: usize) {
        if self.held(line).is_some() {
            return;
        }
        let set = line % SETS;
        let empty = self.ways[set].iter().position(Option::is_none);
        let way = empty.unwrap_or(self.victim[set] % WAYS);
        self.victim[set] = way + 1;
        if let Some(old) = self.ways[set][way] {
            self.write_back(old);
        }
        let mut bytes = [0; LINE];
        bytes.copy_from_slice(self.on_bus(line));
        self.ways[set][way] = Some(Held { line, bytes, dirty: false });
    }

    fn core(&mut self, offset: usize, size: usize, value: Option<&[u8]>) -> Vec<u8> {
        if !self.enabled {
            return engine(&mut self.bus, offset, size, value);
        }
        self.fetch(offset / LINE);
        self.fetch((offset + size - 1) / LINE);
        (0..size)
            .map(|i| {
                let at = offset + i;
                let held = self.held(at / LINE).expect("it was fetched");
                if let Some(value) = value {
                    held.bytes[at % LINE] = value[i];
                    held.dirty = true;
                }
                held.bytes[at % LINE]
            })
            .collect()
    }

    /// An access without the cache, although the cache may hold the line.
    fn uncached(&mut self, offset: usize, size: usize, value: Option<&[u8]>) -> Vec<u8> {
        let lines = [offset / LINE, (offset + size - 1) / LINE];
        for line in lines {
            if self.enabled
                && let Some(held) = self.held(line)
            {
                let old = *held;
                held.dirty = false;
                self.write_back(old);
            }
        }
        let found = engine(&mut self.bus, offset, size, value);
        for line in lines {
            let mut bytes = [0; LINE];
            bytes.copy_from_slice(self.on_bus(line));
            if let Some(held) = self.held(line) {
                held.bytes = bytes;
            }
        }
        found
    }

    fn maintain(&mut self, set: usize, way: usize, clean: bool, invalidate: bool) {
        let Some(mut held) = self.ways[set][way] else { return };
        if clean {
            self.write_back(held);
            held.dirty = false;
        }
        self.ways[set][way] = (!invalidate).then_some(held);
    }

    fn maintain_line(&mut self, line: usize, clean: bool, invalidate: bool) {
        let set = line % SETS;
        let found = self.ways[set].iter().position(|held| held.is_some_and(|h| h.line == line));
        if let Some(way) = found {
            self.maintain(set, way, clean, invalidate);
        }
    }

    /// Dirty lines count as written back, and lines have what is on the bus afterwards.
    fn enable(&mut self, enabled: bool) {
        for (set, way) in (0..SETS).flat_map(|set| (0..WAYS).map(move |way| (set, way))) {
            let Some(mut held) = self.ways[set][way] else { continue };
            match (self.enabled, enabled) {
                (true, false) => self.write_back(held),
                (false, true) => {
                    held.bytes.copy_from_slice(self.on_bus(held.line));
                    self.ways[set][way] = Some(held);
                }
                _ => {}
            }
        }
        self.enabled = enabled;
    }
}

/// A read or write of bytes on the bus.
fn engine(bus: &mut [u8], offset: usize, size: usize, value: Option<&[u8]>) -> Vec<u8> {
    if let Some(value) = value {
        bus[offset..offset + size].copy_from_slice(value);
    }
    bus[offset..offset + size].to_vec()
}

struct Pair {
    memory: Memory,
    time: Scoreboard,
    system: System,
    reference: Reference,
    random: Rng,
}

impl Pair {
    fn new(seed: u64) -> Self {
        let mut chip = Chip::named("imxrt1060").expect("a built-in chip");
        let shape = chip.cache.data.as_mut().expect("it has a cache");
        (shape.size, shape.ways) = ((SETS * WAYS * LINE) as u32, WAYS as u32);
        let (mut memory, time) = (Memory::new(&chip), Scoreboard::new(chip.timing()));
        memory.expect_engines();
        memory.enable_caches(true, false);
        let (system, reference) = (System::new(), Reference::new());
        Pair { memory, time, system, reference, random: Rng::with_seed(seed) }
    }

    fn range(&mut self, largest: usize) -> (u32, usize, usize) {
        let size = self.random.usize(1..=largest);
        let offset = self.random.usize(..=SIZE - size);
        (BASE + offset as u32, offset, size)
    }

    fn bytes(&mut self, size: usize) -> Vec<u8> {
        (0..size).map(|_| self.random.u8(..)).collect()
    }

    /// A read or a write of the core by one, two or four bytes. Returns what was read.
    fn access(
        &mut self,
        address: u32,
        size: usize,
        value: Option<&[u8]>,
        cacheable: bool,
    ) -> Vec<u8> {
        let all = Attributes { readable: true, writable: true, executable: true, cacheable };
        let number = self.memory.region_of(BASE);
        let range = self.memory.range(number).expect("a memory");
        self.memory.allow(number, range, all, value.is_some());
        let (memory, time) = (&mut self.memory, &self.time);
        let Some(value) = value else {
            return match size {
                1 => memory.read::<1>(address, time).expect("readable").to_vec(),
                2 => memory.read::<2>(address, time).expect("readable").to_vec(),
                _ => memory.read::<4>(address, time).expect("readable").to_vec(),
            };
        };
        assert!(match size {
            1 => memory.write::<1>(address, value.try_into().expect("one byte"), time),
            2 => memory.write::<2>(address, value.try_into().expect("two bytes"), time),
            _ => memory.write::<4>(address, value.try_into().expect("four bytes"), time),
        });
        value.to_vec()
    }

    fn core(&mut self, cacheable: bool) {
        let size = 1 << self.random.usize(..3);
        let offset = self.random.usize(..=SIZE - size);
        let value = self.random.bool().then(|| self.bytes(size));
        let found = self.access(BASE + offset as u32, size, value.as_deref(), cacheable);
        let expected = if cacheable {
            self.reference.core(offset, size, value.as_deref())
        } else {
            self.reference.uncached(offset, size, value.as_deref())
        };
        assert_eq!(found, expected, "the core at offset {offset:#x}, cacheable: {cacheable}");
    }

    fn engine(&mut self) {
        let (address, offset, size) = self.range(100);
        let mut bus = Bus { memory: &mut self.memory, engine: "random" };
        if self.random.bool() {
            let mut found = vec![0; size];
            bus.read(address.into(), &mut found).expect("a memory");
            let expected = engine(&mut self.reference.bus, offset, size, None);
            assert_eq!(found, expected, "the engine at offset {offset:#x}");
        } else {
            let value = self.bytes(size);
            let mut bus = Bus { memory: &mut self.memory, engine: "random" };
            bus.write(address.into(), &value).expect("a memory");
            engine(&mut self.reference.bus, offset, size, Some(&value));
        }
    }

    fn maintain(&mut self) {
        let (clean, invalidate) =
            [(true, false), (false, true), (true, true)][self.random.usize(..3)];
        let by_line = self.random.bool();
        let register = match (clean, invalidate, by_line) {
            (false, true, true) => 0xE000_EF5C,
            (false, true, false) => 0xE000_EF60,
            (true, false, true) => 0xE000_EF68,
            (true, false, false) => 0xE000_EF6C,
            (_, _, true) => 0xE000_EF70,
            _ => 0xE000_EF74,
        };
        let (set, way) = (self.random.usize(..SETS), self.random.usize(..WAYS));
        let line = self.random.usize(..SIZE / LINE);
        let value = if by_line {
            self.reference.maintain_line(line, clean, invalidate);
            BASE + (line * LINE) as u32
        } else {
            self.reference.maintain(set, way, clean, invalidate);
            (way as u32) << 31 | (set * LINE) as u32
        };
        self.system.write(register, value, 0, &mut self.memory);
    }

    fn step(&mut self) {
        match self.random.u32(..100) {
            0..50 => self.core(true),
            50..55 => self.core(false),
            55..80 => self.engine(),
            80..98 => self.maintain(),
            _ => {
                let enabled = self.random.u32(..4) != 0;
                self.memory.enable_caches(enabled, false);
                self.reference.enable(enabled);
            }
        }
    }
}

#[test]
fn the_core_and_an_engine_read_what_a_write_back_cache_gives_them() {
    for seed in 0..200 {
        let mut pair = Pair::new(seed);
        (0..500).for_each(|_| pair.step());
    }
}
