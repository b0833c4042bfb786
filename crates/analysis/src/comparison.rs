//! Compares the providers of one workload: which is fastest, and what the CPU's extensions gain.

use crate::estimate;
use crate::evidence_policy::{Metric, meaningful};
use crate::passes::Passes;
use crate::ratio::{self, Ratio, Verdict};
use cpb_core::Workload;
use cpb_core::catalog;
use cpb_record::Evidence;
use serde::Serialize;

/// The comparison of all providers of one workload with one number of threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The workload.
    pub workload: Workload,
    /// The number of threads.
    pub threads: u8,
    /// The fastest provider and those that tie with it. Empty if there is nothing to compare.
    pub fastest: Vec<String>,
    /// Providers that may be as fast as the fastest, each with the factor by which the number of passes would have to
    /// grow for a verdict, if that can be computed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<(String, Option<f64>)>,
    /// The gains from CPU extensions.
    pub gains: Vec<Gain>,
}

/// The gain from CPU extensions, compared with the same library without them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gain {
    /// The provider with extensions.
    pub extended: String,
    /// The provider without extensions.
    pub masked: String,
    /// Cost of `masked` divided by the cost of `extended`: the speed-up from the extensions.
    pub ratio: Ratio,
}

/// The providers that are fastest together, and those that may be.
#[derive(Default)]
struct Fastest {
    sure: Vec<String>,
    unknown: Vec<(String, Option<f64>)>,
}

/// Compares the providers that have figures, in the order used by reports.
pub fn compare(
    workload: Workload,
    threads: u8,
    providers: &[(&str, &Passes)],
    evidence: Evidence,
) -> Comparison {
    let mut comparison = Comparison {
        workload,
        threads,
        fastest: Vec::new(),
        unknown: Vec::new(),
        gains: Vec::new(),
    };
    if meaningful(Metric::AcrossExecutors, evidence).is_ok() {
        let real: Vec<_> =
            providers.iter().copied().filter(|(name, _)| catalog::computes(name)).collect();
        let Fastest { sure, unknown } = fastest(&real);
        (comparison.fastest, comparison.unknown) = (sure, unknown);
        comparison.gains = gains(&real);
    }
    comparison
}

/// Whether a provider uses the CPU's crypto extensions: `library` and `library:accel` do, and so does
/// `openssl:two-calls`. Other variants of a library do not.
pub(crate) fn uses_extensions(provider: &str) -> bool {
    provider == catalog::TWO_CALLS || matches!(provider.split_once(':'), None | Some((_, "accel")))
}

/// Whether a provider is its library without extensions. A variant that uses something else (an engine of OpenSSL) is
/// a path of a different kind.
fn is_masked(provider: &str) -> bool {
    !uses_extensions(provider)
        && catalog::find(provider).is_none_or(|choice| choice.variant.is_empty())
}

/// Whether `variant` is the library `library` with extensions switched off.
pub fn is_variant_of(variant: &str, library: &str) -> bool {
    family(variant) == family(library) && is_masked(variant) && uses_extensions(library)
}

fn family(provider: &str) -> &str {
    provider.split(':').next().unwrap_or(provider)
}

fn gains(providers: &[(&str, &Passes)]) -> Vec<Gain> {
    let mut gains = Vec::new();
    for (extended, with) in providers.iter().filter(|(name, _)| uses_extensions(name)) {
        let masked = providers.iter().filter(|(name, _)| is_variant_of(name, extended));
        for (masked, without) in masked {
            if let Ok(ratio) = ratio::of(without, with) {
                let (extended, masked) = ((*extended).to_owned(), (*masked).to_owned());
                gains.push(Gain { extended, masked, ratio });
            }
        }
    }
    gains
}

