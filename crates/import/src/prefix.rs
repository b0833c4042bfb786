//! Removes the prefix that a logger adds to each line: a time, and for syslog the host and the program.
//!
//! Supported are ISO 8601 (CI services, `ts`, journalctl), syslog's `Nov 23 10:00:00 host program[12]:` (RFC 3164), a
//! time of day with or without brackets, and `[  12.345678]`, the seconds since the start of a kernel or of a capture.

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A line without its prefix. `None` if it has none.
pub(super) fn stripped(line: &str) -> Option<&str> {
    let whole = |rest: &&str| rest.is_empty() || rest.starts_with(' ');
    if let Some(rest) = iso(line).or_else(|| syslog(line)).filter(whole) {
        return Some(without_program(without_stream(rest.trim_start())));
    }
    bracketed(line).or_else(|| clock(line)).filter(whole).map(str::trim_start)
}

/// The text after a beginning that matches `template`. A `9` matches any digit, another character itself.
fn after<'a>(text: &'a str, template: &str) -> Option<&'a str> {
    let fits = |(byte, wanted): (u8, u8)| match wanted {
        b'9' => byte.is_ascii_digit(),
        _ => byte == wanted,
    };
    let long = text.len() >= template.len();
    (long && text.bytes().zip(template.bytes()).all(fits)).then(|| &text[template.len()..])
}

/// `10:00:00`, `10:00:00.123`.
fn clock(text: &str) -> Option<&str> {
    let rest = after(text, "99:99:99")?;
    Some(match rest.strip_prefix(['.', ',']) {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    })
}

/// `2026-11-23T10:00:00.1234567Z`, `2026-11-23 10:00:00+01:00`.
fn iso(text: &str) -> Option<&str> {
    let rest = clock(after(text, "9999-99-99")?.strip_prefix(['T', ' '])?)?;
    let zones = ["Z", "+99:99", "-99:99", "+9999", "-9999"];
    Some(zones.iter().find_map(|zone| after(rest, zone)).unwrap_or(rest))
}

/// `Nov 23 10:00:00`, `Nov  3 10:00:00`.
fn syslog(text: &str) -> Option<&str> {
    let rest = MONTHS.iter().find_map(|month| text.strip_prefix(month))?;
    clock(after(rest, " 99 ").or_else(|| after(rest, "  9 "))?)
}

/// `[2026-11-23T10:00:00Z]`, `[10:00:00]`, `[   12.345678]`.
fn bracketed(text: &str) -> Option<&str> {
    let (within, rest) = text.strip_prefix('[')?.split_once(']')?;
    let time = iso(within).or_else(|| clock(within)).or_else(|| seconds(within))?;
    time.is_empty().then_some(rest)
}

/// `   12.345678`.
fn seconds(text: &str) -> Option<&str> {
    let (whole, fraction) = text.trim_start().split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(whole) && digits(fraction)).then_some("")
}

/// Removes GitLab's stream marker: `00O `, `01E+`.
fn without_stream(text: &str) -> &str {
    let streams = ["99O ", "99E ", "99O+", "99E+"];
    streams.iter().find_map(|stream| after(text, stream)).unwrap_or(text).trim_start()
}

/// Removes host and program, if the program is followed by its process number: `host openssl[123]: `.
fn without_program(text: &str) -> &str {
    let named = |text: &'_ str| {
        let (_, rest) = text.split_once(' ')?;
        let (program, _) = rest.split_once(' ').unwrap_or((rest, ""));
        let (_, number) = program.strip_suffix("]:")?.rsplit_once('[')?;
        let program_ends = number.bytes().all(|byte| byte.is_ascii_digit());
        program_ends.then_some(text.len() - rest.len() + program.len())
    };
    named(text).map_or(text, |end| text[end..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_loggers_put_before_a_line_is_taken_off() {
        for prefix in [
            "2026-11-23T10:00:00.1234567Z",
            "2026-11-23T10:00:00Z",
            "2026-11-23 10:00:00,123",
            "2026-11-23T10:00:00+01:00",
            "2026-11-23T10:00:00+0100 board openssl[123]:",
            "2026-11-23T10:00:00.123456Z 00O",
            "2026-11-23T10:00:00.123456Z 01E+",
            "Nov 23 10:00:00 board openssl[123]:",
            "Nov  3 10:00:00 board openssl[123]:",
            "[10:00:00]",
            "[2026-11-23T10:00:00Z]",
            "[   12.345678]",
            "10:00:00",
            "10:00:00.123",
        ] {
            for text in
                ["Doing sha256 for 3s on 16 size blocks: 9 sha256's in 3.00s", "built on: x"]
            {
                assert_eq!(stripped(&format!("{prefix} {text}")), Some(text), "{prefix}");
            }
            assert!(stripped(prefix).is_some(), "{prefix}");
        }
    }

    #[test]
    fn lines_of_tools_have_no_prefix() {
        for line in [
            "",
            "type 16 bytes",
            "aes-128-cbc 28353.13k",
            "10:00:00: 1800/1800MHz  4.00  52%",
            "2026-11-23",
            "March 2026",
            "[1] 2.5",
            "Ünlü",
        ] {
            assert_eq!(stripped(line), None, "{line}");
        }
    }
}
