//! The algorithms of a user's own C library, which a run without `-a` measures.

use crate::cmd::output;
use crate::discovery::Discovered;
use crate::target::Target;
use crate::transport::{Affinity, RunnerError};
use anyhow::{Result, anyhow, bail};
use cpb_core::catalog;
use cpb_core::{Algorithm, CryptoWorkload, Workload};

/// The message length to ask about. Every mode can process it.
const SIZE: u32 = 1024;

/// The algorithms that the selected C libraries have. Empty if none is selected.
///
/// # Errors
/// Returns an error if a library has no algorithm that cpb knows, or does not answer.
pub(super) fn algorithms(
    known: &[Discovered],
    target: &dyn Target,
    affinity: &Affinity,
    quiet: bool,
) -> Result<Vec<Algorithm>> {
    let mut all = Vec::new();
    for library in known.iter().filter(|known| known.available() && is_own(known)) {
        let name = &library.spec.name;
        let its = of_library(library, target, affinity)?;
        if its.is_empty() {
            bail!(
                "{name} supports none of cpb's algorithms: its cpb_library_open returned NULL for each of them. It gets \
                 the names that `cpb list` shows, such as aes-256-gcm and encrypt"
            );
        }
        if !quiet {
            let names: Vec<&str> = its.iter().map(|algorithm| algorithm.name()).collect();
            output::say(&format!(
                "{name} supports {}; without -a, only that is measured",
                names.join(", ")
            ));
        }
        all.extend(its);
    }
    let mut sorted = Algorithm::ALL.to_vec();
    sorted.retain(|algorithm| all.contains(algorithm));
    Ok(sorted)
}

fn is_own(known: &Discovered) -> bool {
    catalog::find(&known.spec.name).is_some_and(|choice| choice.entry.name == catalog::C_LIBRARY)
}

fn of_library(
    library: &Discovered,
    target: &dyn Target,
    affinity: &Affinity,
) -> Result<Vec<Algorithm>> {
    let name = &library.spec.name;
    let lost = |what: &str, lost: RunnerError| anyhow!("{name}: {what}: {lost}");
    let start = library.spec.launch.start(affinity, target.timeouts());
    let mut runner = start.map_err(|why| lost("while it was loaded", why))?;
    let mut its = Vec::new();
    for &algorithm in Algorithm::ALL {
        for &operation in algorithm.operations() {
            let workload = Workload::from(CryptoWorkload::new(algorithm, operation, SIZE));
            let answer = runner.supports(library.spec.provider, &workload);
            let asked = || format!("when it was asked whether it supports {algorithm} {operation}");
            if answer.map_err(|why| lost(&asked(), why))?.is_ok() {
                its.push(algorithm);
                break;
            }
        }
    }
    Ok(its)
}
