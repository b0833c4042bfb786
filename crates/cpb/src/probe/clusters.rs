//! Groups of CPUs with the same type and highest clock.

use super::cpuinfo::Cpuinfo;
use super::files::Tree;
use super::{arm, core, machine};
use cpb_record::Machine;
use std::path::Path;

/// CPUs with the same type and highest clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Their numbers.
    pub cpus: Vec<usize>,
    /// The machine as seen from the first of them.
    pub machine: Machine,
}

/// The clusters of the machine below `root`, in the order of their CPUs; at least one.
pub fn clusters(root: &Path) -> Vec<Cluster> {
    let tree = Tree::new(root);
    let text = tree.text("proc/cpuinfo");
    let mut cpus = tree.cpus("sys/devices/system/cpu/online");
    if cpus.is_empty() {
        cpus = (0..Cpuinfo::parse(&text, 0).processors().max(1)).collect();
    }
    let mut groups: Vec<((String, u64), Vec<usize>)> = Vec::new();
    for cpu in cpus {
        let info = Cpuinfo::parse(&text, cpu);
        let midr = arm::midr(&tree, &info, cpu);
        let highest = format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq");
        // x86 cores that may clock slightly higher than others are of the same type.
        let highest = midr.and_then(|_| tree.number(&highest)).unwrap_or_default();
        let kind = (core(&tree, &info, midr, cpu), highest);
        match groups.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, cpus)) => cpus.push(cpu),
            None => groups.push((kind, vec![cpu])),
        }
    }
    let cluster = |(_, cpus): (_, Vec<usize>)| {
        let first = cpus.first().copied().unwrap_or(0);
        Cluster { cpus, machine: machine(root, first) }
    };
    groups.into_iter().map(cluster).collect()
}
