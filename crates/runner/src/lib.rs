//! Frames in, samples out: the program that measures, with the clocks and counters of Linux.
//!
//! A runner is one process with one or more providers. The host (`cpb`) starts it, sends requests and stores
//! the replies. A runner writes no files and makes no decisions.

mod arguments;
mod chain;
mod counters;
mod perf;
pub mod pin;
mod retired;
mod round;
mod serve;
mod time;
mod vector_state;

pub use arguments::Arguments;
pub use chain::Chain;
pub use serve::{Affinity, Offer, serve};
pub use time::MonotonicRaw;

use cpb_core::catalog::{self, Choice, Entry};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// Runs this process as a runner: serves the providers listed in `names` on standard input and output, or all
/// providers that are possible in this process if `names` is empty. An interface's name stands for all its
/// executors.
///
/// Standard output is reserved for frames. Anything that a library prints goes to standard error.
///
/// # Errors
/// Returns an error for an unknown provider, a CPU that cannot be used, or a broken pipe.
pub fn run(names: &[OsString], place: Affinity<'_>) -> io::Result<()> {
    run_offers(|| offers(names), place)
}

fn offers(names: &[OsString]) -> io::Result<Vec<Offer>> {
    let mut offers = Vec::new();
    let mut offer = |choice: Choice<'_>| {
        for name in cpb_providers::expand(&choice) {
            if let Some(choice) = catalog::find(&name) {
                offers.push(Offer { provider: cpb_providers::open(&choice), name });
            }
        }
    };
    if names.is_empty() {
        catalog::LIST
            .iter()
            .filter(|entry| has_its_environment(entry))
            .for_each(|entry| offer(Choice { entry, variant: "" }));
    }
    for name in names {
        let known = name.to_str().and_then(catalog::find);
        offer(known.ok_or_else(|| io::Error::other(format!("no provider {}", name.display())))?);
    }
    Ok(offers)
}

/// Whether this process was started with the environment that the entry's library needs. Without it, the
/// library would be a different provider under this entry's name.
fn has_its_environment(entry: &Entry) -> bool {
    let told = |(name, value): (&str, &str)| std::env::var(name).is_ok_and(|is| is == value);
    cpb_providers::environment(entry).into_iter().all(told)
}

/// Like [`run`], for providers of another crate. `offers` opens them after standard output has been
/// redirected.
///
/// # Errors
/// Returns the same errors as [`run`].
pub fn run_offers(
    offers: impl FnOnce() -> io::Result<Vec<Offer>>,
    place: Affinity<'_>,
) -> io::Result<()> {
    die_with_host();
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(take_stdout()?);
    if let Some(first) = place.cpus.first() {
        pin::pin(*first)?;
    }
    let offers = offers()?;
    let here = Affinity { cpus: &[0], ..place };
    serve(&offers, if place.cpus.is_empty() { here } else { place }, input, output)
}

/// Makes the kernel kill this runner when its host is killed, even if it hangs in a library.
fn die_with_host() {
    // SAFETY: takes two integers. If it fails, the end of standard input still ends the runner.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Returns a copy of standard output and redirects its file descriptor to standard error.
fn take_stdout() -> io::Result<OwnedFd> {
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    // SAFETY: both descriptors are open for the life of a process that was started as a runner.
    match unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(output),
    }
}
