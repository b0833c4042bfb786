//! `cpb report`: pages compared with snapshots, and what no page may contain.

use cpb_analysis::summary::summarise;
use cpb_record::plan::Plan;
use cpb_record::store;
use cpb_record::{ProviderRecord, Record};
use cpb_report::{csv, html, json, markdown, published};
use cpb_test_support::{
    lab,
    records::{self, Case},
    skip,
};
use std::path::{Path, PathBuf};

/// The most bytes that a page of [`workloads`] may have.
const MOST: usize = 2 << 20;

fn records_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records")
}

fn printed(name: &str) -> (String, Record) {
    let record = store::read(&records_folder().join(format!("{name}.jsonl")));
    (name.to_owned(), record.expect("a published record"))
}

fn imx6() -> Vec<(String, Record)> {
    ["imx6-software", "imx6-cryptodev", "imx6-af_alg"].map(printed).to_vec()
}

fn case(case: Case) -> (String, Record) {
    (format!("{case:?}").to_lowercase(), records::record(case))
}

fn page(records: &[(String, Record)]) -> String {
    html::render(records).expect("a page")
}

/// Removes what may change without a visible effect: style and script are separate files. One element per
/// line, so that a difference is readable.
fn normal(page: &str) -> String {
    let (head, rest) = page.split_once("<style>").expect("a style");
    let (body, script) =
        rest.split_once("</style>").expect("its end").1.split_once("<script>").expect("a script");
    let end = script.split_once("</script>").expect("its end").1;
    let version = format!("cpb {}", env!("CARGO_PKG_VERSION"));
    let page = format!("{head}<style></style>{body}<script></script>{end}");
    let page = page.replace(&version, "cpb VERSION");
    [
        "<section", "<h", "<p", "<table", "<tr", "<tbody", "<details", "<div", "<dl", "<svg",
        "<line", "<text", "<poly", "<circle", "<rect", "<nav", "<ul", "<li", "<figure", "<footer",
        "</body",
    ]
    .iter()
    .fold(page, |page, tag| page.replace(tag, &format!("\n{tag}")))
}

