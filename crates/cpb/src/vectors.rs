//! The known answers in `vectors/`, as test cases for a runner.

use crate::library;
use anyhow::{Context, Result, ensure};
use cpb_core::check::{Answer, Case};
use cpb_core::material::{self, Part};
use cpb_core::{Algorithm, Kind, Operation, public_key, tls_record};
use serde::Deserialize;

/// All known answers.
pub struct Vectors {
    known: Vec<Known>,
}

/// One known answer, for every operation that it applies to.
struct Known {
    algorithm: Algorithm,
    id: String,
    key: Vec<u8>,
    private: Vec<u8>,
    iv: Vec<u8>,
    associated: Vec<u8>,
    message: Option<Vec<u8>>,
    result: Vec<u8>,
    tag: Vec<u8>,
    valid: bool,
}

impl Vectors {
    /// Reads the built-in files.
    ///
    /// # Errors
    /// Returns an error if one of them does not follow its README.
    pub fn load() -> Result<Vectors> {
        let mut known = Vec::new();
        for carried in library::vectors() {
            let family = carried.name;
            let file: VectorFile = serde_json::from_str(&carried.text()?).context(family)?;
            for group in file.groups {
                for case in group.cases {
                    let id = format!("{family}: {}", case.id);
                    let read = Known::read(group.algorithm, case).with_context(|| id.clone())?;
                    known.push(read);
                }
            }
        }
        Ok(Vectors { known })
    }

    /// The cases for one algorithm and operation, each with its id: published cases, and cases derived from
    /// them by changing a tag or a length.
    pub fn cases(&self, algorithm: Algorithm, operation: Operation) -> Vec<(String, OwnedCase)> {
        let mut cases = Vec::new();
        for known in self.known.iter().filter(|known| known.algorithm == algorithm) {
            known.cases(operation, &mut cases);
        }
        cases.extend(impossible_lengths(algorithm, operation));
        if operation == Operation::Copy {
            cases.extend(copies(algorithm));
        }
        if algorithm.draws(operation) && operation != Operation::Encapsulate {
            cases.extend(draws(algorithm, operation));
        }
        cases
    }
}

/// A [`Case`] that owns its data.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedCase {
    algorithm: Algorithm,
    operation: Operation,
    key: Vec<u8>,
    iv: Vec<u8>,
    associated: Vec<u8>,
    input: Vec<u8>,
    tag: Vec<u8>,
    answer: OwnedAnswer,
}

#[derive(Clone, Debug, PartialEq)]
enum OwnedAnswer {
    Output(Vec<u8>),
    Refusal,
    NoSuchLength,
}

impl OwnedCase {
    /// The case in the form that is sent.
    pub fn borrowed(&self) -> Case<'_> {
        Case {
            algorithm: self.algorithm,
            operation: self.operation,
            key: &self.key,
            iv: &self.iv,
            associated: &self.associated,
            input: &self.input,
            tag: &self.tag,
            answer: match &self.answer {
                OwnedAnswer::Output(output) => Answer::Output(output),
                OwnedAnswer::Refusal => Answer::Refusal,
                OwnedAnswer::NoSuchLength => Answer::NoSuchLength,
            },
        }
    }
}

impl Known {
    fn read(algorithm: Algorithm, case: FileCase) -> Result<Known> {
        let shape = algorithm.shape();
        let known = Known {
            algorithm,
            key: hex(&case.key)?,
            private: hex(&case.private)?,
            iv: hex(&case.iv)?,
            associated: hex(&case.associated)?,
            message: case.message.as_deref().map(hex).transpose()?,
            result: hex(&case.result)?,
            tag: hex(&case.tag)?,
            valid: case.valid,
            id: case.id,
        };
        ensure!(known.iv.len() == shape.iv, "the IV has {} bytes", known.iv.len());
        if let Some(parts) = public_key::parts(algorithm) {
            let tag = parts.signature + parts.encapsulation;
            ensure!(known.tag.len() == tag, "the tag has {} bytes", known.tag.len());
            return Ok(known);
        }
        let tag = match shape.kind {
            Kind::Record if known.valid => tls_record::MAC,
            _ => shape.tag,
        };
        ensure!(known.tag.len() == tag, "the tag has {} bytes", known.tag.len());
        ensure!(known.message.is_some() || !known.valid, "a valid case without a message");
        Ok(known)
    }

    fn case(&self, operation: Operation, input: &[u8], answer: OwnedAnswer) -> OwnedCase {
        OwnedCase {
            algorithm: self.algorithm,
            operation,
            key: self.key.clone(),
            iv: self.iv.clone(),
            associated: self.associated.clone(),
            input: input.to_vec(),
            tag: self.tag.clone(),
            answer,
        }
    }

