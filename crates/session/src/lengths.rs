//! The permitted lengths of keys and requests.

use cpb_core::algorithm::Shape;
use cpb_core::{Algorithm, Kind, Unsupported};

/// The largest request to a generator, in bytes (SP 800-90A, tables 2 and 3). A library that chained smaller
/// requests would give other outputs.
pub const REQUEST: usize = 1 << 16;

/// Bytes of a generator's key before the personalisation string: the entropy input and the nonce.
pub const SEED: usize = Algorithm::HmacDrbgSha256.shape().key;

/// Checks that the keys have a length that the algorithm accepts. An HMAC key may have any length, and a
/// personalisation string may follow a generator's seed.
///
/// # Errors
/// Returns [`Unsupported::Length`] if a key has another length, or if there is no key.
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
