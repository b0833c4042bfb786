// Sessions of one variant's SHA-3, included behind digests.rs: 3.6 has it, and 2.28 has not.

hash!(
    sha3_256, Sha3Context, sha3_init, sha3_free,
    |context| library::sha3_starts(context, ffi::SHA3_256), sha3_update,
    |context, output| library::sha3_finish(context, output, 32)
);
hash!(
    sha3_512, Sha3Context, sha3_init, sha3_free,
    |context| library::sha3_starts(context, ffi::SHA3_512), sha3_update,
    |context, output| library::sha3_finish(context, output, 64)
);
