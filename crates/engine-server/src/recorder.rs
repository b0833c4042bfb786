//! Records what each job read and wrote, so that it can be repeated without the guest.
//!
//! A job reads the entry of its ring, its descriptors and its data; then it writes its results, and at last the entry of
//! the output ring. So a read that follows a write begins a new job, as long as one job runs at a time.

use cpb_engines::{BusError, Memory};
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Write};

/// Bytes at a bus address, in hexadecimal.
type Access = (u64, String);

/// What a job read and wrote, in the order in which it did so.
#[derive(Default, Serialize)]
struct Accesses {
    reads: Vec<Access>,
    writes: Vec<Access>,
}

/// Writes a line of JSON for each job.
pub(crate) struct Recorder {
    output: BufWriter<File>,
    job: Accesses,
}

impl Recorder {
    pub(crate) fn new(output: File) -> Recorder {
        Recorder { output: BufWriter::new(output), job: Accesses::default() }
    }

    fn end_job(&mut self) {
        let job = std::mem::take(&mut self.job);
        if !job.writes.is_empty() {
            // A record that cannot be written is incomplete, which its reader sees; the guest goes on.
            let _ = serde_json::to_writer(&mut self.output, &job);
            let _ = self.output.write_all(b"\n").and_then(|()| self.output.flush());
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.end_job();
    }
}

/// Memory whose accesses are recorded, if there is a recorder.
pub(crate) struct Recorded<'r, M> {
    pub(crate) memory: &'r mut M,
    pub(crate) recorder: Option<&'r mut Recorder>,
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl<M: Memory> Memory for Recorded<'_, M> {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        self.memory.read(address, bytes)?;
        if let Some(recorder) = &mut self.recorder {
            if !recorder.job.writes.is_empty() {
                recorder.end_job();
            }
            recorder.job.reads.push((address, hexadecimal(bytes)));
        }
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        self.memory.write(address, bytes)?;
        if let Some(recorder) = &mut self.recorder {
            recorder.job.writes.push((address, hexadecimal(bytes)));
        }
        Ok(())
    }
}
