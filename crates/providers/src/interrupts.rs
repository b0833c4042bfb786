//! How often a driver's device has interrupted: from the driver's name to lines of
//! `/proc/interrupts`, by what the kernel says of both, never by a line's name known beforehand.
//!
//! driver -> module (`/proc/crypto`) -> device drivers of that module (`/sys/module`) -> devices
//! bound to them -> lines: those whose label names the device, those whose number the device lists
//! (PCI), those whose hardware number the device tree gives it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

mod device_tree;
mod files;
mod wiring;

pub use wiring::Wiring;

/// One line of `/proc/interrupts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it begins with: an interrupt's number, or letters for those of the CPU itself.
    pub id: String,
    /// How often it came, on all CPUs together.
    pub total: u64,
    /// The rest in words: controller, number at the controller, trigger, who asked for it.
    pub words: Vec<String>,
}

/// Reads `/proc/interrupts`. Takes any text: what is no line of counts is passed over.
pub fn parse(text: &str) -> Vec<Line> {
    let mut lines = text.lines();
    let cpus = lines.next().unwrap_or_default().split_whitespace().count();
    lines.filter_map(|line| parse_line(line, cpus)).collect()
}

fn parse_line(line: &str, cpus: usize) -> Option<Line> {
    let (id, rest) = line.split_once(':')?;
    let mut words = rest.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty());
    let mut total = 0_u64;
    for _ in 0..cpus {
        // The last two lines, of errors, have one count for all.
        total = total.saturating_add(words.clone().next().and_then(|word| word.parse().ok())?);
        words.next();
        if words.clone().next().is_none() {
            break;
        }
    }
    Some(Line { id: id.trim().to_owned(), total, words: words.map(str::to_owned).collect() })
}

/// The interrupt lines of some devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    file: PathBuf,
    /// [`Line::id`] of each.
    ids: Vec<String>,
}

impl Lines {
    /// How often they have come since the machine started. `None` if the file cannot be read any more.
    pub fn count(&self) -> Option<u64> {
        let lines = parse(&fs::read_to_string(&self.file).ok()?);
        let ours = lines.iter().filter(|line| self.ids.contains(&line.id));
        Some(ours.map(|line| line.total).sum())
    }

    /// These lines and those of `other`, each once.
    #[must_use]
    pub fn and(mut self, other: &Lines) -> Lines {
        let more = other.ids.iter().filter(|id| !self.ids.contains(id));
        let more: Vec<String> = more.cloned().collect();
        self.ids.extend(more);
        self
    }

    /// What the lines begin with.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }
}

/// The interrupts of all engines of this machine since it was booted. `None` if its engines have no
/// lines. A provider that computes in its own process shows by them that no engine worked for it.
pub fn of_engines() -> Option<u64> {
    static LINES: OnceLock<Option<Lines>> = OnceLock::new();
    let lines = LINES.get_or_init(|| Wiring::current(Path::new("/")).of_engines());
    lines.as_ref()?.count()
}

#[cfg(test)]
#[path = "interrupts/tests.rs"]
mod tests;