/// The same without the inside of plots, which other tests check.
fn without_plots(page: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for line in normal(page).lines() {
        let drawn = ["<line", "<text", "<poly", "<circle", "<rect"];
        inside = inside && drawn.iter().any(|tag| line.starts_with(tag))
            || line.starts_with("<svg class=\"plot");
        if !inside || line.starts_with("<svg") {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

#[test]
fn a_page_of_published_tables() {
    insta::assert_snapshot!("imx6_html", normal(&page(&imx6())));
}

#[test]
fn pages_of_measured_records() {
    for one in [Case::NoClock, Case::Failures, Case::Emulated, Case::Threads, Case::Empty] {
        let name = format!("{}_html", format!("{one:?}").to_lowercase());
        insta::assert_snapshot!(name, without_plots(&page(&[case(one)])));
    }
}

#[test]
fn pages_of_the_kernel_s_interfaces() {
    insta::assert_snapshot!("kernel_html", without_plots(&page(&[case(Case::Kernel)])));
    let emulated = page(&[case(Case::KernelEmulated)]);
    insta::assert_snapshot!("kernel_emulated_html", without_plots(&emulated));
    for refused in
        ["MB/s, times and cycles are refused", "No path is recommended", "refused: emulated"]
    {
        assert!(emulated.contains(refused), "{refused}");
    }
    assert!(!emulated.contains("class=\"plot"), "nothing is drawn of what is refused");
}

/// The first [`Case::Normal`] cells with more providers: copies of `openssl`, each slower than the previous one.
fn crowded(copies: u32) -> (String, Record) {
    let (name, mut record) = case(Case::Normal);
    let copied: Vec<_> =
        record.cells.iter().filter(|(cell, _)| cell.provider == "openssl").cloned().collect();
    for copy in 1..=copies {
        let provider = format!("copy-{copy}");
        for (mut cell, mut outcome) in copied.clone() {
            cell.provider = provider.clone();
            if let cpb_record::Outcome::Measured(rounds) = &mut outcome {
                for round in rounds {
                    round.cell.provider = provider.clone();
                    for batch in round.samples.iter_mut().flatten() {
                        batch.0 += batch.0 * u64::from(copy) / 10;
                    }
                }
            }
            record.cells.push((cell, outcome));
        }
        let described = record.header.providers["openssl"].clone();
        record.header.providers.insert(provider, described);
    }
    (name, record)
}

#[test]
fn a_plot_draws_eight_paths_at_first_and_has_a_switch_for_each_other() {
    let page = page(&[crowded(10)]);
    let operation = page.split("<section class=\"operation\"").nth(1).expect("an operation");
    let legend = operation.split("<fieldset").nth(1).expect("switches");
    let legend = legend.split("</fieldset>").next().expect("its end");
    assert_eq!(legend.matches("type=\"checkbox\"").count(), 15, "{legend}");
    assert_eq!(legend.matches(" checked").count(), 8, "{legend}");
    let first = legend.split("copy-10").next().expect("the slowest copy");
    assert!(!first.rsplit("<label").next().expect("its label").contains(" checked"), "{legend}");
    assert!(operation.contains("Tick 7 others to see more"), "{operation}");
    for place in 0..15 {
        assert!(operation.contains(&format!("<g class=\"s{place}\">")), "{place} is not drawn");
        let rule = format!(".operation:has(.k{place}:not(:checked)) .s{place}{{display:none}}");
        assert!(page.contains(&rule), "{rule}");
    }
    let names = operation.matches("class=\"name\"").count();
    assert!(names >= 15, "{names} names beside lines");
}

#[test]
fn the_headline_names_paths_and_exceptions() {
    let lead = |page: &str| {
        let lead = page.split("<p class=\"lead\">").nth(1).expect("a headline");
        let lead = lead.split("</p>").next().expect("its end");
        let bare = lead.split('<').filter_map(|part| part.split_once('>').map(|(_, text)| text));
        let first = lead.split('<').next().unwrap_or_default();
        format!("{first}{}", bare.collect::<String>()).replace('\u{a0}', " ")
    };
    insta::assert_snapshot!(
        "headlines",
        format!(
            "normal: {}\nsizes: {}\nimx6: {}\n",
            lead(&page(&[case(Case::Normal)])),
            lead(&page(&[case(Case::NoClock)])),
            lead(&page(&imx6())),
        )
    );
}

#[test]
fn several_records_stand_one_after_the_other_and_published_ones_together() {
    let mut all = vec![case(Case::Normal)];
    all.extend(imx6());
    all.push(case(Case::Threads));
    // A second time: the anchors differ.
    all.push(case(Case::Threads));
    let page = page(&all);
    for name in
        ["<h3>normal</h3>", "<h3>threads</h3>", "imx6-software, imx6-cryptodev, imx6-af_alg"]
    {
        assert!(page.contains(name), "{name}");
    }
    assert!(page.contains("Every cell") && page.contains("Every printed figure"));
    let mut anchors: Vec<&str> =
        page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let count = anchors.len();
    anchors.sort_unstable();
    anchors.dedup();
    assert_eq!(anchors.len(), count, "each id is there once");
    for target in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(anchors.binary_search(&target).is_ok(), "#{target} leads nowhere");
    }
}

#[test]
fn a_page_names_nothing_outside_of_itself() {
    for page in [page(&imx6()), page(&[case(Case::Normal)])] {
        for outside in ["://", " src=", "@import", "url(", "<iframe", "<link rel=\"stylesheet"] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert_eq!(page.matches("<script>").count(), 1);
        assert_eq!(page.matches("</script>").count(), 1);
    }
}

#[test]
fn what_a_record_says_is_text_and_never_markup() {
    let page = page(&[hostile(), hostile_table()]);
    assert_eq!(page.matches("<script>").count(), 1);
    assert_eq!(page.matches("<img").count(), 0);
    for place in PLACES {
        let word = format!("alert(&quot;{place}&quot;)");
        assert!(page.contains(&word), "{place} is not shown");
        assert!(!page.contains(&format!("alert(\"{place}\")")), "{place} is not escaped");
    }
}

#[test]
fn a_page_of_200_workloads_is_under_2_mib() {
    let record = records::planned(Case::NoClock, workloads(), 4);
    let measured = record.cells.iter().filter(|(cell, _)| cell.provider == "openssl").count();
    assert_eq!(measured, 200);
    let size = page(&[("large".into(), record)]).len();
    println!("{size} bytes");
    assert!(size < MOST, "{size} bytes");
}

/// 200 workloads, with all five providers.
fn workloads() -> Plan {
    let plan = r#"
        name = "large"
        reason = "How large does a page get?"
        [[measure]]
        algorithms = ["aes-128-cbc", "aes-192-cbc", "aes-256-cbc", "aes-128-gcm", "aes-192-gcm",
            "aes-256-gcm", "chacha20-poly1305"]
        sizes = [16, 32, 64, 128, 256, 1024, 4096, 16384, 65536, 262144]
        [[measure]]
        algorithms = ["aes-128-ctr", "aes-192-ctr", "aes-256-ctr", "sha-256", "sha-512", "hmac-sha-256"]
        operations = ["encrypt", "hash", "mac"]
        sizes = [16, 32, 64, 128, 256, 1024, 4096, 16384, 65536, 262144]
    "#;
    Plan::parse(plan).expect("a plan")
}

#[test]
fn every_form_of_one_record_is_that_of_cpb_show() {
    for one in Case::ALL {
        let record = case(one);
        let summary = summarise(&record.1);
        let all = std::slice::from_ref(&record);
        assert_eq!(csv::of_records(all).unwrap(), csv::render(&summary).unwrap(), "{one:?}");
        assert_eq!(json::of_records(all).unwrap(), json::render(&summary).unwrap(), "{one:?}");
        assert_eq!(markdown::of_records(all), markdown::render(&summary), "{one:?}");
    }
    let all = [printed("otfad-flexspi")];
    assert_eq!(csv::of_records(&all).unwrap(), published::render_csv(&all[0].1).unwrap());
    assert_eq!(json::of_records(&all).unwrap(), published::render_json(&all[0].1).unwrap());
    assert_eq!(markdown::of_records(&all), published::render_markdown(&all[0].1));
}

#[test]
fn several_records_are_one_table_one_object_or_one_document() {
    let two = [case(Case::Emulated), case(Case::Threads)];
    let table = csv::of_records(&two).unwrap();
    let mut rows = ::csv::Reader::from_reader(table.as_bytes());
    assert_eq!(&rows.headers().unwrap()[0], "record");
    let names: Vec<String> = rows.records().map(|row| row.unwrap()[0].to_owned()).collect();
    assert_eq!(names.len(), two.iter().map(|(_, record)| record.cells.len()).sum::<usize>());
    assert_eq!((names[0].as_str(), names[names.len() - 1].as_str()), ("emulated", "threads"));
    let object: serde_json::Value = serde_json::from_str(&json::of_records(&two).unwrap()).unwrap();
    assert!(object["emulated"]["cells"].is_array() && object["threads"]["cells"].is_array());
    assert_eq!(markdown::of_records(&two).matches("\n# ").count() + 1, 2);
    let mixed = [case(Case::Emulated), printed("imx6-software")];
    assert!(csv::of_records(&mixed).is_err());
}

#[test]
fn the_form_follows_the_file_and_no_record_is_overwritten() {
    let lab = lab!();
    let record = records_folder().join("imx6-software.jsonl");
    std::fs::copy(&record, lab.path("imx6.jsonl")).expect("a copy");
    for (file, begins) in
        [("a.html", "<!DOCTYPE html>"), ("a.csv", "table,row"), ("a.json", "{"), ("a.md", "# ")]
    {
        let ran = lab.run(&format!("report imx6.jsonl -o {file}"));
        assert_eq!(ran.status, Some(0), "{}", ran.all());
        assert!(ran.stderr.contains(file) && ran.stdout.is_empty(), "{}", ran.all());
        let text = std::fs::read_to_string(lab.path(file)).expect("a report");
        assert!(text.starts_with(begins), "{file}");
    }
    let ran = lab.run("report imx6.jsonl --format csv");
    assert_eq!(ran.stdout, std::fs::read_to_string(lab.path("a.csv")).expect("a table"));
    let before = std::fs::read(lab.path("imx6.jsonl")).expect("the record");
    for line in [
        "report imx6.jsonl -o imx6.jsonl",
        "report none.jsonl -o b.html",
        "report imx6.jsonl -o no/b.html",
    ] {
        let ran = lab.run(line);
        assert_eq!(ran.status, Some(2), "{}", ran.all());
        assert!(ran.stderr.starts_with("cpb: ") && ran.stdout.is_empty(), "{}", ran.all());
    }
    assert_eq!(before, std::fs::read(lab.path("imx6.jsonl")).expect("the record"));
}

#[test]
fn a_file_that_exists_is_replaced_only_where_that_is_asked_for() {
    let lab = lab!();
    lab.write("taken.html", "precious");
    let content = |name: &str| std::fs::read_to_string(lab.path(name)).expect("a file");
    let ran = lab.run("report imx6 -o taken.html");
    assert_eq!((ran.status, content("taken.html").as_str()), (Some(2), "precious"));
    let message =
        "cpb: taken.html already exists; choose another file, or replace it with --overwrite\n";
    assert_eq!(ran.stderr, message);
    let ran = lab.run("report imx6 -o taken.html --overwrite");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    assert!(content("taken.html").starts_with("<!DOCTYPE html>"));
    for name in ["report.pdf", "report", "report.html.bak"] {
        let ran = lab.run(&format!("report imx6 -o {name}"));
        assert_eq!(ran.status, Some(2), "{}", ran.all());
        assert!(ran.stderr.contains(".html (.htm), .csv, .json or .md"), "{}", ran.stderr);
        assert!(!lab.path(name).exists());
    }
    let ran = lab.run("report imx6 -o report.bmf --format bencher");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
}

#[test]
fn on_a_terminal_it_is_asked_for() {
    let lab = lab!();
    if lab.shell("command -v script").status != Some(0) {
        skip("on_a_terminal_it_is_asked_for", "there is no `script`, which makes a terminal");
        return;
    }
    for (answer, begins, status) in [("n", "precious", 2), ("y", "<!DOCTYPE html>", 0)] {
        lab.write("taken.html", "precious");
        let inner = "cpb report imx6 -o taken.html";
        let ran = lab
            .shell(&format!("(sleep 1; echo {answer}; sleep 1) | script -qec '{inner}' /dev/null"));
        assert_eq!(ran.status, Some(status), "{}", ran.all());
        assert!(ran.stdout.contains("taken.html exists; replace it? [y/N] "), "{}", ran.all());
        let content = std::fs::read_to_string(lab.path("taken.html")).expect("a file");
        assert!(content.starts_with(begins), "{answer}");
    }
}

#[test]
fn a_disk_that_fills_up_leaves_no_part_of_a_report() {
    let lab = lab!();
    lab.write("taken.html", "precious");
    let before = lab.content();
    for name in ["new.html", "taken.html --overwrite"] {
        // A limit of the shell stands in for the disk.
        let ran = lab.shell(&format!("trap '' XFSZ; ulimit -f 8; exec cpb report imx6 -o {name}"));
        assert_eq!(ran.status, Some(2), "{}", ran.all());
        assert!(ran.stderr.contains("cpb: cannot write "), "{}", ran.stderr);
        assert!(before == lab.content(), "{name}: something was left or changed");
    }
}

/// The places where text from a record appears on a page.
const PLACES: [&str; 9] =
    ["provider", "executor", "options", "version", "machine", "plan", "reason", "warning", "path"];

fn script(place: &str) -> String {
    format!("</script><script>alert(\"{place}\")</script><img src=x onerror='alert(1)'>\"'&")
}

/// A record in which every text is an attack.
fn hostile() -> (String, Record) {
    let (_, mut record) = case(Case::Kernel);
    let named = |name: &str| if name == "openssl" { script("provider") } else { name.to_owned() };
    for (cell, outcome) in &mut record.cells {
        cell.provider = named(&cell.provider);
        if let cpb_record::Outcome::Measured(rounds) = outcome {
            rounds.iter_mut().for_each(|round| round.cell.provider = named(&round.cell.provider));
        }
    }
    let header = &mut record.header;
    header.providers = std::mem::take(&mut header.providers)
        .into_iter()
        .map(|(name, mut provider)| {
            if let ProviderRecord::Available { version, executor, options, .. } = &mut provider {
                (*version, *executor, *options) =
                    (script("version"), script("executor"), script("options"));
            }
            (named(&name), provider)
        })
        .collect();
    header.machine.name = script("machine");
    header.machine.cpu = script("machine");
    (header.plan.name, header.plan.reason) = (script("plan"), script("reason"));
    record.warnings.push(script("warning"));
    (script("name"), record)
}

/// A published table of the same kind.
fn hostile_table() -> (String, Record) {
    let (_, mut record) = printed("imx6-software");
    for cell in &mut record.published {
        cell.provider = script("path");
        cell.row = script("row");
        cell.machine = script("machine");
        cell.figures.iter_mut().for_each(|figure| figure.printed += "<b>");
    }
    for source in &mut record.sources {
        source.title = script("title");
        source.notes.push(script("note"));
    }
    (script("name"), record)
}
