//! States that a user must be able to tell apart. Each comes from a list in the kernel's format and from the
//! outcome of trying.

use super::*;
use std::fs;

const GUEST: &str = include_str!("../kernel_crypto/fixtures/linux-6.1-virtio.txt");
const FAILED: &str = include_str!("../kernel_crypto/fixtures/caam-failed-selftest.txt");

/// A machine with this `/proc/crypto`, and a virtio-crypto device.
fn machine(crypto: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |path: &str| folder.path().join(path);
    for path in
        ["proc", "sys/module/virtio_crypto/drivers", "sys/bus/drivers/v", "sys/devices/virtio0"]
    {
        fs::create_dir_all(at(path)).expect("a folder");
    }
    fs::write(at("proc/crypto"), crypto).expect("a file");
    fs::write(at("proc/interrupts"), " CPU0\n 25: 9 PCI-MSI 1-edge virtio0-virtqueues\n")
        .expect("a file");
    let link = |to: &str, path: &str| std::os::unix::fs::symlink(at(to), at(path)).expect("a link");
    link("sys/bus/drivers/v", "sys/module/virtio_crypto/drivers/virtio:virtio_crypto");
    link("sys/devices/virtio0", "sys/bus/drivers/v/virtio0");
    folder
}

fn survey_of(
    crypto: &str,
    bind: &dyn Fn(&str, &str) -> Bind,
    take: &dyn Fn(&str) -> Option<String>,
) -> KernelSurvey {
    super::survey_of(machine(crypto).path(), Availability::Reachable, bind, take, &|_| false)
}

fn reach_of<'s>(survey: &'s KernelSurvey, driver: &str) -> &'s Availability {
    let found = survey.drivers.iter().find(|one| one.driver.driver == driver);
    &found.expect("listed").reach
}

fn choice<'s>(survey: &'s KernelSurvey, name: &str) -> &'s KernelChoice {
    survey.choices.iter().find(|choice| choice.name == name).expect("known")
}

#[test]
fn what_can_be_bound_is_reachable_and_the_kernels_choice_is_its_preferred_one() {
    let take = |name: &str| (name == "cbc(aes)").then(|| "cbc-aes-aesni".to_owned());
    let survey = survey_of(GUEST, &|_, _| Ok(()), &take);
    assert_eq!(*reach_of(&survey, "virtio_crypto_aes_cbc"), Availability::Reachable);
    assert_eq!(*reach_of(&survey, "__cbc-aes-aesni"), Availability::KernelOnly);
    assert_eq!(*reach_of(&survey, "aes-generic"), Availability::KernelOnly);
    let virtio = survey.drivers.iter().find(|one| one.driver.driver == "virtio_crypto_aes_cbc");
    let virtio = virtio.expect("listed");
    assert_eq!(
        (virtio.devices.as_slice(), virtio.interrupts.as_slice()),
        (&["virtio0".into()][..], &["25".into()][..])
    );
    let choice = choice(&survey, "cbc(aes)");
    assert_eq!((choice.preferred.as_str(), choice.fell_back), ("cbc-aes-aesni", false));
}

/// Refuses the drivers that the guest lists as asynchronous, as Linux 7.2 does.
fn only_synchronous(_: &str, name: &str) -> Bind {
    let listed = kernel_crypto::parse(GUEST);
    let driver = listed.iter().find(|driver| driver.driver == name).expect("listed");
    if driver.asynchronous == Some(true) { Err(libc::ENOENT) } else { Ok(()) }
}

/// Linux 7.2: asynchronous drivers do not exist for AF_ALG, and a name leads to software whatever the
/// priorities.
#[test]
fn an_accelerator_that_is_listed_and_cannot_be_bound_is_kept_back_by_policy() {
    let crypto = GUEST.replace("priority     : 150\nrefcnt       : 1\nselftest     : passed\ninternal     : no\ntype         : skcipher", "priority     : 900\nrefcnt       : 1\nselftest     : passed\ninternal     : no\ntype         : skcipher");
    let taken = |_: &str| Some("cbc-aes-aesni".to_owned());
    let survey = survey_of(&crypto, &only_synchronous, &taken);
    assert_eq!(*reach_of(&survey, "virtio_crypto_aes_cbc"), Availability::Policy);
    assert!(Availability::Policy.to_string().contains("unreachable by policy"));
    let choice = choice(&survey, "cbc(aes)");
    assert_eq!(choice.preferred, "virtio_crypto_aes_cbc");
    assert_eq!((choice.taken.as_deref(), choice.fell_back), (Some("cbc-aes-aesni"), true));
}

