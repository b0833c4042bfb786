//! Linux's own driver of the CAAM over the model beside QEMU: what goes wrong, and that the next run is right. A boot
//! costs ten seconds and more, so what leaves a guest usable happens in one guest, one thing after the other.

use super::guests::{CAAM, caam_is_here, rounds};
use cpb_test_support::{Lab, Running, lab, lines, marked, nobody_left, of, of_kind, signal};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// The driver of AES-CBC.
const ENGINE: &str = "af_alg:cbc-aes-caam";

/// What the tests say to the model: a named pipe.
struct Faults(PathBuf);

impl Faults {
    fn new(lab: &Lab) -> Faults {
        let path = lab.path("faults");
        let made = Command::new("mkfifo").arg(&path).status().expect("coreutils");
        assert!(made.success(), "{}", path.display());
        Faults(path)
    }

    /// The setting of the guest's engine.
    fn setting(&self) -> String {
        format!("faults = \"{}\"", self.0.display())
    }

    /// Plants `KIND:AFTER:JOBS`.
    fn plant(&self, fault: &str) {
        fs::write(&self.0, format!("{fault}\n")).expect("the model reads");
    }
}

/// A file for a guest like the usual one with a CAAM, with changed settings. No instructions are counted here, which
/// makes the emulator faster.
fn variation(lab: &Lab, change: impl FnOnce(String) -> String) -> PathBuf {
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../lab/{CAAM}.toml"));
    let usual = fs::read_to_string(usual).expect("the guest's file");
    let counting = "\"-icount\", \"shift=3\",\n";
    assert!(usual.contains(counting), "{usual}");
    lab.write("caam.toml", change(usual.replace(counting, "")))
}

/// Kills a cpb whose guest gives no answer.
struct Deadline {
    _stop: Sender<()>,
}

impl Deadline {
    /// The longest answer, beside a full ring, takes a minute and a half on a quiet host.
    const PATIENCE: Duration = Duration::from_secs(300);

    /// Starts the clock, which stops when the deadline is dropped.
    fn of(cpb: &Child) -> Deadline {
        let process = cpb.id().to_string();
        let (stop, stopped) = channel();
        thread::spawn(move || {
            if stopped.recv_timeout(Deadline::PATIENCE) == Err(RecvTimeoutError::Timeout) {
                println!("no answer in {} s", Deadline::PATIENCE.as_secs());
                signal("KILL", &process);
            }
        });
        Deadline { _stop: stop }
    }
}

/// A shell in a guest, which is asked one thing after the other.
struct Shell {
    cpb: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// What cpb says on standard error.
    told: PathBuf,
}

