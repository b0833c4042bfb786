//! Installed libraries: measured as applications get them, with messages about what is missing.

use cpb_test_support::{Lab, Ran, lab, lines, of, skip};
use std::path::Path;

/// The output of `cpb list` for each provider, with whitespace collapsed.
fn listed(lab: &Lab, variables: &[(&str, &str)]) -> String {
    let ran = lab.run_with("list --long", variables);
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the library behind `provider` is installed; otherwise the test is skipped.
fn here(lab: &Lab, test: &str, provider: &str) -> bool {
    let there = !listed(lab, &[]).contains(&format!(" {provider} not available:"));
    if !there {
        skip(&format!("installed::{test}"), &format!("no library for {provider} is installed"));
    }
    there
}

/// Whether the loop ran in this cell of a table. If other programs disturb every batch, it ran without a figure.
fn timed(cell: &str) -> bool {
    [",measured,", ",unsteady,", ",few passes,"].iter().any(|state| cell.contains(state))
}

#[test]
fn installed_libraries_give_the_answers_of_the_linked_ones_and_name_their_files() {
    const PROVIDERS: [(&str, &str); 7] = [
        ("openssl-system", "libcrypto.so"),
        ("mbedtls-system", "libmbedcrypto.so"),
        ("libgcrypt", "libgcrypt.so"),
        ("libgcrypt:c", "libgcrypt.so"),
        ("nettle", "libnettle.so"),
        ("nettle:c", "libnettle.so"),
        ("wolfssl-system", "libwolfssl.so"),
    ];
    let lab = lab!();
    for (provider, file) in PROVIDERS {
        let test = "installed_libraries_give_the_answers_of_the_linked_ones_and_name_their_files";
        if !here(&lab, test, provider) {
            continue;
        }
        let ran = lab.run(&format!(
            "run -p mbedtls:c,{provider} -a aes-128-cbc,aes-256-gcm,sha-256,hmac-sha-256 -s 16,1000 \
             --budget 1s -o {file}-{provider}.jsonl"
        ));
        assert_eq!(ran.status, Some(0), "{}", ran.all());
        let lines = lines(&lab.path(&format!("{file}-{provider}.jsonl")));
        let options = &lines[0]["cpb"]["providers"][provider]["options"];
        assert!(options.as_str().is_some_and(|text| text.contains(file)), "{provider}: {options}");
        assert!(!of(&lines, "check", provider).is_empty(), "{}", ran.all());
        // Every round checks that the answers of both are equal.
        let rounds = of(&lines, "round", provider);
        assert!(!rounds.is_empty() && ran.stdout.contains("known answers right"), "{}", ran.all());
        assert!(
            of(&lines, "without", provider).iter().all(|one| one["outcome"]["failed"].is_null())
        );
    }
}

#[test]
fn a_libgcrypt_in_fips_mode_lacks_what_that_forbids_and_gives_no_wrong_answer() {
    let lab = lab!();
    let test = "a_libgcrypt_in_fips_mode_lacks_what_that_forbids_and_gives_no_wrong_answer";
    if !here(&lab, test, "libgcrypt") {
        return;
    }
    let run = |line: &str, mode: &[(&str, &str)]| lab.run_with(line, mode);
    let line = "run -p libgcrypt -a chacha20,aes-128-gcm,md5,aes-128-cbc,x25519,ecdsa-p256 -s 64 \
                --budget 0.3s --csv";
    // Before 1.10 this variable did not exist.
    let forced = [("LIBGCRYPT_FORCE_FIPS_MODE", "1")];
    let (plain, fips) = (run(line, &[]), run(line, &forced));
    assert!(!plain.stdout.contains(",unsupported,"), "{}", plain.all());
    if !fips.stdout.contains(",unsupported,") {
        return skip(&format!("installed::{test}"), "this libgcrypt cannot be told its mode");
    }
    let forbidden = ",unsupported,forbidden by the system's policy";
    for (algorithm, allowed) in [
        ("chacha20", false),
        ("aes-128-gcm", false),
        ("md5", false),
        ("aes-128-cbc", true),
        ("x25519", false),
        ("ecdsa-p256", true),
    ] {
        let cell = format!("libgcrypt,{algorithm},");
        let told = fips.stdout.lines().find(|line| line.starts_with(&cell)).expect(&cell);
        assert_eq!(told.contains(forbidden), !allowed, "{told}");
        assert_eq!(allowed, timed(told), "{told}");
    }
    // Its keys of more bits take seconds to generate, and are of the same code.
    let slow = |name: &str| name.starts_with("rsa-3072") || name.starts_with("rsa-4096");
    let names = cpb_core::Algorithm::ALL.iter().map(|algorithm| algorithm.name());
    let names: Vec<&str> = names.filter(|name| !slow(name)).collect();
    let check = run(&format!("check -p libgcrypt -a {}", names.join(",")), &forced);
    assert!(check.stdout.contains("known answers right, 0 algorithms wrong"), "{}", check.all());
}

#[test]
fn an_openssl_that_is_to_be_fips_alone_lacks_the_rest_by_policy() {
    let lab = lab!();
    let test = "an_openssl_that_is_to_be_fips_alone_lacks_the_rest_by_policy";
    if !here(&lab, test, "openssl-system") {
        return;
    }
    let settings = "openssl_conf = all\n[all]\nalg_section = algorithms\n[algorithms]\n\
        default_properties = fips=yes\n";
    let file = lab.write("openssl.cnf", settings).display().to_string();
    let line = "run -p openssl-system -a sha-256 -s 64 --budget 0.3s --csv";
    let ran = lab.run_with(line, &[("OPENSSL_CONF", &file)]);
    if listed(&lab, &[]).contains("openssl-system 1.1.1") {
        return skip(&format!("installed::{test}"), "this libcrypto has no properties");
    }
    let told = ran.stdout.lines().find(|line| line.starts_with("openssl-system,")).expect("a row");
    assert!(told.contains(",unsupported,forbidden by the system's policy"), "{}", ran.all());
}

#[test]
fn a_library_that_is_broken_or_another_one_is_told_by_its_file_and_its_lack() {
    let lab = lab!();
    let broken = lab.write("broken/libcrypto.so.3", [0; 4096]);
    let told = listed(&lab, &[("LD_LIBRARY_PATH", &folder(&broken))]);
    let words = format!(
        "openssl-system not available: no libcrypto of OpenSSL 1.1.1 or 3 (Debian's \
        packages libssl3, libssl1.1): {}: invalid ELF header",
        broken.display()
    );
    // A machine that has OpenSSL 1.1.1 as well uses that.
    assert!(told.contains(&words) || told.contains("openssl-system 1.1.1"), "{told}");

    let Some(other) = ["/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6"]
        .into_iter()
        .find(|path| Path::new(path).is_file())
    else {
        return skip("installed::a_library_that_is_broken", "no other library to take for it");
    };
    let other = lab.write("other/libcrypto.so.3", std::fs::read(other).expect("a library"));
    let told = listed(&lab, &[("LD_LIBRARY_PATH", &folder(&other))]);
    let words = format!("{} has no OPENSSL_init_crypto: it is not OpenSSL's", other.display());
    assert!(told.contains(&words), "{told}");
}

/// A pipe without a writer replaces the library, so loading it never ends.
#[test]
fn a_provider_that_gives_no_answer_in_time_is_not_called_absent() {
    let lab = lab!();
    let pipe = lab.path("slow/libcrypto.so.3");
    let made = lab.shell(&format!("mkdir slow && mkfifo {}", pipe.display()));
    assert_eq!(made.status, Some(0), "{}", made.all());
    let variables = [("LD_LIBRARY_PATH", &*folder(&pipe))];
    let list = lab.run_with("list --timeout 1s", &variables);
    assert_eq!(list.status, Some(0), "{}", list.all());
    let words = list.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let silent = "openssl-system no answer for 1.0 s, so it was stopped; give a slow machine more time with --timeout";
    assert!(words.contains(silent), "{}", list.all());
    assert!(!words.contains("openssl-system not available"), "{}", list.all());

    let check =
        lab.run_with("check -p openssl-system,mbedtls:c -a sha-256 --timeout 1s", &variables);
    let silent = "openssl-system: no answer for 1.0 s, so it was stopped; give a slow machine more time with --timeout";
    assert!(check.stdout.contains(silent), "{}", check.all());
    assert_eq!(check.status, Some(1), "{}", check.all());
}

/// If an optional part in a separate library is missing, only its functions are lost.
#[test]
fn a_nettle_without_libhogweed_lacks_key_pairs_and_says_why() {
    let lab = lab!();
    if !here(&lab, "a_nettle_without_libhogweed_lacks_key_pairs_and_says_why", "nettle") {
        return;
    }
    let broken = lab.write("broken/libhogweed.so.6", [0; 4096]);
    let variables = [("LD_LIBRARY_PATH", &*folder(&broken))];
    let told = listed(&lab, &variables);
    let words = "without key pairs: no libhogweed (Debian's package libhogweed6): ";
    assert!(told.contains(&format!("{words}{}: invalid ELF", broken.display())), "{told}");

    let line = "run -p nettle -a ed25519,sha-256 -s 64 --budget 0.3s --csv";
    let ran = lab.run_with(line, &variables);
    let cell = |name: &str| ran.stdout.lines().find(|line| line.starts_with(name)).expect(name);
    assert!(
        cell("nettle,ed25519,").contains(",unsupported,\"the device, library"),
        "{}",
        ran.all()
    );
    assert!(timed(cell("nettle,sha-256,")), "{}", ran.all());
}

#[test]
fn the_key_pairs_of_nettle_are_right_and_their_library_is_named() {
    let lab = lab!();
    let test = "the_key_pairs_of_nettle_are_right_and_their_library_is_named";
    if !here(&lab, test, "nettle") {
        return;
    }
    if !listed(&lab, &[]).contains("; key pairs: ") {
        return skip(&format!("installed::{test}"), "no libhogweed is installed");
    }
    let check = lab.run("check -p nettle,nettle:c -a rsa-2048-pkcs1,ecdsa-p256,ed25519,ecdh-p384");
    assert_eq!(check.status, Some(0), "{}", check.all());
    assert!(check.stdout.contains("known answers right, 0 algorithms wrong"), "{}", check.all());
    assert!(!check.stdout.contains("- not supported"), "{}", check.all());
}

fn folder(file: &Path) -> String {
    file.parent().expect("a folder").display().to_string()
}

#[test]
fn an_engine_or_provider_that_is_not_there_is_told_by_name() {
    let lab = lab!();
    if !here(&lab, "an_engine_or_provider_that_is_not_there_is_told_by_name", "openssl-system") {
        return;
    }
    let refused = |variant: &str| -> Ran {
        let ran = lab.run(&format!("run -a sha-256 -s 16 -p openssl-system:{variant} --budget 1s"));
        assert_eq!(ran.status, Some(2), "{}", ran.all());
        ran
    };
    for (variant, words) in [
        ("engine=nosuch", "engine nosuch does not load"),
        ("provider=nosuch", "provider"),
        ("nosuch", "names neither an engine (`engine=NAME`, such as afalg) nor a provider"),
        ("provider=default,fips=yes", "unknown provider"),
    ] {
        let ran = refused(variant);
        assert!(ran.stderr.contains(words), "{variant}: {}", ran.all());
    }
}

#[test]
fn a_provider_of_openssls_has_what_it_implements_and_nothing_else() {
    let lab = lab!();
    let test = "a_provider_of_openssls_has_what_it_implements_and_nothing_else";
    if !here(&lab, test, "openssl-system") {
        return;
    }
    let run = |provider: &str| {
        let line = format!(
            "run -a sha-256 -s 16 -p openssl-system:provider={provider} --budget 0.3s --csv"
        );
        let ran = lab.run(&line);
        match ran.stderr.contains("has no provider") || ran.stderr.contains("came with 3.0") {
            true => None,
            false => Some(ran),
        }
    };
    let Some(own) = run("default") else {
        return skip(&format!("installed::{test}"), "this libcrypto has no providers");
    };
    assert!(own.stdout.lines().any(timed), "{}", own.all());
    // SHA-256 is not in OpenSSL's legacy provider.
    if let Some(legacy) = run("legacy") {
        assert!(
            legacy.stdout.contains("openssl-system:provider=legacy,sha-256"),
            "{}",
            legacy.all()
        );
        assert!(legacy.stdout.contains(",unsupported,"), "{}", legacy.all());
    }
}

/// The variables with which cpb finds OpenSSL 1.1.1 and no other version, if `$CPB_OPENSSL_1_1_1` names one:
/// cpb does not look elsewhere for a broken libcrypto.so.3.
fn older(lab: &Lab, test: &str) -> Option<String> {
    let file = std::env::var_os("CPB_OPENSSL_1_1_1");
    let Some(file) = file.filter(|file| Path::new(file).is_file()) else {
        skip(&format!("installed::{test}"), "$CPB_OPENSSL_1_1_1 names no libcrypto.so.1.1");
        return None;
    };
    lab.write("older/libcrypto.so.3", [0; 4096]);
    let library = lab.path("older/libcrypto.so.1.1");
    std::fs::copy(file, &library).expect("a library");
    Some(folder(&library))
}

#[test]
fn openssl_1_1_1_has_all_that_it_ever_had_and_answers_rightly() {
    let lab = lab!();
    let test = "openssl_1_1_1_has_all_that_it_ever_had_and_answers_rightly";
    let Some(folder) = older(&lab, test) else { return };
    let found = [("LD_LIBRARY_PATH", folder.as_str())];
    // The version that scripts/setup.sh installs.
    let told = listed(&lab, &found);
    assert!(told.contains("openssl-system 1.1.1t"), "{told}");

    let check = lab.run_with("check -p openssl-system", &found);
    assert_eq!(check.status, Some(0), "{}", check.all());
    assert!(check.stdout.contains("known answers right, 0 algorithms wrong"), "{}", check.all());
    // In the table, a long name has its own line, and an unsupported cell has a minus.
    let table = check.stdout.split("\n\n").next().unwrap_or_default();
    let words = table.split_whitespace().collect::<Vec<_>>();
    let lacking = words.windows(3).filter(|words| words[2] == "-");
    let mut lacking = lacking.map(|words| words[0]).collect::<Vec<_>>();
    lacking.dedup();
    let never = [
        "aes-128-cbc-hmac-sha-1-etm",
        "aes-128-cbc-hmac-sha-256-etm",
        "hash-drbg-sha-256",
        "hmac-drbg-sha-256",
        "hmac-drbg-sha-512",
        "memcpy",
        "ml-dsa-65",
        "ml-kem-768",
    ];
    assert_eq!(lacking, never, "{}", check.all());

    let line = "run -p openssl-system -a rsa-2048-pss,ecdsa-p256,ed25519,ecdh-p384,x25519,\
        ctr-drbg-aes-256,hmac-sha-256,aes-128-gcm -s 64 --budget 2s -o older.jsonl";
    let ran = lab.run_with(line, &found);
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let lines = lines(&lab.path("older.jsonl"));
    let provider = &lines[0]["cpb"]["providers"]["openssl-system"];
    assert_eq!(provider["version"], "1.1.1t", "{provider}");
    assert!(provider["options"].as_str().is_some_and(|text| text.contains("older/")), "{provider}");
    assert!(of(&lines, "without", "openssl-system").is_empty(), "{}", ran.all());
    assert!(!of(&lines, "round", "openssl-system").is_empty(), "{}", ran.all());

    // As if it had been stopped and the library updated before it continues.
    if !here(&lab, test, "openssl-system") {
        return;
    }
    let text = std::fs::read_to_string(lab.path("older.jsonl")).expect("the record");
    let stopped = text.trim_end().rsplit_once('\n').expect("an end").0.to_owned() + "\n";
    lab.write("stopped.jsonl", &stopped);
    let resumed = lab.run("run --resume stopped.jsonl");
    assert_eq!(resumed.status, Some(2), "{}", resumed.all());
    let words = "openssl-system was `1.1.1t` and is now `";
    assert!(resumed.stderr.contains(words), "{}", resumed.all());
    assert_eq!(std::fs::read_to_string(lab.path("stopped.jsonl")).expect("the record"), stopped);
}
