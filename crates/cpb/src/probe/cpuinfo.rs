//! /proc/cpuinfo: stanzas of `key : value`, with different keys on each architecture.
//!
//! Formats: arch/x86/kernel/cpu/proc.c, arch/arm64/kernel/cpuinfo.c, arch/arm/kernel/setup.c and
//! arch/riscv/kernel/cpu.c in Linux.

use super::files::printable;
use std::collections::HashMap;

/// More features than any CPU has.
const MOST_FEATURES: usize = 1024;

/// Feature lists of x86 have about 1500 characters.
const LONGEST_LIST: usize = 16_384;

/// The fields for one CPU, and for the machine.
pub(super) struct Cpuinfo {
    fields: HashMap<String, String>,
    processors: usize,
}

impl Cpuinfo {
    /// Parses the fields of `cpu`'s stanza, then the fields of stanzas without a CPU, such as Arm's last one.
    pub(super) fn parse(text: &str, cpu: usize) -> Cpuinfo {
        let stanzas: Vec<Vec<(&str, &str)>> = text
            .split("\n\n")
            .map(|stanza| {
                stanza
                    .lines()
                    .filter_map(|line| line.split_once(':'))
                    .map(|(key, value)| (key.trim(), value.trim()))
                    .collect()
            })
            .collect();
        let processor = |stanza: &[(&str, &str)]| {
            stanza.iter().find(|field| field.0 == "processor").map(|field| field.1.parse::<usize>())
        };
        let own = stanzas
            .iter()
            .find(|stanza| processor(stanza) == Some(Ok(cpu)))
            .or_else(|| stanzas.iter().find(|stanza| processor(stanza).is_some()));
        let common = stanzas.iter().filter(|stanza| processor(stanza).is_none());
        let mut fields = HashMap::new();
        for (key, value) in own.into_iter().chain(common).flatten() {
            let value: String = value.chars().take(LONGEST_LIST).collect();
            fields.entry(printable(key)).or_insert(value);
        }
        let processors = stanzas.iter().filter(|stanza| processor(stanza).is_some()).count();
        Cpuinfo { fields, processors }
    }

    /// A field's value, or an empty string.
    pub(super) fn field(&self, key: &str) -> String {
        self.fields.get(key).map(|value| printable(value)).unwrap_or_default()
    }

    /// A field that is a number, decimal or hexadecimal.
    pub(super) fn number(&self, key: &str) -> Option<u32> {
        let value = self.fields.get(key)?;
        match value.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => value.parse().ok(),
        }
    }

    /// The number of CPUs that have a stanza.
    pub(super) fn processors(&self) -> usize {
        self.processors
    }

    /// `flags` of x86, `Features` of Arm, the extensions in RISC-V's `isa`.
    pub(super) fn features(&self) -> Vec<String> {
        let list = |key: &str, separators: fn(char) -> bool| -> Vec<String> {
            let list = self.fields.get(key).map(String::as_str).unwrap_or_default();
            let words = list.split(separators).map(printable).filter(|word| !word.is_empty());
            words.take(MOST_FEATURES).collect()
        };
        let mut features = list("flags", |c| c.is_ascii_whitespace());
        features.extend(list("Features", |c| c.is_ascii_whitespace()));
        features.extend(list("isa", |c| c == '_'));
        features
    }

    /// The architecture that has these keys, if any.
    pub(super) fn architecture(&self) -> &'static str {
        let has = |key: &str| self.fields.contains_key(key);
        // s390 has a vendor_id too, but no "cpu family".
        if has("vendor_id") && has("cpu family") && has("flags") {
            "x86"
        } else if has("CPU implementer") {
            "arm"
        } else if has("isa") && has("hart") {
            "riscv"
        } else {
            ""
        }
    }
}
