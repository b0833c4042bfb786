//! Progress lines, commands, and the tables of public-key algorithms.

/// Progress of one measurement, as printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Doing {
    /// The algorithm; with bits and operation where there is no message.
    pub(super) what: String,
    /// How long it was to take, in seconds.
    pub(super) nominal: String,
    /// Message length.
    pub(super) bytes: Option<u32>,
    /// How many there were.
    pub(super) count: String,
    /// The seconds that they took.
    pub(super) stated: String,
    /// Its line.
    pub(super) line: u32,
    /// The line that told how long it was to take.
    pub(super) announced: u32,
}

impl Doing {
    /// Bytes a second by its count and its time.
    pub(super) fn rate(&self, bytes: u32) -> Option<f64> {
        let seconds: f64 = self.stated.parse().ok().filter(|seconds| *seconds > 0.0)?;
        let count: f64 = self.count.parse().ok()?;
        Some(count * f64::from(bytes) / seconds)
    }
}

/// `Doing aes-128-cbc for 3s on 16 size blocks: 5591286 aes-128-cbc's in 3.00s`, with `ops` behind
/// the name since 3.2; `Doing 2048 bits private rsa's for 10s: 3285 2048 bits private RSA's in 9.98s`.
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
    let (_, stated) = result.rsplit_once(" in ")?;
    let number = |text: &str| text.parse::<f64>().is_ok();
    let what = what.strip_suffix(" ops").unwrap_or(what);
    let what = what.strip_suffix("'s").unwrap_or(what);
    // Without the unit the line is cut, perhaps in the middle of its number.
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

/// A call of the command with the host of the prompt before it, if there is one.
pub(super) fn command(text: &str) -> Option<(&str, &str)> {
    let place = text.find("openssl speed")?;
    let (prompt, command) = text.split_at(place);
    let next = command["openssl speed".len()..].split_whitespace().next();
    // Sentences mention it, too: there an option or an algorithm does not follow.
    let called =
        next.is_none_or(|word| word.starts_with('-') || word.chars().any(|c| c.is_ascii_digit()));
    let prompt = prompt.trim();
    let shell =
        prompt.is_empty() || prompt.contains(['#', '$', '%', '>']) || prompt.starts_with("taskset");
    let host = prompt.split(['#', '$', ':']).next().unwrap_or_default();
    let host = host.split_once('@').map_or("", |(_, host)| host);
    (called && shell).then_some((host.trim(), command))
}

/// Algorithm and operation of `2048 bits private rsa`, `256 bits sign ecdsa`, `253 bits ecdh`.
pub(super) fn public_name(what: &str) -> (String, String) {
    let lower = what.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().filter(|word| *word != "bits").collect();
    let (mut names, mut operation) = (Vec::new(), "operation");
    for word in words.iter().rev() {
        match *word {
            "private" | "sign" | "signs" => operation = "sign",
            "public" | "verify" => operation = "verify",
            "encrypt" | "decrypt" | "keygen" | "encaps" | "decaps" => operation = word,
            word => names.push(word),
        }
    }
    (names.join("-"), operation.to_owned())
}

/// The rates that a table of public-key algorithms has: `sign`, `verify`, `op`.
pub(super) fn public_heading(text: &str) -> Option<Vec<String>> {
    const KNOWN: [&str; 16] = [
        "sign", "verify", "op", "encrypt", "decrypt", "keygen", "encap", "decap", "encaps",
        "decaps", "encr.", "decr.", "signs", "keygens", "op/s", "sign/s",
    ];
    let words: Vec<&str> = text.split_whitespace().collect();
    let rates: Vec<String> = words
        .iter()
        .filter_map(|word| word.strip_suffix("/s"))
        .map(|word| word.trim_end_matches('.').to_owned())
        .collect();
    let known = words.iter().all(|word| {
        let word = word.strip_suffix("/s").unwrap_or(word);
        KNOWN.contains(&word)
    });
    (known && !rates.is_empty() && words.len() == 2 * rates.len()).then_some(rates)
}

/// A row of such a table: times of one operation, then operations a second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Public {
    pub(super) name: String,
    /// Operation and rate.
    pub(super) rates: Vec<(String, String)>,
    pub(super) line: u32,
}

