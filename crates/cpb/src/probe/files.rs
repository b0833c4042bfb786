//! Files below a root, with any content: none is assumed to be text, short or present.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// More than /proc/cpuinfo of a thousand CPUs.
const LONGEST_FILE: u64 = 4 << 20;

/// Longest value taken from a file, in characters. Kernel version lines have about 100.
pub(super) const LONGEST_VALUE: usize = 256;

/// More entries than any directory read here has.
const MOST_NAMES: usize = 1024;

/// More CPUs than Linux can be configured for (NR_CPUS is 8192 at most).
const MOST_CPUS: usize = 16_384;

/// A directory with `proc` and `sys` in it.
pub(super) struct Tree(PathBuf);

impl Tree {
    pub(super) fn new(root: &Path) -> Tree {
        Tree(root.to_owned())
    }

    fn bytes(&self, path: &str) -> Vec<u8> {
        let path = self.0.join(path);
        let mut bytes = Vec::new();
        // Opening a pipe would block; files in sysfs and procfs are regular files.
        if fs::metadata(&path).is_ok_and(|metadata| metadata.is_file())
            && let Ok(file) = fs::File::open(&path)
            && file.take(LONGEST_FILE).read_to_end(&mut bytes).is_err()
        {
            // Sensors sometimes answer "try again"; this counts as missing.
            bytes.clear();
        }
        bytes
    }

    /// The whole file.
    pub(super) fn text(&self, path: &str) -> String {
        String::from_utf8_lossy(&self.bytes(path)).into_owned()
    }

    /// The first line, made printable.
    pub(super) fn line(&self, path: &str) -> String {
        printable(self.text(path).lines().next().unwrap_or_default())
    }

    /// The first line as a number.
    pub(super) fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.line(path).parse().ok()
    }

    /// The entries of a directory, sorted.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.0.join(path)) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .take(MOST_NAMES)
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort_unstable();
        names
    }

    /// Whether this file or directory exists.
    pub(super) fn has(&self, path: &str) -> bool {
        self.0.join(path).exists()
    }

    /// A list of CPUs such as `0-3,8`.
    pub(super) fn cpus(&self, path: &str) -> Vec<usize> {
        let mut cpus = Vec::new();
        for range in self.line(path).split(',') {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            if let (Ok(first), Ok(last)) = (first.trim().parse(), last.trim().parse::<usize>()) {
                cpus.extend((first..=last.min(MOST_CPUS)).take(MOST_CPUS));
            }
            cpus.truncate(MOST_CPUS);
        }
        cpus
    }

    fn device_tree(&self, property: &str) -> Vec<u8> {
        // The second path is a link to the first, with an absolute target.
        let bytes = self.bytes(&format!("sys/firmware/devicetree/base/{property}"));
        match bytes.is_empty() {
            true => self.bytes(&format!("proc/device-tree/{property}")),
            false => bytes,
        }
    }

    /// A device tree property that is a list of strings.
    pub(super) fn strings(&self, property: &str) -> Vec<String> {
        self.device_tree(property)
            .split(|byte| *byte == 0)
            .take(MOST_NAMES)
            .map(|text| printable(&String::from_utf8_lossy(text)))
            .filter(|text| !text.is_empty())
            .collect()
    }

    /// A device tree property that is a number of one or two cells, big-endian.
    pub(super) fn cells(&self, property: &str) -> Option<u64> {
        let bytes = self.device_tree(property);
        match bytes.len() {
            4 | 8 => Some(bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))),
            _ => None,
        }
    }
}

/// Removes control characters and surrounding space, and limits the length.
pub(super) fn printable(text: &str) -> String {
    let text: String =
        text.chars().filter(|c| !c.is_control()).take(LONGEST_VALUE).collect::<String>();
    text.trim().to_owned()
}
