//! The wire format between a host and a runner, for pipes and for serial lines.
//!
//! A frame is `0x00 COBS( length, version, message, CRC-32 ) 0x00`. The length of the message and the version
//! are 16-bit values, and all values are little-endian. The message is encoded with postcard, and the CRC
//! (ISO-HDLC, as in Ethernet) covers everything before it. Consistent overhead byte stuffing keeps 0x00 out
//! of a frame, so a reader resynchronises at the next 0x00 after garbage. Both sides must have the same
//! version: the host ships the runners that it starts, and a board is flashed from the same source.

use crate::message::{Reply, Request};
use core::fmt;
use crc::{CRC_32_ISO_HDLC, CRC_64_XZ, Crc, Table};
use serde::{Deserialize, Serialize};

/// Version of everything on the wire: frames, messages, and the order of the variants of every enum in them.
pub const VERSION: u16 = 10;

/// The longest message, in bytes. A known answer with 2 KiB of input and 2 KiB of output fits.
pub const MAX_MESSAGE: usize = 6 * 1024;

/// The largest size of a frame in bytes, including everything around the message.
pub const MAX_FRAME: usize = 2 + cobs_length(HEAD + MAX_MESSAGE + TAIL);

const HEAD: usize = 4;
const TAIL: usize = 4;

const fn cobs_length(plain: usize) -> usize {
    plain + plain / 254 + 1
}

static CRC32: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);
static CRC64: Crc<u64, Table<1>> = Crc::<u64, Table<1>>::new(&CRC_64_XZ);

/// The checksum of outputs in a [`Round`](crate::message::Round): CRC-64/XZ over the concatenated parts.
pub fn output_checksum<'a>(parts: impl Iterator<Item = &'a [u8]>) -> u64 {
    let mut digest = CRC64.digest();
    parts.for_each(|part| digest.update(part));
    digest.finalize()
}

/// The reason why the bytes between two delimiters are not a valid frame. The next frame may still be valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameError {
    /// Longer than any frame.
    TooLong,
    /// Not COBS, truncated, or with a wrong checksum: noise on the line.
    Garbled,
    /// A complete frame of another version.
    Version(u16),
    /// A complete frame whose message is not known.
    Message,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameError::TooLong => write!(f, "more than {MAX_FRAME} bytes without a frame's end"),
            FrameError::Garbled => f.write_str("garbled bytes between frames"),
            FrameError::Version(theirs) => write!(
                f,
                "the other side speaks frame version {theirs}, this side {VERSION}: \
                 build or flash both from the same source"
            ),
            FrameError::Message => f.write_str("a frame with a message that is not known"),
        }
    }
}

impl core::error::Error for FrameError {}

/// Writes `message` as a frame into `buffer` ([`MAX_FRAME`] bytes) and returns the frame.
///
/// # Errors
/// Returns [`FrameError::TooLong`] if the message exceeds [`MAX_MESSAGE`].
pub fn encode<'b, T: Serialize>(
    message: &T,
    buffer: &'b mut [u8; MAX_FRAME],
) -> Result<&'b [u8], FrameError> {
    let mut plain = [0; HEAD + MAX_MESSAGE + TAIL];
    let body = postcard::to_slice(message, &mut plain[HEAD..HEAD + MAX_MESSAGE]);
    let length = body.map_err(|_| FrameError::TooLong)?.len();
    plain[..2].copy_from_slice(&(length as u16).to_le_bytes());
    plain[2..HEAD].copy_from_slice(&VERSION.to_le_bytes());
    let end = HEAD + length;
    let checksum = CRC32.checksum(&plain[..end]);
    plain[end..end + TAIL].copy_from_slice(&checksum.to_le_bytes());

    buffer[0] = 0;
    let stuffed = cobs::encode(&plain[..end + TAIL], &mut buffer[1..]);
    buffer[1 + stuffed] = 0;
    Ok(&buffer[..stuffed + 2])
}

/// Collects bytes until they are a frame.
pub struct Decoder {
    buffer: [u8; MAX_FRAME],
    length: usize,
    /// Whether the bytes since the last delimiter exceed any frame and are being dropped.
    flooded: bool,
}

impl Default for Decoder {
    fn default() -> Self {
        Decoder { buffer: [0; MAX_FRAME], length: 0, flooded: false }
    }
}

impl Decoder {
    /// Takes one byte. If it completes a frame, returns the decoded bytes of the message, or the error in the
    /// bytes received. Consecutive delimiters do not form a frame.
    pub fn push(&mut self, byte: u8) -> Option<Result<&[u8], FrameError>> {
        if byte != 0 {
            match self.buffer.get_mut(self.length) {
                Some(place) => {
                    *place = byte;
                    self.length += 1;
                }
                None => self.flooded = true,
            }
            return None;
        }
        let length = core::mem::take(&mut self.length);
        if core::mem::take(&mut self.flooded) {
            return Some(Err(FrameError::TooLong));
        }
        (length > 0).then(|| open(&mut self.buffer[..length]))
    }
}

/// Unpacks a frame, given without its delimiters.
fn open(stuffed: &mut [u8]) -> Result<&[u8], FrameError> {
    let length = cobs::decode_in_place(stuffed).map_err(|_| FrameError::Garbled)?;
    let plain = stuffed.get(..length).ok_or(FrameError::Garbled)?;
    let (covered, checksum) = plain.split_last_chunk::<TAIL>().ok_or(FrameError::Garbled)?;
    let (head, message) = covered.split_first_chunk::<HEAD>().ok_or(FrameError::Garbled)?;
    let stated = usize::from(u16::from_le_bytes([head[0], head[1]]));
    if CRC32.checksum(covered) != u32::from_le_bytes(*checksum) || stated != message.len() {
        return Err(FrameError::Garbled);
    }
    match u16::from_le_bytes([head[2], head[3]]) {
        VERSION => Ok(message),
        theirs => Err(FrameError::Version(theirs)),
    }
}

/// Parses a message returned by [`Decoder::push`]. The message must be consumed entirely.
///
/// # Errors
/// Returns [`FrameError::Message`] if the message does not parse.
pub fn parse<'a, T: Deserialize<'a>>(message: &'a [u8]) -> Result<T, FrameError> {
    match postcard::take_from_bytes(message) {
        Ok((parsed, [])) => Ok(parsed),
        _ => Err(FrameError::Message),
    }
}

/// Parses a message from the host.
///
/// # Errors
/// Returns [`FrameError::Message`] if the message does not parse.
pub fn parse_request(message: &[u8]) -> Result<Request<'_>, FrameError> {
    parse(message)
}

/// Parses a message from the runner.
///
/// # Errors
/// Returns [`FrameError::Message`] if the message does not parse.
pub fn parse_reply(message: &[u8]) -> Result<Reply<'_>, FrameError> {
    parse(message)
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
