//! Targets with a name: `boards/NAME.toml` describes a board and how it is reached.
//!
//! Such a file belongs to the board's owner, because it contains an address. It is looked up in `./boards`,
//! then in `$XDG_CONFIG_HOME/cpb/boards` (`~/.config/cpb/boards`), then among the boards built into cpb. A
//! path that ends in `.toml` is used directly.

use crate::library;
use anyhow::{Context, Result, bail};
use cpb_record::settings;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A board as described by its file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedBoard {
    /// The chip.
    pub soc: String,
    /// Its cores, such as `4 x Cortex-A9`.
    pub cores: String,
    /// How it is reached: `ssh:root@board`, `serial:/dev/ttyACM0`.
    pub target: String,
    /// With ssh: the folder on the board to try first for cpb's file.
    #[serde(default)]
    pub folder: String,
    /// With a serial line: bits per second.
    pub baud: Option<u32>,
    /// Notes for its owner.
    #[serde(default)]
    pub notes: String,
}

/// The board with the name `name`, or in that file; `None` if the name is of a target itself.
///
/// # Errors
/// Returns an error if its file is invalid.
pub fn named(name: &str) -> Result<Option<NamedBoard>> {
    let path = match Path::new(name).extension().is_some_and(|extension| extension == "toml") {
        true if !name.contains(':') => PathBuf::from(name),
        _ if name.is_empty() || name.contains([':', '/']) => return Ok(None),
        _ => {
            let mut files = folders().map(|folder| folder.join(format!("{name}.toml")));
            match files.find(|path| path.is_file()) {
                Some(path) => path,
                None => return carried(name),
            }
        }
    };
    let text = settings::read(&path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text).with_context(|| path.display().to_string()).map(Some)
}

/// The board with the name `name` that is built into cpb.
fn carried(name: &str) -> Result<Option<NamedBoard>> {
    let Some(board) = library::find(library::boards(), name) else { return Ok(None) };
    parse(&board.text()?).with_context(|| format!("the built-in board {name}")).map(Some)
}

/// The names that [`named`] knows.
pub fn names() -> Vec<String> {
    let entries = folders().filter_map(|folder| std::fs::read_dir(folder).ok());
    let paths = entries.flatten().flatten().map(|entry| entry.path());
    let files = paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    let mut names: Vec<String> =
        files.filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect();
    names.extend(library::boards().iter().map(|board| board.name.to_owned()));
    names.sort();
    names.dedup();
    names
}

fn folders() -> impl Iterator<Item = PathBuf> {
    let variable =
        |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let own = variable("XDG_CONFIG_HOME")
        .or_else(|| Some(variable("HOME")?.join(".config")))
        .map(|folder| folder.join("cpb/boards"));
    std::iter::once(PathBuf::from("boards")).chain(own)
}

fn parse(text: &str) -> Result<NamedBoard> {
    let definition: NamedBoard = settings::parse(text)?;
    if !["ssh:", "serial:"].iter().any(|way| definition.target.starts_with(way)) {
        bail!(
            "target = \"{}\": a board's target must be `ssh:HOST` or `serial:DEVICE`",
            definition.target
        );
    }
    Ok(definition)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_valid() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../boards");
        let mut count = 0;
        for entry in std::fs::read_dir(folder).expect("the folder").flatten() {
            let path = entry.path();
            let name = path.to_str().expect("a name");
            let board = named(name).expect(name).expect("a board");
            assert!(!board.soc.is_empty() && !board.cores.is_empty(), "{name}");
            count += 1;
        }
        assert!(count > 0);
    }

    #[test]
    fn a_target_is_no_name_and_a_wrong_file_is_named() {
        for target in
            ["ssh:root@board", "serial:/dev/ttyACM0", "lab:guest.toml", "", "no-such-board"]
        {
            assert_eq!(named(target).unwrap(), None, "{target}");
        }
        let absent = format!("{:#}", named("absent.toml").unwrap_err());
        assert!(absent.starts_with("cannot read absent.toml"), "{absent}");
        let moon = "soc = \"x\"\ncores = \"y\"\ntarget = \"moon:base\"";
        assert!(parse(moon).unwrap_err().to_string().contains("ssh:HOST"));
        let unknown = parse("soc = \"x\"\ncores = \"y\"\ntarget = \"ssh:b\"\ncolour = \"red\"");
        assert!(unknown.unwrap_err().to_string().contains("colour"));
    }
}
