//! Memories, and the cost of accessing them.

mod bus;
pub(crate) mod cache;
pub(crate) mod cache_ports;
mod checker;
pub(crate) mod flash;
pub(crate) mod mpu;

use crate::chip::{self, Chip, FlashTiming, MemoryKind, Timing};
use crate::timing::{Access, Cause, Scoreboard};
pub(crate) use bus::Bus;
use cache::{Cache, Found};
use cache_ports::CachePorts;
pub use checker::CacheMistake;
pub(crate) use checker::Checker;
use cpb_engines::otfad::Otfad;
use cpb_otfad::KeyBlobs;
use flash::Flash;

/// Size of a page of decoded instructions in bytes.
pub(crate) const PAGE: u32 = 1024;

/// Beats of the bus, of eight bytes each, in a cache line.
const LINE_BEATS: u32 = 4;

/// A range of a memory with a permitted kind of access, according to the last MPU lookup.
#[derive(Clone, Copy, Default)]
struct Window {
    /// The offset of its first byte in the memory, plus the memory's base.
    first: u32,
    /// Size in bytes; 0 if nothing is known yet.
    size: u32,
}

impl Window {
    #[inline(always)]
    fn holds(self, address: u32, bytes: u32) -> bool {
        let offset = address.wrapping_sub(self.first);
        u64::from(offset) + u64::from(bytes) <= u64::from(self.size)
    }
}

/// One memory.
pub(crate) struct Region {
    pub(crate) name: String,
    pub(crate) base: u32,
    bytes: Vec<u8>,
    kind: MemoryKind,
    readable: Window,
    writable: Window,
    cacheable: bool,
    /// For each page, the number of its decoded form plus one, or 0.
    pub(crate) decoded: Vec<u32>,
}

impl Region {
    fn nothing() -> Self {
        Region {
            name: String::new(),
            base: 0,
            bytes: Vec::new(),
            kind: MemoryKind::Tcm,
            readable: Window::default(),
            writable: Window::default(),
            cacheable: false,
            decoded: Vec::new(),
        }
    }

    /// The first and last address.
    pub(crate) fn range(&self) -> (u32, u32) {
        (self.base, self.last())
    }

    fn last(&self) -> u32 {
        self.base + (self.bytes.len() as u32 - 1)
    }
}

/// All memories of a chip with their caches.
pub(crate) struct Memory {
    /// The first entry is not a memory; it stands for all other addresses.
    regions: Vec<Region>,
    /// The region of each MiB.
    index: Box<[u8; 4096]>,
    pub(crate) instructions: Cache,
    pub(crate) data: Cache,
    cache_ports: CachePorts,
    flash: Flash,
    /// What the inline engine decrypts. The bytes of flash are those that the engine passes on.
    decrypted: Option<KeyBlobs>,
    rules: Timing,
    /// The memory access of the instruction being executed.
    pub(crate) access: Access,
    /// Bytes whose decoded form is stale: region, offset, length.
    pub(crate) stale: Vec<(usize, u32, u32)>,
    /// Loads and stores so far, counted per register.
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    /// Reads and writes of single items over the bus that bypassed the caches.
    pub(crate) on_bus: [u64; 2],
    /// Whether the chip has engines, so that the core's and the bus's view of a line may differ.
    has_engines: bool,
    /// Present if the program's use of the caches is checked.
    pub(crate) checker: Option<Box<Checker>>,
    /// Whether an engine has a job running.
    pub(crate) engine_runs: bool,
    /// Cycles for which the core's transfers have kept running engines waiting, and which they were not told yet.
    pub(crate) engines_waited: u64,
    /// The machine checks for changes before any instruction at or after this cycle.
    pub(crate) undisturbed: u64,
}

impl Memory {
    pub(crate) fn new(chip: &Chip) -> Self {
        let rules = chip.timing();
        let mut memory = Memory {
            regions: vec![Region::nothing()],
            index: Box::new([0; 4096]),
            instructions: Cache::new(chip.cache.instruction.as_ref()),
            data: Cache::new(chip.cache.data.as_ref()),
            cache_ports: CachePorts::default(),
            flash: Flash::new(&rules.flash),
            decrypted: None,
            rules,
            access: Access::default(),
            stale: Vec::new(),
            reads: 0,
            writes: 0,
            on_bus: [0; 2],
            has_engines: false,
            checker: None,
            engine_runs: false,
            engines_waited: 0,
            undisturbed: 0,
        };
        for description in &chip.memory {
            memory.add(description);
        }
        memory
    }