    fn cases(&self, operation: Operation, cases: &mut Vec<(String, OwnedCase)>) {
        if self.algorithm.has_key_pairs() {
            cases.extend(self.with_key_pair(operation).map(|case| (self.id.clone(), case)));
            return;
        }
        if self.algorithm.shape().kind == Kind::Record {
            self.of_a_record(operation, cases);
            return;
        }
        let aead = self.algorithm.shape().kind == Kind::Aead;
        let right = |bytes: &[u8]| OwnedAnswer::Output(bytes.to_vec());
        match (&self.message, operation) {
            (Some(message), Operation::Decrypt) if self.valid => {
                let case = self.case(operation, &self.result, right(message));
                if aead {
                    // A forged tag, in its first and in its last bit.
                    for (place, bit) in [(0, 0x80), (self.tag.len() - 1, 1)] {
                        let mut forged = case.clone();
                        forged.tag[place] ^= bit;
                        forged.answer = OwnedAnswer::Refusal;
                        cases.push((format!("{} with tag byte {place} changed", self.id), forged));
                    }
                }
                cases.push((self.id.clone(), case));
            }
            (_, Operation::Decrypt) => {
                let case = self.case(operation, &self.result, OwnedAnswer::Refusal);
                cases.push((self.id.clone(), case));
            }
            // An invalid MAC says nothing about what a MAC function returns.
            (Some(message), _) if self.valid => {
                cases.push((self.id.clone(), self.case(operation, message, right(&self.result))));
            }
            _ => {}
        }
    }
}

impl Known {
    /// No sender pads a record more than necessary, but receivers must accept it.
    fn of_a_record(&self, operation: Operation, cases: &mut Vec<(String, OwnedCase)>) {
        let message = self.message.as_deref().unwrap_or_default();
        let case = |length: usize, input: &[u8], answer: OwnedAnswer| {
            let associated = [&self.associated[..], &(length as u16).to_be_bytes()].concat();
            OwnedCase { associated, tag: Vec::new(), ..self.case(operation, input, answer) }
        };
        let usual = tls_record::length(message.len()) == self.result.len();
        if operation == Operation::Encrypt {
            if self.valid && usual {
                let mut input = message.to_vec();
                // The bytes after the message must not matter.
                input.resize(self.result.len(), 0xa5);
                let right = OwnedAnswer::Output(self.result.clone());
                cases.push((self.id.clone(), case(message.len(), &input, right)));
            }
            return;
        }
        if !self.valid {
            let refused = case(0, &self.result, OwnedAnswer::Refusal);
            cases.push((self.id.clone(), refused));
            return;
        }
        let mut plain = [message, &self.tag].concat();
        let padding = self.result.len() - plain.len();
        plain.resize(self.result.len(), (padding - 1) as u8);
        let right = case(message.len(), &self.result, OwnedAnswer::Output(plain));
        // Changes the first block; then padding, or the MAC; and then the sequence number in the header.
        for place in [0, self.result.len() - 17] {
            let mut forged = right.clone();
            forged.input[place] ^= 1;
            forged.answer = OwnedAnswer::Refusal;
            cases.push((format!("{} with byte {place} changed", self.id), forged));
        }
        let mut forged = right.clone();
        forged.associated[0] ^= 0x80;
        forged.answer = OwnedAnswer::Refusal;
        cases.push((format!("{} with another sequence number", self.id), forged));
        cases.push((self.id.clone(), right));
    }

    /// The case for an operation with the key pair, or with one half of it.
    fn with_key_pair(&self, operation: Operation) -> Option<OwnedCase> {
        let taken = if self.valid {
            OwnedAnswer::Output(self.result.clone())
        } else {
            OwnedAnswer::Refusal
        };
        let message = self.message.as_deref().unwrap_or_default();
        let with = |key: &[u8], other: &[u8]| OwnedCase {
            key: key.to_vec(),
            associated: other.to_vec(),
            ..self.case(operation, message, taken.clone())
        };
        let (public, private) = (self.key.as_slice(), self.private.as_slice());
        match operation {
            Operation::Verify => Some(with(public, &[])),
            Operation::Encapsulate => Some(with(public, private)),
            Operation::Sign if self.algorithm.draws(operation) => None,
            Operation::Sign | Operation::KeyAgreement | Operation::Decapsulate => {
                (!private.is_empty()).then(|| with(private, &[]))
            }
            _ => None,
        }
    }
}

