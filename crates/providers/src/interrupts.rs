//! How often a driver's device has interrupted. The lines of `/proc/interrupts` that belong to a driver are
//! found from what the kernel reports about both, never from a line's name that is known beforehand.
//!
//! driver -> module (`/proc/crypto`) -> device drivers of that module (`/sys/module`) -> devices bound to them
//! -> lines: those whose label names the device, those whose number the device lists (PCI), and those whose
//! hardware number is in the device tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

mod device_tree;
mod files;
mod jobs;
mod wiring;

pub use jobs::JobCounter;
pub use wiring::Wiring;

/// One line of `/proc/interrupts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What the line begins with: an interrupt's number, or letters for the interrupts of the CPU itself.
    pub id: String,
    /// How often the interrupt occurred, on all CPUs together.
    pub total: u64,
    /// The rest in words: controller, number at the controller, trigger, requester.
    pub words: Vec<String>,
}

/// Reads `/proc/interrupts`. Accepts any text; lines without counts are skipped.
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
        // The last two lines, which count errors, have one count for all CPUs.
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
    /// How often they have occurred since the machine started. `None` if the file can no longer be read.
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

    /// The [`Line::id`] of each line.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }
}

/// The interrupts of all engines of this machine since it was booted. `None` if its engines have no lines. A
/// provider that computes in its own process uses them to show that no engine worked for it.
pub fn of_engines() -> Option<u64> {
    static LINES: OnceLock<Option<Lines>> = OnceLock::new();
    let lines = LINES.get_or_init(|| Wiring::current(Path::new("/")).of_engines());
    lines.as_ref()?.count()
}

#[cfg(test)]
#[path = "interrupts/tests.rs"]
mod tests;
