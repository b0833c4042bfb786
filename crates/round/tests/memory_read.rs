//! A round of memory reads: its sum is always compared with the expected one.

use cpb_core::measure::Budget;
use cpb_core::memory_read::{Cache, Pattern, Region, Width};
use cpb_core::null::Null;
use cpb_core::{
    Clock, CryptoWorkload, Error, Identity, Job, MemoryReadWorkload, MemoryReader, Progress,
    Provider, Session, Ticks, Unsupported, WorkingSet, Workload, sums,
};
use cpb_round::{Plan, Seen, run, supports};
use std::cell::Cell;
use std::sync::LazyLock;

/// What a provider does with a working set.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// Reads it correctly.
    Right,
    /// Reads nothing.
    Nothing,
    /// Omits the last byte.
    Short,
    /// Reads correctly once, and nothing from then on.
    Once,
    /// Reads the second buffer instead of the first.
    Swapped,
    /// Reads correctly, and has buffers in flash.
    InFlash,
    /// The same, but a byte of the flash has changed.
    Changed,
}

/// Buffers that were filled before the program started.
static IN_FLASH: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    [0, 1].map(|index| {
        let mut buffer = vec![0; 3 * 4096];
        sums::fill(index, &mut buffer);
        buffer
    })
});
static CHANGED: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    let mut buffers = IN_FLASH.clone();
    buffers[0][100] ^= 4;
    buffers
});

struct Reader(Way);

impl Provider for Reader {
    fn identity(&self) -> Identity<'_> {
        Identity { provider: "reader", version: "", executor: "", options: "" }
    }

    fn supports(&self, _: &CryptoWorkload) -> Result<(), Unsupported> {
        Err(Unsupported::Algorithm)
    }

    fn session(
        &self,
        _: &CryptoWorkload,
        _: &[&[u8]],
        _: &mut [Job<'_>],
        _: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        Err(Unsupported::Algorithm.into())
    }

    fn memory_reader(&self) -> Option<&dyn MemoryReader> {
        Some(self)
    }
}

impl MemoryReader for Reader {
    fn supports(&self, workload: &MemoryReadWorkload) -> Result<(), Unsupported> {
        let bytes = workload.width == Width::Bits8;
        if bytes { workload.valid() } else { Err(Unsupported::Mode) }
    }

    fn resident(&self, region: Region) -> Option<[&[u8]; 2]> {
        let buffers = match self.0 {
            Way::InFlash => &*IN_FLASH,
            Way::Changed => &*CHANGED,
            _ => return None,
        };
        (region == Region::Flash).then(|| buffers.each_ref().map(|buffer| &buffer[..]))
    }

    fn session(
        &self,
        workload: &MemoryReadWorkload,
        set: WorkingSet<'_>,
        sum: &mut u64,
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        assert!(set.fits(workload));
        let mut bytes = Bytes { way: self.0, set, sum, times: 0, built: 0 };
        body(&mut bytes)?;
        // `build` is where a cache is emptied before each operation.
        assert_eq!(bytes.built, bytes.times);
        Ok(())
    }
}

struct Bytes<'a> {
    way: Way,
    set: WorkingSet<'a>,
    sum: &'a mut u64,
    times: u32,
    built: u32,
}

impl Session for Bytes<'_> {
    fn build(&mut self, _: usize) -> Result<(), Error> {
        self.built += 1;
        Ok(())
    }

    fn submit(&mut self, _: usize) -> Result<Progress, Error> {
        let (one, other) = match (self.set, self.way) {
            (WorkingSet::Linear(all), _) => (all, &[][..]),
            (WorkingSet::PingPong(_, other), Way::Swapped) => (other, other),
            (WorkingSet::PingPong(one, other), _) => (one, other),
        };
        let all = one.iter().chain(other);
        let taken = match self.way {
            Way::Right | Way::Swapped | Way::InFlash | Way::Changed => usize::MAX,
            Way::Nothing => 0,
            Way::Short => one.len() + other.len() - 1,
            Way::Once if self.times == 0 => usize::MAX,
            Way::Once => 0,
        };
        let sum = all.take(taken).fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        *self.sum = self.sum.wrapping_add(sum.into());
        self.times += 1;
        Ok(Progress::Done)
    }
}

struct Count(Cell<u64>);

impl Clock for Count {
    fn now(&self) -> Ticks {
        self.0.set(self.0.get() + 1);
        Ticks(self.0.get())
    }

    fn frequency(&self) -> u64 {
        1_000_000_000
    }

