//! Which row was made on which cores.

use super::super::speed_table::Row;
use super::log::{Group, Log, Way};
use crate::record::{ClockReading, Cores};

/// The rows of one cluster.
pub(super) struct Rows {
    /// A word for it.
    pub(super) table: String,
    pub(super) cores: Cores,
    /// What was the case besides; empty: nothing.
    pub(super) condition: &'static str,
    /// Each with its heading.
    pub(super) rows: Vec<(String, Row)>,
}

/// sbc-bench's word for rows that were made on all CPUs at once.
const PARALLEL: &str = "fully parallel";
/// Up to this many CPUs, versions before 0.7 took them for one cluster.
const FEW: u32 = 4;

/// The rows by cluster, and what is doubtful about who made them.
pub(super) fn tables(log: &Log) -> (Vec<Rows>, Vec<String>) {
    let mut warnings = Vec::new();
    let pinned = pinned(log);
    let mut clusters = clusters(log);
    if log.way.is_none() && pinned && clusters.len() < 2 {
        // Two rows of two CPUs that nothing else is known of.
        clusters.push(Cores {
            cpus: log.cpus.map(|cpus| cpus.saturating_sub(1)).into_iter().collect(),
            ..clusters[0].clone()
        });
    }
    for cores in &mut clusters {
        cores.pinned = Some(pinned);
    }
    let several = clusters.len() > 1;
    let parallel = |row: &&Row| row.label.as_deref() == Some(PARALLEL);
    let alone: Vec<&Row> = log.rows.iter().filter(|row| !parallel(row)).collect();
    let mut tables: Vec<Rows> = clusters
        .into_iter()
        .map(|cores| {
            let table = match cores.cpus.first() {
                Some(cpu) if several => format!("openssl-cpu{cpu}"),
                _ => "openssl".to_owned(),
            };
            Rows { table, cores, condition: "", rows: Vec::new() }
        })
        .collect();
    let mut homeless = Vec::new();
    for (place, row) in alone.iter().enumerate() {
        let of_algorithm = |other: &&&Row| other.name == row.name;
        let number = alone[..place].iter().filter(of_algorithm).count();
        let count = alone.iter().filter(of_algorithm).count();
        let home = if pinned { home(&tables, row, number, count) } else { Some(0) };
        let home = match home.and_then(|home| tables.get_mut(home)) {
            Some(home) => home,
            None => {
                homeless.push((format!("{}, row {}", row.name, number + 1), (*row).clone()));
                continue;
            }
        };
        let label = row.label.as_deref().unwrap_or_default();
        if home.cores.name.is_empty() {
            label.clone_into(&mut home.cores.name);
        } else if !label.is_empty() && label != home.cores.name {
            warnings.push(format!(
                "Line {}: the row says {label}, its CPUs are {}.",
                row.line, home.cores.name
            ));
        }
        let before = home.rows.iter().filter(|(_, known)| known.name == row.name).count();
        let heading = match before {
            0 => row.name.clone(),
            runs => format!("{}, run {}", row.name, runs + 1),
        };
        home.rows.push((heading, (*row).clone()));
    }
    for table in tables.iter().filter(|table| table.rows.is_empty() && !alone.is_empty()) {
        let name = [super::cpus(&table.cores.cpus), table.cores.name.clone()].join(" ");
        warnings.push(format!("There are no figures of {}.", name.trim()));
    }
    if let Some(first) = tables.first().filter(|first| !pinned && !first.cores.others.is_empty()) {
        warnings.push(format!(
            "OpenSSL was not pinned: its figures are of {} or of {}, and perhaps of several.",
            first.cores.name,
            first.cores.others.join(", ")
        ));
    }
    if !homeless.is_empty() {
        warnings.push("Nothing tells on which cores some rows were made.".to_owned());
        let cores = Cores { features: features(log), ..Cores::default() };
        tables.push(Rows {
            table: "openssl-somewhere".into(),
            cores,
            condition: "",
            rows: homeless,
        });
    }
    let all: Vec<(String, Row)> =
        log.rows.iter().filter(parallel).scan(Vec::new(), numbered).collect();
    if !all.is_empty() {
        let cores = Cores { features: features(log), pinned: Some(true), ..Cores::default() };
        let table = "openssl-parallel".to_owned();
        tables.push(Rows { table, cores, condition: "all CPUs busy with it", rows: all });
    }
    (tables, warnings)
}