/// The driver of a mode is listed, but the cipher that it builds on cannot be loaded. This is ENOENT as well.
#[test]
fn a_driver_that_the_kernel_cannot_set_up_is_not_kept_back_by_policy() {
    let bind = |refused: &'static str| {
        move |_: &str, name: &str| if name == refused { Err(libc::ENOENT) } else { Ok(()) }
    };
    // Other asynchronous drivers of the type bind.
    let survey = survey_of(GUEST, &bind("virtio_crypto_aes_cbc"), &|_| None);
    let reach = reach_of(&survey, "virtio_crypto_aes_cbc");
    assert_eq!(*reach, Availability::NotSetUp);
    let words = reach.to_string();
    assert!(words.starts_with("listed, but the kernel cannot set it up"), "{words}");
    // Synchronous software can be withheld only by a list ...
    let refused = |_: &str, name: &str| match name {
        "chacha20-simd" => Err(libc::ENOENT),
        _ => only_synchronous("", name),
    };
    let survey = survey_of(GUEST, &refused, &|_| None);
    assert_eq!(*reach_of(&survey, "chacha20-simd"), Availability::NotSetUp);
    assert_eq!(*reach_of(&survey, "virtio_crypto_aes_cbc"), Availability::Policy);
    // ... that does not contain its algorithm.
    let restricted = |bind: &dyn Fn(&str, &str) -> Bind| {
        let folder = machine(GUEST);
        let switch = folder.path().join("proc/sys/crypto/af_alg_restrict");
        fs::create_dir_all(switch.parent().expect("a folder")).expect("a folder");
        fs::write(switch, "1\n").expect("a file");
        super::survey_of(folder.path(), Availability::Reachable, bind, &|_| None, &|_| false)
    };
    let survey = restricted(&bind("sha256-generic"));
    assert_eq!(*reach_of(&survey, "sha256-generic"), Availability::NotSetUp, "sha256-avx2 binds");
    let survey = restricted(&|_, name| match name.contains("sha256") {
        true => Err(libc::ENOENT),
        false => Ok(()),
    });
    assert_eq!(*reach_of(&survey, "sha256-generic"), Availability::Policy);
}

