//! The known answers of `vectors/`, for the providers over device models.

use cpb_core::check::{Answer, Case, Finding, check};
use cpb_core::{Algorithm, Kind, Operation, Provider};
use serde_json::Value;

/// The numbers of known answers that a provider gives right, and that it does not support. A wrong one panics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Count {
    pub(crate) right: usize,
    pub(crate) unsupported: usize,
}

/// Asks `provider` for the known answers of some algorithms.
pub(crate) fn ask(provider: &dyn Provider, algorithms: &[Algorithm]) -> Count {
    let mut count = Count::default();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors");
    for file in std::fs::read_dir(folder).expect("the vectors") {
        let path = file.expect("a file").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let family = std::fs::read_to_string(&path).expect("a text");
        let family: Value = serde_json::from_str(&family).expect("JSON");
        for group in family["groups"].as_array().expect("groups") {
            let algorithm = group["algorithm"].as_str().and_then(|name| name.parse().ok());
            let Some(algorithm) = algorithm.filter(|algorithm| algorithms.contains(algorithm))
            else {
                continue;
            };
            for case in group["cases"].as_array().expect("cases") {
                one(provider, algorithm, case, &mut count);
            }
        }
    }
    count
}

fn one(provider: &dyn Provider, algorithm: Algorithm, known: &Value, count: &mut Count) {
    let field = |name: &str| known[name].as_str().map(bytes);
    let part = |name: &str| field(name).unwrap_or_default();
    let (key, iv, associated, tag) = (part("key"), part("iv"), part("associated"), part("tag"));
    let (message, result) = (field("message"), part("result"));
    let valid = known["valid"] != false;
    let plain = algorithm.operations()[0];
    let case = Case {
        algorithm,
        operation: plain,
        key: &key,
        iv: &iv,
        associated: &associated,
        input: message.as_deref().unwrap_or_default(),
        tag: &tag,
        answer: Answer::Output(&result),
    };
    let mut cases = Vec::new();
    let private = part("private");
    let answer = if valid { Answer::Output(&result) } else { Answer::Refusal };
    let pairs = [
        (Operation::Verify, &key, true),
        (Operation::Sign, &private, valid && !algorithm.draws(Operation::Sign)),
        (Operation::KeyAgreement, &private, true),
    ];
    for (operation, key, is_known) in pairs {
        let is_there = algorithm.has_key_pairs() && algorithm.operations().contains(&operation);
        if is_there && is_known && !key.is_empty() {
            cases.push(Case { operation, key, answer, ..case });
        }
    }
    if valid && message.is_some() && !algorithm.has_key_pairs() {
        cases.push(case);
    }
    let ciphers = !algorithm.has_key_pairs()
        && !matches!(algorithm.shape().kind, Kind::Hash | Kind::Mac | Kind::Generator);
    if ciphers {
        let answer = match &message {
            Some(message) if valid => Answer::Output(message),
            _ => Answer::Refusal,
        };
        cases.push(Case { operation: Operation::Decrypt, input: &result, answer, ..case });
    }
    let mut scratch = vec![0; 1 << 14];
    for case in cases {
        match check(provider, &case, &mut scratch) {
            Finding::Right(_) | Finding::Distinct(_) => count.right += 1,
            Finding::Unsupported(_) => count.unsupported += 1,
            other => panic!("{algorithm} {} {}: {other:?}", case.operation, known["id"]),
        }
    }
}

fn bytes(text: &str) -> Vec<u8> {
    let digits = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal");
    (0..text.len()).step_by(2).map(digits).collect()
}
