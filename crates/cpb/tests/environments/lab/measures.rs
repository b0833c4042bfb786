//! What a run in a guest measures.

use super::guests::{USUAL, caam_is_here, here, rounds};
use cpb_test_support::{Ran, lab, lines, of, of_kind, skip};
use serde_json::Value;
use std::time::Duration;

/// Sizes, in bytes.
const SIZES: [u32; 3] = [16, 1024, 16384];

/// The guest's own libcrypto, through its engine for AF_ALG.
const INSTALLED: &str = "openssl-system:engine=afalg";

/// The accelerator of most guests.
const VIRTIO: Expected =
    Expected { driver: "virtio_crypto_aes_cbc", counts_jobs: false, is_preferred: false };

/// The model of the CAAM. Its driver shows the engine's own count.
const CAAM: Expected = Expected { driver: "cbc-aes-caam", counts_jobs: true, is_preferred: true };

/// What an accelerator must show.
struct Expected {
    driver: &'static str,
    counts_jobs: bool,
    /// Whether its driver has a higher priority than software.
    is_preferred: bool,
}

impl Expected {
    fn provider(&self) -> String {
        format!("af_alg:{}", self.driver)
    }
}

#[test]
fn the_x86_64_guest_proves_its_accelerator_and_that_it_is_emulated() {
    if here("x86_64") {
        measure(USUAL, &VIRTIO, "af_alg:cbc-aes-aesni");
    }
}

#[test]
fn the_aarch64_guest_proves_its_accelerator_and_that_it_is_emulated() {
    if here("aarch64") {
        let lines = measure("aarch64-6.1", &VIRTIO, "af_alg:cbc-aes-ce");
        instructions_are_counted(&lines, &VIRTIO, "af_alg:cbc-aes-ce");
    }
}

#[test]
fn the_armhf_guest_proves_its_accelerator_with_32_bits() {
    if here("armhf") {
        let lines = measure("armhf-6.1", &VIRTIO, "af_alg:cbc-aes-neonbs");
        instructions_are_counted(&lines, &VIRTIO, "af_alg:cbc-aes-neonbs");
    }
}

#[test]
fn the_armhf_guest_proves_the_caam_that_linux_s_own_driver_drives() {
    if !caam_is_here("armhf_caam") {
        return;
    }
    let lines = measure("armhf-6.1-caam", &CAAM, "af_alg:cbc-aes-neonbs");
    instructions_are_counted(&lines, &CAAM, "af_alg:cbc-aes-neonbs");
    let engine = &of_kind(&lines, "end")[0]["state"]["engine"];
    println!("the model's own count: {engine}");
    let count = |name: &str| engine[name].as_u64().expect("a count");
    let jobs = count("jobs") + count("failed");
    // The kernel's self-tests and every known answer were jobs of it, too.
    assert!(jobs > 3000 && count("bytes") > 100_000, "{engine}");
    assert!(count("interrupts") <= jobs && 2 * count("interrupts") > jobs, "{engine}");
}

/// Instructions an operation: in user mode, in the kernel for the thread, and of the whole CPU.
#[derive(Clone, Copy, Debug)]
struct Retired {
    user: f64,
    kernel: f64,
    cpu: f64,
}

fn retired(lines: &[Value], provider: &str, size: u32) -> Retired {
    let workload = format!("aes-128-cbc/encrypt/message/{size}");
    let rounds = rounds(lines, provider, &workload);
    let sum = |count: &str| -> f64 {
        let of = |round: &&Value| round["counters"]["retired"][count].as_f64().expect("a count");
        rounds.iter().map(of).sum()
    };
    let each = |count| sum(count) / sum("operations");
    Retired { user: each("user"), kernel: each("kernel"), cpu: each("cpu") }
}

