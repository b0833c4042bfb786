//! The CPU's own counters of cycles and instructions, if the system allows reading them: perf_event_open(2). Most
//! virtual machines have none.

use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;

/// A count of the CPU.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Cycles,
    Instructions,
}

/// Whose events are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those of the calling thread in user mode.
    User,
    /// Those in the kernel while the calling thread has the CPU.
    Kernel,
    /// All those of a CPU.
    Cpu(usize),
}

/// An open counter. It stands still until it is started.
pub(crate) struct Counter(File);

/// `struct perf_event_attr` in its first version (include/uapi/linux/perf_event.h), which every kernel takes.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

/// PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES and PERF_COUNT_HW_INSTRUCTIONS.
const HARDWARE: u32 = 0;
const CYCLES: u64 = 0;
const INSTRUCTIONS: u64 = 1;

/// PERF_FORMAT_TOTAL_TIME_ENABLED and PERF_FORMAT_TOTAL_TIME_RUNNING.
const WITH_TIMES: u64 = 0b11;

/// Bits of the flags, from the lowest one on: the targets of cpb are little-endian.
const DISABLED: u64 = 1;
const EXCLUDE_USER: u64 = 1 << 4;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;

/// PERF_FLAG_FD_CLOEXEC.
const CLOSE_ON_EXEC: libc::c_ulong = 8;

/// PERF_EVENT_IOC_ENABLE: `_IO('$', 0)`.
const ENABLE: u32 = 0x2400;

impl Counter {
    /// Opens it; `None` if the CPU has no such counter, or the system does not allow reading it.
    pub(crate) fn open(event: Event, scope: Scope) -> Option<Counter> {
        let (thread, cpu, excluded): (libc::pid_t, libc::c_int, u64) = match scope {
            Scope::User => (0, -1, EXCLUDE_KERNEL),
            Scope::Kernel => (0, -1, EXCLUDE_USER),
            Scope::Cpu(number) => (-1, number.try_into().ok()?, 0),
        };
        let attributes = Attributes {
            kind: HARDWARE,
            size: size_of::<Attributes>() as u32,
            config: if event == Event::Cycles { CYCLES } else { INSTRUCTIONS },
            read_format: WITH_TIMES,
            flags: DISABLED | EXCLUDE_HYPERVISOR | excluded,
            ..Attributes::default()
        };
        let group: libc::c_int = -1;
        // SAFETY: the kernel reads as many bytes of `attributes` as it says that it has, and opens a file.
        let opened = unsafe {
            let attributes: *const Attributes = &attributes;
            libc::syscall(libc::SYS_perf_event_open, attributes, thread, cpu, group, CLOSE_ON_EXEC)
        };
        let descriptor = i32::try_from(opened).ok().filter(|descriptor| *descriptor >= 0)?;
        // SAFETY: it was opened just now, and nothing else has it.
        Some(Counter(unsafe { File::from_raw_fd(descriptor) }))
    }

    /// Starts counting; `None` if that is not possible.
    pub(crate) fn start(&self) -> Option<()> {
        use std::os::fd::AsRawFd;
        // SAFETY: this request has no argument, and the file is a counter.
        let answer = unsafe { libc::ioctl(self.0.as_raw_fd(), ENABLE as _, 0) };
        (answer == 0).then_some(())
    }

    /// The events since the start; `None` if other counters took its place in between.
    pub(crate) fn read(&self) -> Option<u64> {
        let mut bytes = [0; 24];
        (&self.0).read_exact(&mut bytes).ok()?;
        let number = |place: usize| {
            bytes[place..].first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
        };
        let (count, enabled, running) = (number(0), number(8), number(16));
        (enabled == running && running > 0).then_some(count)
    }
}

/// Cycles and instructions of the calling thread in user mode.
pub(crate) struct HardwareCounters {
    cycles: Counter,
    instructions: Counter,
}

impl HardwareCounters {
    /// Starts counting; `None` if that is not possible.
    pub(crate) fn start() -> Option<Self> {
        let open = |event| Counter::open(event, Scope::User);
        let counters = HardwareCounters {
            cycles: open(Event::Cycles)?,
            instructions: open(Event::Instructions)?,
        };
        counters.cycles.start()?;
        counters.instructions.start()?;
        Some(counters)
    }

    /// Cycles and instructions since the start; `None` if the counters did not run.
    pub(crate) fn stop(self) -> Option<(u64, u64)> {
        let counts = (self.cycles.read()?, self.instructions.read()?);
        (counts.0 > 0 && counts.1 > 0).then_some(counts)
    }
}