impl Shell {
    /// Boots a guest. A dead one ends the shell, and one that hangs is killed.
    fn boot(lab: &Lab, guest: &Path) -> Shell {
        let told = lab.path("told");
        let mut command = lab.process(&format!("lab run {} -- sh -s", guest.display()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(File::create(&told).expect("a file"));
        let mut cpb = command.spawn().expect("cpb starts");
        let (orders, answers) = (cpb.stdin.take(), cpb.stdout.take());
        let answers = BufReader::new(answers.expect("a pipe"));
        Shell { cpb, orders: orders.expect("a pipe"), answers, told }
    }

    /// What the script prints, up to its end or the guest's.
    fn ask(&mut self, script: &str) -> String {
        const END: &str = "= end of the answer";
        let mut answer = String::new();
        let _deadline = Deadline::of(&self.cpb);
        // A guest that is gone reads nothing, and has no answer.
        if writeln!(self.orders, "{script}\necho '{END}'").is_err() {
            return answer;
        }
        loop {
            let before = answer.len();
            let read = self.answers.read_line(&mut answer).expect("text");
            if read == 0 || answer[before..].trim_end() == END {
                answer.truncate(before);
                println!("{script}\n{answer}");
                return answer;
            }
        }
    }

    /// Ends the guest, and returns what cpb said.
    fn end(mut self) -> String {
        let _deadline = Deadline::of(&self.cpb);
        drop(self.orders);
        self.cpb.wait().expect("a child of ours");
        fs::read_to_string(&self.told).expect("text")
    }
}

/// Checks the driver's known answers.
const RIGHT: &str = "right() { cpb check -a aes-128-cbc -p af_alg:cbc-aes-caam 2>&1; }";

/// In one guest, one after the other. At last the driver loses its device while a run uses it: Linux 6.1 then frees what
/// is in use, so only another guest is sure to work.
#[test]
fn what_happens_to_the_driver_is_seen_and_the_next_answers_are_right() {
    if !caam_is_here("caam_driver") {
        return;
    }
    let lab = lab!();
    let faults = Faults::new(&lab);
    let guest = variation(&lab, |usual| {
        usual.replace("rings = 1", &format!("rings = 1\n{}", faults.setting()))
    });
    let mut guest = Shell::boot(&lab, &guest);
    guest.ask(RIGHT);
    guest.ask("device() { echo 10001000.jr > /sys/bus/platform/drivers/caam_jr/$1; }");
    the_kernel_s_self_tests_passed(&mut guest);
    // First, because the kernel keeps what was built on the driver, and then waits for its end.
    a_driver_that_is_unbound_or_unloaded_works_again(&mut guest);
    a_full_ring_delays_and_loses_nothing(&mut guest);
    every_path_seals_and_opens_alike(&mut guest);
    a_descriptor_that_the_engine_refuses_is_an_error_of_one_cell(&mut guest, &faults);
    let used = a_driver_that_is_unbound_under_load_fails(&mut guest);
    let told = guest.end();
    // What the kernel does with freed memory is a matter of chance: the job has no answer, the program is killed, or the
    // guest ends. On a slow host the driver is gone before anything is timed.
    let is_seen =
        ["\"failed\"", "\"unsupported\":\"device\""].iter().any(|what| used.contains(what));
    assert!(is_seen || told.contains("the guest is gone"), "{used} {told}");
    // The engine counts what a ring holds. One place stays free, so that full and empty differ.
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("at most 511 at a time") || words.contains("the guest is gone"),
        "{told}"
    );
}

fn the_kernel_s_self_tests_passed(guest: &mut Shell) {
    let tested =
        guest.ask("awk '/^driver/ {d = $3} /^selftest/ && d ~ /caam/ {print d, $3}' /proc/crypto");
    let tested: Vec<&str> = tested.lines().collect();
    let all = tested.len() >= 82 && tested.iter().all(|line| line.ends_with(" passed"));
    assert!(all, "{tested:?}");
    // The kernel has no answers for these: combinations of ciphers with HMAC, and the generator.
    let untested = guest.ask("dmesg | grep 'No test for' | grep -c caam");
    assert_eq!(untested.trim(), "36");
    assert_eq!(guest.ask("dmesg | grep 'alg: .*failed'"), "");
}

/// Encrypt-then-MAC by the engine in one pass, and by two of the kernel's own drivers. Most of the answers to decrypt are
/// forged.
fn every_path_seals_and_opens_alike(guest: &mut Shell) {
    for (digest, software) in [("1", "sha1-generic"), ("256", "sha256-generic")] {
        let engine = format!("af_alg:authenc-hmac-sha{digest}-cbc-aes-caam");
        let software = format!("af_alg:authenc(hmac({software}),cbc-aes-neonbs)");
        let answers = guest.ask(&format!(
            "cpb check -a aes-128-cbc-hmac-sha-{digest}-etm -p '{engine},{software},mbedtls:c'"
        ));
        assert!(answers.contains("603 known answers right, 0 "), "{answers}");
    }
}

fn a_descriptor_that_the_engine_refuses_is_an_error_of_one_cell(
    guest: &mut Shell,
    faults: &Faults,
) {
    // A survey lets the kernel test what it has not tested yet, so that the fault hits one of the known answers.
    guest.ask("cpb list > /dev/null");
    faults.plant("descriptor:100:1");
    let shown = guest.ask(
        "cpb run -a aes-128-cbc,aes-256-cbc --operation encrypt -s 16 --budget 1s --timeout 10s \
         -p af_alg:cbc-aes-caam,mbedtls:c -o /tmp/descriptor.jsonl 2>&1",
    );
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("error 22 from the kernel, EINVAL: the driver or its device"),
        "{shown}"
    );
    let record = guest.ask("cat /tmp/descriptor.jsonl");
    let lines: Vec<Value> =
        record.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let without = of(&lines, "without", ENGINE);
    // The driver turns every such status into EINVAL.
    assert!(without.len() == 1, "{without:?}");
    assert!(without[0]["outcome"]["failed"].to_string().contains("\"device\":22"), "{without:?}");
    // The engine goes on: the other key's cell was measured with it, and software was not disturbed.
    assert!(!of(&lines, "round", ENGINE).is_empty(), "{shown}");
    assert!(!rounds(&lines, "mbedtls:c", "aes-128-cbc/encrypt/message/16").is_empty(), "{shown}");
}

