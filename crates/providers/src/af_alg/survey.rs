//! All drivers of the kernel with what stands between them and a program: for people (`cpb list`) and
//! for a record, so that a missing accelerator is seen to be missing, and why.

use super::reach::{self, Around, Bind, Reach, classify};
use crate::interrupts::Wiring;
use crate::kernel_crypto::{self, Driver, candidates, kernel_names};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What a kernel's crypto offers to programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survey {
    /// AF_ALG itself.
    pub af_alg: Reach,
    /// Every driver, those of an algorithm together, in the order in which the kernel prefers them.
    pub drivers: Vec<Surveyed>,
    /// Whom the kernel takes for the algorithms that cpb knows.
    pub choices: Vec<KernelChoice>,
}

/// A driver and the way to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surveyed {
    /// What the kernel lists.
    #[serde(flatten)]
    pub driver: Driver,
    /// Whether AF_ALG reaches it.
    pub reach: Reach,
    /// The devices behind it; none for software.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
    /// The lines of `/proc/interrupts` of these devices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupts: Vec<String>,
}

/// What the kernel makes of an algorithm's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelChoice {
    /// The algorithm in the kernel's spelling.
    pub name: String,
    /// The driver that it lists with the highest priority.
    pub preferred: String,
    /// The driver that it took when AF_ALG asked for the name; none if it took none.
    pub taken: Option<String>,
    /// Whether it took software although it prefers, and lists, a driver with a device.
    pub fell_back: bool,
}

/// Asks the running kernel. Binds a socket to each driver, one after the other, which may load
/// modules; uses none.
pub fn survey() -> Survey {
    let root = Path::new(super::ROOT);
    let af_alg = reach::interface(root).err().unwrap_or(Reach::Reachable);
    if af_alg == Reach::Reachable {
        // Templates are listed from their first use on.
        for (kind, name) in kernel_names() {
            let _ = reach::bind(kind, name);
        }
    }
    let take = |name: &str| super::find(name).ok().map(|(_, driver)| driver.driver);
    Survey::of(root, af_alg, &reach::bind, &take, &|kind| reach::has_type(root, kind))
}

impl Survey {
    /// The survey of a kernel that shows itself below `root`. `bind` tries an AF_ALG type and a
    /// driver's name, `take` says who is taken for an algorithm's name, `has_type` whether AF_ALG
    /// has a type of which nothing could be bound.
    pub fn of(
        root: &Path,
        af_alg: Reach,
        bind: &dyn Fn(&str, &str) -> Bind,
        take: &dyn Fn(&str) -> Option<String>,
        has_type: &dyn Fn(&str) -> bool,
    ) -> Survey {
        let mut drivers = kernel_crypto::drivers(root);
        drivers.sort_by(|a, b| {
            (&a.name, std::cmp::Reverse(a.priority)).cmp(&(&b.name, std::cmp::Reverse(b.priority)))
        });
        let reachable = af_alg == Reach::Reachable;
        let outcomes: Vec<Option<Bind>> = drivers
            .iter()
            .map(|driver| {
                let usable = reachable && !driver.internal && !driver.is_larval();
                driver.af_alg_type().filter(|_| usable).map(|kind| bind(kind, &driver.driver))
            })
            .collect();
        let restricted = reach::restriction(root) > 0;
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
        // After binding, which may have loaded modules.
        let wiring = Wiring::current(root);
        let surveyed: Vec<Surveyed> = drivers
            .iter()
            .zip(&outcomes)
            .map(|(driver, bound)| Surveyed {
                driver: driver.clone(),
                reach: reach(driver, *bound),
                devices: wiring.devices(driver).iter().map(name).collect(),
                interrupts: wiring
                    .lines_of(driver)
                    .map_or(Vec::new(), |lines| lines.ids().to_vec()),
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
        Survey { choices: choices.collect(), af_alg, drivers: surveyed }
    }

    /// The part about algorithms that cpb knows: what a record keeps.
    pub fn of_known_algorithms(mut self) -> Survey {
        let known = kernel_names();
        self.drivers.retain(|one| known.iter().any(|(_, name)| *name == one.driver.name));
        self
    }
}

#[cfg(test)]
#[path = "survey_tests.rs"]
mod tests;
