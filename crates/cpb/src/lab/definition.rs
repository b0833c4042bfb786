//! What a guest is: one TOML file.

use anyhow::{Context, Result, bail};
use cpb_record::names;
use cpb_record::settings;
use serde::Deserialize;
use std::path::Path;

/// The guests that cpb knows by name.
const FILES: [(&str, &str); 4] = [
    ("x86_64-6.1", include_str!("../../../../lab/x86_64-6.1.toml")),
    ("x86_64-6.12", include_str!("../../../../lab/x86_64-6.12.toml")),
    ("aarch64-6.1", include_str!("../../../../lab/aarch64-6.1.toml")),
    ("x86_64-7", include_str!("../../../../lab/x86_64-7.toml")),
];

/// A guest as its file describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Its name: that of its file.
    #[serde(skip)]
    pub name: String,
    /// What it is there for.
    pub reason: String,
    /// Debian's name of its architecture.
    pub architecture: String,
    /// Rust's name of the target that a static cpb for it is built for.
    pub target: String,
    /// The package of its kernel; a metapackage stands for the newest.
    pub kernel: String,
    /// The suites of Debian that packages come from.
    pub suites: Vec<String>,
    /// Further packages whose programs it needs.
    pub packages: Vec<String>,
    /// Files of these packages that it gets, where the packages have them.
    #[serde(default)]
    pub files: Vec<String>,
    /// Modules that it loads, in this order.
    pub modules: Vec<String>,
    /// The kernel's name of the console.
    pub console: String,
    /// More words for the kernel's command line.
    #[serde(default)]
    pub command_line: String,
    /// Longest time from start to the agent's first word.
    pub boot_seconds: u64,
    /// The machine.
    pub qemu: Qemu,
}

/// The emulator and the machine that it is to emulate.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Qemu {
    /// The program.
    pub program: String,
    /// Debian's package that has it.
    pub package: String,
    /// The machine. What connects it to the host is put behind.
    pub arguments: Vec<String>,
}

impl Definition {
    /// The guest of that name, or of that file.
    ///
    /// # Errors
    /// There is none, or its file is wrong.
    pub fn find(name: &str) -> Result<Definition> {
        let known: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        if name.trim().is_empty() {
            bail!("no guest is named; there are: {}", known.join(", "));
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

    /// All that are known by name.
    ///
    /// # Errors
    /// A file is wrong; a test sees to it that none is.
    pub fn all() -> Result<Vec<Definition>> {
        FILES.iter().map(|(name, text)| Definition::parse(name, text)).collect()
    }

    fn parse(name: &str, text: &str) -> Result<Definition> {
        let parsed: Definition = settings::parse(text)?;
        Ok(Definition { name: name.to_owned(), ..parsed })
    }

    /// How many CPUs its machine has, as QEMU is told: numbered from 0.
    pub fn cpus(&self) -> usize {
        let mut words = self.qemu.arguments.iter().skip_while(|word| *word != "-smp").skip(1);
        // `-smp 2,cores=2` is two as well; without it there is one.
        let count = words.next().and_then(|word| word.split(',').next()?.parse().ok());
        count.unwrap_or(1)
    }

    /// Whether QEMU emulates its CPU: nothing in the machine's arguments asks for the host's.
    pub fn is_emulated(&self) -> bool {
        let accelerated =
            |word: &String| ["kvm", "xen", "hvf"].iter().any(|name| word.contains(name));
        !self.qemu.arguments.iter().any(accelerated)
    }

    /// Everything that decides what is fetched and prepared, as text.
    pub(super) fn recipe(&self) -> String {
        let Definition { architecture, kernel, suites, packages, files, modules, .. } = self;
        format!("{architecture} {kernel} {suites:?} {packages:?} {files:?} {modules:?}")
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
        assert!(error.contains("no guest is named") && error.contains("x86_64-7"), "{error}");
    }
}
