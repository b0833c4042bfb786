//! The recommendation that comes first: one or two lines for each operation.

use super::explain_text::{verdict, what};
use cpb_analysis::explain::Explanation;

/// With more operations than this, the verdicts are left to a separate report.
const MOST: usize = 16;

/// The verdict of each task: the operation and the path to take. With very many tasks, only the first ones.
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
        let words = format!("{more} more operations; `cpb explain` shows all");
        ("...".to_owned(), words)
    });
    all.into_iter().take(shown).chain(rest).collect()
}
