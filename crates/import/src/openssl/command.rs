//! The commands that a shell's line shows before their output.

/// A line with at least one call of `openssl speed`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Typed<'a> {
    /// The machine, according to the prompt; empty if the prompt does not name it.
    pub(super) host: &'a str,
    /// The calls in their order, without redirections.
    pub(super) calls: Vec<&'a str>,
}

/// What may stand before a command, instead of a prompt or after it.
const PREFIXES: [&str; 6] = ["taskset", "sudo", "time", "nice", "chrt", "+"];
/// What prompts end with.
const PROMPTS: [char; 6] = ['#', '$', '%', '>', '❯', '➜'];

/// The commands of a line. `None` if it has none; sentences also mention the command, but without an option or an
/// algorithm after it.
pub(super) fn typed(text: &str) -> Option<Typed<'_>> {
    let (prompt, typed) = text.split_at(text.find("openssl speed")?);
    let prompt = prompt.trim();
    let shell = prompt.is_empty()
        || prompt.contains(PROMPTS)
        || PREFIXES.iter().any(|prefix| prompt.starts_with(prefix));
    let parts = typed.split([';', '&', '|', '#']);
    let calls: Vec<&str> = parts.filter_map(call).collect();
    (shell && !calls.is_empty()).then(|| Typed { host: host(prompt), calls })
}

/// The call in a part of a line.
fn call(part: &str) -> Option<&str> {
    let call = &part[part.find("openssl speed")?..];
    let next = call["openssl speed".len()..].split_whitespace().next();
    let called =
        next.is_none_or(|word| word.starts_with('-') || word.chars().any(|c| c.is_ascii_digit()));
    let end = call.find(['>', '<', ')']).unwrap_or(call.len());
    // `2>` redirects, too.
    called.then(|| call[..end].trim_end_matches(|c: char| c == '2' && end < call.len()).trim_end())
}

/// The host of `root@board:~#` and `[root@board ~]#`.
fn host(prompt: &str) -> &str {
    let host = prompt.split_once('@').map_or("", |(_, host)| host);
    let end = host.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '.' | '_')));
    &host[..end.unwrap_or(host.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_sentences() {
        for (text, host, calls) in [
            (
                "root@mx6q-csp:~# time -v openssl speed -evp aes-128-cbc -elapsed",
                "mx6q-csp",
                vec!["openssl speed -evp aes-128-cbc -elapsed"],
            ),
            ("$ openssl speed sha256", "", vec!["openssl speed sha256"]),
            ("[root@imx6 ~]# openssl speed -elapsed", "imx6", vec!["openssl speed -elapsed"]),
            ("user@host> sudo openssl speed -mr 2>&1", "host", vec!["openssl speed -mr"]),
            ("+ openssl speed -decrypt", "", vec!["openssl speed -decrypt"]),
            (
                "$ openssl speed -evp a1; openssl speed -engine e -evp a1 2>&1 | tee log # -decrypt",
                "",
                vec!["openssl speed -evp a1", "openssl speed -engine e -evp a1"],
            ),
        ] {
            assert_eq!(typed(text), Some(Typed { host, calls }), "{text}");
        }
        assert_eq!(typed("- We used the openssl speed command to measure"), None);
    }
}