/// The kernel's own test has more requests in flight than the ring of 512 has room for; another user's job waits its
/// turn and is right. (A key of HMAC that is longer than a block is not: the driver hashes it in a job that does not wait,
/// and fails with EINVAL.)
fn a_full_ring_delays_and_loses_nothing(guest: &mut Shell) {
    let answers = guest.ask(
        "modprobe tcrypt mode=601 num_mb=600 sec=0 > /dev/null 2>&1 &
         sleep 1; cpb check -a aes-128-cbc-hmac-sha-1-etm -p af_alg:authenc-hmac-sha1-cbc-aes-caam; wait",
    );
    assert!(answers.contains("201 known answers right, 0 "), "{answers}");
}

fn a_driver_that_is_unbound_or_unloaded_works_again(guest: &mut Shell) {
    for [away, back] in [["device unbind", "device bind"], ["rmmod caam_jr", "modprobe caam_jr"]] {
        let without = guest.ask(&format!("{away}; right"));
        assert!(without.contains("this kernel has no driver cbc-aes-caam"), "{away}: {without}");
        let again = guest.ask(&format!("{back}; right"));
        assert!(again.contains("known answers right, 0 "), "{back}: {again}");
    }
}

/// Returns what the record of the run says.
fn a_driver_that_is_unbound_under_load_fails(guest: &mut Shell) -> String {
    guest.ask(
        "jobs() { cat /sys/kernel/debug/10000000.crypto/ctl/rq_dequeued; }
         before=$(jobs)
         cpb run -a aes-128-cbc --operation encrypt -s 1K -p af_alg:cbc-aes-caam --budget 5s \
             --timeout 5s -o /tmp/record.jsonl > /tmp/run 2>&1 &
         until [ $(jobs) -gt $((before + 600)) ]; do sleep 0.1; done
         used=$!
         device unbind &
         wait $used
         grep -h '\"without\"' /tmp/record.jsonl",
    )
}

