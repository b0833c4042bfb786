//! Encryption and MAC in one pass beside two, in sentences.

use super::format::{evidence_word, short};
use super::groups::in_words;
use cpb_analysis::one_pass::{OnePass, OnePassAt};
use cpb_analysis::ratio::{Ratio, Verdict};
use cpb_record::Evidence;
use cpb_record::size::Size;

/// What one provider's one pass gains in one direction, at the shortest and the longest message. `None` if nothing is known.
pub(crate) fn sentence(found: &OnePass) -> Option<String> {
    let kind = match found.evidence {
        Evidence::Hardware => String::new(),
        other => format!(" ({})", evidence_word(other)),
    };
    let what = format!("{}, {}{kind}", found.provider, in_words(&found.workload, 1));
    let two = match found.cipher == found.mac {
        true => "cipher and MAC one after the other".to_owned(),
        false => format!("{} and {} one after the other", found.cipher, found.mac),
    };
    let mut parts = match found.refused {
        Some(why) => vec![format!("one pass is not compared with {two} ({why})")],
        None => ends(found, |at| at.gain)
            .map(|(size, gain)| format!("at {size} {}", as_fast("one pass", &gain, &two)))
            .collect(),
    };
    parts.extend(ends(found, |at| at.decryption).map(|(size, ratio)| {
        format!("at {size} {}", as_fast("decryption with its check", &ratio, "encryption"))
    }));
    (!parts.is_empty()).then(|| format!("{what}: {}", parts.join("; ")))
}

/// A ratio at the shortest and the longest message that have it.
fn ends(
    found: &OnePass,
    ratio: impl Fn(&OnePassAt) -> Option<Ratio>,
) -> impl Iterator<Item = (Size, Ratio)> {
    let known: Vec<_> =
        found.sizes.iter().filter_map(|at| Some((Size::from(at.bytes), ratio(at)?))).collect();
    let last = known.last().copied().filter(|_| known.len() > 1);
    known.first().copied().into_iter().chain(last)
}

/// "one pass is 1.90 times (1.80–2.00) as fast as two", or that this is not known.
fn as_fast(one: &str, ratio: &Ratio, other: &str) -> String {
    let interval = ratio
        .interval
        .map_or_else(String::new, |it| format!(" ({}–{})", short(it.low.0), short(it.high.0)));
    let times = format!("{} times{interval}", short(ratio.value.0));
    match ratio.verdict {
        Verdict::Tie => format!("{one} is as fast as {other}"),
        Verdict::Unknown => {
            format!("it is not known whether {one} is faster than {other}: {times}")
        }
        Verdict::Faster | Verdict::Slower => format!("{one} is {times} as fast as {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpb_analysis::ratio::Basis;
    use cpb_analysis::units::{Interval, Times};
    use cpb_core::{Algorithm, CryptoWorkload, Operation};

    fn ratio(value: f64, verdict: Verdict) -> Ratio {
        Ratio {
            value: Times(value),
            interval: Some(Interval { low: Times(value - 0.1), high: Times(value + 0.1) }),
            verdict,
            needs: None,
            metric: Basis::Time,
            passes: 12,
        }
    }

    fn found(refused: Option<&'static str>) -> OnePass {
        let at = |bytes, gain, decryption| OnePassAt { bytes, gain, decryption };
        let workload =
            CryptoWorkload::new(Algorithm::Aes128CbcHmacSha1Etm, Operation::Decrypt, 0).into();
        OnePass {
            machine: "a board".into(),
            evidence: if refused.is_some() { Evidence::Emulated } else { Evidence::Hardware },
            provider: "kernel:authenc(hmac(sha1-avx2),cbc-aes-aesni)".into(),
            cipher: "kernel:cbc-aes-aesni".into(),
            mac: "kernel:hmac(sha1-avx2)".into(),
            workload,
            sizes: vec![
                at(16, Some(ratio(1.9, Verdict::Slower)), Some(ratio(1.5, Verdict::Slower))),
                at(1024, Some(ratio(1.3, Verdict::Slower)), None),
                at(16384, Some(ratio(1.0, Verdict::Tie)), None),
            ],
            refused,
        }
    }

    #[test]
    fn the_shortest_and_the_longest_message_are_told() {
        assert_eq!(
            sentence(&found(None)).unwrap_or_default(),
            "kernel:authenc(hmac(sha1-avx2),cbc-aes-aesni), aes-128-cbc-hmac-sha-1-etm decrypt: at 16 B one pass is 1.90 \
             times (1.80–2.00) as fast as kernel:cbc-aes-aesni and kernel:hmac(sha1-avx2) one after the other; at 16 KiB one \
             pass is as fast as kernel:cbc-aes-aesni and kernel:hmac(sha1-avx2) one after the other; at 16 B decryption \
             with its check is 1.50 times (1.40–1.60) as fast as encryption"
        );
    }

    #[test]
    fn what_is_not_known_is_said_to_be_so_and_without_a_figure_there_is_no_sentence() {
        let mut nothing = found(None);
        nothing.sizes.truncate(1);
        nothing.sizes[0].gain = Some(ratio(1.02, Verdict::Unknown));
        nothing.sizes[0].decryption = None;
        let words = sentence(&nothing).unwrap_or_default();
        let expected = "at 16 B it is not known whether one pass is faster than kernel:cbc-aes-aesni and \
                        kernel:hmac(sha1-avx2) one after the other: 1.02 times (0.920–1.12)";
        assert!(words.ends_with(expected), "{words}");
        nothing.sizes[0].gain = None;
        assert_eq!(sentence(&nothing), None);
    }

    #[test]
    fn what_is_not_compared_is_said_with_the_reason() {
        let words = sentence(&found(Some("emulated: a reason"))).unwrap_or_default();
        assert!(
            words.contains(
                " (emulated): one pass is not compared with kernel:cbc-aes-aesni and \
                 kernel:hmac(sha1-avx2) one after the other (emulated: a reason); "
            ),
            "{words}"
        );
    }
}
