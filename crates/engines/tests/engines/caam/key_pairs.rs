//! Key pairs by the CAAM's provider: known answers, the loop, and what it refuses.

use super::driver::{PLACE, TIMING, board};
use super::provider::{HOW, with_provider};
use crate::rounds::{BUDGET, plan};
use crate::vectors::{self, Count};
use cpb_core::measure::Budget;
use cpb_core::public_key::parts;
use cpb_core::{
    Algorithm, CryptoWorkload, Data, Error, Job, Meaning, Operation, Provider, Unsupported, check,
};
use cpb_drivers::caam::provider::CaamProvider;
use cpb_drivers::caam::{Caam, Completion, Work};
use cpb_engines::caam::Timing;
use std::cell::RefCell;

#[test]
fn every_known_answer_of_key_pairs_is_right() {
    with_provider(Completion::Polling, |provider, _| {
        for (algorithm, least) in [
            (Algorithm::Rsa2048Pkcs1, 58),
            (Algorithm::Rsa3072Pkcs1, 48),
            (Algorithm::Rsa4096Pkcs1, 47),
            (Algorithm::EcdsaP256, 79),
            (Algorithm::EcdsaP384, 84),
            (Algorithm::EcdhP256, 64),
            (Algorithm::EcdhP384, 65),
        ] {
            let Count { right, unsupported } = vectors::ask(provider, &[algorithm]);
            assert!(right >= least, "{algorithm}: {right} right");
            assert_eq!(unsupported, 0, "{algorithm}: {right} right");
        }
    });
}

/// Signatures that are drawn at random are accepted, tampered ones refused; so are generated pairs.
#[test]
fn key_pairs_are_right_in_the_loop() {
    for how in [HOW[0], HOW[1]] {
        with_provider(how, |provider, clock| {
            for (algorithm, operation) in [
                (Algorithm::Rsa2048Pkcs1, Operation::Sign),
                (Algorithm::Rsa2048Pkcs1, Operation::Verify),
                (Algorithm::EcdsaP256, Operation::Sign),
                (Algorithm::EcdsaP384, Operation::Sign),
                (Algorithm::EcdsaP256, Operation::Verify),
                (Algorithm::EcdhP256, Operation::KeyAgreement),
                (Algorithm::EcdhP384, Operation::KeyAgreement),
                (Algorithm::EcdsaP256, Operation::GenerateKey),
                (Algorithm::EcdhP384, Operation::GenerateKey),
            ] {
                let length = algorithm.fixed_message(operation).expect("a pair") as u32;
                let workload = CryptoWorkload::new(algorithm, operation, length).into();
                let budget = &Budget { iterations: 2, batches: 1, latencies: 0, ..BUDGET };
                let plan = cpb_round::Plan { budget, ..plan(provider, &workload, &clock) };
                let seen = cpb_round::run(plan, &mut |_| ());
                seen.unwrap_or_else(|error| panic!("{workload}: {error}"));
            }
        });
    }
}

/// Runs one operation with the message and the tag that are given. Returns the output.
fn once(
    provider: &dyn Provider,
    (algorithm, operation): (Algorithm, Operation),
    key: &[u8],
    message: &[u8],
    tag: &mut [u8],
) -> Result<Vec<u8>, Error> {
    let workload = CryptoWorkload::new(algorithm, operation, message.len() as u32);
    let mut output = vec![0; workload.lengths().output];
    let data = Data::Apart { input: message, output: &mut output };
    let mut jobs = [Job { key: 0, iv: &[], associated: &[], data, tag }];
    let body = &mut |session: &mut dyn cpb_core::Session| check::once(session, 0);
    provider.session(&workload, &[key], &mut jobs, body)?;
    Ok(output)
}

const VERIFY: (Algorithm, Operation) = (Algorithm::EcdsaP256, Operation::Verify);
const AGREE: (Algorithm, Operation) = (Algorithm::EcdhP256, Operation::KeyAgreement);
const RSA: Algorithm = Algorithm::Rsa2048Pkcs1;

#[test]
fn what_cannot_be_right_is_refused_and_the_next_operation_is_right() {
    for how in [HOW[0], HOW[1]] {
        with_provider(how, |provider, _| {
            let private = AGREE.0.timed_private_key();
            let public = AGREE.0.timed_public_key();
            let right = once(provider, AGREE, private, public, &mut []).expect("a secret");
            let refused = Err(Error::Refused);
            // Another form of a point, a coordinate that is too large, a point beside the curve, and the scalar zero.
            for (place, byte) in [(0, 2), (1, 0xFF), (64, public[64] ^ 1)] {
                let mut other = public.to_vec();
                other[place] = byte;
                if byte == 0xFF {
                    other[1..33].fill(byte);
                }
                assert_eq!(once(provider, AGREE, private, &other, &mut []), refused);
                let mut signature = [1; 64];
                assert_eq!(once(provider, VERIFY, &other, &[1; 32], &mut signature), refused);
            }
            assert_eq!(once(provider, AGREE, &[0; 32], public, &mut []), refused);
            // Parts of a signature that are zero or not below the order.
            for byte in [0, 0xFF] {
                assert_eq!(once(provider, VERIFY, public, &[1; 32], &mut [byte; 64]), refused);
            }
            assert_eq!(
                once(provider, AGREE, &private[1..], public, &mut []),
                Err(Unsupported::Length.into())
            );
            assert_eq!(once(provider, AGREE, private, public, &mut []), Ok(right));
        });
    }
}

/// The engine rejects such a key itself.
#[test]
fn an_even_modulus_is_an_engine_s_error_about_the_key() {
    with_provider(Completion::Polling, |provider, _| {
        let length = parts(RSA).expect("a pair").signature;
        let mut signature = vec![1; length];
        let sign = (RSA, Operation::Sign);
        let private = RSA.timed_private_key();
        once(provider, sign, private, &[7; 32], &mut signature).expect("a signature");
        let mut public = RSA.timed_public_key().to_vec();
        public[length - 1] ^= 1;
        let verify = (RSA, Operation::Verify);
        let told = once(provider, verify, &public, &[7; 32], &mut signature.clone());
        assert!(matches!(told, Err(Error::Engine { meaning: Meaning::Key, .. })), "{told:?}");
        // A signature that is not below the modulus does not get that far.
        let large = &mut vec![0xFF; length];
        assert_eq!(once(provider, verify, &public, &[7; 32], large), Err(Error::Refused));
        let public = RSA.timed_public_key();
        assert_eq!(once(provider, verify, public, &[7; 32], &mut signature), Ok(Vec::new()));
        assert_eq!(once(provider, verify, public, &[8; 32], &mut signature), Err(Error::Refused));
    });
}

#[test]
fn an_accelerator_that_never_completes_is_a_timeout() {
    for how in [HOW[0], HOW[1]] {
        let mut work = Box::new(Work::<8>::EMPTY);
        let slow = Timing { word_product: 1e12, ..TIMING };
        let caam = RefCell::new(Caam::new(board(slow), PLACE, &mut work).expect("an engine"));
        let provider = CaamProvider::new(&caam, how, "model");
        let (private, public) = (AGREE.0.timed_private_key(), AGREE.0.timed_public_key());
        assert_eq!(once(&provider, AGREE, private, public, &mut []), Err(Error::Timeout));
    }
}
