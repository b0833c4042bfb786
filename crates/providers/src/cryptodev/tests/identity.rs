//! What the provider reports about itself, and about what is missing.

use super::*;

#[test]
fn it_says_which_driver_the_kernel_took() {
    let module = Module::loaded();
    let mut state = module.state();
    (state.alignmask, state.flags) = (63, abi::KERNEL_DRIVER_ONLY);
    drop(state);
    let provider = opened(&module, "cbc(aes)");
    let identity = provider.identity();
    assert_eq!((identity.provider, identity.executor), ("cryptodev:cbc(aes)", "cbc-aes-stand-in"));
    assert_eq!(
        identity.options,
        "cbc-aes-stand-in: buffers aligned to 64 B are mapped, others copied, kernel driver only"
    );
    let gcm = CryptoWorkload::new(Algorithm::Aes128Gcm, Operation::Encrypt, 16);
    assert_eq!(provider.supports(&gcm), Err(Unsupported::Algorithm));

    let all = opened(&module, "");
    let identity = all.identity();
    assert_eq!(identity.provider, "cryptodev");
    assert!(identity.executor.starts_with("cbc(aes) by cbc-aes-stand-in, ecb(aes) by "));
    nothing_left(&module);
}

#[test]
fn the_floor_is_a_null_cipher_for_ciphers_only() {
    let module = Module::loaded();
    let floor = opened(&module, FLOOR);
    assert_eq!(floor.identity().provider, "cryptodev:null");
    assert_eq!(floor.identity().executor, "ecb-cipher_null-stand-in");
    let cbc = CryptoWorkload::new(Algorithm::Aes128Cbc, Operation::Encrypt, 48);
    let message = made(Part::Message, 0, 48);
    assert_eq!(run(&floor, &cbc, &message, &[]), Ok((message, Vec::new())));
    let hash = CryptoWorkload::new(Algorithm::Sha256, Operation::Hash, 48);
    assert_eq!(floor.supports(&hash), Err(Unsupported::Algorithm));
    let gcm = CryptoWorkload::new(Algorithm::Aes128Gcm, Operation::Encrypt, 48);
    assert_eq!(floor.supports(&gcm), Err(Unsupported::Algorithm));
    nothing_left(&module);
}

/// Why a variant cannot be opened.
fn missing(module: &Arc<Module>, variant: &str) -> Unavailable {
    match open(module.clone(), variant, Path::new("/nowhere")) {
        Ok(_) => panic!("it opened"),
        Err(unavailable) => unavailable,
    }
}

#[test]
fn what_is_missing_is_named_with_what_would_bring_it() {
    let module = Module::loaded();
    let says = |unavailable: Unavailable, reason, words: &[&str]| {
        assert_eq!(unavailable.reason, reason, "{}", unavailable.detail);
        for word in words {
            assert!(unavailable.detail.contains(word), "{word}: {}", unavailable.detail);
        }
    };
    for errno in [libc::ENOENT, libc::ENXIO, libc::ENODEV] {
        module.state().node = Err(Errno(errno));
        let words = ["/dev/crypto", "modprobe cryptodev", "neither Linux nor Debian"];
        says(missing(&module, ""), Unsupported::Device, &words);
    }
    for errno in [libc::EACCES, libc::EPERM] {
        module.state().node = Err(Errno(errno));
        says(missing(&module, ""), Unsupported::Permission, &["/dev/crypto exists", "user"]);
    }
    module.state().node = Err(Errno(libc::EMFILE));
    says(missing(&module, ""), Unsupported::Device, &["cannot be opened", "open files"]);
    module.state().node = Ok(());

    let fail = |request, errno| {
        let mut state = module.state();
        state.calls.clear();
        state.fault = Some((request, 0, errno));
        drop(state);
        missing(&module, "cbc(aes)")
    };
    let other = fail(abi::GET_SESSION, libc::ENOTTY);
    says(other, Unsupported::Device, &["/dev/crypto does not belong to the module cryptodev"]);
    let forbidden = fail(abi::GET_SESSION, libc::EPERM);
    says(forbidden, Unsupported::Permission, &["cannot create a session for cbc(aes)"]);
    let memory = fail(abi::SESSION_INFO, libc::ENOMEM);
    says(memory, Unsupported::Device, &["cannot create a session for cbc(aes)", "memory"]);
    nothing_left(&module);

    let mut state = module.state();
    state.fault = None;
    state.lacks = vec!["gcm(aes)", "ecb(cipher_null)"];
    drop(state);
    let gcm = missing(&module, "gcm(aes)");
    says(gcm, Unsupported::Algorithm, &["the kernel has no gcm(aes)"]);
    let floor = missing(&module, FLOOR);
    says(floor, Unsupported::Algorithm, &["modprobe crypto_null", "CONFIG_CRYPTO_NULL"]);
    let unknown = missing(&module, "rot13");
    says(unknown, Unsupported::Algorithm, &["no rot13", "cbc(aes), ecb(aes)", "null"]);
    let all = opened(&module, "");
    let gcm = CryptoWorkload::new(Algorithm::Aes128Gcm, Operation::Encrypt, 16);
    assert_eq!(all.supports(&gcm), Err(Unsupported::Algorithm));
    nothing_left(&module);
}

