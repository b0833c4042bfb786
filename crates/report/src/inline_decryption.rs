//! What decryption adds to reads of flash, in a sentence and as a table.

use super::format::evidence_word;
use super::table::{Block, Place};
use cpb_analysis::flash_reads::{Added, Amount, InlineDecryption, NOTHING};
use cpb_record::Evidence;

/// A share as a percentage with a sign, where the sign matters.
pub(crate) fn signed(share: f64) -> String {
    let text = format!("{:+.1}%", 100.0 * share);
    if text == "-0.0%" { "+0.0%".into() } else { text }
}

fn unsigned(share: f64) -> String {
    format!("{:.1}%", 100.0 * share.abs())
}

/// The label of the sentence: the engine's name.
pub(crate) fn label(found: &InlineDecryption) -> String {
    found.engine.clone().unwrap_or_else(|| "encrypted flash".into())
}

/// What the engine costs, in a sentence, or what is missing to tell.
pub(crate) fn sentence(found: &InlineDecryption) -> String {
    if found.added.is_empty() {
        let (have, need) = match &found.engine {
            None => ("plain", "an image of `cpb otfad encrypt`"),
            Some(_) => ("encrypted", "the plain image"),
        };
        return format!(
            "only {have} flash was read; to see what decryption costs, run the same plan with {need}, and give both \
             records"
        );
    }
    let free = found.added.iter().filter(|added| added.amount() == Amount::Nothing);
    let free: Vec<&str> = free.map(|added| added.bound.words()).collect();
    let mut parts = Vec::new();
    if !free.is_empty() {
        parts.push(format!(
            "is free, within {}, for {}",
            unsigned(NOTHING),
            free.join(" and for ")
        ));
    }
    parts.extend(found.added.iter().filter_map(change));
    let kind = match found.evidence {
        Evidence::Hardware => "",
        Evidence::Published => " (published, single readings)",
        Evidence::Emulated => " (emulated)",
        Evidence::Simulated => " (simulated)",
        Evidence::Imported => " (imported)",
    };
    format!("decryption{kind} {}", parts.join("; "))
}

/// What it does to the time of reads that it changes.
fn change(added: &Added) -> Option<String> {
    let words = added.bound.words();
    let about = |least: f64, most: f64| {
        let [median, least, most] = [added.median, least, most].map(unsigned);
        if least == most { median } else { format!("{median} ({least} to {most})") }
    };
    match added.amount() {
        Amount::Nothing => None,
        Amount::More => {
            Some(format!("adds {} to the time of {words}", about(added.least, added.most)))
        }
        Amount::Less => {
            Some(format!("takes {} off the time of {words}", about(added.most, added.least)))
        }
        Amount::Both => {
            let [least, most] = [added.least, added.most].map(signed);
            Some(format!("changes the time of {words} by {least} to {most}"))
        }
    }
}

/// The same as a table. `None` if there is nothing to compare.
pub(crate) fn block(found: &InlineDecryption) -> Option<Block> {
    if found.added.is_empty() {
        return None;
    }
    let row = |added: &Added| {
        let shares = [added.least, added.median, added.most].map(signed);
        let within = added.interval.map_or("unknown".into(), |interval| {
            format!("{} to {}", signed(interval.low), signed(interval.high))
        });
        let places = [added.pairs.to_string()].into_iter().chain(shares).chain([within]);
        let places = places.map(|text| Place::figure(text, String::new()));
        (added.bound.name().to_owned(), places.collect())
    };
    Some(Block {
        heading: format!(
            "time that {} adds, {} on {}",
            label(found),
            evidence_word(found.evidence),
            found.machine
        ),
        columns: ["reads", "least", "median", "most", "95% intervals"].map(str::to_owned).into(),
        rows: found.added.iter().map(row).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpb_analysis::flash_reads::Bound;
    use cpb_analysis::units::Interval;

    fn added(bound: Bound, least: f64, most: f64) -> Added {
        let interval = Some(Interval { low: least, high: most });
        Added { bound, pairs: 2, least, median: (least + most) / 2.0, most, interval }
    }

    #[test]
    fn what_is_free_comes_first_and_only_what_was_compared_is_told() {
        let mut found = InlineDecryption {
            machine: "board".into(),
            evidence: Evidence::Simulated,
            engine: Some("OTFAD".into()),
            added: vec![
                added(Bound::Stream, 0.013, 0.017),
                added(Bound::Passage, -0.07, -0.07),
                added(Bound::Command, -0.001, 0.001),
                added(Bound::Cache, 0.0, 0.0),
            ],
        };
        assert_eq!(
            sentence(&found),
            "decryption (simulated) is free, within 0.5%, for two places in turn and for hits in the data cache; adds \
             1.5% (1.3% to 1.7%) to the time of a stream of lines or words; takes 7.0% off the time of bytes and \
             halfwords in order, past the cache"
        );
        found.added = vec![added(Bound::Stream, -0.01, 0.02)];
        let words = sentence(&found);
        assert!(
            words.ends_with("changes the time of a stream of lines or words by -1.0% to +2.0%")
        );
        found.added.clear();
        assert!(sentence(&found).contains("with the plain image"));
        assert!(block(&found).is_none());
    }
}
