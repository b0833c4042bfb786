//! A record holds a limited number of batches, however long a run may take.

use cpb::run::{Ended, Enough, Observer, Run};
use cpb::schedule;
use cpb::transport::process::Program;
use cpb::transport::{Affinity, RunnerSpec, Timeouts};
use cpb_core::{Algorithm, CryptoWorkload, Operation};
use cpb_record::store::{self, Store};
use cpb_record::{Cell, Header, Line};
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

const PROVIDER: &str = "mbedtls:c";

struct Nobody;

impl Observer for Nobody {
    fn written(&mut self, _: &Line) {}
    fn progress(&mut self, _: f64, _: Duration, _: &str) {}
}

fn header() -> Header {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/record-v1.jsonl");
    store::read(&golden).expect("the golden record").header
}

#[test]
fn a_run_ends_before_its_time_when_its_record_is_full() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("record.jsonl");
    let mut store = Store::create(&path, &header()).expect("a record");
    let program = Program {
        path: env!("CARGO_BIN_EXE_cpb").into(),
        arguments: vec!["runner".into(), PROVIDER.into()],
        environment: Vec::new(),
    };
    let launch = Arc::new(program);
    let source = RunnerSpec { name: PROVIDER.into(), launch, provider: 0, found: false };
    let budget = Duration::from_secs(3600);
    let enough = Enough {
        budget,
        precision: None,
        least_passes: 1,
        gauge: Rc::new(|_| HashMap::new()),
        refine: true,
        // The least number that a record can hold.
        batches: 0,
    };
    let mut run = Run {
        runners: vec![source],
        affinity: Affinity::default(),
        timeouts: Timeouts { answer: Duration::from_secs(60), stop: Default::default() },
        budget: schedule::BUDGET,
        store: &mut store,
        watch: &mut Nobody,
        began: Instant::now(),
        used_before: Duration::ZERO,
        company: None,
    };
    let workload = CryptoWorkload::new(Algorithm::Sha256, Operation::Hash, 16).into();
    let cell = Cell { provider: PROVIDER.into(), workload, threads: 1 };
    let ended = run.measure(vec![cell], 0, HashMap::new(), &enough).expect("a writable record");
    let kept = schedule::CELL_BATCHES / u64::from(schedule::BATCHES);
    assert_eq!(ended, Ended::Full(kept as u32));
    let (rounds, next) = store::read(&path).expect("a record").rounds();
    assert_eq!(next, kept as u32);
    assert_eq!(rounds.values().map(Vec::len).sum::<usize>(), kept as usize);
}
