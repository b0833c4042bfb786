//! What a process that serves a guest gives up before it reads the guest's first byte.

use anyhow::{Context, Result};
use landlock::{ABI, Access, AccessFs, Ruleset, RulesetAttr, Scope};
use rustix::process::{Resource, Rlimit, setrlimit};

/// The most files that it may have open: pipes, a socket, the guest's memory, and an eventfd.
const FILES: u64 = 64;

/// Gives up dumps, and, where the kernel has Landlock, every file that is not open and signals to others.
///
/// # Errors
/// Returns an error if a limit cannot be set.
pub fn keep_only_what_a_server_needs() -> Result<()> {
    let limit = |resource, most: u64| {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
    };
    limit(Resource::Nofile, FILES).context("cannot limit open files")?;
    limit(Resource::Core, 0).context("cannot limit dumps")?;
    // Kernels without Landlock, or with an older one, restrict less; `landlock` sets no_new_privs as well.
    let abi = ABI::V6;
    Ruleset::default()
        .handle_access(AccessFs::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?
        .restrict_self()?;
    Ok(())
}
