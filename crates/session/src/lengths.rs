//! How long keys and requests may be.

use cpb_core::algorithm::Shape;
use cpb_core::{Algorithm, Kind, Unsupported};

/// The most that a generator is asked for at once, in bytes (SP 800-90A, tables 2 and 3): libraries
/// that chained smaller requests would have other outputs.
pub const REQUEST: usize = 1 << 16;

/// Bytes of a generator's key before the personalisation string: the entropy input and the nonce.
pub const SEED: usize = Algorithm::HmacDrbgSha256.shape().key;

/// Whether keys are as long as an algorithm takes them: an HMAC's may be of any length, and behind a
/// generator's seed there may be a personalisation string.
///
/// # Errors
/// [`Unsupported::Length`] if one has another length, or if there is none.
pub fn keys_fit(algorithm: Algorithm, keys: &[&[u8]]) -> Result<(), Unsupported> {
    let Shape { key: length, kind, .. } = algorithm.shape();
    let fits = |key: &&[u8]| match kind {
        _ if algorithm.takes_any_key() => true,
        Kind::Generator => key.len() >= length,
        _ => key.len() == length,
    };
    let none_wanted = length == 0;
    let there = !keys.is_empty() && keys.iter().all(fits);
    if none_wanted || there { Ok(()) } else { Err(Unsupported::Length) }
}