/// Wide margins: another kernel or compiler retires other numbers, but not another order of magnitude.
fn instructions_are_counted(lines: &[Value], expected: &Expected, software: &str) {
    let engine = &*expected.provider();
    for provider in [engine, software, "mbedtls:c"] {
        for size in SIZES {
            println!("{provider} at {size}: {:?}", retired(lines, provider, size));
        }
    }
    let at = |provider, size| retired(lines, provider, size);
    let hardware = at(engine, 16);
    assert!((5_000.0..50_000.0).contains(&hardware.kernel), "{hardware:?}");
    assert!(at(engine, 16384).kernel < 5.0 * hardware.kernel, "the engine does the work");
    let of_kernel = at(software, 16);
    assert!((3_000.0..30_000.0).contains(&of_kernel.kernel), "{of_kernel:?}");
    if expected.counts_jobs {
        // The thread waits for the engine, whose interrupt comes while the CPU idles.
        assert!(hardware.cpu > 1.15 * (hardware.user + hardware.kernel), "{hardware:?}");
        assert!(of_kernel.kernel < hardware.kernel, "{of_kernel:?} {hardware:?}");
    }
    assert!(at(software, 16384).kernel > 2.0 * of_kernel.kernel, "the CPU does the work");
    let library = at("mbedtls:c", 16384);
    assert!(library.user > 10.0 * 16384.0 && library.kernel < 0.1 * library.user, "{library:?}");
    // A library retires the same in each round, and as much for a byte of a short message as for one of a long one.
    let user = |size| at("mbedtls:c", size).user;
    let [short, long] = [(16, 1024), (1024, 16384)]
        .map(|(from, to): (u32, u32)| (user(to) - user(from)) / f64::from(to - from));
    assert!((0.98..1.02).contains(&(short / long)), "{short} and {long} instructions a byte");
    for round in rounds(lines, "mbedtls:c", "aes-128-cbc/encrypt/message/16384") {
        let count = |name: &str| round["counters"]["retired"][name].as_f64().expect("a count");
        let share = count("user") / count("operations") / user(16384);
        assert!((0.99..1.01).contains(&share), "{share}");
    }
    // Nothing idles on these paths, so there is nothing else for the CPU to do.
    for provider in [software, "mbedtls:c"] {
        for size in SIZES {
            let Retired { user, kernel, cpu } = at(provider, size);
            let share = cpu / (user + kernel);
            assert!((0.97..1.1).contains(&share), "{provider} at {size}: {share}");
        }
    }
}

/// If the kernel prefers the accelerator's driver, OpenSSL's engine leads to it.
#[test]
fn an_application_reaches_the_accelerator_by_priority_and_that_is_proved() {
    if !here("measures::an_application_reaches_the_accelerator_by_priority_and_that_is_proved") {
        return;
    }
    let lab = lab!();
    let console = "console = \"ttyS0\"\n";
    let plain = include_str!("../../../../../lab/x86_64-6.1.toml");
    let without = format!("{console}command_line = \"cpb.without=aesni_intel\"\n");
    lab.write("plain.toml", plain.replace(console, &without));
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plans/imx6.toml");
    let line = format!(
        "run --target lab:plain.toml --plan {plan} -s 1K --budget 1s -p {INSTALLED} -o record.jsonl"
    );
    // Each known answer causes an interrupt in an emulated machine, and there are hundreds.
    let ran: Ran =
        lab.cpb(&line).timeout(Duration::from_secs(300)).output().expect("cpb starts").into();
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let lines = lines(&lab.path("record.jsonl"));
    let executor = &lines[0]["cpb"]["providers"][INSTALLED]["executor"];
    assert_eq!(executor, "virtio_crypto_aes_cbc", "{}", ran.all());
    let words = format!("{INSTALLED}  accelerated: virtio_crypto_aes_cbc");
    assert!(ran.stdout.contains(&words), "{}", ran.all());
}

#[test]
fn a_guest_of_this_architecture_takes_the_cpb_that_runs_with_its_libraries() {
    let test = "measures::a_guest_of_this_architecture_takes_the_cpb_that_runs_with_its_libraries";
    if !here(test) {
        return;
    }
    if std::env::consts::ARCH != "x86_64" {
        skip(&format!("lab::{test}"), "the guest is of another architecture");
        return;
    }
    let lab = lab!();
    let mut command = lab.cpb(&format!(
        "run --target lab:{USUAL} -a sha-256 -s 16 -p mbedtls:c,openssl-system --budget 1s -o record.jsonl"
    ));
    // There is no static cpb beside it or in the folder.
    command.env_remove("CPB_LAB_BINARIES").timeout(Duration::from_secs(300));
    let ran: Ran = command.output().expect("cpb starts").into();
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    assert!(ran.stderr.contains("the guest runs this cpb, with "), "{}", ran.all());
    let lines = lines(&lab.path("record.jsonl"));
    for provider in ["mbedtls:c", "openssl-system"] {
        assert!(!of(&lines, "round", provider).is_empty(), "{provider}: {}", ran.all());
    }
}

#[test]
fn an_emulated_arm_core_is_not_identified() {
    if !here("measures::an_emulated_arm_core_is_not_identified") {
        return;
    }
    let ran = lab!().run("lab run aarch64-6.1 -- cpb identify");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for told in ["not applicable", "times and clocks mean nothing"] {
        assert!(words.contains(told), "{told}: {}", ran.all());
    }
}

