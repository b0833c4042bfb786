//! Names and verdicts, for figures of real logs and for modified ones.

use super::cores::{Cores, LeftOut, readings};
use super::*;
use crate::units::{KilobytesPerSecond, Megahertz};

/// Rows of a log: key length, kB/s at 16 bytes and at 16 KiB.
type Rows<'a> = &'a [(u16, f64, f64)];

const ESPRESSOBIN: Rows<'_> =
    &[(128, 54273.34, 594258.60), (192, 51913.91, 446666.07), (256, 50673.46, 368601.77)];
const ROCK_5B_A76: Rows<'_> =
    &[(128, 683353.77, 1871495.17), (192, 636619.83, 1560150.02), (256, 593012.09, 1337540.61)];

/// A core whose stated clock is the measured one.
fn observed(reported: &str, mhz: f64, rows: Rows<'_>) -> Observed {
    let mut rates = Rates::default();
    for (bits, block, long) in rows {
        rates.insert(*bits, 16, KilobytesPerSecond(*block).into());
        rates.insert(*bits, 16_384, KilobytesPerSecond(*long).into());
    }
    Observed {
        place: "cpu0".into(),
        reported: reported.into(),
        architecture: "aarch64".into(),
        features: Some(vec!["fp".into(), "aes".into()]),
        stated_clock: Some(Megahertz(mhz).into()),
        measured_clocks: vec![Megahertz(mhz).into()],
        rates,
        ..Observed::default()
    }
}

fn found(observed: &Observed) -> Identified {
    identify(observed, &Cores::load())
}

fn named(observed: &Observed) -> (Option<String>, String) {
    match found(observed).implied {
        Implied::Named(name) => (name.core, name.family),
        other => panic!("{other:?}"),
    }
}

fn why_not(observed: &Observed) -> String {
    match found(observed).implied {
        Implied::Unknown { why, .. }
        | Implied::NotApplicable { why }
        | Implied::Accelerator { why } => why,
        Implied::Named(name) => panic!("{name:?}"),
    }
}

/// Leaves each log, and each row of the published table, out of the constants and asks for its name. A core that is
/// in no other reading can at best be unknown.
#[test]
fn a_core_that_is_left_out_is_named_as_itself_as_its_family_or_not_at_all() {
    let (mut family, mut core, mut unknown, mut alone) = (0, 0, 0, 0);
    let all = readings();
    for reading in &all {
        let row = reading.row.as_ref().map(|(core, machine)| (core.as_str(), machine.as_str()));
        let log = if reading.log.is_empty() { "-" } else { &reading.log };
        let cores = Cores::without(LeftOut { log, row });
        let observed = Observed {
            measured_clocks: vec![reading.clock.into()],
            rates: reading.rates.clone(),
            ..Observed::default()
        };
        let name = identify(&observed, &cores).implied;
        let known =
            cores.cores.iter().any(|core| core.family == reading.family && core.has_figures);
        let words = match &name {
            Implied::Named(name) => {
                let core = name.core.as_deref().unwrap_or("-");
                format!("{:<16} {core:<14} {:.2}", name.id, name.confidence)
            }
            other => format!("{other:?}").chars().take(150).collect(),
        };
        println!("{:<16} {log:<8} {:?} {words}", reading.core, reading.row);
        match name {
            Implied::Named(name) => {
                assert_eq!(name.id, reading.family, "{} of {log}", reading.core);
                if let Some(known) = &name.core {
                    let others = cores.cores.iter().filter(|core| core.family == name.id).count();
                    let is = *known == reading.core || others == 1;
                    assert!(is, "{} of {log} {:?} named {known}", reading.core, reading.row);
                    core += 1;
                }
                family += 1;
            }
            _ if known => unknown += 1,
            _ => alone += 1,
        }
    }
    println!(
        "{family} named, {core} of them by core; {unknown} unknown, {alone} without a constant"
    );
    // The README states these numbers. A core that is in no other reading cannot be named.
    assert_eq!((family, family + unknown, alone), (98, 99, 5));
}

#[test]
fn the_shape_alone_names_the_cores_whose_shape_is_like_no_other() {
    let board = Observed {
        measured_clocks: Vec::new(),
        stated_clock: None,
        ..observed("", 1.0, ESPRESSOBIN)
    };
    assert_eq!(named(&board).1, "Cortex-A53 or A55");
    let (low, high) = found(&board).implied_clock.expect("a clock without a clock");
    assert!((785e6..795e6).contains(&(low.0 * high.0).sqrt()), "{low:?} {high:?}");
    let board = Observed { rates: observed("", 1.0, ROCK_5B_A76).rates, ..board };
    assert_eq!(
        why_not(&board),
        "no clock is known, and the ratios between key lengths alone are ambiguous"
    );
}

