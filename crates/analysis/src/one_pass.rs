//! Encryption and its MAC in one pass beside the same in two: what a request for both saves over a request for each.
//! Libraries that make two calls of it, as Mbed TLS does, have no one pass.
//!
//! The two passes are the sum of a cipher's time and of a MAC's over as many bytes, each by what does that part of the
//! one pass. (One pass authenticates the IV as well, a block that the MAC alone does not have.) On an emulated CPU only
//! what the CPU does alone is compared.

use crate::evidence_policy::{Metric, meaningful};
use crate::execution::{self, ExecutorVerdict};
use crate::measured::{Measured, measured};
use crate::passes::Passes;
use crate::ratio::{self, Basis, Ratio};
use crate::uncertain::Uncertain;
use cpb_core::{Algorithm, CryptoWorkload, Operation, Workload};
use cpb_record::{Evidence, Record};
use serde::Serialize;

/// One provider's one pass in one direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OnePass {
    /// The machine.
    pub machine: String,
    /// The kind of evidence.
    pub evidence: Evidence,
    /// The provider of the one pass.
    pub provider: String,
    /// The provider of the cipher alone.
    pub cipher: String,
    /// The provider of the MAC alone.
    pub mac: String,
    /// Encryption or decryption, with a size of 0.
    pub workload: Workload,
    /// At each message length at which all three were measured, ascending.
    pub sizes: Vec<OnePassAt>,
    /// Why they are not compared; `None` if they are.
    pub refused: Option<&'static str>,
}

/// One message length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OnePassAt {
    /// Message length.
    pub bytes: u32,
    /// Time of two passes divided by the time of one. `None` if they are not compared.
    pub gain: Option<Ratio>,
    /// Time of encryption divided by the time of decryption, both in one pass. `None` for encryption, and if that was not
    /// measured.
    pub decryption: Option<Ratio>,
}

/// cpb's own drivers of an engine that does both in one job (`crates/drivers/src/caam/provider.rs`).
const OWN_DRIVERS: [&str; 3] = ["caam", "caam-interrupts", "caam-coalesced"];

/// The cipher and the MAC that an algorithm of encrypt-then-MAC consists of.
fn parts_of(algorithm: Algorithm) -> Option<[Algorithm; 2]> {
    match algorithm {
        Algorithm::Aes128CbcHmacSha1Etm => Some([Algorithm::Aes128Cbc, Algorithm::HmacSha1]),
        Algorithm::Aes128CbcHmacSha256Etm => Some([Algorithm::Aes128Cbc, Algorithm::HmacSha256]),
        _ => None,
    }
}

/// The providers of the cipher and of the MAC that do these parts of a provider's one pass. Linux names its template
/// after both drivers, `authenc(hmac(sha1-avx2),cbc-aes-aesni)`, and a driver of an engine after both algorithms,
/// `authenc-hmac-sha1-cbc-aes-caam`. cpb's own drivers of an engine do each part themselves. `None` for any other.
fn providers_of(provider: &str) -> Option<[String; 2]> {
    let Some((interface, driver)) = provider.split_once(':') else {
        let is_engine = OWN_DRIVERS.contains(&provider);
        return is_engine.then(|| [provider.to_owned(), provider.to_owned()]);
    };
    let named = |cipher: &str, mac: &str| [cipher, mac].map(|name| format!("{interface}:{name}"));
    let template = driver.strip_prefix("authenc(").and_then(|inner| inner.strip_suffix(')'));
    if let Some((mac, cipher)) = template.and_then(split_at_comma) {
        return Some(named(cipher, mac));
    }
    let (mac, rest) = driver.strip_prefix("authenc-")?.split_once("-cbc-")?;
    let (_, vendor) = rest.rsplit_once('-')?;
    Some(named(&format!("cbc-{rest}"), &format!("{mac}-{vendor}")))
}

