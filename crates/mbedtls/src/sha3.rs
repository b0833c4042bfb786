//! SHA-3, which 3.2 and newer have and 2.28 does not.

use crate::Sha3;
use crate::digests::hash;
use crate::types::*;

// sha3.h: mbedtls_sha3_id
const SHA3_256: c_int = 2;
const SHA3_512: c_int = 4;

hash!(
    /// SHA3-256
    Sha3_256: Sha3, Sha3Context, sha3_starts(SHA3_256), sha3_update, sha3_finish(32)
);
hash!(
    /// SHA3-512
    Sha3_512: Sha3, Sha3Context, sha3_starts(SHA3_512), sha3_update, sha3_finish(64)
);
