extern crate std;
use super::*;
use proptest::prelude::*;
use proptest::sample::select;
use std::string::ToString;

/// Any workload made of existing parts, valid or not.
pub(crate) fn any_workload() -> impl Strategy<Value = CryptoWorkload> {
    let what = (select(Algorithm::ALL), select(Operation::ALL), select(Phase::ALL));
    let lengths = (any::<u32>(), any::<u32>(), select(Placement::ALL));
    let data = prop_oneof![
        Just(DataSet::Same),
        any::<u32>().prop_map(|chunks| DataSet::Unique { chunks }),
    ];
    let depth = prop_oneof![Just(Depth::Ring), any::<u16>().prop_map(Depth::Jobs)];
    let dispatch = (select(Build::ALL), depth, select(Notice::ALL))
        .prop_map(|(build, depth, notice)| Dispatch { build, depth, notice });
    let rest = (data, select(KeyUse::ALL), dispatch, select(Checking::ALL));
    (what, lengths, rest).prop_map(|(what, lengths, rest)| CryptoWorkload {
        algorithm: what.0,
        operation: what.1,
        phase: what.2,
        message: lengths.0,
        associated: lengths.1,
        placement: lengths.2,
        data: rest.0,
        keys: rest.1,
        dispatch: rest.2,
        checking: rest.3,
    })
}

proptest! {
    #[test]
    fn an_id_parses_back_to_the_workload(workload in any_workload()) {
        prop_assert_eq!(workload.to_string().parse(), Ok(workload));
    }

    #[test]
    fn parsing_any_text_does_not_panic(text in ".{0,80}") {
        let _ = text.parse::<CryptoWorkload>();
    }
}

#[test]
fn the_plain_case_has_a_plain_id() {
    let plain = CryptoWorkload::new(Algorithm::Aes256Cbc, Operation::Encrypt, 16384);
    assert_eq!(plain.to_string(), "aes-256-cbc/encrypt/message/16384");
    let queued = CryptoWorkload { dispatch: Dispatch::ALL_AT_ONCE, ..plain };
    assert_eq!(
        queued.to_string(),
        "aes-256-cbc/encrypt/message/16384/depth=ring/build-before/notice-last"
    );
}

#[test]
fn senseless_combinations_are_named_by_their_reason() {
    let cbc = CryptoWorkload::new(Algorithm::Aes128Cbc, Operation::Encrypt, 16);
    assert_eq!(cbc.valid(), Ok(()));
    assert_eq!(CryptoWorkload { message: 17, ..cbc }.valid(), Err(Unsupported::Length));
    assert_eq!(CryptoWorkload { phase: Phase::Setup, ..cbc }.valid(), Err(Unsupported::Length));
    assert_eq!(CryptoWorkload { associated: 1, ..cbc }.valid(), Err(Unsupported::Length));
    let no_depth = Dispatch { depth: Depth::Jobs(0), ..cbc.dispatch };
    let queued = CryptoWorkload { dispatch: no_depth, ..cbc };
    assert_eq!(queued.valid(), Err(Unsupported::Mode));
    let one = CryptoWorkload { data: DataSet::Unique { chunks: 1 }, ..cbc };
    assert_eq!(one.valid(), Err(Unsupported::Mode));
    assert_eq!(
        CryptoWorkload { operation: Operation::Hash, ..cbc }.valid(),
        Err(Unsupported::Algorithm)
    );
    let sha = CryptoWorkload::new(Algorithm::Sha256, Operation::Hash, 1);
    assert_eq!(
        CryptoWorkload { placement: Placement::InPlace, ..sha }.valid(),
        Err(Unsupported::Mode)
    );
    assert_eq!(
        CryptoWorkload { phase: Phase::Setup, message: 0, ..sha }.valid(),
        Err(Unsupported::Phase)
    );
    let xts = CryptoWorkload::new(Algorithm::Aes128Xts, Operation::Encrypt, 17);
    let ccm = CryptoWorkload::new(Algorithm::Aes128Ccm, Operation::Encrypt, 17);
    for one_call in [xts, ccm] {
        assert_eq!(one_call.valid(), Ok(()));
        let update = CryptoWorkload { phase: Phase::Update, ..one_call };
        assert_eq!(update.valid(), Err(Unsupported::Phase));
        let long = CryptoWorkload { message: (16 << 20) + 1, ..one_call };
        assert_eq!(long.valid(), Err(Unsupported::Length));
    }
    assert_eq!(CryptoWorkload { message: 15, ..xts }.valid(), Err(Unsupported::Length));
}
