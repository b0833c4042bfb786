//! The lengths of the parts of a job.

use crate::algorithm::{Algorithm, Kind, Operation};
use crate::public_key::{Parts, parts};
use crate::tls_record;

/// The lengths of the parts of a job, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lengths {
    /// The key.
    pub key: usize,
    /// Associated data. For an AEAD the workload sets the length.
    pub associated: usize,
    /// The input: the message; for a record, with room for MAC and padding.
    pub input: usize,
    /// The output.
    pub output: usize,
    /// What accompanies the input or output: an AEAD's tag, a signature, an encapsulation.
    pub tag: usize,
}

impl Algorithm {
    /// The lengths of the parts for an operation on a message of `message` bytes.
    pub const fn lengths(self, operation: Operation, message: usize) -> Lengths {
        let plain = Lengths { key: 0, associated: 0, input: message, output: 0, tag: 0 };
        let Some(parts) = parts(self) else {
            let shape = self.shape();
            let output = self.output_length(message);
            let plain = Lengths { key: shape.key, output, tag: shape.tag, ..plain };
            return match shape.kind {
                Kind::Record => Lengths { associated: tls_record::HEADER, input: output, ..plain },
                _ => plain,
            };
        };
        let Parts { private, public, signature, secret, encapsulation, .. } = parts;
        match operation {
            Operation::Sign => Lengths { key: private, tag: signature, ..plain },
            Operation::Verify => Lengths { key: public, tag: signature, ..plain },
            Operation::KeyAgreement => Lengths { key: private, output: secret, ..plain },
            Operation::Encapsulate => {
                Lengths { key: public, output: secret, tag: encapsulation, ..plain }
            }
            Operation::Decapsulate => {
                Lengths { key: private, output: secret, tag: encapsulation, ..plain }
            }
            _ => Lengths { output: private + public, ..plain },
        }
    }
}
