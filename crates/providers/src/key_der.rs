//! Keys in DER, for libraries that read and write no other format: RSA keys as in PKCS #1 (RFC 8017, appendix
//! A.1), and private keys of curves as in SEC 1 (RFC 5915).

use cpb_core::Error;
use cpb_core::public_key::{RSA_NUMBERS, rsa_numbers, rsa_places};
use der::asn1::{ObjectIdentifier, UintRef};
use der::{Decode, Encode};
use sec1::{EcParameters, EcPrivateKey};

/// RFC 5480, section 2.1.1.1.
pub(crate) const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
pub(crate) const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");

/// The numbers that `key` consists of.
fn numbers(modulus: usize, key: &[u8]) -> Result<Vec<UintRef<'_>>, Error> {
    rsa_numbers(modulus, key).map(|number| UintRef::new(number).map_err(unfit)).collect()
}

/// `RSAPrivateKey`; its version is a number like the others.
pub(crate) fn rsa_private(modulus: usize, key: &[u8]) -> Result<Vec<u8>, Error> {
    let mut numbers = numbers(modulus, key)?;
    numbers.insert(0, UintRef::new(&[0]).map_err(unfit)?);
    numbers.to_der().map_err(unfit)
}

/// `RSAPublicKey`
pub(crate) fn rsa_public(modulus: usize, key: &[u8]) -> Result<Vec<u8>, Error> {
    numbers(modulus, key)?.to_der().map_err(unfit)
}

/// Reads an `RSAPrivateKey` into `private`, which has the length of a private key.
pub(crate) fn read_rsa_private(
    modulus: usize,
    der: &[u8],
    private: &mut [u8],
) -> Result<(), Error> {
    let numbers = Vec::<UintRef<'_>>::from_der(der).map_err(unfit)?;
    let numbers = numbers.get(1..=RSA_NUMBERS).ok_or(Error::WrongAnswer)?;
    let mut both = numbers.iter().zip(rsa_places(modulus, private));
    both.try_for_each(|(number, place)| right_aligned(number.as_bytes(), place))
}

/// `ECPrivateKey`, without its public half.
pub(crate) fn curve_private(curve: ObjectIdentifier, key: &[u8]) -> Result<Vec<u8>, Error> {
    let parameters = Some(EcParameters::NamedCurve(curve));
    EcPrivateKey { private_key: key, parameters, public_key: None }.to_der().map_err(unfit)
}

/// Reads an `ECPrivateKey`, which must contain its public half.
pub(crate) fn read_curve_private(
    der: &[u8],
    private: &mut [u8],
    public: &mut [u8],
) -> Result<(), Error> {
    let key = EcPrivateKey::from_der(der).map_err(unfit)?;
    right_aligned(key.private_key, private)?;
    let point = key.public_key.filter(|point| point.len() == public.len());
    public.copy_from_slice(point.ok_or(Error::WrongAnswer)?);
    Ok(())
}

/// Writes `number` with zeros before it.
fn right_aligned(number: &[u8], place: &mut [u8]) -> Result<(), Error> {
    let zeros = place.len().checked_sub(number.len()).ok_or(Error::WrongAnswer)?;
    let (high, low) = place.split_at_mut(zeros);
    high.fill(0);
    low.copy_from_slice(number);
    Ok(())
}

/// The error for a value that is too long for DER, or for bytes that are not DER.
fn unfit(_: der::Error) -> Error {
    Error::WrongAnswer
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpb_core::Algorithm;

    #[test]
    fn an_rsa_key_is_the_same_after_der_and_back() {
        for (algorithm, modulus) in [(Algorithm::Rsa2048Pss, 256), (Algorithm::Rsa4096Pkcs1, 512)] {
            let key = algorithm.timed_private_key();
            let der = rsa_private(modulus, key).unwrap();
            let mut back = vec![0xff; key.len()];
            read_rsa_private(modulus, &der, &mut back).unwrap();
            assert_eq!(back, key);
            // SEQUENCE, its length in two bytes, INTEGER, its length in two bytes, a sign.
            let public = rsa_public(modulus, algorithm.timed_public_key()).unwrap();
            assert_eq!(public[0..2], [0x30, 0x82]);
            assert_eq!(public[9..9 + modulus], key[..modulus]);
        }
    }

    #[test]
    fn a_curves_key_is_the_same_after_der_and_back() {
        let (mut private, mut public) = ([0xff; 32], [0xff; 3]);
        // RFC 5915, section 3. Without the public half there is nothing to read.
        let der = curve_private(P256, &[7; 32]).unwrap();
        assert_eq!(der[..7], [0x30, der.len() as u8 - 2, 2, 1, 1, 4, 32]);
        assert!(read_curve_private(&der, &mut private, &mut public).is_err());
        let whole =
            EcPrivateKey { private_key: &[7; 31], parameters: None, public_key: Some(&[4, 5, 6]) };
        read_curve_private(&whole.to_der().unwrap(), &mut private, &mut public).unwrap();
        assert_eq!((private[0], &private[1..], public), (0, &[7; 31][..], [4, 5, 6]));
    }
}