/// Random results have no known answer: a pair is generated and used, and some digests are signed and verified.
fn draws(algorithm: Algorithm, operation: Operation) -> impl Iterator<Item = (String, OwnedCase)> {
    const SIGNED: usize = 5;
    let count = if operation == Operation::Sign { SIGNED } else { 1 };
    (0..count).map(move |number| {
        let mut input = vec![0; algorithm.fixed_message(operation).unwrap_or(0)];
        material::fill(Part::Message, number, &mut input);
        let other = if input.is_empty() { &[] } else { algorithm.timed_public_key() };
        let case = OwnedCase {
            algorithm,
            operation,
            key: algorithm.timed_key(operation).to_vec(),
            iv: Vec::new(),
            associated: other.to_vec(),
            input,
            tag: Vec::new(),
            answer: OwnedAnswer::Output(Vec::new()),
        };
        (format!("round trip {number}"), case)
    })
}

/// Messages that are not whole blocks must be rejected if padding is off.
fn impossible_lengths(algorithm: Algorithm, operation: Operation) -> Vec<(String, OwnedCase)> {
    let shape = algorithm.shape();
    let sector = shape.kind == Kind::SectorCipher;
    let lengths: &[usize] = match shape.block {
        1 if sector => &[0, 1, algorithm.shortest() - 1],
        1 => &[],
        block => &[1, block - 1, block + 1],
    };
    let case = |length: usize| OwnedCase {
        algorithm,
        operation,
        key: vec![0; shape.key],
        iv: vec![0; shape.iv],
        associated: Vec::new(),
        input: vec![0; length],
        tag: vec![0; shape.tag],
        answer: OwnedAnswer::NoSuchLength,
    };
    lengths.iter().map(|length| (format!("a message of {length} bytes"), case(*length))).collect()
}

/// The answer to a copy is the message itself: for every length up to two cache lines, and for some that are longer.
fn copies(algorithm: Algorithm) -> impl Iterator<Item = (String, OwnedCase)> {
    (0..=128).chain([255, 1000, 1024, 2047]).map(move |length| {
        let mut message = vec![0; length];
        material::fill(Part::Message, length, &mut message);
        let case = OwnedCase {
            algorithm,
            operation: Operation::Copy,
            key: Vec::new(),
            iv: Vec::new(),
            associated: Vec::new(),
            input: message.clone(),
            tag: Vec::new(),
            answer: OwnedAnswer::Output(message),
        };
        (format!("a copy of {length} bytes"), case)
    })
}

#[derive(Deserialize)]
struct VectorFile {
    groups: Vec<CaseGroup>,
}

#[derive(Deserialize)]
struct CaseGroup {
    algorithm: Algorithm,
    cases: Vec<FileCase>,
}

#[derive(Deserialize)]
struct FileCase {
    id: String,
    #[serde(default)]
    key: String,
    #[serde(default)]
    private: String,
    #[serde(default)]
    iv: String,
    #[serde(default)]
    associated: String,
    message: Option<String>,
    #[serde(default)]
    result: String,
    #[serde(default)]
    tag: String,
    #[serde(default = "yes")]
    valid: bool,
}

fn yes() -> bool {
    true
}

fn hex(text: &str) -> Result<Vec<u8>> {
    ensure!(text.len().is_multiple_of(2) && text.is_ascii(), "not hexadecimal: {text}");
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpb_core::frame::{MAX_FRAME, encode};
    use cpb_core::message::Request;

    #[test]
    fn every_algorithm_and_operation_has_known_answers_that_fit_in_a_frame() {
        let vectors = Vectors::load().unwrap();
        let mut frame = [0; MAX_FRAME];
        for &algorithm in Algorithm::ALL {
            for &operation in algorithm.operations() {
                let cases = vectors.cases(algorithm, operation);
                let enough = match operation {
                    // Signing is also shown by verifying, and generating a pair by using it.
                    Operation::GenerateKey => 1,
                    Operation::Sign => 5,
                    // MD5 is older than large test vector sets.
                    _ if algorithm == Algorithm::Md5 => 14,
                    _ => 30,
                };
                assert!(cases.len() >= enough, "{algorithm} {operation}: {}", cases.len());
                for (id, case) in cases {
                    let request = Request::Check { provider: 0, case: case.borrowed() };
                    assert!(encode(&request, &mut frame).is_ok(), "{id}");
                }
            }
        }
    }

    #[test]
    fn an_aead_has_forgeries_and_a_block_mode_impossible_lengths() {
        let vectors = Vectors::load().unwrap();
        let count = |algorithm, answer: OwnedAnswer| {
            let cases = vectors.cases(algorithm, Operation::Decrypt);
            cases.iter().filter(|(_, case)| case.answer == answer).count()
        };
        assert!(count(Algorithm::Aes128Gcm, OwnedAnswer::Refusal) > 100);
        assert_eq!(count(Algorithm::Aes128Cbc, OwnedAnswer::NoSuchLength), 3);
        assert!(count(Algorithm::Aes128CbcHmacSha1Tls, OwnedAnswer::Refusal) > 400);
    }
}
