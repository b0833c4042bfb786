//! The engines of `crates/engines`, with the times that a chip's file states.

use crate::chip::DeviceDescription;
use cpb_engines::Engine;
use cpb_engines::dcp::{Dcp, Fuses, Timing};

/// The engine's clock, MHz. All other times are in cycles of it.
const CLOCK: &str = "clock";

/// The names of the times that an engine of this kind needs; `None` for a device that is no engine.
fn times(kind: &str) -> Option<&'static [&'static str]> {
    match kind {
        "dcp" => Some(&[
            CLOCK,
            "fetch",
            "context",
            "payload",
            "aes-block",
            "sha1-block",
            "sha256-block",
            "word",
            "finish",
        ]),
        _ => None,
    }
}

/// Whether a description states exactly the times that its engine needs, all of them possible.
pub(super) fn check(description: &DeviceDescription) -> Result<(), String> {
    let kind = &description.kind;
    let wanted = times(kind).unwrap_or_default();
    if let Some(name) = wanted.iter().find(|name| !description.timing.contains_key(**name)) {
        return Err(format!("device {kind}: timing.{name} is missing"));
    }
    for (name, constant) in &description.timing {
        if !wanted.contains(&name.as_str()) {
            return Err(format!("device {kind}: timing.{name} is not known"));
        }
        let least = if name == CLOCK { 1e-3 } else { 0.0 };
        if !(least..1e9).contains(&constant.value) {
            return Err(format!("device {kind}: timing.{name} is out of range"));
        }
    }
    Ok(())
}

/// The engine of a description that was checked; `None` if the device is no engine.
pub(super) fn new(description: &DeviceDescription, core_mhz: f64) -> Option<Box<dyn Engine>> {
    times(&description.kind)?;
    let constant = |name| description.timing.get(name).map_or(0.0, |constant| constant.value);
    let cycles = |name| constant(name) * core_mhz / constant(CLOCK).max(1e-3);
    let timing = Timing {
        fetch: cycles("fetch"),
        context: cycles("context"),
        payload: cycles("payload"),
        aes_block: cycles("aes-block"),
        sha1_block: cycles("sha1-block"),
        sha256_block: cycles("sha256-block"),
        word: cycles("word"),
        finish: cycles("finish"),
    };
    Some(Box::new(Dcp::new(timing, Fuses::default())))
}

#[cfg(test)]
mod tests {
    use crate::chip::{CHIPS, Chip};

    #[test]
    fn an_engine_s_times_are_complete_and_possible() {
        let (_, text) = CHIPS[0];
        for (from, to, words) in [
            ("aes-block =", "aes-blocks =", "timing.aes-block is missing"),
            ("fetch = { value = ", "fetch = { value = -", "timing.fetch is out of range"),
            (
                "fetch = { value = ",
                "drift = { value = 1, source = \"x\" }\nfetch = { value = ",
                "timing.drift is not known",
            ),
        ] {
            assert!(text.contains(from), "{from}");
            let told = Chip::parse(&text.replacen(from, to, 1)).map(drop).unwrap_err().to_string();
            assert!(told.contains(words), "{told}");
        }
    }
}
