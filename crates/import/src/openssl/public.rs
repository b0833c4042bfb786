//! Public-key algorithms: the names of key-pair operations in progress lines and tables.
//!
//! `Doing 2048 bits private rsa sign ops for 10s` and the row `rsa 2048 bits` below `sign` are the same operation. So
//! are `253 bits sign Ed25519` and `253 bits EdDSA (Ed25519)`. Since 3.2 there are tables for key encapsulation and
//! for signatures. These may name a key (`rsa2048`) that another table also has.

use cpb_core::{Algorithm, Operation};

/// The words of a table's columns, of any version.
const COLUMNS: [&str; 16] = [
    "sign", "verify", "op", "encrypt", "decrypt", "keygen", "encap", "decap", "encaps", "decaps",
    "encr.", "decr.", "signs", "keygens", "op/s", "sign/s",
];

/// An operation with a key pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyOperation {
    /// The algorithm in cpb's spelling, if cpb has it: `rsa-2048-pkcs1`, `ecdsa-p256`, `x25519`.
    pub(super) algorithm: String,
    /// The operation in cpb's spelling: `sign`, `key-agreement`. If cpb does not have it, as printed.
    pub(super) operation: &'static str,
    /// Family, curve and bits, used to match a progress line with a row.
    names: Vec<String>,
    bits: Option<String>,
}

impl KeyOperation {
    /// Parses `2048 bits private rsa`, `256 bits ecdsa (nistp256) verify`, `ML-KEM-768 KEM encaps`.
    pub(super) fn of(words: &str) -> KeyOperation {
        let lower = words.to_lowercase();
        let words: Vec<&str> = lower
            .split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')))
            .filter(|word| !word.is_empty() && *word != "bits" && *word != "ops")
            .collect();
        // The last word that names an operation, because `private` also appears in a decryption.
        let operation = words.iter().rev().find_map(|word| operation(word));
        let operation = operation.unwrap_or(Operation::KeyAgreement.name());
        let (mut names, mut bits) = (Vec::new(), None);
        for word in words {
            if word.parse::<u32>().is_ok() {
                bits = Some(word.to_owned());
            } else if self::operation(word).is_none() && word != "op" {
                names.push(word.to_owned());
            }
        }
        let algorithm = algorithm(&names, bits.as_deref(), operation);
        KeyOperation { algorithm, operation, names, bits }
    }

    /// Whether both may be the same algorithm and operation. A progress line may omit the curve, or name only the
    /// curve.
    pub(super) fn is(&self, other: &KeyOperation) -> bool {
        let covers = |long: &[String], short: &[String]| match (long, short) {
            ([family, curve], [only]) => only == curve && family == "eddsa" || only == family,
            _ => long == short,
        };
        let related = covers(&self.names, &other.names) || covers(&other.names, &self.names);
        self.operation == other.operation && self.bits == other.bits && related
    }
}

fn operation(word: &str) -> Option<&'static str> {
    let known = match word {
        "private" | "sign" | "signs" => Operation::Sign,
        "public" | "verify" => Operation::Verify,
        "encrypt" | "encr" => Operation::Encrypt,
        "decrypt" | "decr" => Operation::Decrypt,
        "keygen" | "keygens" => Operation::GenerateKey,
        "encap" | "encaps" => Operation::Encapsulate,
        "decap" | "decaps" => Operation::Decapsulate,
        _ => return None,
    };
    Some(known.name())
}

/// The algorithm that `names` and `bits` describe.
fn algorithm(names: &[String], bits: Option<&str>, operation: &str) -> String {
    let words: Vec<&str> = names.iter().map(String::as_str).collect();
    let curve = |curve: &str| match curve.strip_prefix("nist") {
        Some(nist) => nist.to_owned(),
        None => curve.to_owned(),
    };
    match (words.as_slice(), bits) {
        // speed pads signatures as in PKCS #1 v1.5.
        (["rsa"], Some(bits)) if ["sign", "verify"].contains(&operation) => {
            format!("rsa-{bits}-pkcs1")
        }
        (["ecdh"], Some("253")) => "x25519".to_owned(),
        (["ecdh"], Some("448")) => "x448".to_owned(),
        (["ecdh", own @ ("x25519" | "x448")], _) | (["eddsa", own], _) => (*own).to_owned(),
        ([family @ ("ecdh" | "ecdsa"), own], _) => format!("{family}-{}", curve(own)),
        (["ed25519" | "ed448"], _) => words[0].to_owned(),
        // A key in another table has the same name.
        ([name, table @ ("kem" | "signature")], _) => match name.parse::<Algorithm>() {
            Ok(known) => known.to_string(),
            Err(_) if name.contains("kem") || name.contains("dsa") => (*name).to_owned(),
            Err(_) => format!("{name}-{table}"),
        },
        (names, Some(bits)) => format!("{}-{bits}", names.join("-")),
        (names, None) => names.join("-"),
    }
}

/// The heading of a table of public-key algorithms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    /// The operations of its rates: `sign`, `verify`, `op`.
    columns: Vec<String>,
    /// The kind of table, if its rows do not say: `KEM`, `signature`.
    table: &'static str,
}

/// A row: an operation for each column, with its rate, whether or not the rate is relative to the wall clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PublicRow {
    /// The name as printed, with the kind of table if the row does not say.
    pub(super) name: String,
    /// The column as printed, its operation, and the operations a second.
    pub(super) rates: Vec<(String, KeyOperation, String)>,
    pub(super) line: u32,
}

