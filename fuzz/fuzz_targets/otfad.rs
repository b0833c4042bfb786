#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| cpb_fuzz_targets::otfad::image(input));
