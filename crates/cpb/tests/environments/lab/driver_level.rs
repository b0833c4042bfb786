//! The driver level: cpb's own module in the kernels of guests (`lab/kmod`).

use super::faults::{unplug, with_monitor};
use super::guests::{USUAL, here, rounds};
use cpb_test_support::{Ran, Running, lab, lines, of_kind};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

const ENGINE: &str = "kernel:virtio_crypto_aes_cbc";
const SOFTWARE: &str = "kernel:cbc-aes-aesni";

/// What the driver-level plan asks, at fewer sizes.
const PLAN: &str = r#"
name = "driver-level-in-short"
reason = "Does a full queue gain what it should?"
providers = ["kernel:virtio_crypto_aes_cbc", "kernel:cbc-aes-aesni", "kernel:null", "mbedtls:c"]
budget = "12s"

[[measure]]
algorithms = ["aes-128-cbc"]
operations = ["encrypt"]
sizes = [16, 16384]
unique = 128

[[measure]]
algorithms = ["aes-128-cbc"]
operations = ["encrypt"]
sizes = [16]
unique = 128
dispatch = "all-at-once"

[[measure]]
algorithms = ["aes-128-cbc"]
operations = ["decrypt"]
sizes = [1024]
unique = 128
dispatch = { depth = 64, build = "build-before" }
checking = "check-each"
"#;

#[test]
fn a_full_queue_gains_what_it_should_and_the_ciphertexts_are_those_of_user_space() {
    if !here("driver_level") {
        return;
    }
    let lab = lab!();
    lab.write("plan.toml", PLAN);
    let ran = lab.run(&format!("run --target lab:{USUAL} --plan plan.toml --all -o record.jsonl"));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let lines = lines(&lab.path("record.jsonl"));
    let output = |provider: &str, workload: &str| -> BTreeSet<String> {
        let rounds = rounds(&lines, provider, workload);
        assert!(!rounds.is_empty(), "{provider} {workload}: {}", ran.all());
        rounds.iter().map(|round| round["output"].to_string()).collect()
    };
    for size in [16, 16384] {
        let workload = format!("aes-128-cbc/encrypt/message/{size}/unique=128");
        let right = output("mbedtls:c", &workload);
        assert_eq!(right.len(), 1, "{right:?}");
        for provider in [ENGINE, SOFTWARE] {
            assert_eq!(output(provider, &workload), right, "{provider} at {size}");
        }
        assert_ne!(output("kernel:null", &workload), right, "the floor computes nothing");
    }
    let [serial, full] = ["", "/depth=ring/build-before/notice-last"]
        .map(|way| format!("aes-128-cbc/encrypt/message/16/unique=128{way}"));
    // Of 512 jobs the first 128 messages are the same, but the checksum is over all.
    assert_eq!(output(ENGINE, &full), output(SOFTWARE, &full));

    let interrupts =
        |workload: &str| per_operation(&rounds(&lines, ENGINE, workload), "interrupts");
    println!("irq/op: {} serial, {} full", interrupts(&serial), interrupts(&full));
    assert!((0.9..1.2).contains(&interrupts(&serial)), "{}", ran.all());
    assert!(interrupts(&full) < 0.8, "{}", ran.all());
    let gain = time(&rounds(&lines, ENGINE, &serial)) / time(&rounds(&lines, ENGINE, &full));
    println!("a full queue: {gain:.2} times as fast at 16 B");
    // A wide margin for a shared machine: 3.1 to 6.7 times were seen.
    assert!(gain > 1.3, "{gain}");
    // Latency in flight is a field of its own.
    let in_flight = &rounds(&lines, ENGINE, &full)[0]["latency_in_flight"];
    assert!(
        in_flight["buckets"].as_array().is_some_and(|buckets| !buckets.is_empty()),
        "{in_flight}"
    );

    // The steps of one message at a time. A driver on the CPU is done when the call returns.
    let steps = |provider: &str, workload: &str| {
        let rounds = rounds(&lines, provider, workload);
        ["operations", "build", "dispatch", "completion"].map(|step| -> f64 {
            rounds.iter().filter_map(|round| round["counters"]["steps"][step].as_f64()).sum()
        })
    };
    let [operations, build, dispatch, completion] = steps(ENGINE, &serial);
    println!("steps of {operations}: {build} {dispatch} {completion}");
    assert!(operations > 0.0 && build > 0.0 && dispatch > 0.0 && completion > 0.0);
    let [operations, _, dispatch, completion] = steps(SOFTWARE, &serial);
    assert!(operations > 0.0 && dispatch > completion, "{dispatch} {completion}");
    assert_eq!(steps(ENGINE, &full), [0.0; 4], "with others in flight they overlap");

    let explained = lab.run("explain record.jsonl --json");
    let explained: Value = serde_json::from_str(&explained.stdout).expect("JSON");
    let queues = explained["queues"].as_array().expect("the queues");
    let engine = queues.iter().find(|queue| queue["provider"] == ENGINE).expect("the engine's");
    let told = engine["enough"][0]["gain"]["value"].as_f64().expect("a gain");
    assert!(told > 1.0, "{told} and {gain}");
    let steps = &engine["ways"][0]["cells"][0]["steps"];
    let shares = ["build", "dispatch", "completion"].map(|step| steps[step]["share"].as_f64());
    let all: f64 = shares.iter().flatten().sum();
    assert!((all - 1.0).abs() < 1e-6, "{steps}");
    assert!(steps["build"]["time"].is_null(), "an emulated CPU has no times: {steps}");
    assert!(ran.stdout.contains("all at once"), "{}", ran.all());
}

