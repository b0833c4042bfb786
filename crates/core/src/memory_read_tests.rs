extern crate std;
use super::*;
use crate::workload::Workload;
use proptest::prelude::*;
use proptest::sample::select;
use std::string::ToString;

/// Any read made of existing parts, valid or not.
pub(crate) fn any_read() -> impl Strategy<Value = MemoryReadWorkload> {
    let parts = (
        select(Width::ALL),
        select(Pattern::ALL),
        any::<u32>(),
        select(Region::ALL),
        select(Cache::ALL),
    );
    parts.prop_map(|(width, pattern, bytes, region, cache)| MemoryReadWorkload {
        width,
        pattern,
        bytes,
        region,
        cache,
    })
}

proptest! {
    #[test]
    fn an_id_parses_back_to_the_workload(read in any_read()) {
        let id = read.to_string();
        prop_assert_eq!(id.parse(), Ok(read));
        prop_assert_eq!(id.parse(), Ok(Workload::MemoryRead(read)));
        prop_assert!(id.parse::<crate::CryptoWorkload>().is_err());
    }

    #[test]
    fn parsing_any_text_does_not_panic(text in "memory-read/.{0,60}") {
        let _ = text.parse::<Workload>();
    }
}

#[test]
fn the_usual_parts_are_left_out_of_an_id() {
    for id in [
        "memory-read/8-bit/linear/4096",
        "memory-read/widest/ping-pong/16384/flash",
        "memory-read/32-bit/linear/4096/cache-invalidated",
        "memory-read/32-bit/ping-pong/4096/flash/cache-disabled",
    ] {
        assert_eq!(id.parse::<Workload>().unwrap().to_string(), id);
    }
    for wrong in
        ["memory-read", "memory-read/", "memory-read/8-bit/linear", "memory-read/8/linear/1"]
    {
        assert!(wrong.parse::<Workload>().is_err(), "{wrong}");
    }
}

#[test]
fn a_working_set_is_whole_blocks() {
    let valid = |bytes| MemoryReadWorkload::new(Width::Bits8, Pattern::Linear, bytes).valid();
    assert_eq!([512, 4096, 1 << 26].map(valid), [Ok(()); 3]);
    let no_length = Err(crate::Unsupported::Length);
    assert_eq!([0, 256, 4095, u32::MAX].map(valid), [no_length; 4]);
}

#[test]
fn an_executor_names_its_inline_engine_last() {
    assert_eq!(inline_engine("the core's loads; FlexSPI, QSPI flash, OTFAD on"), Some("OTFAD"));
    assert_eq!(inline_engine("the core's loads; FlexSPI, QSPI flash"), None);
    assert_eq!(inline_engine(""), None);
}
