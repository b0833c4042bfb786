//! The command line of a runner: so few options that any program can be a runner without an argument parser.

use crate::Affinity;
use std::ffi::OsString;

/// What a host passes to a runner that it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// `--cpus N,N`: see [`Affinity::cpus`].
    pub cpus: Vec<usize>,
    /// `--latency N`: see [`Affinity::latency`].
    pub latency: Option<u32>,
    /// Everything else: the names of providers.
    pub rest: Vec<OsString>,
}

impl Arguments {
    /// Parses a command line without the program's name.
    ///
    /// # Errors
    /// Returns a description of what is wrong with it.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Arguments, String> {
        let mut parsed = Arguments::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut value = || {
                let text = arguments.next().map(|value| value.to_string_lossy().into_owned());
                text.ok_or_else(|| format!("{} takes a value", argument.display()))
            };
            let number =
                |text: String| text.parse::<usize>().map_err(|_| format!("{text} is no number"));
            match argument.to_str() {
                Some("--cpus") => {
                    let cpus: Result<_, String> =
                        value()?.split(',').map(str::to_owned).map(number).collect();
                    parsed.cpus = cpus.map_err(|problem| format!("--cpus: {problem}"))?;
                }
                Some("--latency") => {
                    let latency =
                        number(value()?).map_err(|problem| format!("--latency: {problem}"))?;
                    parsed.latency = u32::try_from(latency).ok();
                }
                _ => parsed.rest.push(argument),
            }
        }
        Ok(parsed)
    }

    /// Where to measure.
    pub fn place(&self) -> Affinity<'_> {
        Affinity { cpus: &self.cpus, latency: self.latency }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn options_and_names_are_told_apart() {
        let parsed = parse("--cpus 1,0 null --latency 3 openssl").unwrap();
        assert_eq!((parsed.cpus.as_slice(), parsed.latency), ([1, 0].as_slice(), Some(3)));
        assert_eq!(parsed.rest, ["null", "openssl"]);
        assert!(parse("--cpus").is_err() && parse("--cpus x").is_err());
    }
}
