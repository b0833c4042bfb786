//! The definition of a guest: one TOML file.

use anyhow::{Context, Result, bail};
use cpb_record::names;
use cpb_record::settings;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use toml::Table;

/// The built-in guests.
const FILES: [(&str, &str); 7] = [
    ("x86_64-6.1", include_str!("../../../../lab/x86_64-6.1.toml")),
    ("x86_64-6.12", include_str!("../../../../lab/x86_64-6.12.toml")),
    ("aarch64-6.1", include_str!("../../../../lab/aarch64-6.1.toml")),
    ("armhf-6.1", include_str!("../../../../lab/armhf-6.1.toml")),
    ("armhf-6.1-caam", include_str!("../../../../lab/armhf-6.1-caam.toml")),
    ("aarch64-6.1-caam", include_str!("../../../../lab/aarch64-6.1-caam.toml")),
    ("x86_64-7", include_str!("../../../../lab/x86_64-7.toml")),
];

/// A guest as described by its file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Its name, which is the name of its file.
    #[serde(skip)]
    pub name: String,
    /// Its purpose.
    pub reason: String,
    /// Debian's name for its architecture.
    pub architecture: String,
    /// Rust's name for the target of a static cpb for this guest.
    pub target: String,
    /// The package of its kernel; a metapackage stands for the newest kernel.
    pub kernel: String,
    /// The Debian suites of the packages.
    pub suites: Vec<String>,
    /// Further packages with programs that the guest needs.
    pub packages: Vec<String>,
    /// Files that the guest gets from these packages, if the packages contain them.
    #[serde(default)]
    pub files: Vec<String>,
    /// Modules that the guest loads, in this order.
    pub modules: Vec<String>,
    /// Modules that the guest has but does not load.
    #[serde(default, rename = "spare-modules")]
    pub spare_modules: Vec<String>,
    /// Whether the lab builds cpb's own module for its kernel, with this machine's compiler, and loads it.
    #[serde(default, rename = "kernel-runner")]
    pub kernel_runner: bool,
    /// The kernel's name for the console.
    pub console: String,
    /// More parameters for the kernel's command line.
    #[serde(default)]
    pub command_line: String,
    /// The time limit from the start to the agent's first message.
    pub boot_seconds: u64,
    /// An engine that QEMU does not have: a process of its own, which serves a model of it.
    #[serde(default)]
    pub engine: Option<Engine>,
    /// What is added to the machine's device tree, below its root: numbers are cells, texts are strings, `true` is a
    /// property without a value, and tables are nodes. A node that is there already gets the properties.
    #[serde(default, rename = "device-tree")]
    pub device_tree: Table,
    /// The machine.
    pub qemu: Qemu,
}

/// An engine beside QEMU. The guest sees it as the PCI device in slot 1.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Engine {
    /// Which one.
    pub model: Model,
    /// The number of its job rings.
    pub rings: u8,
    /// Whether its pointers have 64 bits instead of 32.
    #[serde(default)]
    pub long_pointers: bool,
    /// The time that each of its jobs takes at least, in microseconds. It passes on this machine's clock, so the guest
    /// waits for it and computes nothing meanwhile.
    #[serde(default)]
    pub job_us: u32,
    /// The simulator's chip whose constants give the time that each of its jobs takes, such as `imxrt1170`. It passes on
    /// this machine's clock as well, and `job_us` is added.
    #[serde(default)]
    pub times_of: Option<String>,
    /// A named pipe for faults of some of its jobs, to see what its users make of them. Each line written to it is
    /// `KIND:AFTER:JOBS`: once AFTER more jobs have begun, JOBS of them have a fault of KIND, which is `descriptor` (not a
    /// valid one), `output-ring` (an error of the ring) or `never-ends`.
    #[serde(default)]
    pub faults: Option<PathBuf>,
    /// A file that gets what each job reads and writes, a line of JSON for each.
    #[serde(default)]
    pub record: Option<PathBuf>,
    /// Where the device tree says that its registers are. A guest whose PCI has them elsewhere does not use it.
    pub address: u32,
}

/// The engines that can be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// NXP's CAAM.
    Caam,
}

