//! How cpb's own runners are started: itself as `cpb runner PROVIDER`; for providers that load the
//! system's libraries, in a cpb that is linked statically, a runner that it carries.
//!
//! The C library of a static cpb loads nothing. So such a cpb holds, compressed, a runner that is linked
//! to glibc, which it writes to a file that exists in memory only, and starts.

use crate::child::OPEN_FILES;
use crate::library;
use crate::transport::process::Program;
use cpb_core::catalog;
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What starts the runner of this cpb's provider called `name`; `program` is cpb itself.
pub(crate) fn runner(program: &Path, name: &str) -> Program {
    let choice = catalog::find(name);
    let environment = choice.map(|choice| cpb_providers::environment(choice.entry));
    let environment = environment.into_iter().flatten();
    let carried = choice.filter(|choice| choice.entry.is_installed()).and_then(|_| carried());
    let (path, arguments) = match carried {
        Some(carried) => (carried, vec![name.into()]),
        None => (program.to_owned(), vec!["runner".into(), name.into()]),
    };
    Program {
        path,
        arguments,
        environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
    }
}

/// The runner that was built in, as a file. None where there is none or no such file can be made; then cpb's own
/// runner says what is missing.
fn carried() -> Option<PathBuf> {
    // Open until this process ends: a runner is started for every pass.
    static FILE: OnceLock<Option<File>> = OnceLock::new();
    let make = || {
        let program = library::runner()?.bytes().ok()?;
        // Since Linux 6.3 a system may ask to be told that a file is a program.
        let create = |flags| memfd_create("cpb-runner", MemfdFlags::CLOEXEC | flags);
        let file = create(MemfdFlags::EXEC).or_else(|_| create(MemfdFlags::empty())).ok()?;
        let mut file = File::from(file);
        file.write_all(&program).ok()?;
        // Who has a file open for writing cannot start it.
        File::open(Path::new(OPEN_FILES).join(file.as_raw_fd().to_string())).ok()
    };
    let file = FILE.get_or_init(make).as_ref()?;
    Some(Path::new(OPEN_FILES).join(file.as_raw_fd().to_string()))
}
