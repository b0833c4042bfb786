//! Linux's own driver of the CAAM over the model beside QEMU: what goes wrong, and that the next run is right.

use super::guests::{CAAM, caam_is_here, rounds};
use cpb_test_support::{Lab, Ran, Running, lab, lines, marked, nobody_left, of, of_kind, signal};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The driver of AES-CBC.
const ENGINE: &str = "af_alg:cbc-aes-caam";

/// A run that has a fault at one of its known answers: the self-tests are 2,900 jobs.
const FAULTY: &str = "-a aes-128-cbc,aes-256-cbc --operation encrypt -s 16 --budget 2s --timeout 10s \
                      -p af_alg:cbc-aes-caam,mbedtls:c -o record.jsonl";

/// A file for a guest like the usual one with a CAAM, with changed settings.
fn variation(lab: &Lab, change: impl FnOnce(String) -> String) -> PathBuf {
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../lab/{CAAM}.toml"));
    lab.write("caam.toml", change(fs::read_to_string(usual).expect("the guest's file")))
}

/// A guest of which job 4000 has a fault, and a run in it.
fn faulty(lab: &Lab, fault: &str) -> Ran {
    let setting = format!("rings = 1\nfault = \"{fault}:4000:1\"");
    let guest = variation(lab, |usual| usual.replace("rings = 1", &setting));
    let mut command = lab.cpb(&format!("run --target lab:{} {FAULTY}", guest.display()));
    command.timeout(Duration::from_secs(300)).output().expect("cpb starts").into()
}

/// Why the cells of the engine that have no figure have none; software has its own.
fn reasons(lab: &Lab, ran: &Ran) -> Vec<String> {
    let lines = lines(&lab.path("record.jsonl"));
    let software = rounds(&lines, "mbedtls:c", "aes-128-cbc/encrypt/message/16");
    assert!(!software.is_empty(), "{}", ran.all());
    let without = of(&lines, "without", ENGINE);
    without.iter().map(|cell| cell["outcome"]["failed"].to_string()).collect()
}

#[test]
fn a_descriptor_that_the_engine_refuses_is_an_error_of_one_cell() {
    if !caam_is_here("caam_descriptor") {
        return;
    }
    let lab = lab!();
    let ran = faulty(&lab, "descriptor");
    let reasons = reasons(&lab, &ran);
    // The driver turns every such status into EINVAL.
    assert!(reasons.len() == 1 && reasons[0].contains("\"device\":22"), "{reasons:?}");
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("error 22 from the kernel, EINVAL: the driver or its device"),
        "{words}"
    );
    // The engine goes on: the other key's cell was measured with it.
    let lines = lines(&lab.path("record.jsonl"));
    assert!(!of(&lines, "round", ENGINE).is_empty(), "{}", ran.all());
}

#[test]
fn an_error_of_the_ring_ends_the_kernel_and_its_reason_is_shown() {
    if !caam_is_here("caam_ring") {
        return;
    }
    let lab = lab!();
    let ran = faulty(&lab, "output-ring");
    let reasons = reasons(&lab, &ran);
    assert!(!reasons.is_empty(), "{}", ran.all());
    for reason in reasons {
        for words in
            ["crashed", "job ring error: irqstate", "kernel BUG at drivers/crypto/caam/jr.c"]
        {
            assert!(reason.contains(words), "{words}: {reason}");
        }
    }
}

#[test]
fn a_job_that_never_ends_is_a_timeout() {
    if !caam_is_here("caam_never") {
        return;
    }
    let lab = lab!();
    let ran = faulty(&lab, "never-ends");
    let reasons = reasons(&lab, &ran);
    assert!(!reasons.is_empty(), "{}", ran.all());
    assert!(reasons.iter().all(|reason| reason.contains("\"timeout\"")), "{reasons:?}");
}

