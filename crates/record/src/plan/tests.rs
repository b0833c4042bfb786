use super::*;

const SMALL: &str = r#"
    name = "small"
    reason = "a test"
    [[measure]]
    algorithms = ["aes-128-cbc", "sha-256"]
    sizes = [16, "1K"]
"#;

fn ids(plan: &Plan) -> Vec<String> {
    plan.workloads().iter().map(ToString::to_string).collect()
}

#[test]
fn a_size_that_an_algorithm_does_not_have_is_named() {
    let mut plan = Plan::parse(SMALL).unwrap();
    assert!(plan.untaken().is_empty());
    let sizes = ["16", "100"].map(String::from).to_vec();
    plan.change(&Changes { sizes, ..Changes::default() }).unwrap();
    let untaken: Vec<_> = plan.untaken().into_iter().collect();
    assert_eq!(untaken, [("100".parse().unwrap(), BTreeSet::from([Algorithm::Aes128Cbc]))]);
    assert!(plan.idle().is_empty() && plan.undivided().is_empty());
}

#[test]
fn operations_that_nothing_has_and_phases_that_some_lack_are_told() {
    let mut plan =
        Plan::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans/default.toml"))
            .unwrap();
    plan.change(&Changes {
        algorithms: vec!["x25519".into(), "sha-256".into(), "hmac-sha-256".into()],
        operations: vec!["sign".into(), "hash".into(), "mac".into(), "key-agreement".into()],
        phases: vec!["message".into(), "setup".into()],
        ..Changes::default()
    })
    .unwrap();
    assert_eq!(plan.idle(), BTreeSet::from([Operation::Sign]));
    let without = BTreeSet::from([Algorithm::X25519, Algorithm::Sha256]);
    assert_eq!(plan.undivided(), BTreeMap::from([(Phase::Setup, without)]));
}

#[test]
fn a_plan_is_all_sensible_combinations() {
    let plan = Plan::parse(SMALL).unwrap();
    assert_eq!(
        ids(&plan),
        [
            "aes-128-cbc/encrypt/message/16",
            "aes-128-cbc/encrypt/message/1024",
            "aes-128-cbc/decrypt/message/16",
            "aes-128-cbc/decrypt/message/1024",
            "sha-256/hash/message/16",
            "sha-256/hash/message/1024",
        ]
    );
}

#[test]
fn the_command_line_replaces_lists_and_adds_algorithms() {
    let mut plan = Plan::parse(SMALL).unwrap();
    let changes = Changes {
        algorithms: vec!["aes-128-cbc".into(), "hmac-sha-256".into()],
        phases: vec!["setup".into()],
        ..Changes::default()
    };
    plan.change(&changes).unwrap();
    assert_eq!(
        ids(&plan),
        ["aes-128-cbc/encrypt/setup/0", "aes-128-cbc/decrypt/setup/0", "hmac-sha-256/mac/setup/0"]
    );
}

#[test]
fn memory_reads_are_all_combinations_and_have_sizes_of_the_command_line() {
    let text = r#"
        name = "reads"
        reason = "a test"
        [[memory-read]]
        widths = ["8-bit", "widest"]
        sizes = ["4K", "64K"]
        [[memory-read]]
        widths = ["64-bit"]
        patterns = ["linear"]
        sizes = [100, "16K"]
        region = "flash"
        cache = "cache-disabled"
    "#;
    let mut plan = Plan::parse(text).unwrap();
    assert_eq!(
        ids(&plan),
        [
            "memory-read/8-bit/linear/4096",
            "memory-read/8-bit/linear/65536",
            "memory-read/8-bit/ping-pong/4096",
            "memory-read/8-bit/ping-pong/65536",
            "memory-read/widest/linear/4096",
            "memory-read/widest/linear/65536",
            "memory-read/widest/ping-pong/4096",
            "memory-read/widest/ping-pong/65536",
            "memory-read/64-bit/linear/16384/flash/cache-disabled",
        ]
    );
    let sizes = vec!["512".to_owned()];
    plan.change(&Changes { sizes, ..Changes::default() }).unwrap();
    assert_eq!(ids(&plan).len(), 5);
    assert!(Plan::parse(&text.replace("8-bit", "7-bit")).is_err());
    let none = plan.change(&Changes { sizes: vec!["100".to_owned()], ..Changes::default() });
    assert!(none.unwrap_err().to_string().contains("multiples of 512"));
}

