//! Jobs that Linux's own driver gave to the model in a guest, repeated without the guest.
//!
//! `tests/descriptors` has what each one read and wrote there, and how they were selected.

use super::{Configuration, TIMING, hex};
use cpb_drivers::caam::descriptor::Format;
use cpb_drivers::caam::registers::{self, jr};
use cpb_engines::caam::Caam;
use cpb_engines::{BusError, Engine, Memory};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Where the rings of these tests are: nothing of a guest is there.
const INPUT: u64 = 0xFFF0_0000;
const OUTPUT: u64 = INPUT + 0x100;

/// More steps than any job has.
const STEPS: usize = 10_000;

/// Bytes at an address.
type Access = (u64, Vec<u8>);

/// What a job read and wrote in a guest, in its order.
struct Seen {
    reads: Vec<Access>,
    writes: Vec<Access>,
    long_pointers: bool,
}

impl Seen {
    fn parse(line: &str, long_pointers: bool) -> Seen {
        let job: Value = serde_json::from_str(line).expect("JSON");
        let accesses = |kind: &str| {
            let all = job[kind].as_array().expect("accesses").iter();
            all.map(|access| {
                let bytes = hex(access[1].as_str().expect("bytes"));
                (access[0].as_u64().expect("an address"), bytes)
            })
            .collect()
        };
        Seen { reads: accesses("reads"), writes: accesses("writes"), long_pointers }
    }

    /// The address of its descriptor: what it read first, from its ring.
    fn descriptor(&self) -> &[u8] {
        &self.reads[0].1
    }

    /// Its results, and the entry of the output ring, which it wrote last.
    fn results(&self) -> (&[Access], &[u8]) {
        let (entry, results) = self.writes.split_last().expect("an entry of the output ring");
        (results, &entry.1)
    }
}

/// The recorded jobs by pointers of 32 and of 64 bits.
static JOBS: LazyLock<Vec<Seen>> = LazyLock::new(|| {
    let short = include_str!("../../descriptors/linux-6.1-armhf.jsonl");
    let long = include_str!("../../descriptors/linux-6.1-arm64.jsonl");
    let jobs = |text: &str, is_long| {
        text.lines().map(|line| Seen::parse(line, is_long)).collect::<Vec<Seen>>()
    };
    let mut all = jobs(short, false);
    all.extend(jobs(long, true));
    all
});

/// The part of a guest's memory that a job used.
#[derive(Default)]
struct Sparse {
    bytes: BTreeMap<u64, u8>,
    writes: Vec<Access>,
}

impl Sparse {
    fn put(&mut self, address: u64, bytes: &[u8]) {
        self.bytes.extend((address..).zip(bytes.iter().copied()));
    }
}

impl Memory for Sparse {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        for (at, byte) in (0..).zip(bytes) {
            let at = address.wrapping_add(at);
            *byte = *self.bytes.get(&at).ok_or(BusError { address: at })?;
        }
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        self.put(address, bytes);
        self.writes.push((address, bytes.to_vec()));
        Ok(())
    }
}

/// An engine as the guest has it, and a ring of one entry.
struct Machine {
    model: Caam,
    memory: Sparse,
    now: u64,
}

impl Machine {
    fn new(long_pointers: bool) -> Machine {
        let configuration = match long_pointers {
            true => Configuration::GUEST.with_long_pointers(),
            false => Configuration::GUEST,
        };
        let model = Caam::new(TIMING, configuration);
        let mut machine = Machine { model, memory: Sparse::default(), now: 0 };
        for (base, size, place) in [(jr::IRBAR, jr::IRSR, INPUT), (jr::ORBAR, jr::ORSR, OUTPUT)] {
            machine.write_ring(base, place as u32);
            machine.write_ring(base + 4, 0);
            machine.write_ring(size, 1);
        }
        machine
    }

    fn write(&mut self, offset: u32, value: u32) {
        self.model.write(offset, value, self.now);
    }

    fn write_ring(&mut self, register: u32, value: u32) {
        self.write(registers::ring(0, registers::PAGE_4K) + register, value);
    }

    /// Runs the job with the memory that it saw, changed by `change`, and returns what it wrote.
    fn run(&mut self, job: &Seen, change: impl FnOnce(&mut Sparse)) -> Vec<Access> {
        self.memory = Sparse::default();
        for (address, bytes) in job.reads.iter().rev() {
            self.memory.put(*address, bytes);
        }
        self.memory.put(INPUT, job.descriptor());
        change(&mut self.memory);
        self.write_ring(jr::IRJAR, 1);
        for step in 0.. {
            let Some(event) = self.model.next_event() else { break };
            assert!(step < STEPS, "it goes on for ever");
            self.now = self.now.max(event);
            self.model.advance(self.now, &mut self.memory);
        }
        self.write_ring(jr::ORJRR, 1);
        std::mem::take(&mut self.memory.writes)
    }

    /// Asserts that the job does what it did in the guest.
    fn repeats(&mut self, job: &Seen) {
        let writes = self.run(job, |_| {});
        let (entry, results) = writes.split_last().expect("an entry of the output ring");
        assert_eq!(entry.0, OUTPUT);
        assert_eq!((results, &*entry.1), job.results());
    }
}

#[test]
fn each_job_of_a_guest_reads_and_writes_what_it_did_there() {
    assert!(JOBS.iter().filter(|job| job.long_pointers).count() > 100);
    assert!(JOBS.iter().filter(|job| !job.long_pointers).count() > 100);
    for job in JOBS.iter() {
        Machine::new(job.long_pointers).repeats(job);
    }
}

/// A wrong authentication tag is among them: the driver looks for its code.
#[test]
fn jobs_that_failed_in_a_guest_fail_with_the_same_status() {
    let format = |job: &Seen| Format {
        long_pointers: job.long_pointers,
        ..Configuration::GUEST.format(job.long_pointers)
    };
    let status = |job: &Seen| {
        let (_, entry) = job.results();
        let word = entry.last_chunk::<4>().expect("a status");
        format(job).word(*word)
    };
    let failed: Vec<u32> = JOBS.iter().map(status).filter(|status| *status != 0).collect();
    assert!(failed.iter().all(|status| status & 0xFF00_000F == 0x2000_000A), "{failed:x?}");
    assert!(!failed.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Whatever a bit of what it reads is, a job ends, and the next one is right.
    #[test]
    fn a_changed_job_ends_and_the_next_one_is_right(
        job in any::<prop::sample::Index>(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0u8..8), 1..4),
    ) {
        let job = job.get(&JOBS);
        let mut machine = Machine::new(job.long_pointers);
        machine.run(job, |memory| {
            let places: Vec<u64> = memory.bytes.keys().copied().collect();
            for (place, bit) in flips {
                let byte = memory.bytes.get_mut(place.get(&places)).expect("a place of its own");
                *byte ^= 1 << bit;
            }
        });
        machine.repeats(job);
    }
}