    fn add(&mut self, description: &chip::MemoryDescription) {
        let size = description.size.next_multiple_of(PAGE);
        let number = self.regions.len() as u8;
        self.regions.push(Region {
            name: description.name.clone(),
            base: description.base,
            bytes: vec![0; size as usize],
            kind: description.kind,
            decoded: vec![0; (size / PAGE) as usize],
            ..Region::nothing()
        });
        let last = description.base + (size - 1);
        for mib in description.base >> 20..=last >> 20 {
            self.index[mib as usize] = number;
        }
    }

    /// The number of the region that may contain `address`.
    #[inline(always)]
    pub(crate) fn region_of(&self, address: u32) -> usize {
        usize::from(self.index[(address >> 20) as usize])
    }

    pub(crate) fn region(&self, number: usize) -> &Region {
        &self.regions[number]
    }

    pub(crate) fn region_mut(&mut self, number: usize) -> &mut Region {
        &mut self.regions[number]
    }

    pub(crate) fn regions(&self) -> &[Region] {
        &self.regions[1..]
    }

    /// The bytes from `address` to the end of the memory, regardless of the MPU.
    pub(crate) fn bytes(&self, address: u32) -> &[u8] {
        let region = &self.regions[self.region_of(address)];
        let offset = address.wrapping_sub(region.base) as usize;
        region.bytes.get(offset..).unwrap_or(&[])
    }

    pub(crate) fn word(&self, address: u32) -> Option<u32> {
        self.bytes(address).first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
    }

    /// Writes bytes as a loader does, without protection and without taking time. Returns `false` if they do
    /// not fit.
    pub(crate) fn load(&mut self, address: u32, bytes: &[u8]) -> bool {
        let number = self.region_of(address);
        let region = &mut self.regions[number];
        let offset = address.wrapping_sub(region.base) as usize;
        let end = offset.checked_add(bytes.len());
        let Some(place) = end.and_then(|end| region.bytes.get_mut(offset..end)) else {
            return false;
        };
        place.copy_from_slice(bytes);
        self.stale.push((number, offset as u32, bytes.len() as u32));
        self.look();
        true
    }

    /// Reads flash with another clock and command.
    pub(crate) fn set_up_flash(&mut self, rules: &FlashTiming) {
        self.flash.set_up(rules);
    }

    /// Changes what the inline engine decrypts. Lines of flash that are in a cache are not kept as they were.
    pub(crate) fn decrypt(&mut self, otfad: &Otfad) {
        let now = otfad.contexts();
        if self.decrypted.as_ref() == Some(&now) {
            return;
        }
        // The keystream that was applied is removed, and the new one applied.
        for contexts in self.decrypted.take().iter().chain([&now]) {
            self.pass_flash_through(contexts);
        }
        self.flash.decrypts = otfad.ranges();
        self.decrypted = Some(now);
        self.look();
    }

    fn pass_flash_through(&mut self, contexts: &KeyBlobs) {
        for (number, region) in self.regions.iter_mut().enumerate() {
            if region.kind != MemoryKind::Flash {
                continue;
            }
            for area in contexts.contexts.iter().flatten().map(|context| context.region) {
                let first = area.start().max(region.base);
                let last = area.last().min(region.last());
                if first > last {
                    continue;
                }
                let offset = first - region.base;
                let bytes = &mut region.bytes[offset as usize..=(last - region.base) as usize];
                contexts.apply(first, bytes);
                self.stale.push((number, offset, bytes.len() as u32));
            }
        }
    }

    /// The range around `address` that the inline engine decrypts; `None` if it is passed on as it is.
    pub(crate) fn decrypted_range(&self, address: u32) -> Option<(u32, u32)> {
        let context = self.decrypted.as_ref()?.at(address)?;
        Some((context.region.start(), context.region.last()))
    }

    /// Tells the checker, if there is one, the address of the instruction that is executed next.
    pub(crate) fn note_instruction(&mut self, pc: u32) {
        if let Some(checker) = &mut self.checker {
            checker.pc = pc;
        }
    }

    /// Makes the machine check for changes before the next instruction.
    pub(crate) fn look(&mut self) {
        self.undisturbed = 0;
    }