/// `rsa 2048 bits 0.000304s 0.000018s   3285.0  56233.0`.
pub(super) fn public(text: &str, columns: &[String], line: u32) -> Option<Public> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let time = |word: &&str| {
        word.strip_suffix('s').is_some_and(|time| time.contains('.') && time.parse::<f64>().is_ok())
    };
    let first = words.iter().position(time)?;
    let (name, figures) = words.split_at(first);
    let (times, rates) = figures.split_at(columns.len().min(figures.len()));
    let whole = !name.is_empty()
        && times.iter().all(time)
        && rates.len() == columns.len()
        && rates.iter().all(|word| word.parse::<f64>().is_ok_and(|rate| rate > 0.0));
    let rates = columns.iter().cloned().zip(rates.iter().map(|rate| (*rate).to_owned())).collect();
    whole.then(|| Public { name: name.join(" "), rates, line })
}

impl Public {
    /// `rsa-2048`, `ecdsa-nistp256`, `ecdh-x25519`: family, then curve or bits.
    pub(super) fn algorithm(&self) -> String {
        let lower = self.name.to_lowercase();
        let words: Vec<&str> = lower
            .split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'))
            .filter(|word| !word.is_empty() && *word != "bits")
            .collect();
        let number = |word: &&str| word.parse::<u32>().is_ok();
        let names: Vec<&str> = words.iter().copied().filter(|word| !number(word)).collect();
        match names.as_slice() {
            [family] => {
                let bits = words.iter().find(|word| number(word));
                bits.map_or((*family).to_owned(), |bits| format!("{family}-{bits}"))
            }
            names => names.join("-"),
        }
    }

    /// The bits of its name.
    fn bits(&self) -> Option<&str> {
        self.name.split_whitespace().find(|word| word.parse::<u32>().is_ok())
    }

    /// Whether `count` is of its operation `name`.
    pub(super) fn counts(&self, name: &str, count: &Doing) -> bool {
        let said: Vec<String> =
            count.what.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let family = self.name.to_lowercase();
        let same_family = said.iter().any(|word| {
            let word = word.trim_end_matches("'s");
            word.len() > 2 && family.split_whitespace().any(|own| own == word)
        });
        let same_bits = self.bits().is_some_and(|bits| said.iter().any(|word| word == bits));
        let does = |words: &[&str]| words.iter().any(|word| said.iter().any(|own| own == word));
        let same_operation = match name {
            "sign" => does(&["sign", "private"]),
            "verify" => does(&["verify", "public"]),
            "op" => true,
            other => does(&[other]),
        };
        count.bytes.is_none() && same_family && same_bits && same_operation
    }

    /// Whether `count` is of one of its operations.
    pub(super) fn counted(&self, count: &Doing) -> bool {
        self.rates.iter().any(|(name, _)| self.counts(name, count))
    }
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

    #[test]
    fn public_keys_are_named_by_family_and_bits() {
        for (what, algorithm, operation) in [
            ("2048 bits private rsa", "rsa-2048", "sign"),
            ("256 bits verify ecdsa", "ecdsa-256", "verify"),
            ("253 bits ecdh", "ecdh-253", "operation"),
            ("253 bits sign Ed25519", "ed25519-253", "sign"),
        ] {
            assert_eq!(public_name(what), (algorithm.into(), operation.into()), "{what}");
        }
    }

    #[test]
    fn commands_are_told_from_sentences() {
        let typed = "root@mx6q-csp:~# time -v openssl speed -evp aes-128-cbc -elapsed";
        assert_eq!(command(typed), Some(("mx6q-csp", "openssl speed -evp aes-128-cbc -elapsed")));
        assert_eq!(command("$ openssl speed sha256"), Some(("", "openssl speed sha256")));
        assert_eq!(command("- We used the openssl speed command to measure"), None);
    }

    #[test]
    fn tables_of_public_keys_have_the_rates_that_their_heading_names() {
        let columns = public_heading("sign    verify    sign/s verify/s").expect("a heading");
        assert_eq!(columns, ["sign", "verify"]);
        let row =
            public("256 bits ecdsa (nistp256)   0.0000s   0.0001s  25024.0   9283.0", &columns, 1);
        let row = row.expect("a row");
        assert_eq!(row.algorithm(), "ecdsa-nistp256");
        assert_eq!(row.rates[1], ("verify".into(), "9283.0".into()));
        let rsa = public("rsa 2048 bits 0.000304s 0.000018s 3285.0 56233.0", &columns, 1);
        assert_eq!(rsa.expect("a row").algorithm(), "rsa-2048");
        assert_eq!(public_heading("op      op/s"), Some(vec!["op".into()]));
        assert_eq!(public_heading("sign up/s"), None);
        assert_eq!(public("rsa 2048 bits 0.000304s", &columns, 1), None);
    }
}