    fn resolution(&self) -> Ticks {
        Ticks(1)
    }
}

fn read(pattern: Pattern) -> MemoryReadWorkload {
    MemoryReadWorkload::new(Width::Bits8, pattern, 10240)
}

fn round(
    provider: &dyn Provider,
    read: MemoryReadWorkload,
    memory: Option<&mut [u8]>,
) -> Result<Seen, Error> {
    let budget = Budget {
        warmup: Ticks(0),
        batch: Ticks(10),
        limit: Ticks(1000),
        batches: 3,
        latencies: 2,
        iterations: 5,
        counted: Ticks(0),
    };
    let plan = Plan {
        provider,
        workload: &read.into(),
        budget: &budget,
        clock: &Count(Cell::new(0)),
        computes: provider.identity().provider != Null.identity().provider,
        counting: false,
        memory,
    };
    run(plan, &mut |_| ())
}

#[test]
fn the_right_sum_is_the_round_s_output() {
    for &pattern in Pattern::ALL {
        let read = read(pattern);
        let seen = round(&Reader(Way::Right), read, None).unwrap();
        // One batch warms the code up, three are kept; then follow single operations.
        assert_eq!((seen.output, seen.samples.len(), seen.iterations), (sums::truth(&read), 3, 5));
        assert_eq!(seen.operations, 4 * 5 + 2);
        // The same in lent memory, whatever it contained.
        let mut lent = vec![0xa5; 6 * 4096];
        assert_eq!(round(&Reader(Way::Right), read, Some(&mut lent)).unwrap().output, seen.output);
    }
}

#[test]
fn who_reads_less_or_something_else_has_a_wrong_answer() {
    for way in [Way::Nothing, Way::Short, Way::Once] {
        for &pattern in Pattern::ALL {
            let outcome = round(&Reader(way), read(pattern), None).map(drop);
            assert_eq!(outcome, Err(Error::WrongAnswer), "{way:?} {pattern}");
        }
    }
    let swapped = round(&Reader(Way::Swapped), read(Pattern::PingPong), None).map(drop);
    assert_eq!(swapped, Err(Error::WrongAnswer));
}

#[test]
fn who_computes_nothing_is_not_asked_for_an_answer() {
    assert!(round(&Null, read(Pattern::PingPong), None).is_ok());
}

#[test]
fn what_is_not_there_is_unsupported() {
    let wide = MemoryReadWorkload { width: Width::Bits16, ..read(Pattern::Linear) };
    assert_eq!(supports(&Reader(Way::Right), &wide.into()), Err(Unsupported::Mode));
    let crypto = "sha-256/hash/message/16".parse::<Workload>().unwrap();
    assert_eq!(supports(&Reader(Way::Right), &crypto), Err(Unsupported::Algorithm));
    let refused = |read, memory| round(&Reader(Way::Right), read, memory).map(drop);
    let flash = MemoryReadWorkload { region: Region::Flash, ..read(Pattern::Linear) };
    assert_eq!(refused(flash, None), Err(Unsupported::Device.into()));
    let mut little = [0; 4096];
    assert_eq!(refused(read(Pattern::Linear), Some(&mut little)), Err(Unsupported::Memory.into()));
}

#[test]
fn flash_is_read_where_it_is_and_a_changed_byte_is_a_wrong_answer() {
    for &pattern in Pattern::ALL {
        let read = MemoryReadWorkload { region: Region::Flash, ..read(pattern) };
        let seen = round(&Reader(Way::InFlash), read, Some(&mut [])).unwrap();
        assert_eq!(seen.output, sums::truth(&read));
        let changed = round(&Reader(Way::Changed), read, None).map(drop);
        assert_eq!(changed, Err(Error::WrongAnswer));
    }
    let longer = MemoryReadWorkload { bytes: 4 * 4096, ..read(Pattern::Linear) };
    let longer = MemoryReadWorkload { region: Region::Flash, ..longer };
    let refused = round(&Reader(Way::InFlash), longer, None).map(drop);
    assert_eq!(refused, Err(Unsupported::Memory.into()));
}

#[test]
fn an_operation_that_finds_the_cache_empty_is_a_batch_of_its_own() {
    let read = MemoryReadWorkload { cache: Cache::Invalidated, ..read(Pattern::Linear) };
    let seen = round(&Reader(Way::Right), read, None).unwrap();
    assert_eq!((seen.iterations, seen.samples.len()), (1, 3));
    assert_eq!(seen.output, sums::truth(&read));
}
