//! The engines of `crates/engines`, with the times that a chip's file states.

use crate::chip::{DeviceDescription, ENGINE_CLOCK};
use cpb_engines::Engine;
use cpb_engines::caam::{self, Caam, Configuration};
use cpb_engines::dcp::{self, Dcp, Fuses};

/// The unit of the CAAM's coalescing timer, in clocks of the engine.
const COALESCING: f64 = 64.0;

/// The engine of a description that was checked; `None` if the device is no engine.
pub(super) fn new(description: &DeviceDescription, core_mhz: f64) -> Option<Box<dyn Engine>> {
    description.engine_times()?;
    let constant = |name| description.timing.get(name).map_or(0.0, |constant| constant.value);
    let clock = core_mhz / constant(ENGINE_CLOCK).max(1e-3);
    let cycles = |name| constant(name) * clock;
    if description.kind == "dcp" {
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
        return Some(Box::new(Dcp::new(timing, Fuses::default())));
    }
    let timing = caam::Timing {
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
        coalescing: COALESCING * clock,
    };
    Some(Box::new(Caam::new(timing, Configuration::RT1170)))
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