/// The emulator and the machine that it emulates.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Qemu {
    /// The program.
    pub program: String,
    /// Debian's package that contains it.
    pub package: String,
    /// The oldest version that will do; `None` if each one will.
    #[serde(default)]
    pub least: Option<String>,
    /// The Debian suites that the package is fetched from, with what it needs, if the installed one is older. The last
    /// one is preferred.
    #[serde(default)]
    pub suites: Vec<String>,
    /// The arguments that describe the machine. The arguments that connect it to the host follow them.
    pub arguments: Vec<String>,
}

impl Definition {
    /// The guest with that name, or in that file.
    ///
    /// # Errors
    /// Returns an error if there is no such guest, or if its file is invalid.
    pub fn find(name: &str) -> Result<Definition> {
        let known: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        if name.trim().is_empty() {
            bail!("the guest's name is empty; choose one of: {}", known.join(", "));
        }
        if Path::new(name).extension().is_some_and(|extension| extension == "toml") {
            let text =
                settings::read(Path::new(name)).with_context(|| format!("cannot read {name}"))?;
            let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
            return Definition::parse(&stem, &text).with_context(|| name.to_owned());
        }
        let places = names::places("guest", &[name.to_owned()], &known)?;
        let (name, text) = FILES[*places.first().context("no such guest")?];
        Definition::parse(name, text)
    }

    /// All built-in guests.
    ///
    /// # Errors
    /// Returns an error if a file is invalid; a test ensures that none is.
    pub fn all() -> Result<Vec<Definition>> {
        FILES.iter().map(|(name, text)| Definition::parse(name, text)).collect()
    }

    fn parse(name: &str, text: &str) -> Result<Definition> {
        let parsed: Definition = settings::parse(text)?;
        Ok(Definition { name: name.to_owned(), ..parsed })
    }

    /// The number of CPUs that QEMU's arguments give the machine; they are numbered from 0.
    pub fn cpus(&self) -> usize {
        let mut words = self.qemu.arguments.iter().skip_while(|word| *word != "-smp").skip(1);
        // `-smp 2,cores=2` is two as well; the default is one.
        let count = words.next().and_then(|word| word.split(',').next()?.parse().ok());
        count.unwrap_or(1)
    }

    /// The modules that it has.
    pub(super) fn all_modules(&self) -> Vec<String> {
        [&*self.modules, &*self.spare_modules].concat()
    }

    /// Whether QEMU emulates the CPU: the machine's arguments do not ask for the host's CPU.
    pub fn is_emulated(&self) -> bool {
        let accelerated =
            |word: &String| ["kvm", "xen", "hvf"].iter().any(|name| word.contains(name));
        !self.qemu.arguments.iter().any(accelerated)
    }

    /// Everything that determines what is fetched and prepared, as text.
    pub(super) fn recipe(&self) -> String {
        let Definition { architecture, kernel, suites, packages, files, .. } = self;
        let modules = self.all_modules();
        let headers = if self.kernel_runner { " with headers" } else { "" };
        format!("{architecture} {kernel} {suites:?} {packages:?} {files:?} {modules:?}{headers}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_guest_of_the_folder_is_known_and_valid() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .expect("the folder")
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|e| e == "toml"))
            .filter_map(|entry| Some(entry.path().file_stem()?.to_string_lossy().into_owned()))
            .collect();
        let mut known: Vec<String> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        files.sort();
        known.sort();
        assert_eq!(files, known, "FILES lists lab/*.toml");
        for guest in Definition::all().expect("valid files") {
            assert!(guest.qemu.arguments.iter().any(|word| word == "tcg"), "{}", guest.name);
            assert_eq!(guest.cpus(), 1, "{}", guest.name);
            assert!(guest.is_emulated(), "{}", guest.name);
        }
    }

    #[test]
    fn a_guest_on_the_host_s_cpu_is_not_emulated() {
        for words in [["-accel", "kvm"], ["-machine", "virt,accel=kvm:tcg"], ["-enable-kvm", ""]] {
            let mut guest = Definition::find("aarch64-6.1").expect("a guest");
            guest.qemu.arguments = words.map(str::to_owned).into();
            assert!(!guest.is_emulated(), "{words:?}");
        }
    }

    #[test]
    fn a_name_that_does_not_exist_is_an_error_that_names_those_that_do() {
        let error = Definition::find("x86_64-5").expect_err("no such guest").to_string();
        assert!(error.contains("x86_64-7"), "{error}");
        let error = Definition::find("").expect_err("no name").to_string();
        assert!(
            error.contains("the guest's name is empty") && error.contains("x86_64-7"),
            "{error}"
        );
    }
}
