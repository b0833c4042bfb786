//! The output of `cpb doctor`.

use super::footnotes::graded;
use super::terminal::write_note;
use cpb_analysis::grade::Grade;
use cpb_analysis::summary::Summary;

/// The grade on the first line, followed by details of the machine.
pub fn render(summary: &Summary, grade: &Grade, width: usize) -> String {
    let mut text = String::new();
    write_note(&mut text, "machine", &graded(grade), width);
    write_note(&mut text, "CPU", &summary.run.machine.words(), width);
    for warning in &summary.run.warnings {
        write_note(&mut text, "warning", warning, width);
    }
    text
}