#[test]
fn a_clock_that_is_not_what_the_system_states_is_found() {
    // ESPRESSObin: cpufreq says 1000 MHz.
    let board =
        Observed { stated_clock: Some(Hertz(1e9)), ..observed("Cortex-A53", 789.7, ESPRESSOBIN) };
    let found = found(&board);
    let [Misfit::StatedClock { stated, actual, measured }] = found.verdicts[..] else {
        panic!("{:?}", found.verdicts)
    };
    assert_eq!((stated, actual, measured), (Hertz(1e9), Hertz(789.7e6), true));
    assert!(found.verdicts[0].is_wrong());
}

#[test]
fn a_stated_clock_that_nobody_measured_is_held_against_what_the_shape_implies() {
    let board =
        Observed { measured_clocks: Vec::new(), ..observed("Cortex-A53", 1000.0, ESPRESSOBIN) };
    let [Misfit::StatedClock { actual, measured: false, .. }] = found(&board).verdicts[..] else {
        panic!("{:?}", found(&board))
    };
    assert!((actual.0 / 789.7e6 - 1.0).abs() < 0.01, "{actual:?}");
}

#[test]
fn of_two_clocks_the_one_that_fits_is_taken_and_the_other_is_told() {
    let mut board = observed("Cortex-A76", 2348.4, ROCK_5B_A76);
    board.measured_clocks = vec![Hertz(823e6), Hertz(2348.4e6)];
    let found = found(&board);
    assert!(matches!(found.implied, Implied::Named(_)), "{found:?}");
    assert_eq!(found.measured_clock, Some(Hertz(2348.4e6)));
    assert_eq!(found.verdicts, [Misfit::ClockMoved { low: Hertz(823e6), high: Hertz(2348.4e6) }]);
}

/// A Cortex-A76 that is overclocked, or whose system does not report enough.
#[test]
fn a_clock_above_the_stated_one_is_found() {
    let board = Observed {
        measured_clocks: Vec::new(),
        stated_clock: Some(Hertz(2.0e9)),
        ..observed("Cortex-A76", 0.0, ROCK_5B_A76)
    };
    assert_eq!(named(&board).1, "Cortex-A72 or 15 others");
    let [Misfit::StatedClock { actual, measured: false, .. }] = found(&board).verdicts[..] else {
        panic!("{:?}", found(&board))
    };
    assert!((actual.0 / 2348.4e6 - 1.0).abs() < 0.01, "{actual:?}");
}

#[test]
fn a_core_that_was_slowed_down_ran_slower_than_its_measured_clock() {
    let mut board = observed("Cortex-A76", 2348.4, ROCK_5B_A76);
    board.measured_clocks = vec![Hertz(2348.4e6), Hertz(2340e6)];
    for rate in [128, 192, 256] {
        for bytes in [16, 16_384] {
            let own = board.rates.at(rate, bytes).expect("a rate");
            board.rates.insert(rate, bytes, own * 0.9);
        }
    }
    let [Misfit::RanSlower { measured, implied, reported }] = &found(&board).verdicts[..] else {
        panic!("{:?}", found(&board))
    };
    assert_eq!((*measured, reported.as_deref()), (Hertz(2340e6), Some("Cortex-A76")));
    assert!((implied.0 / 2113e6 - 1.0).abs() < 0.01, "{implied:?}");
}

#[test]
fn speeds_of_software_without_a_clock_are_no_core_at_a_few_megahertz() {
    let mut board = observed("", 0.0, &[(128, 28_353.13, 44_695.55), (256, 25_500.19, 36_629.16)]);
    (board.stated_clock, board.measured_clocks, board.features) = (None, Vec::new(), None);
    assert!(why_not(&board).starts_with("no extension: software"), "{}", why_not(&board));
    // As fast as software on a large core, or as a small core with the extension, so there is no name.
    board.rates.insert(256, 16_384, KilobytesPerSecond(180_000.0).into());
    board.rates.insert(256, 16, KilobytesPerSecond(130_000.0).into());
    board.rates.insert(128, 16_384, KilobytesPerSecond(245_000.0).into());
    assert!(!matches!(found(&board).implied, Implied::Named(_)), "{:?}", found(&board));
}

#[test]
fn a_reported_core_that_is_not_in_the_data_is_not_confirmed() {
    let board = observed("Cortex-A999", 2348.4, ROCK_5B_A76);
    let reported = "Cortex-A999".to_owned();
    assert_eq!(found(&board).verdicts, [Misfit::NotInData { reported }]);
    assert!(!found(&board).verdicts[0].is_wrong());
}

