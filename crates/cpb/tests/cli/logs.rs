//! Logs of other tools in place of records: read directly, combined, and named.

use cpb_test_support::lab;

/// The output of `openssl speed -elapsed` for AES-128-CBC if an operation takes `fixed` ns and `per_byte` ns
/// per byte.
fn log(fixed: f64, per_byte: f64) -> String {
    let mut log = "You have chosen to measure elapsed time instead of user CPU time.\n".to_owned();
    for bytes in [16, 64, 256, 1024, 8192, 16384] {
        let count = (3e9 / (fixed + per_byte * f64::from(bytes))) as u64;
        log += &format!(
            "Doing aes-128-cbc for 3s on {bytes} size blocks: {count} aes-128-cbc's in 3.00s\n"
        );
    }
    log
}

/// Software with a small fixed cost, and an engine that is faster from about 1.6 KiB on.
fn software() -> String {
    log(100.0, 28.0)
}

fn engine() -> String {
    log(40_000.0, 3.0)
}

#[test]
fn two_logs_give_the_break_even_size_by_one_command() {
    let lab = lab!();
    lab.write("sw.txt", software());
    lab.write("afalg.txt", engine());
    let ran = lab.run("explain sw.txt afalg.txt");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    assert!(ran.stdout.contains("afalg overtakes sw between 1 KiB and 8 KiB"), "{}", ran.all());
    let assumed =
        "afalg.txt names no machine; cpb assumes that it is from the same machine as the others";
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(assumed), "{words}");

    let json = lab.run("explain sw.txt afalg.txt --json").stdout;
    assert!(json.contains(assumed), "{json}");
    assert_eq!(json.matches("\"crosses\"").count(), 1, "{json}");
    assert_eq!(lab.run("report sw.txt afalg.txt -o page.html").status, Some(0));
    let page = std::fs::read_to_string(lab.path("page.html")).expect("a page");
    assert!(page.contains(assumed), "the page says what was assumed");
}

#[test]
fn a_path_is_called_as_the_user_says_or_after_its_engine_or_file() {
    let lab = lab!();
    lab.write("a.txt", software());
    lab.write("b.txt", engine());
    let named = lab.run("explain software=a.txt engine=b.txt").stdout;
    assert!(named.contains("engine overtakes software"), "{named}");

    lab.write("b.txt", format!("engine \"afalg\" set.\n{}", engine()));
    let told = lab.run("explain a.txt b.txt").stdout;
    assert!(told.contains("openssl:afalg overtakes a"), "{told}");

    std::fs::create_dir(lab.path("other")).expect("a folder");
    lab.write("other/a.txt", engine());
    let alike = lab.run("explain a.txt other/a.txt").stdout;
    assert!(alike.contains("other/a.txt overtakes a.txt"), "{alike}");

    lab.write("x=y.txt", software());
    assert_eq!(lab.run("show x=y.txt").status, Some(0), "the name of a file that is there");
}

#[test]
fn logs_of_two_machines_are_not_put_together() {
    let lab = lab!();
    let of = |host: &str, log: String| {
        format!("root@{host}:~# openssl speed -elapsed -evp aes-128-cbc\n{log}")
    };
    lab.write("a.txt", of("imx6", software()));
    lab.write("b.txt", of("imx8", engine()));
    let apart = lab.run("explain a.txt b.txt").stdout;
    assert!(!apart.contains("overtakes") && !apart.contains("assumes"), "{apart}");
    let words = apart.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("`cpb import b.txt --machine imx6 -o FILE`"), "{apart}");

    // A remedy can be copied into a shell.
    lab.write("a.txt", of("imx6", software()));
    let named = lab.shell("cpb import a.txt --machine 'NXP i.MX6' -o a.jsonl");
    assert_eq!(named.status, Some(0), "{}", named.all());
    lab.write("it's.txt", of("imx8", engine()));
    let apart = lab.shell("cpb explain a.jsonl \"it's.txt\"").stdout;
    let words = apart.split_whitespace().collect::<Vec<_>>().join(" ");
    let remedy = r"`cpb import 'it'\''s.txt' --machine 'NXP i.MX6' -o FILE`";
    assert!(words.contains(remedy), "{apart}");

    lab.write("b.txt", engine());
    let told = lab.run("explain a.txt b.txt").stdout;
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("b.txt names no machine; cpb assumes that it is from imx6"), "{told}");
    assert!(words.contains("b overtakes a"), "{told}");
}

#[test]
fn what_import_is_told_stays_in_the_record() {
    let lab = lab!();
    lab.write("a.txt", software());
    lab.write("b.txt", engine());
    for (log, path) in [("a", "software"), ("b", "engine")] {
        let ran =
            lab.run(&format!("import {log}.txt --machine board --path {path} -o {log}.jsonl"));
        assert_eq!(ran.status, Some(0), "{}", ran.all());
    }
    let ran = lab.run("explain a.jsonl b.jsonl").stdout;
    assert!(ran.contains("board") && ran.contains("engine overtakes software"), "{ran}");

    let refused = lab.run("explain engine=a.jsonl b.txt");
    assert_eq!(refused.status, Some(2), "{}", refused.all());
    assert!(
        refused.stderr.contains("engine= can only name the path of a log"),
        "{}",
        refused.all()
    );
}