/// Splits at the first comma that is not in parentheses.
fn split_at_comma(inner: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    let comma = inner.char_indices().find_map(|(at, character)| {
        depth += match character {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        (character == ',' && depth == 0).then_some(at)
    })?;
    Some((&inner[..comma], &inner[comma + 1..]))
}

/// All of a record, in its order.
pub fn of(record: &Record) -> Vec<OnePass> {
    let cells: Vec<Measured<'_>> =
        measured(record).into_iter().filter(|cell| !cell.is_deep()).collect();
    let mut found: Vec<OnePass> = Vec::new();
    for one in &cells {
        let Some(found_at) = Threesome::of(&cells, one) else { continue };
        let workload = Workload::from(CryptoWorkload { message: 0, ..*one.workload });
        let at = found_at.at_size(&cells);
        let refused = found_at.refusal(record);
        let same = |known: &&mut OnePass| {
            (&known.provider, known.workload) == (&one.cell.provider, workload)
        };
        if let Some(known) = found.iter_mut().find(same) {
            known.sizes.push(at);
            known.refused = known.refused.or(refused);
            continue;
        }
        found.push(OnePass {
            machine: record.header.machine.label(),
            evidence: record.header.evidence,
            provider: one.cell.provider.clone(),
            cipher: found_at.cipher.cell.provider.clone(),
            mac: found_at.mac.cell.provider.clone(),
            workload,
            sizes: vec![at],
            refused,
        });
    }
    for one in &mut found {
        one.sizes.sort_by_key(|at| at.bytes);
        if one.refused.is_some() {
            one.sizes.iter_mut().for_each(|at| at.gain = None);
        }
    }
    found
}

/// One pass and its two parts at one size.
struct Threesome<'a, 'r> {
    one: &'a Measured<'r>,
    cipher: &'a Measured<'r>,
    mac: &'a Measured<'r>,
}

impl<'a, 'r> Threesome<'a, 'r> {
    /// `None` if `one` is no such algorithm, or if a part was not measured.
    fn of(cells: &'a [Measured<'r>], one: &'a Measured<'r>) -> Option<Self> {
        let [cipher, mac] = parts_of(one.workload.algorithm)?;
        let [by_cipher, by_mac] = providers_of(&one.cell.provider)?;
        let part = |provider: &str, algorithm, operation| {
            let workload = CryptoWorkload { algorithm, operation, ..*one.workload };
            cells.iter().find(|cell| cell.cell.provider == provider && *cell.workload == workload)
        };
        Some(Threesome {
            one,
            cipher: part(&by_cipher, cipher, one.workload.operation)?,
            mac: part(&by_mac, mac, Operation::Mac)?,
        })
    }

    /// Why their times are not compared, if they are not.
    fn refusal(&self, record: &Record) -> Option<&'static str> {
        let on_the_cpu = |cell: &Measured<'_>| {
            let found = execution::of(record, cell.cell, cell.rounds);
            found.is_some_and(|found| found.verdict == ExecutorVerdict::Software)
        };
        let alone = [self.one, self.cipher, self.mac].into_iter().all(on_the_cpu);
        let metric = if alone { Metric::WithinExecutor } else { Metric::AcrossExecutors };
        meaningful(metric, record.header.evidence).err()
    }

    fn at_size(&self, cells: &[Measured<'_>]) -> OnePassAt {
        let encryption = CryptoWorkload { operation: Operation::Encrypt, ..*self.one.workload };
        let encrypts = |cell: &&Measured<'_>| {
            cell.cell.provider == self.one.cell.provider && *cell.workload == encryption
        };
        let encryption = match self.one.workload.operation {
            Operation::Decrypt => cells.iter().find(encrypts),
            _ => None,
        };
        OnePassAt {
            bytes: self.one.workload.message,
            gain: self.gain(),
            decryption: encryption
                .and_then(|encryption| encryption.passes.as_ref())
                .zip(self.one.passes.as_ref())
                .and_then(|(encryption, this)| ratio::time(encryption, this).ok()),
        }
    }

    fn gain(&self) -> Option<Ratio> {
        let all = [self.one, self.cipher, self.mac].map(|cell| cell.passes.as_ref());
        let [Some(one), Some(cipher), Some(mac)] = all else { return None };
        let time = |passes: &Passes| passes.cost(|pass| Some(pass.time));
        let two = Uncertain::sum([(1.0, &time(cipher)?), (1.0, &time(mac)?)]);
        let passes = [one, cipher, mac].map(|passes| passes.all.len()).into_iter().min()?;
        Some(ratio::of_costs(&two, &time(one)?, Basis::Time, passes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::ratio::Verdict;
    use cpb_core::Claim;
    use cpb_record::{ProviderRecord, Round};

    const ETM: Algorithm = Algorithm::Aes128CbcHmacSha1Etm;

    const ONE: &str = "kernel:authenc(hmac(sha1-avx2),cbc-aes-aesni)";
    const CIPHER: &str = "kernel:cbc-aes-aesni";
    const MAC: &str = "kernel:hmac(sha1-avx2)";

    fn cell(provider: &str, algorithm: Algorithm, operation: Operation, time: f64) -> Vec<Round> {
        let workload = CryptoWorkload::new(algorithm, operation, 1024);
        let seed = algorithm.name().len() as u64 + provider.len() as u64 + operation as u64;
        fixtures::cell(provider, workload, seed, time)
    }

    fn planted() -> Record {
        let cells = [
            cell(ONE, ETM, Operation::Encrypt, 2000.0),
            cell(ONE, ETM, Operation::Decrypt, 1600.0),
            cell(CIPHER, Algorithm::Aes128Cbc, Operation::Encrypt, 1200.0),
            cell(CIPHER, Algorithm::Aes128Cbc, Operation::Decrypt, 300.0),
            cell(MAC, Algorithm::HmacSha1, Operation::Mac, 1300.0),
            // A part is missing.
            cell("caam", ETM, Operation::Encrypt, 2000.0),
            cell("caam", Algorithm::Aes128Cbc, Operation::Encrypt, 1200.0),
            // These are two calls anyway.
            cell("mbedtls:c", ETM, Operation::Encrypt, 2000.0),
            cell("mbedtls:c", Algorithm::Aes128Cbc, Operation::Encrypt, 1000.0),
            cell("mbedtls:c", Algorithm::HmacSha1, Operation::Mac, 1000.0),
        ];
        fixtures::record(cells.into_iter())
    }

    #[test]
    fn one_pass_is_compared_with_the_sum_of_two_and_decryption_with_encryption() {
        let [encryption, decryption] = &of(&planted())[..] else { panic!() };
        let has = |ratio: Option<Ratio>, planted: f64| {
            let interval = ratio.and_then(|ratio| ratio.interval).expect("twelve passes");
            assert!(interval.low.0 <= planted && planted <= interval.high.0, "{interval:?}");
        };
        has(encryption.sizes[0].gain, 1.25);
        assert_eq!(encryption.sizes[0].decryption, None);
        has(decryption.sizes[0].gain, 1.0);
        assert_eq!(decryption.sizes[0].gain.map(|gain| gain.verdict), Some(Verdict::Tie));
        has(decryption.sizes[0].decryption, 1.25);
        assert_eq!((&*encryption.provider, encryption.sizes[0].bytes), (ONE, 1024));
        assert_eq!((&*encryption.cipher, &*encryption.mac), (CIPHER, MAC));
    }

    #[test]
    fn on_an_emulated_cpu_only_what_the_cpu_does_alone_is_compared() {
        let mut record = planted();
        record.header.evidence = Evidence::Emulated;
        let [encryption, _] = &of(&record)[..] else { panic!() };
        assert!(encryption.refused.is_none() && encryption.sizes[0].gain.is_some());
        let Some(ProviderRecord::Available { claim, .. }) = record.header.providers.get_mut(CIPHER)
        else {
            panic!()
        };
        *claim = Claim::Engine;
        let [encryption, _] = &of(&record)[..] else { panic!() };
        assert!(encryption.refused.is_some_and(|why| why.starts_with("emulated: ")));
        assert_eq!(encryption.sizes[0].gain, None);
    }

    #[test]
    fn the_parts_of_a_driver_are_named_by_its_own_name() {
        for (one, cipher, mac) in [
            (
                "kernel:authenc(hmac(sha1-avx2),cbc-aes-aesni)",
                "kernel:cbc-aes-aesni",
                "kernel:hmac(sha1-avx2)",
            ),
            (
                "af_alg:authenc(hmac(sha256-generic),cbc(aes-generic))",
                "af_alg:cbc(aes-generic)",
                "af_alg:hmac(sha256-generic)",
            ),
            (
                "af_alg:authenc-hmac-sha1-cbc-aes-caam",
                "af_alg:cbc-aes-caam",
                "af_alg:hmac-sha1-caam",
            ),
            ("caam", "caam", "caam"),
        ] {
            assert_eq!(providers_of(one), Some([cipher.into(), mac.into()]), "{one}");
        }
        for other in ["mbedtls:c", "mbedtls-caam", "kernel:authenc(strange", "kernel:cbc-aes-aesni"]
        {
            assert_eq!(providers_of(other), None, "{other}");
        }
    }
}
