//! Adds what the user knows and the log does not say: which machine it comes from, and the name of its path.

use anyhow::{Result, bail};
use cpb_record::{Published, Record};
use std::collections::BTreeSet;

/// The machines that the log itself names. A log without a machine uses its file name until the user names the
/// machine.
pub fn machines(record: &Record) -> BTreeSet<&str> {
    let named = record.published.iter().map(|cell| cell.machine.as_str());
    named.filter(|name| *name != record.header.plan.name).collect()
}

/// Sets the machine of all figures to `name`.
///
/// # Errors
/// Returns an error if the log has figures of several machines.
pub fn name_machine(record: &mut Record, name: &str) -> Result<()> {
    let machines: BTreeSet<&str> =
        record.published.iter().map(|cell| cell.machine.as_str()).collect();
    if machines.len() > 1 {
        let machines: Vec<&str> = machines.into_iter().collect();
        bail!("'{name}' cannot be the name of several machines: {}", machines.join(", "));
    }
    for cell in &mut record.published {
        name.clone_into(&mut cell.machine);
    }
    Ok(())
}

/// The paths that the log has figures of.
pub fn paths(record: &Record) -> BTreeSet<&str> {
    record.published.iter().map(|cell| cell.provider.as_str()).collect()
}

/// Whether the log names the engine that computed the figures. The path's name then has the engine after the library.
pub fn names_engine(record: &Record) -> bool {
    paths(record).iter().any(|path| path.contains(':'))
}

/// Sets the name of the log's only path to `name`.
///
/// # Errors
/// Returns an error if the log has several paths.
pub fn name_path(record: &mut Record, name: &str) -> Result<()> {
    let paths = paths(record);
    if paths.len() > 1 {
        let paths: Vec<&str> = paths.into_iter().collect();
        bail!("'{name}' cannot be the name of several paths: {}", paths.join(", "));
    }
    for source in &mut record.sources {
        let told = std::mem::take(&mut source.paths).into_values();
        source.paths = told.map(|path| (name.to_owned(), path)).collect();
    }
    let rename = |cell: &mut Published| name.clone_into(&mut cell.provider);
    record.published.iter_mut().for_each(rename);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, parse};

    const LOG: &str =
        "Doing aes-128-cbc for 3s on 16 size blocks: 5591286 aes-128-cbc's in 3.00s\n";

    fn log(text: &str) -> Record {
        parse("sw.txt", text.as_bytes().to_vec(), None, &Options::default()).unwrap()
    }

    #[test]
    fn a_log_of_one_path_and_one_machine_is_named() {
        let mut record = log(LOG);
        assert!(machines(&record).is_empty() && !names_engine(&record));
        name_machine(&mut record, "board").unwrap();
        name_path(&mut record, "software").unwrap();
        assert_eq!(machines(&record), BTreeSet::from(["board"]));
        assert_eq!(paths(&record), BTreeSet::from(["software"]));
        assert!(record.sources.iter().all(|source| source.paths.contains_key("software")));
    }

    #[test]
    fn what_the_log_says_is_seen_and_several_paths_have_no_one_name() {
        let engine = "root@board:~# openssl speed -elapsed -engine afalg -evp aes-128-cbc\n";
        let both = format!("root@board:~# openssl speed -evp aes-128-cbc\n{LOG}{engine}{LOG}");
        let mut record = log(&both);
        assert!(names_engine(&record));
        assert_eq!(machines(&record), BTreeSet::from(["board"]));
        let refused = name_path(&mut record, "x").unwrap_err().to_string();
        assert!(refused.contains("openssl, openssl:afalg"), "{refused}");
    }
}