/// A row with its number among those of its algorithm.
fn numbered(names: &mut Vec<String>, row: &Row) -> Option<(String, Row)> {
    names.push(row.name.clone());
    let number = names.iter().filter(|name| **name == row.name).count();
    Some((format!("{}, process {number}", row.name), row.clone()))
}

/// Which cluster the row is of: one a cluster in their order, or by its label.
fn home(tables: &[Rows], row: &Row, number: usize, count: usize) -> Option<usize> {
    if count == tables.len() {
        return Some(number);
    }
    let label = row.label.as_deref()?;
    let free = |table: &Rows| !table.rows.iter().any(|(_, known)| known.name == row.name);
    tables.iter().position(|table| table.cores.name == label && free(table))
}

/// Whether each row was made on CPUs that are known.
fn pinned(log: &Log) -> bool {
    match log.way {
        Some(way) => way == Way::EachCluster,
        None => log.cpus.map_or(log.groups.iter().any(|g| g.cpus.len() > 1), |cpus| cpus > FEW),
    }
}

fn features(log: &Log) -> Vec<String> {
    log.machine().features
}

/// The clusters, from whichever part of the log is there; one at least.
fn clusters(log: &Log) -> Vec<Cores> {
    let mut found: Vec<Cores> = Vec::new();
    for group in &log.groups {
        let clocks = group.clocks.iter().cloned();
        match found.iter_mut().find(|known| same(known, group)) {
            Some(known) => known.clocks.extend(clocks),
            None => found.push(Cores {
                cpus: group.cpus.clone(),
                name: group.name.clone(),
                clocks: clocks.collect(),
                ..Cores::default()
            }),
        }
    }
    for (cpu, name) in &log.runs {
        let known = found.iter().any(|known| known.cpus.is_empty() || known.cpus.contains(cpu));
        if !known {
            found.push(Cores { cpus: vec![*cpu], name: name.clone(), ..Cores::default() });
        }
    }
    if found.is_empty() {
        found.push(Cores::default());
    }
    for cores in &mut found {
        complete(cores, log);
    }
    found
}

fn same(known: &Cores, group: &Group) -> bool {
    known.cpus == group.cpus && known.name == group.name
}

/// What the topology knows of these cores.
fn complete(cores: &mut Cores, log: &Log) {
    let first = cores.cpus.first().copied().unwrap_or(0);
    let own = log.topology.iter().find(|cpu| cpu.number == first);
    if let Some(own) = own {
        let alike = |cpu: &&super::log::Cpu| (&cpu.name, cpu.max_khz) == (&own.name, own.max_khz);
        if cores.cpus.is_empty() {
            cores.cpus = log.topology.iter().filter(alike).map(|cpu| cpu.number).collect();
        }
        if cores.name.is_empty() {
            cores.name.clone_from(&own.name);
        }
        if cores.name == own.name {
            cores.revision.clone_from(&own.revision);
        }
    } else if cores.cpus.is_empty() {
        cores.cpus = (0..log.cpus.unwrap_or(0).min(FEW)).collect();
    }
    for cpu in &log.topology {
        let other = !cpu.name.is_empty() && cpu.name != cores.name;
        if other && !cores.others.contains(&cpu.name) {
            cores.others.push(cpu.name.clone());
        }
    }
    let asked = cores.clocks.iter().filter_map(|clock: &ClockReading| clock.stated_khz).max();
    let alone = log.max_khz.filter(|_| cores.others.is_empty());
    cores.stated_khz = asked.or(own.and_then(|own| own.max_khz)).or(alone);
    cores.features = features(log);
}