/// How many known answers `cpb check` said to be right, if it said that none is wrong.
fn right(said: &str) -> u32 {
    let end = " known answers right, 0 algorithms wrong";
    let line = said.lines().find_map(|line| line.strip_suffix(end));
    line.and_then(|number| number.replace(',', "").parse().ok()).unwrap_or_default()
}

/// A count of all rounds, by operation.
fn per_operation(rounds: &[&Value], count: &str) -> f64 {
    let sum = |name: &str| -> f64 {
        rounds.iter().map(|round| round["counters"][name].as_f64().unwrap_or_default()).sum()
    };
    sum(count) / sum("operations")
}

/// The shortest time of an operation in any batch, in nanoseconds.
fn time(rounds: &[&Value]) -> f64 {
    let batches = rounds.iter().flat_map(|round| {
        let each = round["iterations"].as_f64().expect("a count");
        let samples = round["samples"].as_array().expect("threads");
        let batches = samples.iter().flat_map(|thread| thread.as_array().expect("batches"));
        batches.map(move |batch| batch[0].as_f64().expect("ticks") / each)
    });
    batches.fold(f64::INFINITY, f64::min)
}

#[test]
fn one_pass_of_encryption_and_mac_is_right_on_every_cipher_and_half_of_it_may_be_an_engine_s() {
    if !here("one_pass") {
        return;
    }
    let lab = lab!();
    let ran = lab.run(&format!(
        "run --target lab:{USUAL} -a aes-128-cbc-hmac-sha-1-etm -s 1K --budget 3s -p kernel,mbedtls:c -q \
         --json -o record.jsonl"
    ));
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let summary: Value = serde_json::from_str(&ran.stdout).expect("a summary");
    let cells = summary["cells"].as_array().expect("cells");
    let verdicts: BTreeSet<(&str, &str)> = cells
        .iter()
        .filter_map(|cell| {
            let verdict = cell["execution"]["verdict"].as_str()?;
            Some((cell["provider"].as_str()?, verdict))
        })
        .filter(|(provider, _)| provider.contains("authenc"))
        .collect();
    println!("{verdicts:?}");
    let is = |part: &str, verdict: &str| {
        verdicts.iter().any(|(name, its)| name.contains(part) && *its == verdict)
    };
    assert!(is("virtio_crypto_aes_cbc", "accelerated"), "{}", ran.all());
    assert!(is("cbc-aes-aesni", "software"), "{}", ran.all());
    let lines = lines(&lab.path("record.jsonl"));
    let checks = of_kind(&lines, "check");
    assert!(checks.iter().all(|check| check["wrong"].is_null()), "{}", ran.all());
    for (provider, _) in verdicts {
        let of_it = checks.iter().filter(|check| check["provider"] == provider);
        assert!(of_it.filter_map(|check| check["right"].as_u64()).sum::<u64>() > 0, "{provider}");
    }
}

#[test]
fn the_module_is_built_for_the_newer_kernel_as_well() {
    if !here("newer_kernel") {
        return;
    }
    let algorithms = "aes-128-cbc,aes-128-gcm,sha-256,hmac-sha-256";
    let providers = format!("{ENGINE},{SOFTWARE},kernel:sha256-avx2,kernel:null,kernel:no-such");
    let ran = lab!().run(&format!("check --target lab:x86_64-6.12 -a {algorithms} -p {providers}"));
    // Two drivers of AES-CBC, with 331 answers in each direction, and one of SHA-256.
    assert!(right(&ran.stdout) > 4 * 331, "{}", ran.all());
    assert!(ran.all().contains("this kernel has no driver no-such"), "{}", ran.all());
}

/// What root and others do with the device, in a guest's shell.
const SCRIPT: &str = r#"
cpb check -p kernel:no-such -a aes-128-cbc
echo user:x:1000:1000::/:/bin/sh > /etc/passwd
su user -c 'cat /dev/cpb-runner'
su user -c 'cpb check -p kernel:cbc-aes-aesni -a aes-128-cbc'
exec 3<> /dev/cpb-runner
cpb check -p kernel:cbc-aes-aesni -a aes-128-cbc
exec 3>&-
cpb run -p kernel:virtio_crypto_aes_cbc -a aes-128-cbc --operation encrypt -s 16K --budget 100s -q -o /tmp/record.jsonl > /tmp/run &
until grep -q '"round":{"provider":"kernel' /tmp/record.jsonl 2> /dev/null; do sleep 1; done
kill -STOP $!
until rmmod cpb_runner 2> /dev/null; do sleep 0.1; done
echo unloaded-in-the-middle
kill -CONT $!
wait $!
echo the run ended with $?
grep '"without"' /tmp/record.jsonl
cpb check -p kernel:cbc-aes-aesni -a aes-128-cbc
insmod /lib/modules/cpb_runner.ko && cpb check -p kernel:cbc-aes-aesni -a aes-128-cbc > /dev/null && echo loaded-again
"#;