#[test]
fn options_of_one_family_leave_out_the_other_and_say_so() {
    let both = format!("{SMALL}[[memory-read]]\nsizes = [512]\n");
    let changed = |options: Changes| {
        let mut plan = Plan::parse(&both).unwrap();
        let said = plan.change(&options).unwrap();
        (plan.measure.len(), ids(&Plan { measure: Vec::new(), ..plan }), said)
    };
    let (algorithms, widths) = (vec!["sha-256".to_owned()], vec!["32".to_owned()]);
    let patterns = vec!["linear".to_owned()];
    let (crypto, reads, said) = changed(Changes::default());
    assert_eq!((crypto, reads.len(), said), (1, 10, None));
    let (crypto, reads, said) =
        changed(Changes { algorithms: algorithms.clone(), ..Changes::default() });
    assert_eq!((crypto, reads.len()), (1, 0));
    assert!(said.unwrap().starts_with("10 memory reads of the plan were not measured"));
    let read = ["memory-read/32-bit/linear/512"];
    let (crypto, reads, said) = changed(Changes {
        widths: widths.clone(),
        patterns: patterns.clone(),
        ..Changes::default()
    });
    assert_eq!((crypto, reads.as_slice()), (0, read.map(String::from).as_slice()));
    assert!(said.unwrap().starts_with("6 cryptographic workloads of the plan were not measured"));
    let (crypto, reads, said) =
        changed(Changes { algorithms, widths, patterns, ..Changes::default() });
    assert_eq!((crypto, reads.as_slice(), said), (1, read.map(String::from).as_slice(), None));
}

#[test]
fn sizes_that_are_no_working_sets_are_told() {
    let mut plan = Plan::parse(&format!("{SMALL}[[memory-read]]\nsizes = [512]\n")).unwrap();
    assert!(plan.unread().is_empty());
    let sizes = ["16", "1K"].map(String::from).to_vec();
    plan.change(&Changes { sizes, ..Changes::default() }).unwrap();
    assert_eq!(plan.unread(), BTreeSet::from(["16".parse().unwrap()]));
}

#[test]
fn a_plan_that_measures_nothing_is_refused() {
    let mut plan = Plan::parse(SMALL).unwrap();
    let changes = Changes {
        algorithms: vec!["aes-128-cbc".into()],
        sizes: vec!["17".into()],
        ..Changes::default()
    };
    let error = plan.change(&changes).unwrap_err().to_string();
    assert!(error.contains("multiples of 16"), "{error}");
}

#[test]
fn wrong_keys_types_and_names_are_named() {
    for (wrong, word) in [
        ("colour = 1", "colour"),
        ("name = 1", "name"),
        ("name = \"x\"\nreason = \"y\"\nmeasure = 3", "measure"),
        (&SMALL.replace("aes-128-cbc", "aes-128-cbd"), "aes-128-cbd"),
        (&SMALL.replace("16,", "0,"), "size 0"),
        (&SMALL.replace("1K", "1TiB"), "1TiB"),
        (&SMALL.replace("[[", "counted-ms = 1001\n[["), "counted-ms"),
        (&SMALL.replace("[[", "report = \"sideways\"\n[["), "sideways"),
    ] {
        let error = format!("{:#}", Plan::parse(wrong).unwrap_err());
        assert!(error.contains(word), "{wrong}: {error}");
    }
}

#[test]
fn the_plan_of_everything_names_every_algorithm() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans/all.toml");
    let workloads = Plan::read(&path).unwrap().workloads();
    for algorithm in Algorithm::ALL {
        for operation in algorithm.operations() {
            let measured = |workload: &Workload| {
                let Workload::Crypto(workload) = workload else { return false };
                (workload.algorithm, workload.operation) == (*algorithm, *operation)
            };
            assert!(workloads.iter().any(measured), "{algorithm} {operation}");
        }
    }
}

#[test]
fn every_plan_in_the_repository_is_a_plan() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let plan = Plan::read(&file.unwrap().path()).unwrap();
        let all_measured =
            plan.idle().is_empty() && plan.untaken().is_empty() && plan.unread().is_empty();
        assert!(all_measured && plan.undivided().is_empty(), "{}", plan.name);
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn a_dispatch_has_a_name_or_each_of_its_parameters() {
    let with = |dispatch: &str| Plan::parse(&format!("{SMALL}\ndispatch = {dispatch}"));
    for (dispatch, id) in [
        ("'serial'", ""),
        ("'all-at-once'", "/depth=ring/build-before/notice-last"),
        ("{ depth = 4 }", "/depth=4"),
        ("{ depth = 'ring', notice = 'notice-last' }", "/depth=ring/notice-last"),
        ("{ depth = 16, build = 'build-before' }", "/depth=16/build-before"),
    ] {
        let plan = with(dispatch).unwrap();
        assert_eq!(ids(&plan)[4], format!("sha-256/hash/message/16{id}"), "{dispatch}");
        // A record keeps the plan as JSON.
        let kept = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&kept).unwrap(), plan, "{kept}");
    }
    for wrong in [
        "'parallel'",
        "{ depth = 'all' }",
        "{ depth = 0 }",
        "{ deep = 4 }",
        "{ notice = 'notice-last' }",
    ] {
        let told = format!("{:#}", with(wrong).unwrap_err());
        assert!(told.contains("all-at-once") && told.contains("notice-last"), "{told}");
    }
}
