//! How cpb starts its own runners. Normally it starts itself as `cpb runner PROVIDER`. For providers that
//! load the system's libraries, a statically linked cpb starts a built-in runner.
//!
//! The C library of a static cpb cannot load libraries. Such a cpb therefore contains a compressed runner
//! that is linked to glibc. It writes the runner to a file in memory and starts that.

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

/// Returns what starts the runner for this cpb's provider `name`; `program` is cpb itself.
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

/// The built-in runner, as a file. `None` if this cpb has no built-in runner or the file cannot be created; then cpb's own
/// runner reports what is missing.
fn carried() -> Option<PathBuf> {
    // Kept open until this process ends, because a runner is started for every pass.
    static FILE: OnceLock<Option<File>> = OnceLock::new();
    let make = || {
        let program = library::runner()?.bytes().ok()?;
        // Since Linux 6.3 a system may require a program in memory to be marked as executable.
        let create = |flags| memfd_create("cpb-runner", MemfdFlags::CLOEXEC | flags);
        let file = create(MemfdFlags::EXEC).or_else(|_| create(MemfdFlags::empty())).ok()?;
        let mut file = File::from(file);
        file.write_all(&program).ok()?;
        // A file that is open for writing cannot be executed (ETXTBSY).
        File::open(Path::new(OPEN_FILES).join(file.as_raw_fd().to_string())).ok()
    };
    let file = FILE.get_or_init(make).as_ref()?;
    Some(Path::new(OPEN_FILES).join(file.as_raw_fd().to_string()))
}
