//! All drivers of the kernel, and for each whether a program can reach it and why not. The survey is for people
//! (`cpb list`) and for records, so that a missing accelerator is seen to be missing, and why.

use super::availability::{self, Around, Bind, classify};
use crate::interrupts::Wiring;
use crate::kernel_crypto::{self, Driver, candidates, kernel_names};
use cpb_core::kernel::{Availability, KernelChoice, KernelSurvey, SurveyedDriver};
use std::path::Path;

/// Surveys the running kernel. Binds a socket to each driver in turn, which may load modules, but uses no
/// driver.
pub fn survey() -> KernelSurvey {
    let root = Path::new(super::ROOT);
    let af_alg = availability::interface(root).err().unwrap_or(Availability::Reachable);
    if af_alg == Availability::Reachable {
        // The kernel lists templates only from their first use on.
        for (kind, name) in kernel_names() {
            let _ = availability::bind(kind, name);
        }
    }
    let take = |name: &str| super::find(name).ok().map(|(_, driver)| driver.driver);
    survey_of(root, af_alg, &availability::bind, &take, &|kind| availability::has_type(root, kind))
}

/// Surveys the kernel whose files are below `root`. `bind` tries an AF_ALG type and a driver's name. `take`
/// returns the driver that is taken for an algorithm's name. `has_type` says whether AF_ALG has a type of which
/// nothing could be bound.
pub(super) fn survey_of(
    root: &Path,
    af_alg: Availability,
    bind: &dyn Fn(&str, &str) -> Bind,
    take: &dyn Fn(&str) -> Option<String>,
    has_type: &dyn Fn(&str) -> bool,
) -> KernelSurvey {
    let mut drivers = kernel_crypto::drivers(root);
    drivers.sort_by(|a, b| {
        (&a.name, std::cmp::Reverse(a.priority)).cmp(&(&b.name, std::cmp::Reverse(b.priority)))
    });
    let reachable = af_alg == Availability::Reachable;
    let outcomes: Vec<Option<Bind>> = drivers
        .iter()
        .map(|driver| {
            let usable = reachable && !driver.internal && !driver.is_larval();
            driver.af_alg_type().filter(|_| usable).map(|kind| bind(kind, &driver.driver))
        })
        .collect();
    let restricted = availability::restriction(root) > 0;
    let around = |driver: &Driver, kind: &str| {
        let mut around = Around { restricted, ..Around::NOTHING };
        around.has_type = has_type(kind);
        for (other, bound) in drivers.iter().zip(&outcomes) {
            if other.af_alg_type() == Some(kind) && *bound == Some(Ok(())) {
                around.has_type = true;
                around.asynchronous |= other.asynchronous == Some(true);
                around.restricted &= other.name != driver.name;
            }
        }
        around
    };
    let reach = |driver: &Driver, bound: Option<Bind>| match (bound, driver.af_alg_type()) {
        (Some(Err(errno)), Some(kind)) => classify(driver, Err(errno), around(driver, kind)),
        (None, Some(_)) if !reachable && !driver.internal => af_alg.clone(),
        _ => classify(driver, Ok(()), Around::NOTHING),
    };
    let name = |path: &std::path::PathBuf| {
        path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    };
    // Read after binding, which may have loaded modules.
    let wiring = Wiring::current(root);
    let surveyed: Vec<SurveyedDriver> = drivers
        .iter()
        .zip(&outcomes)
        .map(|(driver, bound)| SurveyedDriver {
            driver: driver.clone(),
            reach: reach(driver, *bound),
            devices: wiring.devices(driver).iter().map(name).collect(),
            interrupts: wiring.lines_of(driver).map_or(Vec::new(), |lines| lines.ids().to_vec()),
        })
        .collect();
    let choices = kernel_names().into_iter().filter_map(|(_, name)| {
        let preferred = candidates(&drivers, name).first()?.driver.clone();
        let taken = take(name).filter(|_| reachable);
        let has_device = |driver: &str| {
            surveyed.iter().any(|one| one.driver.driver == driver && !one.devices.is_empty())
        };
        let fell_back = taken.as_ref().is_some_and(|taken| {
            *taken != preferred && has_device(&preferred) && !has_device(taken)
        });
        Some(KernelChoice { name: name.to_owned(), preferred, taken, fell_back })
    });
    KernelSurvey { choices: choices.collect(), af_alg, drivers: surveyed }
}

#[cfg(test)]
#[path = "survey_tests.rs"]
mod tests;