#[test]
fn the_driver_that_the_module_names_leads_to_its_devices_interrupts() {
    let module = Module::loaded();
    let root = Root::new(&[
        ("proc/sys/kernel/osrelease", "6.1.0-test\n"),
        (
            "proc/crypto",
            "name         : cbc(aes)\ndriver       : virtio_crypto_aes_cbc\nmodule       : \
             virtio_crypto\npriority     : 500\nrefcnt       : 1\nselftest     : passed\n\
             internal     : no\ntype         : skcipher\n\n\
             name         : cbc(aes)\ndriver       : cbc-aes-stand-in\nmodule       : kernel\n\
             priority     : 400\nrefcnt       : 1\nselftest     : passed\ninternal     : no\n\
             type         : skcipher\n\n\
             name         : sha256\ndriver       : sha256-stand-in\nmodule       : kernel\n\
             priority     : 100\nrefcnt       : 1\nselftest     : passed\ninternal     : no\n\
             type         : shash\n",
        ),
        ("sys/devices/virtio2/name", ""),
        (
            "proc/interrupts",
            "            CPU0\n  24:       1111   PCI-MSI 16384-edge      virtio1-input.0\n  \
             25:       4321   PCI-MSI 32768-edge      virtio2-virtqueues\n",
        ),
    ]);
    root.link("sys/module/virtio_crypto/drivers/virtio:virtio_crypto", "sys/bus/virtio_crypto");
    root.link("sys/bus/virtio_crypto/virtio2", "sys/devices/virtio2");
    let open_at = |variant| match open(module.clone(), variant, &root.0) {
        Ok(provider) => provider,
        Err(missing) => panic!("{}", missing.detail),
    };
    // The engine is there, but this kernel took another driver.
    let fallen_back = open_at("cbc(aes)");
    // The engine's lines are watched: they must stand still.
    assert_eq!((fallen_back.claim(), fallen_back.interrupts()), (Claim::Fallback, Some(4321)));
    assert_eq!(fallen_back.identity().version, "6.1.0-test");
    let hash = open_at("sha256");
    assert_eq!((hash.claim(), hash.interrupts()), (Claim::Kernel, Some(4321)));
    assert_eq!(open_at("sha512").claim(), Claim::Unknown);

    module.state().drivers.insert("cbc(aes)", "virtio_crypto_aes_cbc");
    let engine = open_at("cbc(aes)");
    assert_eq!(engine.identity().executor, "virtio_crypto_aes_cbc");
    assert_eq!((engine.claim(), engine.interrupts()), (Claim::Engine, Some(4321)));

    // OpenSSL's engine devcrypto is served by the same drivers, for the algorithms that it has.
    let served = |algorithms: &[Algorithm]| {
        let served = Served::at(&module, |one| algorithms.contains(&one), &root.0);
        let Served { executor, claim, lines, .. } =
            served.unwrap_or_else(|missing| panic!("{}", missing.detail));
        (executor, claim, lines.and_then(|lines| lines.count()))
    };
    let cbc = [Algorithm::Aes128Cbc, Algorithm::Aes256Cbc];
    let engine = ("virtio_crypto_aes_cbc".to_owned(), Claim::Engine, Some(4321));
    assert_eq!(served(&cbc), engine);
    let software = ("sha256-stand-in".to_owned(), Claim::Kernel, Some(4321));
    assert_eq!(served(&[Algorithm::Sha256]), software);
    let both = "cbc(aes) by virtio_crypto_aes_cbc, sha256 by sha256-stand-in".to_owned();
    let mixed = served(&[Algorithm::Aes128Cbc, Algorithm::Sha256]);
    assert_eq!(mixed, (both, Claim::Unknown, Some(4321)), "each line is counted once");
    assert!(Served::at(&module, |_| false, &root.0).is_err());

    let listed = kernel_crypto::drivers(&root.0);
    let software = listed.iter().find(|driver| driver.driver == "cbc-aes-stand-in");
    let software = software.expect("it is listed");
    let wiring = Wiring::current(&root.0);
    let claim = |driver: &kernel_crypto::Driver| wiring.claim(driver, false);
    assert_eq!(claim(software), Claim::Kernel, "whom the user named fell back to nothing");
    let asynchronous = kernel_crypto::Driver { asynchronous: Some(true), ..software.clone() };
    assert_eq!(claim(&asynchronous), Claim::Unknown, "its device may have another name");
    let flags = Some(kernel_crypto::KERNEL_DRIVER_ONLY);
    assert_eq!(claim(&kernel_crypto::Driver { flags, ..software.clone() }), Claim::Engine);
    nothing_left(&module);
}

/// The kernel's files, in a folder that is removed when this is dropped.
struct Root(std::path::PathBuf);

impl Root {
    fn new(files: &[(&str, &str)]) -> Root {
        let name = format!("cpb-cryptodev-{}", std::process::id());
        let root = Root(std::env::temp_dir().join(name));
        for (path, text) in files {
            let path = root.0.join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        root
    }

    /// Makes `path` a link to the folder `target`.
    fn link(&self, path: &str, target: &str) {
        let (path, target) = (self.0.join(path), self.0.join(target));
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::create_dir_all(&target).expect("a folder");
        std::os::unix::fs::symlink(target, path).expect("a link");
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn variants_are_what_this_kernel_has() {
    let module = Module::loaded();
    let all = TRANSFORMS.iter().map(|transform| transform.name);
    assert_eq!(variants(&module), all.chain([FLOOR]).collect::<Vec<_>>());
    for variant in variants(&module) {
        assert_eq!(opened(&module, &variant).name, format!("cryptodev:{variant}"));
    }
    let few = ["cbc(aes)", "ctr(aes)", "sha256", "sha512", "hmac(sha256)"];
    let others = variants(&module).len() - few.len();
    let all = TRANSFORMS.iter().map(|transform| transform.name);
    let lacks: Vec<&str> =
        all.chain(["ecb(cipher_null)"]).filter(|name| !few.contains(name)).collect();
    assert_eq!(lacks.len(), others);
    module.state().lacks = lacks;
    assert_eq!(variants(&module), few);
    nothing_left(&module);
    module.state().node = Err(Errno(libc::ENOENT));
    assert!(variants(&module).is_empty());
}
