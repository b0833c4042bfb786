//! What is read, and with how many loads.

use super::*;
use cpb_core::memory_read::{BLOCK, Pattern};
use cpb_core::sums;

/// Bytes that begin on a page.
struct Pages(Vec<u8>, usize);

impl Pages {
    fn new(bytes: usize) -> Pages {
        let memory = vec![0; bytes + 4096];
        let origin = memory.as_ptr().align_offset(4096);
        Pages(memory, origin)
    }

    fn filled(index: usize, bytes: usize) -> Pages {
        let mut pages = Pages::new(bytes);
        let origin = pages.1;
        sums::fill(index, &mut pages.0[origin..][..bytes]);
        pages
    }

    fn bytes(&self, bytes: usize) -> &[u8] {
        &self.0[self.1..][..bytes]
    }
}

/// All loads that this CPU has, each with the number of bytes that one load reads.
fn all_loads() -> Vec<(Width, usize, Loads)> {
    let mut all: Vec<(Width, usize, Loads)> =
        [(Width::Bits8, 1), (Width::Bits16, 2), (Width::Bits32, 4), (Width::Bits64, 8)]
            .into_iter()
            .filter_map(|(width, bytes)| Some((width, bytes, MemoryLoads::loads(width).ok()?)))
            .collect();
    let vectors = loads::vectors().into_iter();
    all.extend(vectors.map(|vector| (Width::Widest, vector.bits as usize / 8, vector.loads)));
    all
}

/// A working set in memory, and how it is read.
struct Reading {
    read: Read,
    buffers: ReadFrom,
    _memory: [Pages; 2],
}

impl Reading {
    fn new(loads: Loads, pattern: Pattern, bytes: usize) -> Reading {
        let memory = [0, 1].map(|index| Pages::filled(index, bytes));
        let [one, other] = &memory;
        let (read, first, second) = match pattern {
            Pattern::Linear => (loads.linear, one.bytes(bytes), &[][..]),
            Pattern::PingPong => (loads.ping_pong, one.bytes(bytes / 2), other.bytes(bytes / 2)),
        };
        let buffers = ReadFrom { first: first.as_ptr_range(), second: second.as_ptr() };
        Reading { read, buffers, _memory: memory }
    }

    fn sum(&self) -> u64 {
        // SAFETY: the buffers are as long as they say, in whole blocks, and begin on a page.
        unsafe { (self.read)(self.buffers.clone()) }
    }
}

#[test]
fn every_width_and_pattern_finds_the_truth() {
    for (width, size, loads) in all_loads() {
        for &pattern in Pattern::ALL {
            for blocks in [1, 2, 3, 8, 33] {
                let read = MemoryReadWorkload::new(width, pattern, blocks * BLOCK);
                let found = Reading::new(loads, pattern, read.bytes as usize).sum() & width.mask();
                assert_eq!(found, sums::truth(&read), "{read}, {size} bytes a load");
            }
        }
    }
}

#[test]
fn a_session_s_sum_grows_by_the_truth_each_time() {
    let provider = MemoryLoads { executor: executor() };
    let read = MemoryReadWorkload::new(Width::Bits16, Pattern::PingPong, 1024);
    let (one, other) = (Pages::filled(0, 512), Pages::filled(1, 512));
    let set = WorkingSet::PingPong(one.bytes(512), other.bytes(512));
    let mut sum = 5;
    let body =
        &mut |session: &mut dyn Session| (0..7).try_for_each(|_| session.submit(0).map(drop));
    MemoryReader::session(&provider, &read, set, &mut sum, body).unwrap();
    assert_eq!(sum, 5 + 7 * sums::truth(&read));
}

#[test]
fn a_working_set_that_is_not_what_the_workload_says_is_refused() {
    let provider = MemoryLoads { executor: executor() };
    let read = MemoryReadWorkload::new(Width::Bits64, Pattern::Linear, 1024);
    let pages = Pages::filled(0, 2048);
    let all = pages.bytes(2048);
    let open = |read: &MemoryReadWorkload, set| {
        MemoryReader::session(&provider, read, set, &mut 0, &mut |_| Ok(()))
    };
    assert_eq!(open(&read, WorkingSet::Linear(&all[..1024])), Ok(()));
    let pair = WorkingSet::PingPong(&all[..512], &all[512..1024]);
    for wrong in [WorkingSet::Linear(all), WorkingSet::Linear(&all[..512]), pair] {
        assert_eq!(open(&read, wrong), Err(Unsupported::Length.into()));
    }
    assert_eq!(open(&read, WorkingSet::Linear(&all[8..1032])), Err(Error::Contract));
    let uncached = MemoryReadWorkload { cache: Cache::Disabled, ..read };
    let supports = |read| MemoryReader::supports(&provider, &read);
    assert_eq!(supports(uncached), Err(Unsupported::Mode));
    let flash = MemoryReadWorkload { region: Region::Flash, ..read };
    assert_eq!(supports(flash), Err(Unsupported::Device));
}

/// The kernel single-steps the reads and counts the instructions. A block is eight loads, each of which also
/// adds, and four instructions of the loop. So the instructions that more bytes take show how much each load
/// reads.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn a_load_reads_as_much_as_its_width_says() {
    const LOADS: usize = 8;
    const LOOP: usize = 4;
    const FEW: usize = 1024;
    const MANY: usize = 4096;
    for (width, size, loads) in all_loads() {
        for &pattern in Pattern::ALL {
            let steps = |bytes| steps::count(&Reading::new(loads, pattern, bytes));
            let (Some(many), Some(few)) = (steps(MANY), steps(FEW)) else {
                return steps::skip("memory::tests::a_load_reads_as_much_as_its_width_says");
            };
            let blocks = (MANY - FEW) / (LOADS * size);
            assert_eq!(many - few, blocks * (LOADS + LOOP), "{width} {pattern}, {size} bytes");
        }
    }
}

/// Instructions, counted by tracing a process.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod steps {
    use super::Reading;
    use std::io::Write;
    use std::ptr::null_mut;

    /// The instructions of a process that does only this. `None` if it may not be traced.
    pub(super) fn count(reading: &Reading) -> Option<usize> {
        // SAFETY: between `fork` and `_exit` the child allocates nothing and takes no lock.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                let traced =
                    libc::ptrace(libc::PTRACE_TRACEME, 0, null_mut::<u8>(), null_mut::<u8>());
                if traced == 0 {
                    libc::raise(libc::SIGSTOP);
                    std::hint::black_box(reading.sum());
                }
                libc::_exit(i32::from(traced != 0));
            }
            let mut status = 0;
            if child < 0 || libc::waitpid(child, &raw mut status, 0) != child {
                return None;
            }
            let mut count = 0;
            while libc::WIFSTOPPED(status) {
                let next = libc::ptrace(
                    libc::PTRACE_SINGLESTEP,
                    child,
                    null_mut::<u8>(),
                    null_mut::<u8>(),
                );
                if next != 0 || libc::waitpid(child, &raw mut status, 0) != child {
                    libc::kill(child, libc::SIGKILL);
                    libc::waitpid(child, null_mut(), 0);
                    return None;
                }
                count += 1;
            }
            (libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0).then_some(count)
        }
    }

    /// Records that a test could not run.
    pub(super) fn skip(test: &str) {
        if let Some(log) = std::env::var_os("CPB_SKIP_LOG") {
            let mut log = std::fs::OpenOptions::new().append(true).create(true).open(log).unwrap();
            writeln!(log, "{test}\tno process may be traced here").unwrap();
        }
    }
}