fn fastest(providers: &[(&str, &Passes)]) -> Fastest {
    if providers.len() < 2 {
        return Fastest::default();
    }
    let in_cycles = providers.iter().all(|(_, passes)| passes.cycles_known());
    let cost = |passes: &Passes| match estimate::cycles(passes) {
        Some(cycles) if in_cycles => cycles.value.0,
        _ => estimate::time(passes).value.0,
    };
    let costs = providers.iter().map(|(name, passes)| (*name, *passes, cost(passes)));
    let Some((best, least, _)) = costs.min_by(|a, b| a.2.total_cmp(&b.2)) else {
        return Fastest::default();
    };
    let mut fastest = Fastest::default();
    for (name, passes) in providers {
        let verdict = ratio::of(passes, least).map(|ratio| (ratio.verdict, ratio.needs));
        match verdict {
            _ if *name == best => fastest.sure.push((*name).to_owned()),
            Ok((Verdict::Tie, _)) => fastest.sure.push((*name).to_owned()),
            Ok((Verdict::Unknown, needs)) => fastest.unknown.push(((*name).to_owned(), needs)),
            Ok((Verdict::Faster | Verdict::Slower, _)) | Err(_) => {}
        }
    }
    fastest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::passes;
    use cpb_core::{Algorithm, CryptoWorkload, Operation};

    fn noisy(cost: f64) -> Passes {
        let mut random = fastrand::Rng::with_seed((cost * 1000.0) as u64);
        passes(&(0..12).map(|_| cost * (1.0 + 0.001 * random.f64())).collect::<Vec<f64>>())
    }

    fn comparison(providers: &[(&str, &Passes)], evidence: Evidence) -> Comparison {
        let workload = CryptoWorkload::new(Algorithm::Sha256, Operation::Hash, 16).into();
        compare(workload, 1, providers, evidence)
    }

    #[test]
    fn extensions_gain_over_each_masked_variant_of_their_own_library() {
        let (null, fast, slow, scalar) = (noisy(1.0), noisy(100.0), noisy(500.0), noisy(700.0));
        let providers = [
            ("null", &null),
            ("openssl", &fast),
            ("openssl:nocrypto", &slow),
            ("openssl:scalar", &scalar),
            ("mbedtls:c", &scalar),
            ("openssl-system", &fast),
            ("openssl-system:engine=afalg", &scalar),
        ];
        let found = comparison(&providers, Evidence::Hardware);
        let gains: Vec<_> =
            found.gains.iter().map(|gain| (gain.masked.as_str(), gain.ratio.value.0)).collect();
        assert_eq!(gains.len(), 2, "{gains:?}");
        assert!(gains[0].0 == "openssl:nocrypto" && (gains[0].1 / 5.0 - 1.0).abs() < 0.001);
        assert!(gains[1].0 == "openssl:scalar" && (gains[1].1 / 7.0 - 1.0).abs() < 0.001);
        assert_eq!(found.fastest, ["openssl", "openssl-system"]);
    }

    #[test]
    fn providers_that_cannot_be_told_apart_tie() {
        let (first, second, slow) = (noisy(100.0), noisy(100.01), noisy(101.0));
        let providers = [("a", &first), ("b", &second), ("c", &slow)];
        assert_eq!(comparison(&providers, Evidence::Hardware).fastest, ["a", "b"]);
    }

    #[test]
    fn one_provider_or_an_emulator_are_no_contest_and_two_passes_decide_none() {
        let (first, second) = (passes(&[1.0, 1.0]), passes(&[2.0, 2.0]));
        let two = [("a", &first), ("a:c", &second)];
        assert!(comparison(&two[..1], Evidence::Hardware).fastest.is_empty());
        let hardly_known = comparison(&two, Evidence::Hardware);
        assert_eq!(hardly_known.fastest, ["a"]);
        assert_eq!(hardly_known.unknown, [("a:c".to_owned(), None)]);
        let emulated = comparison(&two, Evidence::Emulated);
        assert!(emulated.gains.is_empty() && emulated.fastest.is_empty());
    }
}
