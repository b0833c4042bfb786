//! How a run compares with the previous run of the same plan on the same machine.

use cpb_analysis::compare::{Pairs, runs};
use cpb_record::Record;
use cpb_record::foreign::shell_word;
use cpb_record::store;
use cpb_report::compare::counts;
use std::path::{Path, PathBuf};

/// One line that compares the record at `path` with the previous one in its folder. `None` if no other record
/// has the same plan and machine, or if they have no figure in common.
pub(super) fn since(record: &Record, path: &Path) -> Option<String> {
    let (before, earlier) = last(record, path)?;
    let compared = runs(&earlier, record, Pairs::ByName);
    if compared.cells.is_empty() {
        return None;
    }
    let name = before.display();
    Some(format!(
        "since {name}: {}; details: `cpb compare {} {}`",
        counts(&compared),
        shell_word(&before.to_string_lossy()),
        shell_word(&path.to_string_lossy())
    ))
}

fn last(record: &Record, path: &Path) -> Option<(PathBuf, Record)> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    // Records are named after plan and time.
    let is_of_plan = |file: &Path| {
        let name = file.file_name().and_then(|name| name.to_str());
        let plan = &record.header.plan.name;
        name.is_some_and(|name| name.starts_with(plan) && name.ends_with(".jsonl"))
    };
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> =
        files.filter(|file| is_of_plan(file) && file.file_name() != path.file_name()).collect();
    files.sort();
    files.into_iter().rev().find_map(|file| {
        // Other files, and records of other machines, are skipped.
        let earlier = store::read(&file).ok()?;
        let (one, other) = (&earlier.header, &record.header);
        let same = one.plan == other.plan
            && one.target == other.target
            && one.machine.name == other.machine.name
            && one.machine.cpu == other.machine.cpu
            && one.began < other.began;
        same.then_some((file, earlier))
    })
}