/// Measures in `guest`, with the accelerator and a software driver of the kernel.
fn measure(guest: &str, expected: &Expected, software: &str) -> Vec<Value> {
    let lab = lab!();
    let engine = &*expected.provider();
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plans/imx6.toml");
    let line = format!(
        "run --target lab:{guest} --plan {plan} -s 16,1K,16K --budget 1s \
         -p {engine},{software},mbedtls:c,{INSTALLED},cryptodev -o record.jsonl"
    );
    println!("reduced lengths, all there is for a cell: {line}");
    let ran: Ran =
        lab.cpb(&line).timeout(Duration::from_secs(300)).output().expect("cpb starts").into();
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let lines = lines(&lab.path("record.jsonl"));
    the_machine_is_the_guest(&lines[0]["cpb"], guest);
    assert_eq!(lines[0]["cpb"]["providers"][engine]["executor"], expected.driver);

    let right = |check: &&Value| check["wrong"].is_null() && check["right"].as_u64() > Some(0);
    for provider in [engine, software, "mbedtls:c", INSTALLED] {
        let checks = of(&lines, "check", provider);
        assert!(!checks.is_empty() && checks.iter().all(right), "{provider}: {checks:?}");
    }
    for size in SIZES {
        let workload = format!("aes-128-cbc/encrypt/message/{size}");
        let mut answers = Vec::new();
        for provider in [engine, software, "mbedtls:c", INSTALLED] {
            let rounds = rounds(&lines, provider, &workload);
            assert!(!rounds.is_empty(), "{provider} {workload}: {}", ran.all());
            for round in rounds {
                println!("{provider} {workload} {}", interrupts(expected, provider, round));
                answers.push(&round["output"]);
            }
        }
        assert!(
            answers.iter().all(|answer| *answer == answers[0]),
            "{workload}: equal ciphertexts"
        );
    }
    assert!(of_kind(&lines, "without").is_empty(), "{}", ran.all());
    // Times under emulation are refused with a reason, and the rest is valid.
    assert!(ran.stdout.contains("refused      emulated: the speed"), "{}", ran.all());
    let row = |heading: &str, provider: &str| -> Vec<&str> {
        let blocks = ran.stdout.split("\n\n");
        let block = blocks.into_iter().find(|block| block.starts_with(heading));
        let rows = block.map(str::lines).into_iter().flatten();
        let mut words = rows.map(|row| row.split_whitespace().collect::<Vec<_>>());
        words.find(|words| words.first() == Some(&provider)).unwrap_or_default()
    };
    for refused in ["operations in 3 s", "MB/s", "CPU "] {
        assert_eq!(row(refused, "refused:"), ["refused:", "emulated"], "{}", ran.all());
    }
    assert_eq!(row("executor", engine), [engine, "accelerated"], "{}", ran.all());
    assert_eq!(row("executor", software), [software, "software"], "{}", ran.all());
    // The kernel selects by priority, and OpenSSL's engine cannot ask for another driver.
    let taken = match expected.is_preferred {
        true => [INSTALLED, "accelerated:", expected.driver],
        false => [INSTALLED, "software:", software.strip_prefix("af_alg:").unwrap_or_default()],
    };
    assert_eq!(row("executor", INSTALLED), taken, "{}", ran.all());
    assert_eq!(row("executor", "cryptodev"), ["cryptodev", "unavailable"], "{}", ran.all());
    for silent in [software, "mbedtls:c"] {
        let row = row("interrupts per operation", silent);
        assert_eq!(row, [silent, "0", "0", "0"], "{}", ran.all());
    }
    let switches = row("context switches per operation", engine);
    assert_eq!(switches.len(), 1 + SIZES.len(), "{}", ran.all());
    lines
}

fn the_machine_is_the_guest(header: &Value, guest: &str) {
    assert_eq!(header["evidence"], "emulated");
    assert_eq!(header["target"], format!("lab:{guest}"));
    let machine = &header["machine"];
    assert_eq!(machine["virtualisation"], "QEMU TCG");
    assert_eq!(machine["name"], "lab");
    let architecture = match guest.split('-').next().unwrap_or_default() {
        "armhf" => "armv7l",
        same => same,
    };
    assert_eq!(machine["kernel_architecture"], architecture);
    let kernel = machine["kernel"].as_str().unwrap_or_default();
    assert!(kernel.starts_with("Linux 6.1."), "{kernel}");
}