/// Only the call's cost distinguishes Cortex-A53 from Cortex-A55, and its scatter is as large as the difference.
#[test]
fn the_cost_of_a_call_does_not_tell_two_cores_of_a_family_apart() {
    let cores = Cores::load();
    assert!(cores.calls.spread > 0.05 && cores.calls.freedom < 5.0, "{:?}", cores.calls);
    // As fast as a Cortex-A55 at 1.8 GHz, with calls from cheaper than any of its calls to more expensive than any
    // Cortex-A53's.
    for blocks in [3.9, 4.2, 4.7, 5.2, 5.8, 6.3, 6.8] {
        let long = 840_000.0;
        let rows = &[(128, long * 1.615 / 8.0, long * 1.615), (256, long / (1.0 + blocks), long)];
        let board = observed("", 1800.0, rows);
        let (core, family) = named(&board);
        assert_eq!((core, family.as_str()), (None, "Cortex-A53 or A55"), "{blocks} blocks a call");
    }
}

/// Cortex-A76 is the only one of its family whose shorter keys were timed.
#[test]
fn fewer_keys_make_no_surer_name() {
    for rows in [&ROCK_5B_A76[..2], &ROCK_5B_A76[..1]] {
        match found(&observed("", 2348.4, rows)).implied {
            Implied::Named(name) => assert_eq!(name.core, None, "{name:?}"),
            Implied::Unknown { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}

/// Only AES-256 was timed on Kryo 3XX Gold, whose score a Cortex-A53 has at a clock that is 20 % off.
#[test]
fn a_core_without_ratios_does_not_win_by_an_odd_ratio() {
    let board = observed("", 789.7 * 1.2, ESPRESSOBIN);
    assert!(!matches!(found(&board).implied, Implied::Named(_)), "{:?}", found(&board));
}

/// The name states the number of cores, so that it does not read as a range.
#[test]
fn the_largest_family_has_as_many_cores_as_its_name_says() {
    let cores = Cores::load();
    let family = cores.family("two-cycles");
    let listed = family.about.split_once(": ").expect("a list").1.replace(" and ", ", ");
    assert_eq!(listed.split(", ").count(), 16, "{listed}");
    assert_eq!(family.name, "Cortex-A72 or 15 others");
    assert_eq!(cores.cores.iter().filter(|core| core.family == "two-cycles").count(), 16);
}

#[test]
fn a_reported_core_names_nothing_and_is_contradicted() {
    let board = observed("Cortex-A72 r0p2", 789.7, ESPRESSOBIN);
    assert_eq!(named(&board).1, "Cortex-A53 or A55");
    let verdict = &found(&board).verdicts[..];
    assert!(
        matches!(verdict, [Misfit::AnotherCore { reported, .. }] if reported == "Cortex-A72 r0p2"),
        "{verdict:?}"
    );
}

#[test]
fn figures_above_two_cycles_a_round_are_flagged_and_not_named() {
    // The one row of the published table above the bound: Snapdragon 8 Gen 1 "Cortex-A510".
    let board = observed("Cortex-A510", 1515.0, &[(256, 850_000.0, 1_405_500.0)]);
    assert_eq!(why_not(&board), "wrong clock, wrong core or an accelerator");
    let found = found(&board);
    let [Misfit::AboveBound { bits: 256, score, bound }] = found.verdicts[..] else {
        panic!("{:?}", found.verdicts)
    };
    assert_eq!((score.0.round(), bound.0.round()), (928.0, 571.0));
    // 3 % are allowed.
    for (score, flagged) in [(588.0, false), (589.0, true)] {
        let board = observed("", 1000.0, &[(256, 300_000.0, score * 1e3)]);
        let above = |verdict: &Misfit| matches!(verdict, Misfit::AboveBound { .. });
        assert_eq!(super::identify(&board, &Cores::load()).verdicts.iter().any(above), flagged);
    }
}

#[test]
fn a_shorter_key_that_is_slower_is_flagged_and_nothing_is_named() {
    // 4pgq was not pinned, so each row comes from another core.
    let rows = &[
        (128, 506_776.86, 1_062_906.54),
        (192, 887_873.92, 1_652_512.09),
        (256, 864_203.89, 1_395_878.57),
    ];
    let mut board = observed("Cortex-A510", 2515.0, rows);
    board.elsewhere = vec!["Cortex-A710".into(), "Cortex-X2".into()];
    assert!(why_not(&board).starts_with("a longer key is faster"), "{}", why_not(&board));
    let verdicts = found(&board).verdicts;
    assert!(verdicts.contains(&Misfit::KeyOrder { bits: 128, longer: 192 }), "{verdicts:?}");
    assert!(matches!(verdicts.last(), Some(Misfit::NotPinned { .. })), "{verdicts:?}");
}

#[test]
fn what_the_method_says_nothing_of_is_named_with_the_reason() {
    let slow: Rows<'_> = &[(128, 28353.13, 44695.55), (256, 25500.19, 36629.16)];
    let pi = observed("ARMv7 Processor rev 4 (v7l)", 1186.0, slow);
    let without = Observed { features: Some(vec!["neon".into()]), ..pi.clone() };
    assert_eq!(why_not(&without), "the core has no Crypto Extensions");
    assert_eq!(found(&without).verdicts, []);
    assert_eq!(why_not(&pi), "computed without the Crypto Extensions");
    assert_eq!(found(&pi).verdicts, [Misfit::ExtensionNotUsed]);
    for architecture in ["x86_64", "riscv64", "mips"] {
        let other =
            Observed { architecture: architecture.into(), ..observed("", 789.7, ESPRESSOBIN) };
        assert_eq!(
            why_not(&other),
            format!("the constants are for Arm cores, but this is {architecture}")
        );
        assert_eq!(found(&other).verdicts, []);
    }
    let other = Observed { tool: "wolfSSL 5.5.4".into(), ..observed("", 789.7, ESPRESSOBIN) };
    assert_eq!(why_not(&other), "computed by wolfSSL 5.5.4, but the constants are for OpenSSL");
    let emulated = Observed { emulated: Some("QEMU".into()), ..observed("", 789.7, ESPRESSOBIN) };
    assert!(why_not(&emulated).starts_with("emulated (QEMU)"), "{}", why_not(&emulated));
    assert!(why_not(&Observed::default()).starts_with("no figure"), "{:?}", Observed::default());
}

#[test]
fn an_engine_behind_the_kernel_is_suspected() {
    // Helios4: Marvell's CESA through cryptodev.
    let rows = &[(128, 1280.56, 109_390.51), (256, 1292.07, 98_298.54)];
    let mut board = observed("ARMv7 Processor rev 1 (v7l)", 1594.0, rows);
    board.features = Some(vec!["neon".into()]);
    let Implied::Accelerator { why } = found(&board).implied else { panic!("{:?}", found(&board)) };
    assert!(why.contains("12 µs"), "{why}");
    let board =
        Observed { tool: "OpenSSL 1.1.1, engine afalg".into(), ..observed("", 789.7, ESPRESSOBIN) };
    assert!(matches!(found(&board).implied, Implied::Accelerator { .. }));
}

#[test]
fn an_extension_that_the_features_do_not_list_is_told_and_named_where_calls_are_cheap() {
    let mut board = observed("Cortex-A72", 1800.0, &[(256, 330_000.0, 1_023_600.0)]);
    board.features = Some(vec!["neon".into()]);
    assert_eq!(named(&board).1, "Cortex-A72 or 15 others");
    assert_eq!(found(&board).verdicts, [Misfit::ExtensionNotListed]);
    board.rates = Rates::default();
    board.rates.insert(256, 16_384, KilobytesPerSecond(1_023_600.0).into());
    assert!(matches!(found(&board).implied, Implied::Accelerator { .. }));
    assert_eq!(found(&board).verdicts, [Misfit::ExtensionNotListed]);
}

#[test]
fn features_and_what_masking_changes_are_held_against_each_other() {
    for (features, gain, agree) in [
        (vec!["aes".to_owned()], 4.7, Some(true)),
        (vec!["aes".to_owned()], 1.0, Some(false)),
        (Vec::new(), 1.01, Some(true)),
        (Vec::new(), 8.0, Some(false)),
        (vec!["aes".to_owned()], 1.5, None),
    ] {
        let listed = !features.is_empty();
        let machine = Observed {
            architecture: "x86_64".into(),
            features: Some(features),
            unmasked: Some(gain),
            ..observed("", 3000.0, &[(256, 300_000.0, 1_000_000.0)])
        };
        let verdicts = found(&machine).verdicts;
        assert_eq!(verdicts, [Misfit::Extension { listed, gain, agree }]);
        assert_eq!(verdicts[0].is_wrong(), agree != Some(true));
    }
}

#[test]
fn no_figures_however_odd_make_it_fail() {
    let numbers = [0.0, 1e-300, 1.0, 571.0, 1e9, 1e300, f64::INFINITY, f64::NAN, -1.0];
    let cores = Cores::load();
    for block in numbers {
        for long in numbers {
            for mhz in numbers {
                let rows = &[(128, block, long), (192, long, block), (256, block, long)];
                let found = identify(&observed("Cortex-A53", mhz, rows), &cores);
                assert!(!format!("{found:?}").is_empty());
            }
        }
    }
}
