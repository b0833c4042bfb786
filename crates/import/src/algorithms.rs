//! Converts other tools' names of algorithms to cpb's spelling.

/// Hash functions in other tools' spelling, without hyphens.
const HASHES: [(&str, &str); 14] = [
    ("sha1", "sha-1"),
    ("sha224", "sha-224"),
    ("sha256", "sha-256"),
    ("sha384", "sha-384"),
    ("sha512", "sha-512"),
    ("sha2224", "sha-224"),
    ("sha2256", "sha-256"),
    ("sha2384", "sha-384"),
    ("sha2512", "sha-512"),
    ("sha3224", "sha3-224"),
    ("sha3256", "sha3-256"),
    ("sha3384", "sha3-384"),
    ("sha3512", "sha3-512"),
    ("sha160", "sha-1"),
];

/// An algorithm in cpb's spelling. If cpb does not have it, the name in lower case with hyphens. OpenSSL writes
/// `aes-128 cbc`, Mbed TLS `AES-CBC-128`, wolfCrypt `SHA3-256`, libgcrypt `SHA256`, BoringSSL `EVP-AES-128-GCM`.
pub(super) fn ours(name: &str) -> String {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '.'))
        .filter(|word| !word.is_empty() && *word != "evp" && *word != "id")
        .collect();
    let keyed = |word: &str| matches!(word, "128" | "192" | "256");
    let cipher =
        |cipher: &&'static str| words.first()?.strip_prefix(*cipher).map(|rest| (*cipher, rest));
    if let Some((cipher, rest)) = ["aes", "camellia"].iter().find_map(cipher) {
        let others = || std::iter::once(rest).chain(words[1..].iter().copied());
        // The first number is the key's; another one belongs to a digest.
        let place = others().position(keyed);
        let key = place.and_then(|place| others().nth(place));
        let mode = others().enumerate().filter(|(at, word)| !word.is_empty() && Some(*at) != place);
        let mode = mode.map(|(_, word)| word).collect::<Vec<_>>().join("-");
        if let Some(key) = key.filter(|_| !mode.is_empty()) {
            return format!("{cipher}-{key}-{mode}");
        }
    }
    let joined = words.concat();
    let hash = |joined: &str| HASHES.iter().find(|(theirs, _)| *theirs == joined);
    if let Some((_, hash)) = hash(&joined) {
        return (*hash).to_owned();
    }
    if let Some((_, hash)) = joined.strip_prefix("hmac").and_then(hash) {
        return format!("hmac-{hash}");
    }
    match joined.as_str() {
        "chacha20poly1305" | "chachapoly" | "chapoly" => "chacha20-poly1305".to_owned(),
        // If no mode is given it is CBC: in OpenSSL's speed, and in the benchmarks of Mbed TLS and wolfCrypt.
        "3des" | "desede3" | "desede3cbc" => "3des-cbc".to_owned(),
        "des" => "des-cbc".to_owned(),
        "desede3ecb" | "ecbdes3ede" => "3des-ecb".to_owned(),
        "ecbdes" => "des-ecb".to_owned(),
        _ => words.join("-"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpb_core::Algorithm;

    #[test]
    fn every_tool_s_spelling_is_the_same_algorithm() {
        let cases = [
            ("aes-256-cbc", "aes-256-cbc"),
            ("AES-256-CBC", "aes-256-cbc"),
            ("aes-128 cbc", "aes-128-cbc"),
            ("AES-CBC-192", "aes-192-cbc"),
            ("AES-GCM-128", "aes-128-gcm"),
            ("EVP-AES-128-GCM", "aes-128-gcm"),
            ("id-aes128-GCM", "aes-128-gcm"),
            ("aes-256-ctr", "aes-256-ctr"),
            ("AES256-XTS", "aes-256-xts"),
            ("sha1", "sha-1"),
            ("SHA", "sha"),
            ("SHA-256", "sha-256"),
            ("SHA2-256", "sha-256"),
            ("sha512", "sha-512"),
            ("SHA3-256", "sha3-256"),
            ("hmac(sha256)", "hmac-sha-256"),
            ("HMAC-SHA256", "hmac-sha-256"),
            ("ChaCha20-Poly1305", "chacha20-poly1305"),
            ("ChaCha20+Poly1305", "chacha20-poly1305"),
            ("camellia-128 cbc", "camellia-128-cbc"),
            ("CAMELLIA-CBC-256", "camellia-256-cbc"),
            ("3DES", "3des-cbc"),
            ("des-ede3-cbc", "3des-cbc"),
            ("des ede3", "3des-cbc"),
            ("des cbc", "des-cbc"),
            ("DES", "des-cbc"),
            ("ecb(des3_ede)", "3des-ecb"),
            ("DES-EDE3-ECB", "3des-ecb"),
            ("DES-ECB", "des-ecb"),
            ("AES-CMAC-128", "aes-128-cmac"),
            ("MD5", "md5"),
            ("AES", "aes"),
            ("", ""),
        ];
        for (theirs, ours_is) in cases {
            assert_eq!(ours(theirs), ours_is, "{theirs}");
        }
        for algorithm in Algorithm::ALL {
            assert_eq!(ours(algorithm.name()), algorithm.name());
        }
    }
}
