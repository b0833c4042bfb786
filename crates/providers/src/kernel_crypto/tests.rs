use super::netlink::Datagram;
use super::*;
use proptest::prelude::*;

/// From a Debian 6.1 guest with a virtio-crypto device.
const GUEST: &str = include_str!("fixtures/linux-6.1-virtio.txt");
/// Written by hand after `crypto/proc.c`: an i.MX6 whose CAAM failed one self-test and is still
/// being tested for another.
const FAILED: &str = include_str!("fixtures/caam-failed-selftest.txt");

/// Written by hand after `crypto/proc.c`: one driver of each name that the guest had not used.
const REST: &str = include_str!("fixtures/rest.txt");

fn driver<'d>(drivers: &'d [Driver], name: &str) -> &'d Driver {
    drivers.iter().find(|driver| driver.driver == name).expect("listed")
}

#[test]
fn a_captured_list_is_read_whole() {
    let drivers = parse(GUEST);
    assert_eq!(drivers.len(), GUEST.lines().filter(|line| line.starts_with("driver ")).count());
    assert!(drivers.len() > 50);
    assert_eq!(
        *driver(&drivers, "virtio_crypto_aes_cbc"),
        Driver {
            name: "cbc(aes)".into(),
            driver: "virtio_crypto_aes_cbc".into(),
            module: Some("virtio_crypto".into()),
            priority: 150,
            kind: "skcipher".into(),
            asynchronous: Some(true),
            internal: false,
            selftest: Selftest::Passed,
            references: 1,
            key_bytes: Some((16, 32)),
            flags: None,
        }
    );
    assert!(driver(&drivers, "__cbc-aes-aesni").internal);
    assert_eq!(driver(&drivers, "aes-generic").module, None);
    let in_order: Vec<&str> =
        candidates(&drivers, "cbc(aes)").iter().map(|driver| driver.driver.as_str()).collect();
    assert_eq!(in_order, ["cbc-aes-aesni", "virtio_crypto_aes_cbc"]);
}

#[test]
fn a_failed_self_test_and_a_running_one_are_told_apart() {
    let drivers = parse(FAILED);
    let failed = driver(&drivers, "cbc-aes-caam");
    assert_eq!((failed.selftest, failed.is_larval()), (Selftest::Unknown, false));
    let larval = drivers.iter().find(|driver| driver.is_larval()).expect("one in test");
    assert_eq!(larval.name, "ctr(aes)");
    assert_eq!(driver(&drivers, "ctr-aes-caam").selftest, Selftest::Unknown);
    assert_eq!(driver(&drivers, "cbc-aes-neonbs").selftest, Selftest::Passed);
}

#[test]
fn every_algorithm_has_a_kernel_name_and_key_lengths_that_fit() {
    let drivers = [parse(GUEST), parse(REST)].concat();
    for &algorithm in Algorithm::ALL {
        let Some((kind, name)) = kernel_name(algorithm) else {
            let not_the_kernel_s =
                [Algorithm::Poly1305, Algorithm::Memcpy, Algorithm::Aes128CbcHmacSha1Tls];
            let known = not_the_kernel_s.contains(&algorithm) || algorithm.has_key_pairs();
            assert!(known, "{algorithm}");
            continue;
        };
        let found = candidates(&drivers, name);
        assert!(found.iter().all(|driver| driver.af_alg_type() == Some(kind)), "{algorithm}");
        assert!(found.iter().any(|driver| driver.runs(algorithm)), "{algorithm}");
    }
    let dcp = Driver { name: "cbc(aes)".into(), key_bytes: Some((16, 16)), ..Driver::default() };
    assert!(dcp.runs(Algorithm::Aes128Cbc) && !dcp.runs(Algorithm::Aes256Cbc));
}

/// All generators have the same name in the kernel, whatever they compute.
#[test]
fn a_generator_is_measured_as_what_it_computes_and_others_are_listed_only() {
    let drivers = parse(GUEST);
    let runs = |name: &str| {
        let driver = driver(&drivers, name);
        assert_eq!(driver.af_alg_type(), Some("rng"), "{name}");
        Algorithm::ALL.iter().filter(|one| driver.runs(**one)).copied().collect::<Vec<_>>()
    };
    assert_eq!(runs("drbg_nopr_sha256"), [Algorithm::HashDrbgSha256]);
    assert_eq!(runs("drbg_nopr_hmac_sha256"), [Algorithm::HmacDrbgSha256]);
    assert_eq!(runs("drbg_nopr_hmac_sha512"), [Algorithm::HmacDrbgSha512]);
    // Generators with prediction resistance, or with another digest.
    for other in ["drbg_pr_hmac_sha512", "drbg_nopr_hmac_sha1"] {
        assert!(runs(other).is_empty() && !driver(&drivers, other).runs_any(), "{other}");
    }
    // The CPU's jitter generator, and an engine's own.
    for (name, other) in [("jitterentropy_rng", "jitterentropy_rng"), ("stdrng", "prng-caam")] {
        let other = Driver { name: name.into(), driver: other.into(), ..Driver::default() };
        assert!(!other.runs_any(), "{}", other.driver);
    }
    let measured = executors(&drivers, "stdrng");
    assert!(measured.len() < candidates(&drivers, "stdrng").len());
    assert_eq!(measured[0].driver, "drbg_nopr_hmac_sha512", "the kernel's own choice");
}