    /// Reads `N` bytes if the last MPU lookup allows it.
    #[inline(always)]
    pub(crate) fn read<const N: usize>(
        &mut self,
        address: u32,
        time: &Scoreboard,
    ) -> Option<[u8; N]> {
        let region = &self.regions[self.region_of(address)];
        if !region.readable.holds(address, N as u32) {
            return None;
        }
        let offset = address.wrapping_sub(region.base) as usize;
        let bytes = *region.bytes.get(offset..offset + N)?.first_chunk::<N>()?;
        let kind = region.kind;
        self.access.address = address;
        self.reads += 1;
        if address & (N as u32 - 1) != 0 {
            (self.access.more, self.access.unaligned) = (true, true);
        }
        if kind != MemoryKind::Tcm && self.charge_read(address, N as u32, time.now()) {
            return self.bytes(address).first_chunk::<N>().copied();
        }
        Some(bytes)
    }

    /// Writes `N` bytes if the last MPU lookup allows it.
    #[inline(always)]
    pub(crate) fn write<const N: usize>(
        &mut self,
        address: u32,
        bytes: [u8; N],
        time: &Scoreboard,
    ) -> bool {
        let number = self.region_of(address);
        let region = &mut self.regions[number];
        if !region.writable.holds(address, N as u32) {
            return false;
        }
        if region.kind != MemoryKind::Tcm {
            return self.write_behind_bus(address, bytes, time);
        }
        self.put(number, address, bytes)
    }

    /// Charges the access first, because the cache keeps the bytes that are there now.
    #[inline(never)]
    fn write_behind_bus<const N: usize>(
        &mut self,
        address: u32,
        bytes: [u8; N],
        time: &Scoreboard,
    ) -> bool {
        self.charge(address, N as u32, true, time.now());
        self.put(self.region_of(address), address, bytes)
    }

    #[inline(always)]
    fn put<const N: usize>(&mut self, number: usize, address: u32, bytes: [u8; N]) -> bool {
        let region = &mut self.regions[number];
        let offset = address.wrapping_sub(region.base) as usize;
        let Some(place) = region.bytes.get_mut(offset..offset + N) else { return false };
        place.copy_from_slice(&bytes);
        if region.decoded[offset / PAGE as usize] != 0 {
            self.stale.push((number, offset as u32, N as u32));
            self.undisturbed = 0;
        }
        self.access.address = address;
        self.access.more = true;
        self.access.stored += N as u32;
        self.access.unaligned |= address & (N as u32 - 1) != 0;
        self.writes += 1;
        true
    }

    /// Stores the result of an MPU lookup for a range around `address`.
    pub(crate) fn allow(
        &mut self,
        number: usize,
        (first, last): (u32, u32),
        found: mpu::Attributes,
        write: bool,
    ) {
        let region = &mut self.regions[number];
        let window = Window { first, size: (last - first).saturating_add(1) };
        let allowed = if write { found.writable } else { found.readable };
        if allowed && !(write && region.kind == MemoryKind::Flash) {
            let stays = region.cacheable == found.cacheable;
            let (this, other) = if write {
                (&mut region.writable, &mut region.readable)
            } else {
                (&mut region.readable, &mut region.writable)
            };
            *this = window;
            // Both windows share one flag for whether caches may be used.
            if !stays {
                *other = Window::default();
            }
            region.cacheable = found.cacheable;
        }
    }

    /// Whether accessing a region takes no time.
    pub(crate) fn is_tight(&self, number: usize) -> bool {
        self.regions[number].kind == MemoryKind::Tcm
    }

    /// The first and last address of a region.
    pub(crate) fn range(&self, number: usize) -> Option<(u32, u32)> {
        let region = &self.regions[number];
        (!region.bytes.is_empty()).then(|| (region.base, region.last()))
    }

    /// Called when the MPU or the privilege has changed.
    pub(crate) fn forget_windows(&mut self) {
        for region in &mut self.regions {
            region.readable = Window::default();
            region.writable = Window::default();
        }
    }

    /// Charges a read. Returns whether the bytes have changed for the core.
    #[inline(never)]
    fn charge_read(&mut self, address: u32, size: u32, now: u64) -> bool {
        self.access.address = self.cache_ports.stand_in(address, now);
        self.charge(address, size, false, now)
    }

    /// Charges an access of the core to a memory behind the bus, before a write is performed. Returns whether the
    /// bytes have changed for the core.
    #[inline(always)]
    fn charge(&mut self, address: u32, size: u32, write: bool, now: u64) -> bool {
        let number = self.region_of(address);
        let region = &self.regions[number];
        let (kind, cacheable) = (region.kind, region.cacheable);
        let mut changed = false;
        if cacheable && self.data.enabled {
            if self.checker.is_some() {
                self.check_core(address, size, write);
            }
            let last = address.wrapping_add(size - 1);
            self.charge_line(kind, address, write, now);
            if last >> 5 != address >> 5 {
                self.charge_line(kind, last, write, now);
            }
        } else {
            if self.has_engines {
                changed = self.bypass_cache(address, size);
            }
            self.charge_bus(kind, address, write, now);
            self.take_turn(1, write);
            self.access.note_bus();
        }
        changed
    }

