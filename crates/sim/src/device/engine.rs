//! The engines of `crates/engines`, with the times that a chip's file states.

use crate::chip::{DeviceDescription, ENGINE_CLOCK};
use cpb_engines::Engine;
use cpb_engines::dcp::{Dcp, Fuses, Timing};

/// The engine of a description that was checked; `None` if the device is no engine.
pub(super) fn new(description: &DeviceDescription, core_mhz: f64) -> Option<Box<dyn Engine>> {
    description.engine_times()?;
    let constant = |name| description.timing.get(name).map_or(0.0, |constant| constant.value);
    let cycles = |name| constant(name) * core_mhz / constant(ENGINE_CLOCK).max(1e-3);
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