#[test]
fn who_may_not_use_the_module_is_told_and_a_run_that_loses_it_says_so() {
    if !here("module_faults") {
        return;
    }
    let lab = lab!();
    let mut command = lab.cpb(&format!("lab run {USUAL} -- sh"));
    command.timeout(Duration::from_secs(300)).write_stdin(format!("exec 2>&1\n{SCRIPT}"));
    let ran: Ran = command.output().expect("cpb starts").into();
    println!("{}", ran.all());
    for words in [
        "this kernel has no driver no-such",
        "Permission denied",
        "/dev/cpb-runner is for root alone",
        "/dev/cpb-runner is in use by another program",
        "unloaded-in-the-middle",
        "the run ended with 1",
        r#""outcome":{"failed":{"error":{"unsupported":"device"}"#,
        "no /dev/cpb-runner: cpb's kernel module is not loaded",
        "loaded-again",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.all());
    }
    assert!(!ran.stdout.contains("Oops") && !ran.stdout.contains("BUG"), "{}", ran.all());
}

#[test]
fn an_accelerator_unplugged_under_a_full_queue_costs_its_cells_with_a_reason() {
    if !here("unplugged_full") {
        return;
    }
    let lab = lab!();
    let (guest, socket) = with_monitor(&lab);
    lab.write(
        "plan.toml",
        PLAN.replace("sizes = [16, 16384]", "sizes = [16384]").replace("12s", "100s"),
    );
    let line = format!(
        "run --target lab:{} --plan plan.toml -p {ENGINE},mbedtls:c --timeout 15s --verbose -o record.jsonl",
        guest.display()
    );
    let mut running = Running::start(&lab, &line, "");
    running.wait_for(&format!("written: round {ENGINE}"), 3);
    unplug(&socket, "crypto");
    running.wait_for(&format!("written: without {ENGINE}"), 1);
    // The guest may have to be given up, and another one booted; the software is measured in it.
    let software = "written: round mbedtls:c";
    let before = running.said.matches(software).count();
    running.wait_for(software, before + 1);
    running.signal("INT");
    let ran = running.end();
    let lines = lines(&lab.path("record.jsonl"));
    let without = of_kind(&lines, "without");
    let lost = without.iter().find(|one| one["provider"] == ENGINE).expect("a cell of the engine");
    println!("unplugged: {}", lost["outcome"]);
    let detail = lost["outcome"]["failed"]["detail"].as_str().unwrap_or_default();
    assert!(!detail.is_empty(), "{}", ran.all());
}

/// A program that sends random requests to the device for so many seconds.
const RANDOM: &str = include_str!("random_requests.c");

#[test]
fn twenty_seconds_of_random_requests_do_no_harm() {
    if !here("random_requests") {
        return;
    }
    let lab = lab!();
    let source = lab.write("random.c", RANDOM);
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/kmod");
    let program = lab.path("random");
    let compiled = Command::new("gcc")
        .args(["-O1", "-static", "-s", "-I", header, "-o"])
        .args([&program, &source])
        .status();
    assert!(compiled.expect("a compiler").success());
    let script = "cat > /tmp/random; chmod +x /tmp/random; /tmp/random 20; dmesg | grep -c -E 'BUG|Oops|WARNING: CPU' \
                  > /tmp/bad; echo bad: $(cat /tmp/bad); \
                  cpb check -p kernel:cbc-aes-aesni,kernel:virtio_crypto_aes_cbc -a aes-128-cbc";
    let input = fs::File::open(&program).expect("the program");
    let mut command = lab.process(&format!("lab run {USUAL} -- sh"));
    let output = command.args(["-c", script]).stdin(Stdio::from(input)).output().expect("cpb");
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}{}", String::from_utf8_lossy(&output.stderr));
    // QEMU 7.2 makes a self-test of RSA warn while the guest boots.
    let bad = said.lines().find_map(|line| line.strip_prefix("bad: ")).expect("a count");
    assert!(bad.parse::<u32>().expect("a number") <= 1, "{said}");
    let good = said.lines().find_map(|line| line.strip_suffix(" good")?.rsplit(' ').next());
    assert!(good.is_some_and(|good| good.parse::<u32>().is_ok_and(|good| good > 50)), "{said}");
    assert_eq!(right(&said), 4 * 331, "two drivers, in each direction: {said}");
}
