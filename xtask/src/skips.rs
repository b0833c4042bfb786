//! Tests that could not run, and whether that is allowed.
//!
//! A test that cannot run because something is missing appends one line `name<TAB>reason` to the file that the
//! environment variable `CPB_SKIP_LOG` names, and returns. The name is the test's own; a part of a test whose rest
//! ran is `name#part`.

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Skip {
    pub(crate) name: String,
    pub(crate) reason: String,
}

impl Skip {
    pub(crate) fn new(name: &str, reason: &str) -> Self {
        Self { name: name.trim().to_owned(), reason: reason.trim().to_owned() }
    }

    /// Whether the rest of the test ran.
    pub(crate) fn is_partial(&self) -> bool {
        self.name.contains('#')
    }
}

/// Reads the skip log. A test with several lines counts once.
pub(crate) fn parse_log(text: &str) -> Vec<Skip> {
    let mut skips: Vec<Skip> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (name, reason) = line.split_once('\t').unwrap_or((line, "no reason given"));
        let skip = Skip::new(name, reason);
        if skips.iter().all(|known| known.name != skip.name) {
            skips.push(skip);
        }
    }
    skips
}

/// Reads `.ci/allowed-skips`: one `name: reason` per line; `#` begins a comment line.
pub(crate) fn parse_allowed(text: &str) -> Result<Vec<Skip>, String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| match line.split_once(": ") {
            Some((name, reason)) => Ok(Skip::new(name, reason)),
            None => Err(format!("`{line}` in .ci/allowed-skips is not `name: reason`")),
        })
        .collect()
}

/// The skips that no line allows.
pub(crate) fn forbidden<'a>(skips: &'a [Skip], allowed: &[Skip]) -> Vec<&'a Skip> {
    missing_from(skips, allowed)
}

/// The lines that are unnecessary, because the test ran.
pub(crate) fn needless<'a>(skips: &[Skip], allowed: &'a [Skip]) -> Vec<&'a Skip> {
    missing_from(allowed, skips)
}

fn missing_from<'a>(these: &'a [Skip], those: &[Skip]) -> Vec<&'a Skip> {
    these.iter().filter(|this| those.iter().all(|that| that.name != this.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_holds_a_test_once() {
        let log = "tests::qemu\tno qemu\n\ntests::qemu\tno kernel\ntests::bare\n";
        assert_eq!(
            parse_log(log),
            [Skip::new("tests::qemu", "no qemu"), Skip::new("tests::bare", "no reason given")]
        );
    }

    #[test]
    fn an_allowed_name_may_hold_colons() {
        let text = "# comment\n\ntests::qemu: there is no QEMU on the CI machine: see the lab\n";
        assert_eq!(
            parse_allowed(text),
            Ok(vec![Skip::new("tests::qemu", "there is no QEMU on the CI machine: see the lab")])
        );
    }

    #[test]
    fn an_allowed_skip_needs_a_reason() {
        assert!(parse_allowed("tests::qemu\n").is_err());
    }

    #[test]
    fn only_named_skips_are_allowed_and_idle_names_are_found() {
        let skips = [Skip::new("a", "x"), Skip::new("b", "y")];
        let allowed = [Skip::new("b", "known"), Skip::new("c", "known")];
        assert_eq!(forbidden(&skips, &allowed), [&skips[0]]);
        assert_eq!(needless(&skips, &allowed), [&allowed[1]]);
    }

    #[test]
    fn a_part_of_a_test_is_told_from_a_whole_one() {
        assert!(Skip::new("suite::answers#af_alg", "no AF_ALG").is_partial());
        assert!(!Skip::new("suite::answers", "no provider").is_partial());
    }
}
