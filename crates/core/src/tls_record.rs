//! The contents of the buffers of a [`Kind::Record`](crate::Kind::Record).
//!
//! A TLS record is a message, its MAC, and padding to whole blocks, encrypted together (RFC 2246, section
//! 6.2.3.2). Each byte of the padding, including the last, is the number of padding bytes minus one. Input
//! and output of a job both have the record's length. The input of an encryption is ignored after the
//! message. The output of a decryption has MAC and padding after the message.
//!
//! The associated data is the header that the MAC covers before the message: sequence number (8 bytes), type,
//! version (2) and the message's length (2). A decryption learns the length from the padding and ignores the
//! header's. The version is that of TLS 1.0, which has no IV in the record. The record's IV is therefore the
//! job's, and everything that is encrypted is known. TLS 1.1 and later add the IV, one more block; the work
//! is the same.

use crate::algorithm::Operation;

/// Bytes of the header.
pub const HEADER: usize = 13;
/// Bytes of the MAC: HMAC with SHA-1.
pub const MAC: usize = 20;
/// Bytes of AES's key. They come first in the key; HMAC's key follows.
pub const CIPHER_KEY: usize = 16;
/// Bytes of the longest message (RFC 2246, section 6.2.1).
pub const LONGEST: usize = 1 << 14;

/// The type and version of timed records: application data of TLS 1.0.
const TYPE_AND_VERSION: [u8; 3] = [23, 3, 1];
const SEQUENCE_NUMBER: usize = 8;
const BLOCK: usize = 16;

/// Bytes of the record that protects a message of `message` bytes, with minimal padding.
pub const fn length(message: usize) -> usize {
    (message + MAC + 1).next_multiple_of(BLOCK)
}

/// The longest message that a record of `record` bytes protects; `None` if no record has that length.
pub const fn longest_in(record: usize) -> Option<usize> {
    match record.checked_sub(MAC + 1) {
        Some(message) if record.is_multiple_of(BLOCK) => Some(message),
        _ => None,
    }
}

/// The message's length according to the header.
pub fn stated(header: &[u8]) -> Option<usize> {
    match header {
        [.., high, low] if header.len() == HEADER => {
            Some(usize::from(u16::from_be_bytes([*high, *low])))
        }
        _ => None,
    }
}

/// The length of the message in a known answer. For a decryption it is the longest that the record has room
/// for.
pub(crate) fn message(operation: Operation, header: &[u8], record: usize) -> Option<usize> {
    match operation {
        Operation::Decrypt => longest_in(record),
        _ => stated(header).filter(|message| length(*message) == record),
    }
}

/// Completes `header`, which already has its sequence number, for a timed record of `message` bytes.
pub(crate) fn state(message: usize, header: &mut [u8]) {
    let [kind, major, minor] = TYPE_AND_VERSION;
    let [high, low] = (message as u16).to_be_bytes();
    if let Some(rest) = header.get_mut(SEQUENCE_NUMBER..HEADER) {
        rest.copy_from_slice(&[kind, major, minor, high, low]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::fill_associated;
    use crate::{Algorithm, CryptoWorkload, Phase, Unsupported};

    #[test]
    fn a_record_is_whole_blocks_with_room_for_mac_and_one_byte_of_padding() {
        for (message, record) in [(0, 32), (11, 32), (12, 48), (27, 48), (28, 64), (LONGEST, 16416)]
        {
            assert_eq!(length(message), record, "{message}");
        }
        for message in 0..100 {
            let longest = longest_in(length(message)).expect("a record's length");
            assert!(longest >= message && length(longest) == length(message), "{message}");
            assert_ne!(length(longest + 1), length(message), "{message}");
        }
        assert_eq!((longest_in(16), longest_in(33), longest_in(0)), (None, None, None));
    }

    #[test]
    fn a_workload_of_records_counts_the_message_and_has_a_header() {
        let algorithm = Algorithm::Aes128CbcHmacSha1Tls;
        let longest = CryptoWorkload::new(algorithm, Operation::Encrypt, LONGEST as u32);
        assert_eq!((longest.valid(), longest.bytes()), (Ok(()), 1 << 14));
        let lengths = longest.lengths();
        assert_eq!((lengths.input, lengths.output, lengths.associated), (16416, 16416, HEADER));
        let longer = CryptoWorkload { message: LONGEST as u32 + 1, ..longest };
        assert_eq!(longer.valid(), Err(Unsupported::Length));
        let more = CryptoWorkload { associated: 13, ..longest };
        assert_eq!(more.valid(), Err(Unsupported::Length));
        let stream = CryptoWorkload { phase: Phase::Update, ..longest };
        assert_eq!(stream.valid(), Err(Unsupported::Phase));
    }

    #[test]
    fn a_header_states_the_length_that_it_was_made_for() {
        let workload =
            CryptoWorkload::new(Algorithm::Aes128CbcHmacSha1Tls, Operation::Encrypt, 1420);
        let mut header = [0; HEADER];
        fill_associated(&workload, &mut header);
        assert_eq!(stated(&header), Some(1420));
        assert_eq!(header[8..11], [23, 3, 1]);
        assert_eq!(stated(&header[1..]), None);
        assert_eq!(message(Operation::Encrypt, &header, length(1420)), Some(1420));
        assert_eq!(message(Operation::Encrypt, &header, length(1420) + 16), None);
        assert_eq!(message(Operation::Decrypt, &header, length(1420) + 16), Some(1451));
    }
}