/// A message of a dump, as `crypto_report_alg` (crypto/crypto_user.c) lays it out.
fn message(names: [&str; 3], flags: u32, priority: u32, kind: &str) -> Vec<u8> {
    let mut body = Vec::new();
    for name in names {
        let mut field = [0; 64];
        field[..name.len()].copy_from_slice(name.as_bytes());
        body.extend(field);
    }
    for number in [0, 0, 3, flags] {
        body.extend(u32::to_ne_bytes(number));
    }
    let mut attribute = |number: u16, value: &[u8]| {
        body.extend((4 + value.len() as u16).to_ne_bytes());
        body.extend(number.to_ne_bytes());
        body.extend(value);
        body.resize(body.len().next_multiple_of(4), 0);
    };
    let mut report = [0; 64 + 64 + 16];
    report[..kind.len()].copy_from_slice(kind.as_bytes());
    attribute(4, &report);
    attribute(1, &priority.to_ne_bytes());
    envelope(0x13, &body)
}

fn envelope(kind: u16, body: &[u8]) -> Vec<u8> {
    let mut message = ((16 + body.len()) as u32).to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend([0; 10]);
    message.extend(body);
    message
}

#[test]
fn a_dump_adds_flags_and_drivers_that_are_not_listed() {
    let mut datagram = message(["cbc(aes)", "cbc-aes-caam", "caam_jr"], 0x1_1485, 3000, "skcipher");
    datagram.extend(message(["aes", "aes-generic", "kernel"], 0x401, 100, "cipher"));
    let mut reported = Vec::new();
    assert_eq!(parse_dump(&datagram, &mut reported), Datagram::More);
    assert_eq!(parse_dump(&envelope(3, &[0; 4]), &mut reported), Datagram::Last);
    let mut drivers = parse(FAILED);
    let before = drivers.len();
    join(&mut drivers, reported);
    assert_eq!(drivers.len(), before + 1);
    let caam = driver(&drivers, "cbc-aes-caam");
    assert_eq!(caam.flags, Some(0x1_1485));
    assert!(caam.flags.is_some_and(
        |f| f & KERNEL_DRIVER_ONLY != 0 && f & cpb_core::kernel::ALLOCATES_MEMORY != 0
    ));
    let generic = driver(&drivers, "aes-generic");
    assert_eq!((generic.module.as_deref(), generic.priority, generic.references), (None, 100, 3));
    assert_eq!((generic.kind.as_str(), generic.selftest), ("cipher", Selftest::Passed));
}

#[test]
fn a_refused_dump_says_why() {
    let refused = envelope(2, &(-libc::EPERM).to_ne_bytes());
    assert_eq!(parse_dump(&refused, &mut Vec::new()), Datagram::Failed(libc::EPERM));
}

proptest! {
    #[test]
    fn any_text_is_taken_as_a_list(text in "(?s).{0,400}") {
        let _ = parse(&text);
    }

    #[test]
    fn what_is_listed_is_read_back(
        name in "[a-z][a-z0-9(),-]{0,30}",
        driver in "[a-z][a-z0-9_(),-]{0,40}",
        module in proptest::option::of("[a-j][a-z0-9_]{0,20}"),
        (priority, references) in (any::<i32>(), any::<u32>()),
        (internal, asynchronous, passed) in any::<(bool, bool, bool)>(),
        key_bytes in any::<(u32, u32)>(),
    ) {
        let yes = |so| if so { "yes" } else { "no" };
        let text = format!(
            "name         : {name}\ndriver       : {driver}\nmodule       : {}\n\
             priority     : {priority}\nrefcnt       : {references}\nselftest     : {}\n\
             internal     : {}\ntype         : skcipher\nasync        : {}\n\
             blocksize    : 16\nmin keysize  : {}\nmax keysize  : {}\nivsize       : 16\n\n",
            module.as_deref().unwrap_or("kernel"), if passed { "passed" } else { "unknown" },
            yes(internal), yes(asynchronous), key_bytes.0, key_bytes.1,
        );
        let selftest = if passed { Selftest::Passed } else { Selftest::Unknown };
        let expected = Driver {
            name, driver, module, priority, kind: "skcipher".into(),
            asynchronous: Some(asynchronous), internal, selftest, references,
            key_bytes: Some(key_bytes), flags: None,
        };
        prop_assert_eq!(parse(&(text.clone() + &text)), [expected.clone(), expected]);
    }

    #[test]
    fn any_bytes_are_taken_as_a_dump(
        bytes in proptest::collection::vec(any::<u8>(), 0..600),
        cut in any::<proptest::sample::Index>(),
    ) {
        let _ = parse_dump(&bytes, &mut Vec::new());
        // A whole message that was cut, and one with a wrong length.
        let whole = message(["sha256", "sha256-x", "m"], 0x400, 1, "ahash");
        let _ = parse_dump(&whole[..cut.index(whole.len())], &mut Vec::new());
        let mut lying = whole.clone();
        let at = cut.index(whole.len());
        lying[at] ^= 0xff;
        let _ = parse_dump(&lying, &mut Vec::new());
    }
}
