//! `cpb list --kernel`: every driver, and what keeps programs from reaching it.

use crate::cmd::output;
use cpb_core::kernel::{
    ALLOCATES_MEMORY, Availability, KernelSurvey, NEEDS_FALLBACK, Selftest, SurveyedDriver,
};
use cpb_report::wrap;
use std::fmt::{Result, Write};

/// The survey as text, by algorithm.
pub(super) fn words(survey: &KernelSurvey) -> std::result::Result<String, std::fmt::Error> {
    let mut text = String::new();
    paragraph(&mut text, "", &format!("AF_ALG: {}", survey.af_alg))?;
    if survey.drivers.is_empty() {
        text.push_str("This kernel lists no crypto drivers in /proc/crypto\n");
        return Ok(text);
    }
    text.push_str("\nDrivers by algorithm, in the kernel's order of preference\n");
    let mut name = "";
    for one in &survey.drivers {
        if one.driver.name != name {
            name = &one.driver.name;
            writeln!(text, "{name}")?;
        }
        // A reason is printed once.
        let told = survey.af_alg != Availability::Reachable && one.reach == survey.af_alg;
        let reach = if told { "not reached".to_owned() } else { one.reach.to_string() };
        paragraph(&mut text, "  ", &format!("{}: {reach}, {}", one.driver.driver, about(one)))?;
    }
    if survey.af_alg != Availability::Reachable {
        return Ok(text);
    }
    if !survey.choices.is_empty() {
        text.push_str("\nDriver that the kernel selects for an algorithm\n");
    }
    for choice in &survey.choices {
        let taken = match &choice.taken {
            None => "none that AF_ALG can use".to_owned(),
            Some(taken) if *taken == choice.preferred => taken.clone(),
            Some(taken) if choice.fell_back => {
                format!("{taken}: it fell back to software from {}", choice.preferred)
            }
            Some(taken) => format!("{taken}, although it prefers {}", choice.preferred),
        };
        paragraph(&mut text, "  ", &format!("{}: {taken}", choice.name))?;
    }
    Ok(text)
}

fn about(one: &SurveyedDriver) -> String {
    let driver = &one.driver;
    let mut words = vec![driver.kind.clone()];
    words.push(format!("priority {}", driver.priority));
    match &driver.module {
        Some(module) => words.push(format!("module {module}")),
        None => words.push("built in".to_owned()),
    }
    let flag = |flag: u32| driver.flags.is_some_and(|flags| flags & flag != 0);
    let remarks = [
        (driver.asynchronous == Some(true), "asynchronous"),
        (driver.internal, "internal"),
        (flag(NEEDS_FALLBACK), "needs a software fallback"),
        (flag(ALLOCATES_MEMORY), "allocates memory"),
        (driver.selftest == Selftest::Passed, "self-test passed"),
        (driver.selftest == Selftest::Unknown, "self-test not passed"),
    ];
    words.extend(remarks.iter().filter(|(so, _)| *so).map(|(_, word)| (*word).to_owned()));
    if !one.devices.is_empty() {
        words.push(format!("device {}", one.devices.join(" and ")));
    }
    if !one.interrupts.is_empty() {
        words.push(format!("interrupts {}", one.interrupts.join(" and ")));
    }
    words.join(", ")
}

/// Text on as many lines as needed, all but the first one indented.
fn paragraph(text: &mut String, indent: &str, words: &str) -> Result {
    const FURTHER: &str = "    ";
    let mut further = "";
    for line in wrap(words, output::width().max(40) - FURTHER.len() - indent.len()) {
        writeln!(text, "{indent}{further}{line}")?;
        further = FURTHER;
    }
    Ok(())
}