impl Heading {
    /// Parses `sign    verify    sign/s verify/s`.
    pub(super) fn of(text: &str) -> Option<Heading> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let columns: Vec<String> = words
            .iter()
            .filter_map(|word| word.strip_suffix("/s"))
            .map(|word| word.trim_end_matches('.').to_owned())
            .collect();
        let known =
            words.iter().all(|word| COLUMNS.contains(&word.strip_suffix("/s").unwrap_or(word)));
        let has = |column| words.contains(&column);
        let table = match (has("keygen"), has("encaps")) {
            (true, true) => "KEM",
            (true, false) => "signature",
            (false, _) => "",
        };
        let whole = known && !columns.is_empty() && words.len() == 2 * columns.len();
        whole.then_some(Heading { columns, table })
    }

    /// Parses `rsa 2048 bits 0.000304s 0.000018s   3285.0  56233.0`: times of one operation, then operations a
    /// second.
    pub(super) fn row(&self, text: &str, line: u32) -> Option<PublicRow> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let number = |word: &str| word.parse::<f64>().is_ok();
        let time = |word: &&str| {
            word.strip_suffix('s').is_some_and(|time| time.contains('.') && number(time))
        };
        let first = words.iter().position(time)?;
        let (name, figures) = words.split_at(first);
        let (times, rates) = figures.split_at(self.columns.len().min(figures.len()));
        let whole = !name.is_empty()
            && times.iter().all(time)
            && rates.len() == self.columns.len()
            && rates.iter().all(|word| number(word));
        let name = name.iter().copied().chain([self.table]).filter(|word| !word.is_empty());
        let name = name.collect::<Vec<_>>().join(" ");
        let of = |(column, rate): (&String, &&str)| {
            let operation = KeyOperation::of(&format!("{name} {column}"));
            (column.clone(), operation, (*rate).to_owned())
        };
        let rates = self.columns.iter().zip(rates).map(of).collect();
        whole.then_some(PublicRow { name, rates, line })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_line_and_a_row_name_the_same_operation() {
        for (said, printed, algorithm, operation) in [
            ("2048 bits private rsa", "rsa 2048 bits sign", "rsa-2048-pkcs1", "sign"),
            ("2048 bits public rsa verify", "rsa 2048 bits verify", "rsa-2048-pkcs1", "verify"),
            ("2048 bits public rsa encrypt", "rsa 2048 bits encr", "rsa-2048", "encrypt"),
            ("2048 bits private rsa decrypt", "rsa 2048 bits decr", "rsa-2048", "decrypt"),
            ("256 bits verify ecdsa", "256 bits ecdsa (nistp256) verify", "ecdsa-p256", "verify"),
            ("253 bits ecdh", "253 bits ecdh (X25519) op", "x25519", "key-agreement"),
            ("253 bits sign Ed25519", "253 bits EdDSA (Ed25519) sign", "ed25519", "sign"),
            ("rsa2048 KEM keygen", "rsa2048 KEM keygens", "rsa2048-kem", "generate-key"),
            ("ML-KEM-768 KEM encaps", "ML-KEM-768 KEM encaps", "ml-kem-768", "encapsulate"),
            ("rsa2048 signature sign", "rsa2048 signature sign", "rsa2048-signature", "sign"),
            ("ML-DSA-65 signature verify", "ML-DSA-65 signature verify", "ml-dsa-65", "verify"),
        ] {
            let (said, printed) = (KeyOperation::of(said), KeyOperation::of(printed));
            assert!(said.is(&printed), "{said:?} {printed:?}");
            assert_eq!((printed.algorithm.as_str(), printed.operation), (algorithm, operation));
        }
        let sign = KeyOperation::of("2048 bits private rsa sign");
        let keygen = KeyOperation::of("rsa2048 KEM keygen");
        for other in ["ML-KEM-768 KEM keygens", "rsa2048 signature keygens"] {
            assert!(!keygen.is(&KeyOperation::of(other)), "{other}");
        }
        for other in ["rsa 3072 bits sign", "rsa 2048 bits verify", "dsa 2048 bits sign"] {
            assert!(!sign.is(&KeyOperation::of(other)), "{other}");
        }
        assert_eq!(KeyOperation::of("256 bits ecdsa sign").algorithm, "ecdsa-256", "no curve");
    }

    #[test]
    fn tables_have_the_rates_that_their_heading_names() {
        let two = Heading::of("sign    verify    sign/s verify/s").expect("a heading");
        let row = "256 bits ecdsa (nistp256)   0.0000s   0.0001s  25024.0   9283.0";
        let row = two.row(row, 1).expect("a row");
        let rates: Vec<(&str, &str, &str)> = row
            .rates
            .iter()
            .map(|(column, key, rate)| (column.as_str(), key.operation, rate.as_str()))
            .collect();
        assert_eq!(rates, [("sign", "sign", "25024.0"), ("verify", "verify", "9283.0")]);
        assert!(two.row("rsa 2048 bits 0.000304s 0.000018s 3285.0 56233.0", 1).is_some());
        assert_eq!(two.row("rsa 2048 bits 0.000304s", 1), None);
        let four = "sign    verify    encrypt   decrypt   sign/s verify/s  encr./s  decr./s";
        assert_eq!(
            Heading::of(four).expect("a heading").columns,
            ["sign", "verify", "encr", "decr"]
        );
        let kem = "keygen    encaps    decaps keygens/s  encaps/s  decaps/s";
        assert_eq!(Heading::of(kem).expect("a heading").table, "KEM");
        assert!(Heading::of("op      op/s").is_some());
        assert_eq!(Heading::of("sign up/s"), None);
    }
}
