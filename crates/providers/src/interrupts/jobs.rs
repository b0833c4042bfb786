//! How many jobs an engine has done, where its driver shows the engine's own count.
//!
//! Linux's driver of the CAAM shows the engine's statistics in debugfs, in a folder named after the controller, which is
//! the parent of the job rings that crypto drivers are bound to (`drivers/crypto/caam/debugfs.c`). Only root can read
//! it, and only where debugfs is mounted.

use super::files;
use std::fs;
use std::path::{Path, PathBuf};

/// Where debugfs is mounted by custom.
const DEBUGFS: &str = "sys/kernel/debug";

/// The jobs that the CAAM has taken from its rings.
const CAAM_TAKEN: &str = "ctl/rq_dequeued";

/// The counts of some engines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobCounter(Vec<PathBuf>);

impl JobCounter {
    /// The counters of the engines that `devices` belong to. `None` if none can be read.
    pub(super) fn of(root: &Path, devices: &[PathBuf]) -> Option<JobCounter> {
        let mut found: Vec<PathBuf> = devices
            .iter()
            .filter_map(|device| device.canonicalize().ok())
            .filter_map(|device| {
                let controller = files::name(device.parent()?);
                let file = root.join(DEBUGFS).join(controller).join(CAAM_TAKEN);
                file.is_file().then_some(file)
            })
            .collect();
        found.sort();
        found.dedup();
        let counter = JobCounter(found);
        counter.count().filter(|_| !counter.0.is_empty())?;
        Some(counter)
    }

    /// The jobs since the machine started. `None` if a count can no longer be read.
    pub fn count(&self) -> Option<u64> {
        self.0.iter().map(|file| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_of_two_rings_is_their_controller_s_and_counts_once() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |path: &str| root.path().join(path);
        let rings =
            ["10001000.jr", "10002000.jr"].map(|ring| at("sys/devices/10000000.crypto").join(ring));
        for ring in &rings {
            fs::create_dir_all(ring).expect("room");
        }
        assert_eq!(JobCounter::of(root.path(), &rings), None);
        fs::create_dir_all(at("sys/kernel/debug/10000000.crypto/ctl")).expect("room");
        let file = at("sys/kernel/debug/10000000.crypto").join(CAAM_TAKEN);
        fs::write(&file, "2853\n").expect("room");
        let counter = JobCounter::of(root.path(), &rings).expect("a counter");
        assert_eq!(counter.count(), Some(2853));
        fs::write(&file, "?").expect("room");
        assert_eq!(counter.count(), None);
    }
}
