//! Progress lines.

/// Progress of one measurement, as printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Doing {
    /// The algorithm; if there is no message, with bits and operation.
    pub(super) what: String,
    /// The nominal duration, in seconds.
    pub(super) nominal: String,
    /// Message length.
    pub(super) bytes: Option<u32>,
    /// The number of operations.
    pub(super) count: String,
    /// The seconds that the operations took.
    pub(super) stated: String,
    /// The line number.
    pub(super) line: u32,
    /// The number of the line with the nominal duration.
    pub(super) announced: u32,
}

impl Doing {
    /// Bytes a second, from the count and the time.
    pub(super) fn rate(&self, bytes: u32) -> Option<f64> {
        Some(self.operations_per_second()? * f64::from(bytes))
    }

    /// Operations a second, from the count and the time.
    pub(super) fn operations_per_second(&self) -> Option<f64> {
        let seconds: f64 = self.stated.parse().ok().filter(|seconds| *seconds > 0.0)?;
        Some(self.count.parse::<f64>().ok()? / seconds)
    }
}

/// Parses `Doing aes-128-cbc for 3s on 16 size blocks: 5591286 aes-128-cbc's in 3.00s`, with `ops` after the name
/// since 3.2, and `Doing 2048 bits private rsa's for 10s: 3285 2048 bits private RSA's in 9.98s`. In `Doing rsa2048
/// keygen ops for 10s: 172 rsa2048 KEM keygen ops in 9.98s`, only the second half shows that it is a KEM.
pub(super) fn line(text: &str, line: u32) -> Option<Doing> {
    let (what, rest) = text.strip_prefix("Doing ")?.split_once(" for ")?;
    let (time, result) = rest.split_once(": ")?;
    let (nominal, size) =
        time.split_once("s on ").unwrap_or((time.strip_suffix('s').unwrap_or(time), ""));
    let bytes = match size {
        "" => None,
        size => Some(size.split_whitespace().next()?.parse().ok()?),
    };
    let (count, result) = result.split_once(' ')?;
    let (done, stated) = result.rsplit_once(" in ")?;
    let table = [" KEM ", " signature "].iter().any(|table| done.contains(table));
    let what = if table { done.trim() } else { what };
    let number = |text: &str| text.parse::<f64>().is_ok();
    let what = what.strip_suffix(" ops").unwrap_or(what);
    let what = what.strip_suffix("'s").unwrap_or(what);
    // Without the unit the line was cut, perhaps in the middle of its number.
    let stated = stated.strip_suffix('s')?;
    let sound = number(nominal) && number(count) && number(stated);
    sound.then(|| Doing {
        what: what.split_whitespace().collect::<Vec<_>>().join(" "),
        nominal: nominal.to_owned(),
        bytes,
        count: count.to_owned(),
        stated: stated.to_owned(),
        line,
        announced: line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_of_every_version_is_read() {
        for (text, what, bytes, count) in [
            (
                "Doing aes-128-cbc for 3s on 8192 size blocks: 8101 aes-128-cbc's in 0.00s",
                "aes-128-cbc",
                Some(8192),
                "8101",
            ),
            (
                "Doing aes-128 cbc for 3s on 16 size blocks: 9 aes-128 cbc's in 2.98s",
                "aes-128 cbc",
                Some(16),
                "9",
            ),
            (
                "Doing SHA2-256 ops for 1s on 16 size blocks: 9 SHA2-256 ops in 1.00s",
                "SHA2-256",
                Some(16),
                "9",
            ),
            (
                "Doing 2048 bits private rsa's for 10s: 32 2048 bits private RSA's in 9.98s",
                "2048 bits private rsa",
                None,
                "32",
            ),
            (
                "Doing 253 bits  ecdh's for 10s: 17475 253-bits ECDH ops in 10.00s",
                "253 bits ecdh",
                None,
                "17475",
            ),
            (
                "Doing rsa2048 keygen ops for 1s: 20 rsa2048 KEM keygen ops in 1.16s",
                "rsa2048 KEM keygen",
                None,
                "20",
            ),
        ] {
            let doing = line(text, 1).expect(text);
            assert_eq!(
                (doing.what.as_str(), doing.bytes, doing.count.as_str()),
                (what, bytes, count)
            );
        }
        for other in [
            "Doing well for a start: it works in time",
            "Doing aes-128-cbc for 3s on 16 size blocks: ",
            "Doing aes-128-cbc for 3s on 16 size blocks: 12",
            "Doing aes-128-cbc for 3s on 16 size blocks: 12 aes-128-cbc's in 3.0",
        ] {
            assert_eq!(line(other, 1), None, "{other}");
        }
    }
}
