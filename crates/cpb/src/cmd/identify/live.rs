//! This machine: each type of core is measured on its own, as `cpb run` measures.

use super::found;
use crate::cmd::{output, run};
use crate::library;
use crate::probe::{self, Cluster};
use crate::run::Ended;
use anyhow::{Context, Result};
use cpb_analysis::identify::cores::Cores;
use cpb_analysis::identify::{Implied, Observed, identify, told};
use cpb_record::store;
use cpb_report::identify::Found;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The reason for cores that a container or an affinity mask excludes.
const OUT_OF_REACH: &str = "this process may not use these CPUs";

/// Identifies the cores of the machine below `root`. Returns as well whether the user stopped it before all
/// were measured. Only the cores of `/` can be measured.
pub(super) fn identified(root: &Path, quiet: bool, cores: &Cores) -> Result<(Found, bool)> {
    let clusters = probe::clusters(root);
    let mut all = Found {
        file: String::new(),
        machine: clusters.first().map(|cluster| cluster.machine.words()).unwrap_or_default(),
        tool: String::new(),
        cores: Vec::new(),
    };
    let here = root == Path::new("/");
    let allowed = match here {
        true => cpb_runner::pin::allowed()
            .context("cannot determine which CPUs this process may use")?,
        false => Vec::new(),
    };
    let stop = Arc::new(AtomicBool::new(false));
    if here {
        run::stop_on_signals(Arc::clone(&stop))?;
    }
    for Cluster { cpus, machine } in clusters {
        let known = told(&machine, &cpus);
        // The last CPU, because the first one handles most interrupts.
        let cpu = cpus.iter().rev().find(|cpu| allowed.contains(cpu)).copied();
        let Some(cpu) = cpu.filter(|_| known.emulated.is_none()) else {
            let mut core = identify(&known, cores);
            if here && known.emulated.is_none() {
                core.implied = Implied::NotApplicable { why: OUT_OF_REACH.to_owned() };
            }
            all.cores.push(core);
            continue;
        };
        let Some((path, ended)) =
            run::measure(library::carried_plan(library::IDENTIFY)?, cpu, quiet, &stop, None)?
        else {
            return Ok((all, true));
        };
        if !quiet {
            output::say(&format!("record: {}", path.display()));
        }
        let mut measured = found(String::new(), &store::read(&path)?, cores);
        let Observed { place, .. } = known;
        for core in &mut measured.cores {
            core.place.clone_from(&place);
        }
        all.tool = measured.tool;
        all.cores.append(&mut measured.cores);
        if ended == Ended::Interrupted {
            return Ok((all, true));
        }
    }
    Ok((all, false))
}
