//! Parses the output of Python's `unittest -v`, for counting.

/// How one test file ended.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Summary {
    /// The number of tests that ran, including failed and skipped ones.
    pub(crate) run: usize,
    pub(crate) failed: usize,
    /// Name and reason of each test that was skipped.
    pub(crate) skipped: Vec<(String, String)>,
}

/// Parses the whole output of one run.
pub(crate) fn parse(output: &str) -> Summary {
    let mut summary = Summary::default();
    for line in output.lines() {
        if let Some(rest) = line.strip_prefix("Ran ") {
            summary.run = leading_number(rest);
        } else if let Some(counts) = line.strip_prefix("FAILED (") {
            summary.failed = ["failures=", "errors=", "unexpected successes="]
                .iter()
                .filter_map(|kind| counts.split_once(kind))
                .map(|(_, rest)| leading_number(rest))
                .sum();
        } else if let Some((test, reason)) = line.split_once(" ... skipped ") {
            let name = test.split(' ').next().unwrap_or(test);
            let reason = reason.trim_matches(['\'', '"']);
            summary.skipped.push((name.to_owned(), reason.to_owned()));
        }
    }
    summary
}

fn leading_number(text: &str) -> usize {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..digits].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_gives_its_counts_and_skips() {
        let output = "\
test_fit (test_fit.Fit.test_fit) ... ok
test_plot (test_fit.Fit.test_plot) ... skipped 'no display'
test_bad (test_fit.Fit.test_bad) ... FAIL

Ran 3 tests in 0.002s

FAILED (failures=1, skipped=1)
";
        let expected = Summary {
            run: 3,
            failed: 1,
            skipped: vec![("test_plot".to_owned(), "no display".to_owned())],
        };
        assert_eq!(parse(output), expected);
    }

    #[test]
    fn errors_are_failures() {
        assert_eq!(parse("Ran 5 tests in 1s\n\nFAILED (failures=1, errors=2)\n").failed, 3);
    }

    #[test]
    fn a_file_that_does_not_start_ran_nothing() {
        assert_eq!(parse("SyntaxError: invalid syntax\n"), Summary::default());
    }
}