    fn charge_bus(&mut self, kind: MemoryKind, address: u32, write: bool, now: u64) {
        self.on_bus[usize::from(write)] += 1;
        if write {
            self.access.posted += self.rules.bus_write;
            self.access.cause = Cause::Bus as usize;
        } else if kind == MemoryKind::Flash {
            self.access.wait += self.flash.read(now, address);
            self.access.cause = Cause::Flash as usize;
        } else {
            self.access.wait += self.rules.bus_read;
            self.access.cause = Cause::Bus as usize;
        }
    }

    #[inline(always)]
    fn charge_line(&mut self, kind: MemoryKind, address: u32, write: bool, now: u64) {
        let found = self.data.access(address, write);
        if found != Found::Hit {
            self.charge_change(kind, found, address, write, now);
        } else if kind == MemoryKind::Flash {
            self.charge_arriving(address, now);
        }
    }

    /// Charges a hit in a line of flash that may still be arriving.
    #[inline(never)]
    fn charge_arriving(&mut self, address: u32, now: u64) {
        let wait = self.flash.arriving(now, address);
        if wait != 0 {
            self.access.wait += wait;
            self.access.cause = Cause::Flash as usize;
            self.access.note_bus();
        }
    }

    /// Charges an access that changed a line's state.
    #[inline(never)]
    fn charge_change(
        &mut self,
        kind: MemoryKind,
        found: Found,
        address: u32,
        write: bool,
        now: u64,
    ) {
        if self.has_engines {
            self.line_changes(address, write);
        }
        if found == Found::FirstWrite {
            return;
        }
        let (fill, cause) = match kind {
            MemoryKind::Flash => (self.flash.begin_line(now, address), Cause::Flash),
            _ => (self.rules.bus_line, Cause::Cache),
        };
        // A store that misses is merged while its line arrives, so the core does not wait.
        if write {
            self.access.posted += fill;
        } else {
            self.access.wait += fill;
        }
        self.take_turn(LINE_BEATS, write);
        if found == Found::MissDirty {
            self.access.posted += LINE_BEATS * self.rules.bus_write;
            self.take_turn(LINE_BEATS, true);
        }
        self.access.cause = cause as usize;
        self.access.note_bus();
    }

    /// The core's transfer waits for its turn if an engine uses the bus as well, and the engine waits for it.
    fn take_turn(&mut self, beats: u32, write: bool) {
        let wait = self.turn(beats);
        if write {
            self.access.posted += wait;
        } else {
            self.access.wait += wait;
        }
    }

    /// The cycles that a transfer of the core waits for its turn.
    fn turn(&mut self, beats: u32) -> u32 {
        if !self.engine_runs {
            return 0;
        }
        self.engines_waited += u64::from(beats * self.rules.bus_write);
        self.rules.bus_turn
    }

    /// The cost of fetching the line at `address`, with its cause. A fetch from a TCM costs nothing.
    pub(crate) fn fetch(
        &mut self,
        number: usize,
        address: u32,
        cacheable: bool,
        now: u64,
    ) -> (u32, Cause) {
        let kind = self.regions[number].kind;
        if kind == MemoryKind::Tcm {
            return (0, Cause::Fetch);
        }
        let is_cached = cacheable && self.instructions.enabled;
        if is_cached {
            if self.instructions.access(address, false) == Found::Hit {
                return (0, Cause::Fetch);
            }
            self.settle();
        }
        let (wait, cause) = match kind {
            MemoryKind::Flash => (self.flash.line(now, address), Cause::Flash),
            _ if is_cached => (self.rules.bus_line, Cause::Cache),
            // Four fetches of eight bytes make up the line.
            _ => (LINE_BEATS * self.rules.bus_read, Cause::Bus),
        };
        (wait + self.turn(LINE_BEATS), cause)
    }

    /// A cleaned line goes over the bus, without the core waiting for it.
    pub(crate) fn write_line_back(&mut self) {
        self.access.posted += LINE_BEATS * self.rules.bus_write;
        self.take_turn(LINE_BEATS, true);
        self.access.cause = Cause::Cache as usize;
        self.access.note_bus();
    }

    /// Charges an access to a device over the bus.
    pub(crate) fn charge_device(&mut self, write: bool) {
        self.charge_bus(MemoryKind::Sram, 0, write, 0);
        self.access.note_bus();
    }
}
