//! The static binaries for boards of every architecture, run here by the CPU itself or by qemu-user. Under
//! qemu-user only the selected path and the answers are meaningful.
//!
//! `cargo xtask test` builds and names them. Processes that such a binary starts run in qemu-user as well,
//! because the test has its own mount namespace with a binfmt_misc entry for them: this needs Linux 6.7 or
//! later, and a user who may create user namespaces. The machine outside is not affected.

use cpb_test_support::{Lab, Ran, lab, lines, of, of_kind, skip};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The most bytes that a file for tests may have; `cargo xtask static` limits those for boards.
const MOST_BYTES: u64 = 26 << 20;

/// A target, and how to run it if the CPU does not: qemu's name of the architecture, and the class and
/// machine in an ELF header.
struct Target {
    triple: &'static str,
    architecture: &'static str,
    emulator: &'static str,
    elf: (u8, u8),
}

const X86_64: Target = Target {
    triple: "x86_64-unknown-linux-musl",
    architecture: "x86_64",
    emulator: "x86_64",
    elf: (2, 62),
};
const AARCH64: Target = Target {
    triple: "aarch64-unknown-linux-musl",
    architecture: "aarch64",
    emulator: "aarch64",
    elf: (2, 183),
};
const ARMV7: Target = Target {
    triple: "armv7-unknown-linux-gnueabihf",
    architecture: "arm",
    emulator: "arm",
    elf: (1, 40),
};
const RISCV64: Target = Target {
    triple: "riscv64gc-unknown-linux-gnu",
    architecture: "riscv64",
    emulator: "riscv64",
    elf: (2, 243),
};

impl Target {
    fn is_native(&self) -> bool {
        self.architecture == std::env::consts::ARCH
    }

    /// The binary, if this test can run it; otherwise reports that it is skipped.
    fn binary(&self, lab: &Lab, test: &str) -> Option<PathBuf> {
        let test = format!("static_binaries::{test}");
        let Some(folder) = std::env::var_os("CPB_STATIC_BINARIES") else {
            skip(&test, "static binaries are built by `make test`");
            return None;
        };
        let path = Path::new(&folder).join(format!("cpb-{}", self.triple));
        assert!(path.is_file(), "{}: `cargo xtask static --test` builds it", path.display());
        if !self.is_native() && self.shell(lab, &path, "true", "").status != Some(0) {
            skip(&test, "no namespace of this kernel's has a binfmt_misc of its own (Linux 6.7)");
            return None;
        }
        Some(path)
    }

    /// Runs a command line in which `cpb` is the binary. `variables` are assignments in front of it.
    fn shell(&self, lab: &Lab, binary: &Path, line: &str, variables: &str) -> Ran {
        let folder = lab.path("bin");
        fs::create_dir_all(&folder).expect("a folder");
        let link = folder.join("cpb");
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(binary, &link).expect("a link");
        let line = format!("PATH={}:$PATH {variables} {line}", folder.display());
        if self.is_native() {
            return lab.shell(&line);
        }
        // proc/sys/fs/binfmt_misc/register: :name:M:offset:magic:mask:interpreter:flags. Any ABI, for
        // programs and shared objects; F: the interpreter is opened now.
        let (class, machine) = self.elf;
        let rule = format!(
            ":cpb:M::\\x7fELF\\x{class:02x}\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\
             \\x{machine:02x}\\x00:\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\
             \\xff\\xfe\\xff\\xff\\xff:/usr/bin/qemu-{}-static:F",
            self.emulator
        );
        lab.write("rule", rule);
        lab.write("command.sh", format!("{line}\n"));
        // qemu-user sometimes hangs in a process that a program with threads has forked, before it starts another
        // program: that is the emulator's, so such a command is tried once more.
        lab.write(
            "inside.sh",
            "mount -t binfmt_misc none /proc/sys/fs/binfmt_misc || exit 99\n\
             cat rule > /proc/sys/fs/binfmt_misc/register || exit 99\n\
             timeout -k 5 300 sh command.sh; status=$?\n\
             if [ $status = 124 ] || [ $status = 137 ]; then\n\
             rm -f *.jsonl; timeout -k 5 300 sh command.sh; status=$?; fi\n\
             exit $status\n",
        );
        lab.shell("unshare --user --map-root-user --mount sh inside.sh")
    }
}

