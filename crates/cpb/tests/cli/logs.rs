//! Logs of other tools where records are wanted: read as they are, put together, and named.

use cpb_test_support::lab;

/// What `openssl speed -elapsed` prints of AES-128-CBC if an operation takes `fixed` ns and `per_byte` ns a byte.
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

/// Software of little fixed cost, and an engine that is faster from about 1.6 KiB on.
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
        "afalg.txt names no machine; cpb assumes that it is of the same machine as the others";
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

    lab.write("b.txt", engine());
    let told = lab.run("explain a.txt b.txt").stdout;
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("b.txt names no machine; cpb assumes that it is of imx6"), "{told}");
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
    assert!(refused.stderr.contains("engine= names the path of a log"), "{}", refused.all());
}

#[test]
fn logs_are_compared_as_records_are() {
    let lab = lab!();
    lab.write("before.txt", software());
    lab.write("after.txt", log(100.0, 56.0));
    let ran = lab.run("compare before.txt after.txt");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    assert!(ran.stdout.contains("aes-128-cbc"), "{}", ran.all());
}

#[test]
fn a_file_that_is_neither_is_refused_as_a_record() {
    let lab = lab!();
    lab.write("notes.txt", "nothing that a tool prints\n");
    let ran = lab.run("explain notes.txt");
    assert_eq!(ran.status, Some(2), "{}", ran.all());
    assert!(ran.stderr.contains("notes.txt"), "{}", ran.all());
}
