//! The answer that comes first: one or two lines for each operation.

use super::explain_text::{verdict, what};
use cpb_analysis::explain::Explanation;

/// Of more operations than these the verdicts are a report of their own.
const MOST: usize = 16;

/// The verdict of each task: what is done, and which path to take. Of very many tasks the first.
pub(crate) fn lines(explanation: &Explanation) -> Vec<(String, String)> {
    let several = explanation.tasks.iter().any(|task| task.machine != explanation.tasks[0].machine);
    let all: Vec<(String, String)> = explanation
        .tasks
        .iter()
        .filter_map(|task| {
            let what = what(&task.subject, task.threads);
            let what = if several { format!("{what}, {}", task.machine) } else { what };
            Some((what, verdict(task)?))
        })
        .collect();
    let more = all.len().saturating_sub(MOST);
    let shown = all.len() - more;
    let rest = (more > 0).then(|| {
        let words = format!("{more} operations more; `cpb explain` has them all");
        ("...".to_owned(), words)
    });
    all.into_iter().take(shown).chain(rest).collect()
}