/// Requirements for every binary: small and static, right answers, working measurements.
fn works(target: &Target, test: &str) {
    let lab = lab!();
    let Some(binary) = target.binary(&lab, test) else { return };
    let bytes = fs::metadata(&binary).expect("the binary").len();
    assert!(bytes <= MOST_BYTES, "{}: {bytes} bytes", binary.display());
    assert!(is_static(&binary), "{} wants an interpreter or libraries", binary.display());

    // An emulated CPU takes minutes to generate an RSA key of 3072 bits or more.
    let slow = |name: &str| name.starts_with("rsa-3072") || name.starts_with("rsa-4096");
    let names = cpb_core::Algorithm::ALL.iter().map(|algorithm| algorithm.name());
    let names: Vec<&str> = names.filter(|name| !slow(name)).collect();
    let check = format!("cpb check -a {}", names.join(","));
    let checked = target.shell(&lab, &binary, &check, "");
    assert_eq!(checked.status, Some(0), "{}", checked.all());
    assert!(checked.stdout.contains(" 0 algorithms wrong"), "{}", checked.all());

    let run = "cpb run -a sha-256,aes-128-gcm -s 16,1K --budget 1s -q -o record.jsonl";
    let ran = target.shell(&lab, &binary, run, "");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    let lines = lines(&lab.path("record.jsonl"));
    let header = &lines[0]["cpb"];
    assert_eq!(header["machine"]["architecture"], target.architecture);
    for provider in ["openssl", "openssl:scalar", "mbedtls:c"] {
        assert!(!of(&lines, "round", provider).is_empty(), "{provider}: {}", ran.all());
    }
    assert_eq!(of_kind(&lines, "without").len(), 0, "{}", ran.all());
    if !target.is_native() {
        // It found that out on its own.
        assert_eq!(header["evidence"], "emulated");
        let warnings = header["warnings"].to_string();
        let sign = format!("cpb is a program for {} on ", target.architecture);
        assert!(warnings.contains(&sign), "{warnings}");
    }
}

/// The binary has neither PT_INTERP nor DT_NEEDED.
fn is_static(binary: &Path) -> bool {
    use object::Object;
    let data = fs::read(binary).expect("the binary");
    let file = object::File::parse(&*data).expect("an ELF file");
    file.section_by_name(".interp").is_none()
        && file.imports().is_ok_and(|imports| imports.iter().all(|i| i.library().is_empty()))
}

#[test]
fn the_binary_for_x86_64_works() {
    works(&X86_64, "x86_64");
}

#[test]
fn the_binary_for_aarch64_works() {
    works(&AARCH64, "aarch64");
}

#[test]
fn the_binary_for_armv7_works() {
    works(&ARMV7, "armv7");
}

#[test]
fn the_binary_for_riscv64_works() {
    works(&RISCV64, "riscv64");
}

#[test]
fn a_native_binary_is_told_from_an_emulated_one_of_the_same_machine() {
    let lab = lab!();
    let evidence = |target: &Target, name: &str| -> Option<Value> {
        let binary = target.binary(&lab, "evidence")?;
        let line = format!("cpb run -a sha-256 -s 16 -p mbedtls:c --budget 0.3s -q -o {name}");
        let ran = target.shell(&lab, &binary, &line, "");
        assert_eq!(ran.status, Some(0), "{}", ran.all());
        Some(lines(&lab.path(name))[0]["cpb"]["evidence"].clone())
    };
    let targets = [X86_64, AARCH64, ARMV7, RISCV64];
    let Some(native) = targets.iter().find(|target| target.is_native()) else { return };
    let Some(foreign) = targets.iter().find(|target| !target.is_native()) else { return };
    let (Some(native), Some(foreign)) =
        (evidence(native, "native.jsonl"), evidence(foreign, "foreign.jsonl"))
    else {
        return;
    };
    // The report of cpb's own dynamic build on this machine.
    let ran = lab.run("run -a sha-256 -s 16 -p mbedtls:c --budget 0.3s -q -o own.jsonl");
    assert_eq!(ran.status, Some(0), "{}", ran.all());
    assert_eq!(native, lines(&lab.path("own.jsonl"))[0]["cpb"]["evidence"]);
    assert_eq!(foreign, "emulated");
}

#[test]
fn masking_armv8s_crypto_instructions_really_takes_another_path() {
    if AARCH64.is_native() {
        return;
    }
    let lab = lab!();
    let Some(binary) = AARCH64.binary(&lab, "armcap") else { return };
    // Each emulator process logs the instructions that it translates, each once.
    let translated = |provider: &str| -> (usize, String) {
        let name = provider.replace(':', "-");
        let line = format!(
            "cpb run -p {provider} -a aes-128-cbc -s 1K --operation encrypt --budget 0.3s -q \
             -o {name}.jsonl"
        );
        let log = lab.path(&name);
        fs::create_dir(&log).expect("a folder");
        let variables =
            format!("QEMU_CPU=cortex-a53 QEMU_LOG=in_asm QEMU_LOG_FILENAME={}/%d", log.display());
        let ran = AARCH64.shell(&lab, &binary, &line, &variables);
        assert_eq!(ran.status, Some(0), "{}", ran.all());
        let logs = fs::read_dir(log).expect("the logs").flatten();
        let aes = logs.map(|log| {
            let bytes = fs::read(log.path()).expect("a log");
            String::from_utf8_lossy(&bytes).matches("aese").count()
        });
        let lines = lines(&lab.path(&format!("{name}.jsonl")));
        let output = of(&lines, "round", provider)[0]["output"].to_string();
        (aes.sum(), output)
    };
    let masks: [(&str, &[&str]); 2] = [
        ("openssl", &["openssl:nocrypto", "openssl:scalar"]),
        ("rustcrypto", &["rustcrypto:soft"]),
    ];
    for (default, masked) in masks {
        let (with, answer) = translated(default);
        assert!(with > 0, "{default} takes the Crypto Extensions");
        for masked in masked {
            let (without, same_answer) = translated(masked);
            assert_eq!(without, 0, "{masked} does not");
            assert_eq!(answer, same_answer, "and both are right");
        }
    }
}
