//! NXP's CAAM (cryptographic acceleration and assurance module) of the i.MX RT1170 and of many i.MX and Layerscape
//! processors: AES, DES, SHA, HMAC and random numbers.
//!
//! The engine fetches job descriptors from a ring in memory. A descriptor is a small program of up to 64 words that
//! loads keys, contexts and data, starts an operation, and stores the results.

pub mod descriptor;
pub mod registers;
pub mod status;
