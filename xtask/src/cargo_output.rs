//! Parses the output of `cargo test`, line by line, for counting.

/// One line of libtest's output that reports how a test or a test binary ended.
#[derive(Debug, PartialEq)]
pub(crate) enum Line<'a> {
    /// The closing line of one test binary.
    Summary { passed: usize },
    /// A test marked `#[ignore]`, with its reason if it states one.
    Ignored { name: &'a str, reason: &'a str },
    /// A test that failed.
    Failed { name: &'a str },
}

/// Parses one line. `None` for all other lines.
pub(crate) fn parse(line: &str) -> Option<Line<'_>> {
    if let Some(summary) = line.strip_prefix("test result: ") {
        return Some(Line::Summary { passed: count(summary, " passed")? });
    }
    let (name, outcome) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    if outcome == "FAILED" {
        return Some(Line::Failed { name });
    }
    let reason = outcome.strip_prefix("ignored")?;
    Some(Line::Ignored { name, reason: reason.strip_prefix(", ").unwrap_or("marked #[ignore]") })
}

/// The number before `what`.
fn count(summary: &str, what: &str) -> Option<usize> {
    let before = &summary[..summary.find(what)?];
    before.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_gives_its_count() {
        let line = "test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered \
                    out; finished in 0.01s";
        assert_eq!(parse(line), Some(Line::Summary { passed: 12 }));
    }

    #[test]
    fn an_ignored_test_gives_its_reason() {
        assert_eq!(
            parse("test tests::slow ... ignored, takes an hour"),
            Some(Line::Ignored { name: "tests::slow", reason: "takes an hour" })
        );
        assert_eq!(
            parse("test src/lib.rs - frame (line 3) ... ignored"),
            Some(Line::Ignored { name: "src/lib.rs - frame (line 3)", reason: "marked #[ignore]" })
        );
    }

    #[test]
    fn a_failed_test_gives_its_name() {
        assert_eq!(
            parse("test tests::wrong ... FAILED"),
            Some(Line::Failed { name: "tests::wrong" })
        );
    }

    #[test]
    fn other_lines_count_for_nothing() {
        for line in ["", "running 3 tests", "test tests::right ... ok", "test result: ok."] {
            assert_eq!(parse(line), None, "{line:?}");
        }
    }
}