#[test]
fn a_type_that_the_kernel_does_not_offer_is_absent_and_names_its_option() {
    let bind = |kind: &str, _: &str| if kind == "aead" { Err(libc::ENOENT) } else { Ok(()) };
    let survey = survey_of(GUEST, &bind, &|_| None);
    match reach_of(&survey, "generic-gcm-aesni") {
        Availability::Absent(missing) => assert!(missing.contains("algif_aead"), "{missing}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(*reach_of(&survey, "cbc-aes-aesni"), Availability::Reachable);
}

#[test]
fn a_name_without_a_driver_is_told_from_one_whose_type_is_missing() {
    let words = |name, kind, here: &[&str]| {
        availability::nothing_called(name, kind, &|kind| here.contains(&kind)).to_string()
    };
    let all = ["skcipher", "aead", "hash", "rng"];
    assert_eq!(words("x", None, &all), "absent: this kernel has no driver x");
    assert_eq!(words("gcm(aes)", Some("aead"), &all), "absent: this kernel has no driver gcm(aes)");
    for kind in all {
        let others: Vec<&str> = all.into_iter().filter(|other| *other != kind).collect();
        for asked in [Some(kind), None] {
            let words = words("x", asked, &others);
            let option = format!("CONFIG_CRYPTO_USER_API_{}", kind.to_uppercase());
            assert!(words.contains(&option) && words.contains(&format!("algif_{kind}")), "{words}");
            assert_eq!(words.contains("no driver x"), asked.is_none(), "{words}");
        }
    }
}

#[test]
fn a_failed_self_test_a_running_one_and_a_missing_permission_are_three_states() {
    let bind = |_: &str, name: &str| match name {
        "cbc-aes-caam" => Err(libc::ELIBBAD),
        "ctr-aes-caam" => Err(libc::EAGAIN),
        _ => Err(libc::EACCES),
    };
    let survey = survey_of(FAILED, &bind, &|_| Some("cbc-aes-neonbs".to_owned()));
    assert_eq!(*reach_of(&survey, "cbc-aes-caam"), Availability::SelftestFailed);
    assert!(matches!(reach_of(&survey, "cbc-aes-neonbs"), Availability::Permission(_)));
    let states: Vec<&Availability> = survey.drivers.iter().map(|one| &one.reach).collect();
    assert!(states.contains(&&Availability::InTest), "{states:?}");
    let words: std::collections::HashSet<String> = states.iter().map(ToString::to_string).collect();
    assert_eq!(words.len(), 3, "{words:?}");
}

#[test]
fn without_af_alg_nothing_is_bound_and_everything_says_why() {
    let absent = Availability::Absent("CONFIG_CRYPTO_USER_API_SKCIPHER".into());
    let never = |_: &str, name: &str| -> Bind { panic!("bound {name}") };
    let folder = machine(GUEST);
    let survey =
        super::survey_of(folder.path(), absent.clone(), &never, &|_| Some("x".into()), &|_| true);
    assert_eq!(*reach_of(&survey, "virtio_crypto_aes_cbc"), absent);
    assert_eq!(*reach_of(&survey, "aes-generic"), Availability::KernelOnly);
    assert!(survey.choices.iter().all(|choice| choice.taken.is_none() && !choice.fell_back));
}

#[test]
fn a_record_keeps_the_states_as_data() {
    let survey = survey_of(GUEST, &only_synchronous, &|_| None);
    let whole = survey.drivers.len();
    let kept = survey.of_known_algorithms();
    assert!(kept.drivers.len() < whole * 2 / 3 && kept.drivers.len() > 5);
    let data = serde_json::to_string(&kept).expect("data");
    assert!(
        data.contains(r#""driver":"virtio_crypto_aes_cbc""#)
            && data.contains(r#"{"state":"policy"}"#)
    );
    assert_eq!(serde_json::from_str::<KernelSurvey>(&data).expect("the same"), kept);
}

#[test]
fn an_interface_that_is_switched_off_is_policy_and_one_that_is_refused_permission() {
    let folder = tempfile::tempdir().expect("a folder");
    let reach = |errno| availability::interface_refused(folder.path(), errno);
    assert!(matches!(reach(libc::EPERM), Availability::Permission(_)));
    assert!(matches!(reach(libc::EMFILE), Availability::Failed(libc::EMFILE)));
    match reach(libc::EAFNOSUPPORT) {
        Availability::Absent(missing) => {
            assert!(missing.contains("CONFIG_CRYPTO_USER_API"), "{missing}")
        }
        other => panic!("{other:?}"),
    }
    let release = folder.path().join("proc/sys/kernel/osrelease");
    fs::create_dir_all(release.parent().expect("a folder")).expect("a folder");
    fs::write(release, "6.1.0\n").expect("a file");
    let modules = folder.path().join("lib/modules/6.1.0");
    fs::create_dir_all(&modules).expect("a folder");
    fs::write(modules.join("modules.dep"), "kernel/crypto/af_alg.ko.xz: kernel/x.ko\n")
        .expect("a file");
    assert!(reach(libc::EAFNOSUPPORT).to_string().contains("module af_alg"), "the file is gone");
    fs::create_dir_all(modules.join("kernel/crypto")).expect("a folder");
    fs::write(modules.join("kernel/crypto/af_alg.ko.xz"), "").expect("a file");
    assert!(reach(libc::EAFNOSUPPORT).to_string().contains("modprobe af_alg"));
    let switch = folder.path().join("proc/sys/crypto/af_alg_restrict");
    fs::create_dir_all(switch.parent().expect("a folder")).expect("a folder");
    fs::write(switch, "2\n").expect("a file");
    assert_eq!(reach(libc::EAFNOSUPPORT), Availability::Policy);
}