/// A guest of its own, because Debian's driver disposes of the interrupt that both rings share when one loses its
/// device. With two CPUs, interrupts wait for the clock's next tick, so the kernel's self-tests are left out.
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
        let usual = usual.replace("[qemu]", second);
        let usual = usual.replace("rings = 1", "rings = 2\ntimes_of = \"imxrt1170\"");
        let boot = "boot_seconds = 180\n";
        let usual = usual.replace(boot, &format!("{boot}command_line = \"cryptomgr.notests\"\n"));
        usual.replace("\"-smp\", \"1\"", "\"-smp\", \"2\"")
    });
    let mut guest = Shell::boot(&lab, &guest);
    let answers = guest.ask(
        "for digest in 1 256; do
           cpb check -a aes-128-cbc-hmac-sha-$digest-etm -p af_alg:authenc-hmac-sha$digest-cbc-aes-caam \
             > /tmp/$digest &
         done; wait; cat /tmp/1 /tmp/256",
    );
    assert_eq!(answers.matches("201 known answers right, 0 ").count(), 2, "{answers}");
    let lines = guest.ask("cat /proc/interrupts");
    let wires = lines.lines().find(|line| line.contains("10001000.jr, 10002000.jr"));
    let words = wires.map(|line| line.split_whitespace().skip(1));
    let counts = words.map(|words| words.map_while(|word| word.parse::<u64>().ok()));
    // An interrupt may tell of the jobs of both rings.
    assert!(counts.map(Iterator::sum) > Some(201_u64), "{lines}");
    let told = guest.end().split_whitespace().collect::<Vec<_>>().join(" ");
    let stated =
        "each takes at least the time of imxrt1170's constants, on the host's clock, as stated";
    assert!(told.contains(stated), "{told}");
}

/// Three faults that a guest, or its engine, does not survive: a kernel that meets an error of its ring ends, a job
/// without an end occupies the engine, and a model that is killed takes the guest along. Each costs a cell, and the run
/// goes on, in another guest if need be.
#[test]
fn a_ring_error_an_endless_job_and_a_killed_model_cost_a_cell_each() {
    if !caam_is_here("caam_killed") {
        return;
    }
    let lab = lab!();
    let faults = Faults::new(&lab);
    let guest = variation(&lab, |usual| {
        usual.replace("rings = 1", &format!("rings = 1\n{}", faults.setting()))
    });
    let line = format!(
        "run --target lab:{} -a aes-128-cbc --operation encrypt -s 16,64,256,1K,4K,16K --budget 100s \
         --timeout 10s -p {ENGINE},mbedtls:c --verbose -o record.jsonl",
        guest.display()
    );
    let mut running = Running::start(&lab, &line, "");
    let (round, without) =
        (format!("written: round {ENGINE}"), format!("written: without {ENGINE}"));
    running.wait_for(&round, 2);
    faults.plant("output-ring:0:1");
    running.wait_for(&without, 1);
    let more = |running: &mut Running, words: &str| {
        let before = running.said.matches(words).count();
        running.wait_for(words, before + 1);
    };
    more(&mut running, &round);
    faults.plant("never-ends:0:1");
    running.wait_for(&without, 2);
    // Software needs no engine.
    more(&mut running, "written: round mbedtls:c");
    kill_the_model(&running);
    more(&mut running, &round);
    let mark = running.mark.clone();
    running.signal("INT");
    let ran = running.end();
    // Neither the guest nor its model is left.
    nobody_left(&mark);
    let lines = lines(&lab.path("record.jsonl"));
    let outcome = |cell: &Value| cell["outcome"]["failed"].to_string();
    let outcomes: Vec<String> = of_kind(&lines, "without").into_iter().map(outcome).collect();
    let with = |words: &str| outcomes.iter().filter(|outcome| outcome.contains(words)).count();
    for words in ["job ring error: irqstate", "kernel BUG at drivers/crypto/caam/jr.c"] {
        assert!(outcomes[0].contains("crashed") && outcomes[0].contains(words), "{outcomes:?}");
    }
    assert!(outcomes[1].contains("\"timeout\""), "{outcomes:?}");
    assert_eq!(with("the engine beside QEMU was killed by signal 9"), 1, "{outcomes:?}");
    // A job that waits for the endless one may have timed out as well.
    assert_eq!(with("\"timeout\"") + 2, outcomes.len(), "{}", ran.all());
}

/// Kills the model of a run, and looks at what it may do: it reads what a guest writes, so it has given up what it does
/// not need.
fn kill_the_model(running: &Running) {
    let command = |process: &u32| fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let is_model = |process: &u32| {
        command(process).split(|byte| *byte == 0).nth(1).is_some_and(|word| word == b"engine")
    };
    let model = marked(&running.mark).into_iter().find(is_model).expect("the model's process");
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
}