#[test]
fn a_model_that_is_killed_costs_a_cell_and_the_next_guest_has_another_one() {
    if !caam_is_here("caam_killed") {
        return;
    }
    let lab = lab!();
    let line = format!(
        "run --target lab:{CAAM} -a aes-128-cbc --operation encrypt -s 16,1K --budget 100s \
         -p {ENGINE} --verbose -o record.jsonl"
    );
    let mut running = Running::start(&lab, &line, "");
    running.wait_for("written: round", 2);
    let command = |process: &u32| fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let is_model = |process: &u32| {
        command(process).split(|byte| *byte == 0).nth(1).is_some_and(|word| word == b"engine")
    };
    let model = marked(&running.mark).into_iter().find(is_model).expect("the model's process");
    // It reads what a guest writes, so it has given up what it does not need.
    let own = |file: &str| fs::read_to_string(format!("/proc/{model}/{file}")).expect("a process");
    let has = |file: &str, words: &str| {
        let text = own(file);
        assert!(
            text.lines().any(|line| line
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .starts_with(words)),
            "{words}: {text}"
        );
    };
    has("limits", "Max open files 64 64");
    has("limits", "Max core file size 0 0");
    has("status", "NoNewPrivs: 1");
    signal("KILL", &model.to_string());
    running.wait_for("written: without", 1);
    let before = running.said.matches("written: round").count();
    running.wait_for("written: round", before + 1);
    let mark = running.mark.clone();
    running.signal("INT");
    let ran = running.end();
    // Neither the guest nor its model is left.
    nobody_left(&mark);
    let lines = lines(&lab.path("record.jsonl"));
    let without = of_kind(&lines, "without");
    let detail = without[0]["outcome"]["failed"]["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("the engine beside QEMU was killed by signal 9"), "{detail}");
    assert_eq!(without.len(), 1, "{}", ran.all());
}

/// In one guest, one after the other: the driver loses its device, and its module is unloaded. After each of them, known
/// answers are right. At last the driver loses its device while a run uses it: Linux 6.1 then frees what is in use, so
/// only another guest is sure to work.
#[test]
fn a_driver_that_is_unbound_or_unloaded_is_seen_and_works_again() {
    if !caam_is_here("caam_driver") {
        return;
    }
    let lab = lab!();
    let script = r#"
        right() { echo "$1: $(cpb check -a aes-128-cbc -p af_alg:cbc-aes-caam 2>&1 | tr '\n' ' ')"; }
        jobs() { cat /sys/kernel/debug/10000000.crypto/ctl/rq_dequeued; }
        device() { echo 10001000.jr > /sys/bus/platform/drivers/caam_jr/$1; }
        awk '/^driver/ {driver = $3} /^selftest/ && driver ~ /caam/ {print "selftest:", driver, $3}' /proc/crypto
        echo "untested: $(dmesg | grep 'No test for' | grep -c caam)"
        dmesg | grep 'alg: .*failed'
        right before
        device unbind
        right unbound
        device bind
        right bound
        rmmod caam_jr
        right unloaded
        modprobe caam_jr
        right loaded
        before=$(jobs)
        cpb run -a aes-128-cbc --operation encrypt -s 1K -p af_alg:cbc-aes-caam --budget 5s \
            --timeout 5s -o /tmp/record.jsonl > /tmp/run 2>&1 &
        until [ $(jobs) -gt $((before + 600)) ]; do sleep 0.1; done
        device unbind
        wait $!
        echo "used: $(grep -h '"without"' /tmp/record.jsonl)"
    "#;
    let path = lab.write("script", script);
    let line = format!("cpb lab run {CAAM} -- sh -s < {}", path.display());
    let ran = lab.shell(&line);
    let said = |name: &str| {
        let start = format!("{name}: ");
        let line = ran.stdout.lines().find_map(|line| line.strip_prefix(&start));
        line.unwrap_or_else(|| panic!("{name}: {}", ran.all())).to_owned()
    };
    let tested: Vec<&str> =
        ran.stdout.lines().filter_map(|line| line.strip_prefix("selftest: ")).collect();
    println!("{} algorithms, untested: {}", tested.len(), said("untested"));
    assert!(
        tested.len() >= 82 && tested.iter().all(|line| line.ends_with(" passed")),
        "{tested:?}"
    );
    // The kernel has no answers for these: combinations of ciphers with HMAC, and the generator.
    assert_eq!(said("untested"), "36", "{}", ran.all());
    let failed = |line: &&str| line.contains("alg: ") && line.contains("failed");
    assert_eq!(ran.stdout.lines().find(failed), None);
    for right in ["before", "bound", "loaded"] {
        assert!(said(right).contains("known answers right, 0 "), "{right}: {}", ran.all());
    }
    for absent in ["unbound", "unloaded"] {
        let words = "this kernel has no driver cbc-aes-caam";
        assert!(said(absent).contains(words), "{absent}: {}", ran.all());
    }
    // What the kernel does with freed memory is a matter of chance: the job has no answer, the program is killed, or the
    // guest ends.
    let used = ran.stdout.lines().find_map(|line| line.strip_prefix("used: "));
    assert!(
        used.map_or(ran.stderr.contains("the guest is gone"), |line| line.contains("\"failed\"")),
        "{}",
        ran.all()
    );
}

/// The kernel's own test has more requests in flight than the ring of 512 has room for; another user's job waits its
/// turn and is right.
#[test]
fn a_full_ring_delays_and_loses_nothing() {
    if !caam_is_here("caam_full") {
        return;
    }
    let script = "modprobe tcrypt mode=600 num_mb=600 sec=1 > /dev/null 2>&1 & \
                  sleep 1; cpb check -a hmac-sha-256 -p af_alg:hmac-sha256-caam";
    let ran = lab!().shell(&format!("cpb lab run {CAAM} -- sh -c '{script}'"));
    assert!(ran.stdout.contains("39 known answers right, 0 "), "{}", ran.all());
    // One place of a ring stays free, so that full and empty differ.
    let words = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("at most 511 at a time"), "{}", ran.all());
}

#[test]
fn two_rings_and_two_cpus_give_right_answers() {
    if !caam_is_here("caam_rings") {
        return;
    }
    let lab = lab!();
    let second = "[device-tree.\"crypto@10000000\".\"jr@2000\"]\n\
                  compatible = [\"fsl,sec-v5.0-job-ring\", \"fsl,sec-v4.0-job-ring\"]\n\
                  reg = [0x2000, 0x1000]\ninterrupts = [0, 4, 4]\ndma-coherent = true\n\n[qemu]";
    let guest = variation(&lab, |usual| {
        let rings = usual.replace("rings = 1", "rings = 2").replace("[qemu]", second);
        rings.replace("\"-smp\", \"1\"", "\"-smp\", \"2\"")
    });
    let script = "cpb check -a aes-128-cbc -p af_alg:cbc-aes-caam > /tmp/one & \
                  cpb check -a aes-128-gcm -p af_alg:gcm-aes-caam > /tmp/two; wait; \
                  cat /tmp/one /tmp/two; cat /proc/interrupts";
    let line = format!("cpb lab run {} -- sh -c '{script}'", guest.display());
    let ran = lab.shell(&line);
    assert_eq!(ran.stdout.matches("known answers right, 0 ").count(), 2, "{}", ran.all());
    let wires = ran.stdout.lines().find(|line| line.contains("10001000.jr, 10002000.jr"));
    let count = wires.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    assert!(count > Some(3000), "{}", ran.all());
}
