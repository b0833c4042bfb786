//! The engines of `crates/engines`, with the times that a chip's file states.

use crate::chip::{Chip, DeviceDescription, ENGINE_CLOCK};
use cpb_engines::Engine;
use cpb_engines::caam::{self, Caam, Configuration};
use cpb_engines::dcp::{self, Dcp, Fuses};

/// The unit of the CAAM's coalescing timer, in clocks of the engine.
const COALESCING: f64 = 64.0;

/// The engine of a description that was checked; `None` if the device is no engine.
pub(super) fn new(description: &DeviceDescription, core_mhz: f64) -> Option<Box<dyn Engine>> {
    if let Some(timing) = caam_timing(description, core_mhz) {
        return Some(Box::new(Caam::new(timing, Configuration::RT1170)));
    }
    description.engine_times()?;
    let cycles = cycles(description, core_mhz);
    let timing = dcp::Timing {
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

/// The times of a chip's CAAM, in ticks of a clock of `mhz`, for owners of the engine's model that simulate no core;
/// `None` if the chip has no CAAM.
pub fn caam_timing_of(chip: &Chip, mhz: f64) -> Option<caam::Timing> {
    chip.device.iter().find_map(|device| caam_timing(device, mhz))
}

/// The times of a CAAM, in ticks of a clock of `mhz`; `None` if the device is another one.
fn caam_timing(description: &DeviceDescription, mhz: f64) -> Option<caam::Timing> {
    if description.kind != "caam" {
        return None;
    }
    let cycles = cycles(description, mhz);
    Some(caam::Timing {
        ring_entry: cycles("ring-entry"),
        descriptor_word: cycles("descriptor-word"),
        command: cycles("command"),
        register_word: cycles("register-word"),
        table_entry: cycles("table-entry"),
        dma_start: cycles("dma-start"),
        dma_beat: cycles("dma-beat"),
        aes_round: cycles("aes-round"),
        des_round: cycles("des-round"),
        md5_block: cycles("md5-block"),
        sha1_block: cycles("sha1-block"),
        sha256_block: cycles("sha256-block"),
        sha512_block: cycles("sha512-block"),
        random_word: cycles("random-word"),
        word_product: cycles("word-product"),
        finish: cycles("finish"),
        latency: cycles("latency"),
        coalescing: COALESCING * ticks(description, mhz),
    })
}

/// Translates the time with a name from cycles of the engine to ticks of a clock of `mhz`.
fn cycles(description: &DeviceDescription, mhz: f64) -> impl Fn(&str) -> f64 {
    let ticks = ticks(description, mhz);
    move |name| constant(description, name) * ticks
}

/// Ticks of a clock of `mhz` in a cycle of the engine.
fn ticks(description: &DeviceDescription, mhz: f64) -> f64 {
    mhz / constant(description, ENGINE_CLOCK).max(1e-3)
}

fn constant(description: &DeviceDescription, name: &str) -> f64 {
    description.timing.get(name).map_or(0.0, |constant| constant.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::CHIPS;

    #[test]
    fn a_chip_s_times_are_in_the_ticks_of_any_clock() {
        let chip = Chip::named("imxrt1170").expect("a chip");
        // The engine's own clock, and a tick of a nanosecond.
        let [own, nanoseconds] =
            [240.0, 1000.0].map(|mhz| caam_timing_of(&chip, mhz).expect("a CAAM"));
        assert_eq!((own.latency, own.aes_round, own.coalescing), (2653.0, 4.0, 64.0));
        assert!((nanoseconds.latency - 2653.0 / 0.24).abs() < 0.1, "{}", nanoseconds.latency);
        let other = Chip::named("imxrt1060").expect("a chip");
        assert_eq!(caam_timing_of(&other, 240.0), None, "it has a DCP");
    }

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
