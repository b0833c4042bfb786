//! Keys and IVs in the kernel's formats. They differ from the published ones for CCM, and for the template `authenc`,
//! which computes encrypt-then-MAC (crypto/ccm.c, crypto/authenc.c, include/crypto/authenc.h).

use cpb_core::Algorithm;
use std::borrow::Cow;

/// `CRYPTO_AUTHENC_KEYA_PARAM`.
const PARAMETER: u16 = 1;

/// A `struct rtattr` in the machine's byte order, and the length of the cipher's key, whose bytes are in network order.
const HEADER: usize = 8;

/// How many bytes of the key of cpb's encrypt-then-MAC algorithms are the cipher's. They come first.
const CIPHER_KEY: usize = 16;

fn is_encrypt_then_mac(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::Aes128CbcHmacSha1Etm | Algorithm::Aes128CbcHmacSha256Etm)
}

/// The key as the kernel expects it. For `authenc` that is a header, the key of the MAC, and the key of the cipher.
pub(crate) fn key(algorithm: Algorithm, key: &[u8]) -> Cow<'_, [u8]> {
    if !is_encrypt_then_mac(algorithm) || key.len() < CIPHER_KEY {
        return Cow::Borrowed(key);
    }
    let (cipher, mac) = key.split_at(CIPHER_KEY);
    let [length, parameter] = [HEADER as u16, PARAMETER].map(u16::to_ne_bytes);
    let cipher_length = (cipher.len() as u32).to_be_bytes();
    Cow::Owned([&length[..], &parameter, &cipher_length, mac, cipher].concat())
}

/// How many bytes of the IV the kernel is to authenticate. `authenc` authenticates what it is given as associated data,
/// and ciphertext; IPsec includes the IV in the former.
pub(crate) fn authenticated_iv(algorithm: Algorithm) -> usize {
    if is_encrypt_then_mac(algorithm) { algorithm.shape().iv } else { 0 }
}

/// The IV in the kernel's format. For CCM it is a whole first counter block (RFC 3610, section 2.3), which
/// states how many bytes the length field has.
pub(crate) fn iv(algorithm: Algorithm, iv: &[u8]) -> Vec<u8> {
    match algorithm {
        Algorithm::Aes128Ccm | Algorithm::Aes192Ccm | Algorithm::Aes256Ccm => {
            let counted_in = 15 - iv.len();
            let mut block = vec![counted_in as u8 - 1];
            block.extend(iv);
            block.resize(16, 0);
            block
        }
        _ => iv.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_authenc_is_a_header_then_the_mac_s_key_then_the_cipher_s() {
        let given: Vec<u8> = (1..=36).collect();
        let made = key(Algorithm::Aes128CbcHmacSha1Etm, &given);
        let (header, keys) = made.split_at(8);
        assert_eq!(header[..2], 8_u16.to_ne_bytes());
        assert_eq!(header[2..4], 1_u16.to_ne_bytes());
        assert_eq!(header[4..], [0, 0, 0, 16]);
        assert_eq!(keys, [&given[16..], &given[..16]].concat());
        assert_eq!(authenticated_iv(Algorithm::Aes128CbcHmacSha1Etm), 16);
    }

    #[test]
    fn an_iv_of_ccm_is_a_counter_block_that_says_its_length() {
        let made = iv(Algorithm::Aes128Ccm, &[7; 13]);
        assert_eq!(made, [&[1][..], &[7; 13], &[0, 0]].concat());
    }

    #[test]
    fn other_keys_are_used_as_they_are() {
        assert_eq!(*key(Algorithm::Aes128Gcm, &[7; 16]), [7; 16]);
        assert_eq!(authenticated_iv(Algorithm::Aes128Gcm), 0);
        assert_eq!(iv(Algorithm::Aes128Gcm, &[7; 12]), [7; 12]);
    }
}
