//! The plan of a run: the one that the user names, the one of a record, or the usual one; and what options change.

use super::Arguments;
use crate::library;
use anyhow::{Result, bail};
use cpb_core::catalog;
use cpb_record::plan::{Changes, Plan};
use cpb_record::{names, store};

/// The plan, and the target that it was measured on. A comparison with a record repeats what that record measured.
pub(super) fn chosen(arguments: &Arguments) -> Result<(Plan, String)> {
    if let Some(plan) = &arguments.brought {
        return Ok((plan.clone(), String::new()));
    }
    let Some(path) = &arguments.against else {
        let plan = match &arguments.plan {
            Some(plan) => library::plan(Some(plan))?,
            None => usual(arguments)?,
        };
        return Ok((plan, String::new()));
    };
    let before = store::read(path)?;
    if !before.published.is_empty() {
        bail!("--against {}: this is a published table; use the record of a run", path.display());
    }
    match &arguments.plan {
        Some(plan) => Ok((library::plan(Some(plan))?, String::new())),
        None => Ok((before.header.plan, before.header.target)),
    }
}

/// The changes of a plan that the command line asks for.
pub(super) fn changes(arguments: &Arguments) -> Changes {
    Changes {
        algorithms: arguments.filter.algorithm.clone(),
        operations: arguments.filter.operation.clone(),
        phases: arguments.phase.clone(),
        sizes: arguments.sizes.size.clone(),
        providers: arguments.filter.provider.clone(),
        threads: arguments.threads.clone(),
        widths: arguments.width.clone(),
        patterns: arguments.pattern.clone(),
    }
}

/// Whether the user selected neither algorithms nor a plan.
pub(super) fn has_usual_algorithms(arguments: &Arguments) -> bool {
    arguments.filter.algorithm.is_empty()
        && arguments.plan.is_none()
        && arguments.against.is_none()
        && arguments.brought.is_none()
}

/// The plan of a run that names none: the default plan, the plan of memory reads, or both, depending on what the
/// options and the providers have.
fn usual(arguments: &Arguments) -> Result<Plan> {
    let changes = changes(arguments);
    let (crypto, reads) = match (changes.select_cryptography(), changes.select_memory_reads()) {
        (false, false) => {
            let providers = names::whole(&changes.providers);
            let reads = providers.iter().any(|name| name == catalog::MEMORY);
            let others = |name: &String| name != catalog::MEMORY && name != catalog::NULL;
            (!reads || providers.iter().any(others), reads)
        }
        selected => selected,
    };
    let default = library::plan(None)?;
    if !reads {
        return Ok(default);
    }
    let plan = library::carried_plan(library::MEMORY_READ)?;
    Ok(if crypto { Plan { memory_read: plan.memory_read, ..default } } else { plan })
}