/// Interrupts per operation: one with an accelerator, none with software.
fn interrupts(expected: &Expected, provider: &str, round: &Value) -> String {
    let counters = &round["counters"];
    let operations = counters["operations"].as_u64().expect("a count") as f64;
    assert!(operations > 3.0, "{provider}: {counters}");
    let counted = counters["interrupts"].as_u64();
    if provider == expected.provider() || (provider == INSTALLED && expected.is_preferred) {
        // The first operation of a batch may share its interrupt with the last operation of the warm-up.
        let each = counted.expect("it has lines of its own") as f64 / operations;
        // A pin that QEMU shows down too early is raised again.
        let most = if expected.counts_jobs { 2.0 } else { 1.1 };
        assert!((0.9..=most).contains(&each), "{provider}: {each} interrupts per operation");
        let jobs = counters["jobs"].as_u64().map(|jobs| jobs as f64 / operations);
        let right = jobs.is_none_or(|each| (0.95..=1.05).contains(&each));
        assert!(right && jobs.is_some() == expected.counts_jobs, "{provider}: {jobs:?} jobs");
    } else {
        assert_eq!(counted, Some(0), "{provider}: the engine's lines were watched and stood still");
    }
    format!("{counted:?} interrupts in {operations} operations")
}

#[test]
fn software_in_a_guest_leaves_the_accelerator_s_lines_alone() {
    if !here("software_lines") {
        return;
    }
    let lab = lab!();
    // Runs the guest's own cpb between two readings of the lines of all devices, then its generators.
    let script = "grep virtio1 /proc/interrupts; \
         cpb run -q -a aes-128-cbc -s 16,16K -p af_alg:cbc-aes-aesni,mbedtls:c --budget 1s -o r >&2; \
         grep virtio1 /proc/interrupts; \
         cpb run -q -a hmac-drbg-sha-512 -s 16,300 -p af_alg:stdrng,mbedtls:c --budget 1s -o g >&2; \
         grep -v virtio1 g";
    let file = lab.write("script", script);
    let line = format!("cpb lab run {USUAL} -- sh < {}", file.display());
    let ran = lab.shell(&line);
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let looks: Vec<&str> =
        ran.stdout.lines().filter(|line| line.contains("virtio1-virtqueues")).collect();
    assert_eq!(looks.len(), 2, "{}", ran.all());
    assert_eq!(looks[0], looks[1], "no interrupt of the accelerator");
    let records = ran.stdout.lines().filter_map(|line| serde_json::from_str(line).ok());
    random_bytes_are_checked_as_far_as_they_can_be_known(&records.collect::<Vec<Value>>());
}

#[test]
fn the_kernel_answers_as_published_by_every_name_that_it_has_for_an_algorithm() {
    if !here("kernel_names") {
        return;
    }
    let names = cpb_providers::kernel_crypto::kernel_names().into_iter();
    let names: Vec<String> = names.map(|(_, name)| format!("af_alg:{name}")).collect();
    let lab = lab!();
    // At first the kernel lacks one of its templates.
    let script = "authenc=$(find /lib/modules -name authenc.ko)
         rmmod authenc && mv $authenc /tmp
         cpb check -a aes-128-cbc-hmac-sha-1-etm -p 'af_alg:authenc(hmac(sha1),cbc(aes))' 2>&1
         mv /tmp/authenc.ko $authenc && modprobe authenc
         echo = all";
    let script = format!("{script}\ncpb check -p '{}' 2>&1", names.join(","));
    let mut command = lab.cpb(&format!("lab run {USUAL} -- sh"));
    command.timeout(Duration::from_secs(300)).write_stdin(script);
    let ran: Ran = command.output().expect("cpb starts").into();
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let (without, all) = ran.stdout.split_once("= all").expect("both");
    let words = without.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("this kernel has no driver authenc(hmac(sha1),cbc(aes))"), "{words}");
    assert!(all.contains(" 0 algorithms wrong"), "{}", ran.all());
    assert!(!all.contains("not available"), "{}", ran.all());
}

/// The kernel adds its own entropy; a library that is seeded gives the answers that NIST publishes.
fn random_bytes_are_checked_as_far_as_they_can_be_known(lines: &[Value]) {
    for (provider, known) in [("af_alg:stdrng", false), ("mbedtls:c", true)] {
        let checks = of(lines, "check", provider);
        assert_eq!(checks.len(), 1, "{provider}: {lines:?}");
        let counts = (checks[0]["right"].as_u64(), checks[0]["distinct"].as_u64());
        println!("{provider}: {counts:?} right and distinct");
        match known {
            true => assert!(counts.0 >= Some(30) && counts.1.is_none(), "{}", checks[0]),
            false => assert!(counts.0 == Some(0) && counts.1 >= Some(30), "{}", checks[0]),
        }
        for size in [16, 300] {
            let workload = format!("hmac-drbg-sha-512/random/message/{size}");
            let rounds = rounds(lines, provider, &workload);
            assert!(!rounds.is_empty(), "{provider} {workload}: {lines:?}");
            let foretold = rounds.iter().all(|round| round["output"] != "0000000000000000");
            assert_eq!(foretold, known, "{provider} {workload}");
        }
    }
}