#[test]
fn logs_are_compared_as_records_are() {
    let lab = lab!();
    lab.write("before.txt", software());
    lab.write("after.txt", log(100.0, 56.0));
    let ran = lab.run("compare before.txt after.txt");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    assert!(ran.stdout.contains("aes-128-cbc"), "{}", ran.all());
    // What was assumed of the two is said, as `explain` says it.
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("warning after.txt names no machine; cpb assumes"), "{words}");
    assert!(words.contains("holds only if all did the same"), "{words}");
    let named = lab.run("compare before.txt after.txt --between before,after");
    assert_eq!(named.status, Some(0), "paths are called after their files: {}", named.all());

    lab.write(
        "two.txt",
        "$ openssl speed -elapsed -multi 2 -evp aes-128-cbc\n\
        type 16 bytes 64 bytes 256 bytes\naes-128-cbc 1000.00k 2000.00k 3000.00k\n",
    );
    lab.write(
        "one.txt",
        "$ openssl speed -elapsed -evp aes-128-cbc\n\
        type 16 bytes 64 bytes 256 bytes\naes-128-cbc 500.00k 1000.00k 1500.00k\n",
    );
    let summed = lab.run("compare one.txt two.txt");
    assert_ne!(summed.status, Some(0), "one process with the sum of two: {}", summed.all());
}

#[test]
fn a_warning_names_the_log_that_it_is_about() {
    let lab = lab!();
    lab.write("whole.txt", software());
    lab.write("cut.txt", format!("{}Doing aes-128-cbc for 3s on 32768 size blocks: 12", engine()));
    let ran = lab.run("explain whole.txt cut.txt").stdout;
    let words = ran.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("cut.txt: Line 8 is cut off"), "{words}");
}

#[test]
fn a_log_without_usable_seconds_is_refused_with_the_remedy() {
    let lab = lab!();
    let table = "type             16 bytes     64 bytes    256 bytes\n\
                 aes-128-cbc     190000.00k   570000.00k  1100000.00k\n";
    lab.write("sw.txt", table);
    for command in ["explain sw.txt", "compare sw.txt sw.txt"] {
        let ran = lab.run(command);
        assert_eq!(ran.status, Some(2), "{command}: {}", ran.all());
        assert!(ran.stderr.contains("sw.txt: none of its figures can be used"), "{}", ran.all());
        assert!(ran.stderr.contains("use --elapsed"), "{}", ran.all());
        assert_eq!(lab.run(&format!("{command} --elapsed")).status, Some(0), "{command}");
    }
    assert_eq!(lab.run("show sw.txt").status, Some(0), "what was printed is shown");
}

#[test]
fn a_direction_is_unknown_until_a_log_or_the_user_tells_it() {
    let lab = lab!();
    lab.write("a.txt", software());
    lab.write("b.txt", engine());
    let unknown = lab.run("explain a.txt b.txt").stdout;
    assert!(unknown.contains("aes-128-cbc (direction unknown), update"), "{unknown}");
    let said = lab.run("explain a.txt b.txt --direction decrypt").stdout;
    assert!(said.contains("aes-128-cbc decrypt, update"), "{said}");

    lab.write("b.txt", format!("$ openssl speed -elapsed -evp aes-128-cbc\n{}", engine()));
    let assumed = lab.run("explain a.txt b.txt").stdout;
    let words = assumed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains(
            "a.txt does not say whether ciphers encrypted or decrypted; cpb assumes encrypt"
        ),
        "{words}"
    );
    assert!(words.contains("b overtakes a"), "{words}");
}

#[test]
fn operations_with_key_pairs_are_explained_and_compared() {
    let lab = lab!();
    let log = |sign: u32, verify: u32| {
        format!(
            "You have chosen to measure elapsed time instead of user CPU time.\n\
             Doing 2048 bits private rsa sign ops for 10s: {sign} 2048 bits private RSA sign ops in 10.00s\n\
             Doing 2048 bits public rsa verify ops for 10s: {verify} 2048 bits public RSA verify ops in 10.00s\n\
             {:19}sign    verify    sign/s verify/s\n\
             rsa  2048 bits 0.000304s 0.000018s {:8.1} {:8.1}\n",
            "",
            f64::from(sign) / 10.0,
            f64::from(verify) / 10.0,
        )
    };
    lab.write("software.txt", log(1_000, 40_000));
    lab.write("engine.txt", log(5_000, 20_000));
    let ran = lab.run("explain software.txt engine.txt");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    assert!(ran.stdout.contains("rsa-2048-pkcs1 sign"), "{}", ran.all());
    assert!(ran.stdout.contains("engine: "), "{}", ran.all());
    assert!(!ran.stdout.contains(" B "), "a key pair has no size: {}", ran.all());
    let json = lab.run("explain software.txt engine.txt --json").stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let tasks = json["tasks"].as_array().expect("tasks");
    let take = |task: &serde_json::Value| task["advice"][0]["take"][0].as_str().map(str::to_owned);
    assert_eq!(
        tasks.iter().map(take).collect::<Vec<_>>(),
        [Some("engine".into()), Some("software".into())]
    );

    let compared = lab.run("compare software.txt engine.txt");
    assert_eq!(compared.status, Some(0), "{}", compared.all());
    assert!(compared.stdout.contains("rsa-2048-pkcs1"), "{}", compared.all());
}

#[test]
fn a_file_that_is_neither_is_refused_as_a_record() {
    let lab = lab!();
    lab.write("notes.txt", "nothing that a tool prints\n");
    let ran = lab.run("explain notes.txt");
    assert_eq!(ran.status, Some(2), "{}", ran.all());
    assert!(ran.stderr.contains("notes.txt"), "{}", ran.all());
}
