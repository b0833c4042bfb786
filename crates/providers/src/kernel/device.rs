//! The module's device, and nothing else that is unsafe.

use super::abi::{CHECK_EACH, MAX_BATCHES, RUN, Run, Timed};
use cpb_core::sample::BUCKETS;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::thread;
use std::time::{Duration, Instant};

/// The module's device node.
pub(super) const PATH: &str = "/dev/cpb-runner";

/// How long to wait while another process has it open: only one may, and several ask at once what there is.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(5);

/// The open device.
pub(super) struct RunnerDevice(File);

/// One run: what the module reads, and what it writes.
pub(super) struct Request {
    pub(super) run: Run,
    /// `keys` of `key_len` bytes.
    pub(super) keys: Vec<u8>,
    /// `iv_len` bytes for each job.
    pub(super) ivs: Vec<u8>,
    /// Associated data, message and tag of each job.
    pub(super) inputs: Vec<u8>,
    /// The outputs that are expected, if they are checked while the clock runs; otherwise empty.
    pub(super) expected: Vec<u8>,
    /// `output_len` bytes for each job.
    pub(super) outputs: Vec<u8>,
    /// Of each batch.
    pub(super) samples: Vec<Timed>,
    /// Times of single operations, as a histogram.
    pub(super) alone: Vec<u32>,
    /// Times of operations in flight.
    pub(super) in_flight: Vec<u32>,
}

impl Request {
    /// A request with room for what it returns.
    pub(super) fn new(run: Run) -> Request {
        let jobs = run.jobs as usize;
        Request {
            keys: Vec::with_capacity(run.keys as usize * run.key_len as usize),
            ivs: Vec::with_capacity(jobs * run.iv_len as usize),
            inputs: Vec::with_capacity(jobs * run.input_len()),
            expected: Vec::new(),
            outputs: vec![0; jobs * run.output_len as usize],
            samples: vec![Timed::default(); run.batches.min(MAX_BATCHES) as usize],
            alone: vec![0; BUCKETS],
            in_flight: vec![0; BUCKETS],
            run,
        }
    }

    /// Whether each part is as long as the run says.
    fn fits(&self) -> bool {
        let Run { jobs, keys, key_len, iv_len, output_len, batches, .. } = self.run;
        let [jobs, keys, batches] = [jobs, keys, batches].map(|number| number as usize);
        self.keys.len() == keys * key_len as usize
            && self.ivs.len() == jobs * iv_len as usize
            && self.inputs.len() == jobs * self.run.input_len()
            && (self.run.flags & CHECK_EACH == 0 || self.expected.len() == self.outputs.len())
            && self.outputs.len() == jobs * output_len as usize
            && self.samples.len() == batches
            && [self.alone.len(), self.in_flight.len()] == [BUCKETS; 2]
    }
}

/// A run that the module refused, or that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Refused {
    /// A number of errno(3).
    pub(super) errno: i32,
    /// What is wrong, in the module's words; empty if it has none.
    pub(super) words: String,
}

impl RunnerDevice {
    /// Opens the device, and waits if another process has it open.
    pub(super) fn open() -> io::Result<RunnerDevice> {
        let began = Instant::now();
        loop {
            match OpenOptions::new().read(true).write(true).open(PATH) {
                Err(error)
                    if error.raw_os_error() == Some(libc::EBUSY) && began.elapsed() < PATIENCE =>
                {
                    thread::sleep(PAUSE);
                }
                opened => return opened.map(RunnerDevice),
            }
        }
    }

    /// Runs `request` to its end. A signal ends it as well.
    pub(super) fn run(&self, request: &mut Request) -> Result<(), Refused> {
        assert!(request.fits(), "a request whose parts are as long as it says");
        let address = |bytes: &[u8]| bytes.as_ptr() as u64;
        request.run.key = address(&request.keys);
        request.run.ivs = address(&request.ivs);
        request.run.inputs = address(&request.inputs);
        request.run.expected = address(&request.expected);
        request.run.outputs = request.outputs.as_mut_ptr() as u64;
        request.run.samples = request.samples.as_mut_ptr() as u64;
        request.run.alone = request.alone.as_mut_ptr() as u64;
        request.run.in_flight = request.in_flight.as_mut_ptr() as u64;
        // SAFETY: the module reads and writes the structure, and behind each of its addresses as many bytes as its
        // lengths say, which `fits` compared with the buffers. It uses no address after the call.
        let result = unsafe { libc::ioctl(self.0.as_raw_fd(), RUN, &raw mut request.run) };
        if result >= 0 {
            return Ok(());
        }
        let errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        Err(Refused { errno, words: text(&request.run.words) })
    }
}

/// A string of C as far as its end.
pub(super) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
