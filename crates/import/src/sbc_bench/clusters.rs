//! Determines on which cores each row was measured.

use super::super::speed_table::SpeedRow;
use super::log::{Group, Log, Way};
use cpb_record::{ClockReading, Cores};
use std::collections::HashSet;

/// The rows of one cluster.
pub(super) struct Rows {
    /// A one-word name for the table.
    pub(super) table: String,
    pub(super) cores: Cores,
    /// Special conditions of the measurement; empty for a usual one.
    pub(super) condition: &'static str,
    /// The rows, each with its heading.
    pub(super) rows: Vec<(String, SpeedRow)>,
}

/// sbc-bench's label for rows that were measured on all CPUs at once.
const PARALLEL: &str = "fully parallel";
/// Versions before 0.7 took this many CPUs or fewer for one cluster.
const FEW: u32 = 4;

/// The rows by cluster, and doubts about the cores on which they were measured.
pub(super) fn tables(log: &Log) -> (Vec<Rows>, Vec<String>) {
    let mut warnings = Vec::new();
    let pinned = pinned(log);
    let mut clusters = clusters(log);
    if log.way.is_none() && pinned && clusters.len() < 2 {
        // Two rows of two CPUs about which nothing else is known.
        clusters.push(Cores {
            cpus: log.cpus.map(|cpus| cpus.saturating_sub(1)).into_iter().collect(),
            ..clusters[0].clone()
        });
    }
    for cores in &mut clusters {
        cores.pinned = Some(pinned);
    }
    let several = clusters.len() > 1;
    let parallel = |row: &&SpeedRow| row.label.as_deref() == Some(PARALLEL);
    let alone: Vec<&SpeedRow> = log.rows.iter().filter(|row| !parallel(row)).collect();
    let mut firsts = HashSet::new();
    let mut tables: Vec<Rows> = clusters
        .into_iter()
        .enumerate()
        .map(|(place, cores)| {
            let table = match cores.cpus.first() {
                Some(cpu) if several && firsts.insert(*cpu) => format!("openssl-cpu{cpu}"),
                _ if several => format!("openssl-{}", place + 1),
                _ => "openssl".to_owned(),
            };
            Rows { table, cores, condition: "", rows: Vec::new() }
        })
        .collect();
    let mut homeless = Vec::new();
    for (place, row) in alone.iter().enumerate() {
        let of_algorithm = |other: &&&SpeedRow| other.name == row.name;
        let number = alone[..place].iter().filter(of_algorithm).count();
        let count = alone.iter().filter(of_algorithm).count();
        let home = match log.way {
            _ if !pinned => Some(0),
            // The first CPU and the last CPU.
            None if count == 2 && tables.len() > 2 => Some(number * (tables.len() - 1)),
            _ => home(&tables, row, number, count),
        };
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
                "Line {}: the row says {label}, but its CPUs are {}.",
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
        warnings.push(format!("There are no figures for {}.", name.trim()));
    }
    if let Some(first) = tables.first().filter(|first| !pinned && !first.cores.others.is_empty()) {
        warnings.push(format!(
            "OpenSSL was not pinned: its figures come from {} or {}, and possibly from several.",
            first.cores.name,
            first.cores.others.join(", ")
        ));
    }
    if !homeless.is_empty() {
        warnings.push("It is unknown on which cores some rows were measured.".to_owned());
        let cores = Cores { features: features(log), ..Cores::default() };
        tables.push(Rows {
            table: "openssl-somewhere".into(),
            cores,
            condition: "",
            rows: homeless,
        });
    }
    let all: Vec<(String, SpeedRow)> =
        log.rows.iter().filter(parallel).scan(Vec::new(), numbered).collect();
    if !all.is_empty() {
        let cores = Cores { features: features(log), pinned: Some(true), ..Cores::default() };
        let table = "openssl-parallel".to_owned();
        tables.push(Rows { table, cores, condition: "all CPUs busy with it", rows: all });
    }
    (tables, warnings)
}

/// A row, with its number among those of its algorithm.
fn numbered(names: &mut Vec<String>, row: &SpeedRow) -> Option<(String, SpeedRow)> {
    names.push(row.name.clone());
    let number = names.iter().filter(|name| **name == row.name).count();
    Some((format!("{}, process {number}", row.name), row.clone()))
}

/// The cluster that a row belongs to: by order if there is one row per cluster, otherwise by its label.
fn home(tables: &[Rows], row: &SpeedRow, number: usize, count: usize) -> Option<usize> {
    if count == tables.len() {
        return Some(number);
    }
    let label = row.label.as_deref()?;
    let free = |table: &Rows| !table.rows.iter().any(|(_, known)| known.name == row.name);
    tables.iter().position(|table| table.cores.name == label && free(table))
}

/// Whether each row was measured on known CPUs.
fn pinned(log: &Log) -> bool {
    match log.way {
        Some(way) => way == Way::EachCluster,
        None => log.cpus.map_or(log.groups.iter().any(|g| g.cpus.len() > 1), |cpus| cpus > FEW),
    }
}

fn features(log: &Log) -> Vec<String> {
    log.machine().features
}

/// The clusters, from the available parts of the log; at least one.
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
    let rows = log.rows.iter().filter(|row| row.label.as_deref() != Some(PARALLEL));
    let first = log.rows.first().map_or("", |row| row.name.as_str());
    let rows = rows.filter(|row| row.name == first).count();
    if log.way == Some(Way::EachCluster) && found.len() != rows {
        found = by_runs(found, log, rows);
    }
    if found.is_empty() {
        found.push(Cores::default());
    }
    let several = found.len() > 1;
    for cores in &mut found {
        complete(cores, log, several);
    }
    let fastest: Vec<Option<u64>> = found.iter().map(|cores| cores.stated_khz).collect();
    for (place, cores) in found.iter_mut().enumerate() {
        let faster = match fastest.as_slice() {
            [Some(one), Some(other)] if one != other => Some((one > other) == (place == 0)),
            _ => None,
        };
        cores.context = log.besides.of(&cores.cpus, !several, faster);
    }
    found
}

/// The CPUs identify a group. A heading may lack the core's name, or all CPUs; then it applies to the whole machine.
fn same(known: &Cores, group: &Group) -> bool {
    known.cpus == group.cpus
}

/// As many clusters as there are rows of one algorithm, if clocks were measured on fewer or more clusters. They are
/// the CPUs that the memory benchmark ran on, one per cluster, or else only their number is known.
fn by_runs(found: Vec<Cores>, log: &Log, rows: usize) -> Vec<Cores> {
    let mut runs: Vec<&(u32, String)> = Vec::new();
    for run in &log.runs {
        if !runs.iter().any(|known| known.0 == run.0) {
            runs.push(run);
        }
    }
    if runs.len() == rows {
        let of = |(cpu, name): &&(u32, String)| {
            let known = found.iter().find(|cores| cores.cpus.contains(cpu));
            let alone = || Cores { cpus: vec![*cpu], name: name.clone(), ..Cores::default() };
            known.cloned().unwrap_or_else(alone)
        };
        return runs.iter().map(of).collect();
    }
    let nothing = found.iter().all(|cores| cores.cpus.is_empty() && cores.clocks.is_empty());
    if nothing { vec![Cores::default(); rows] } else { found }
}

/// Adds what the topology shows about these cores. If there are several clusters, facts about the whole machine do
/// not apply to each of them.
fn complete(cores: &mut Cores, log: &Log, several: bool) {
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
    let alone = log.max_khz.filter(|_| cores.others.is_empty() && !several);
    cores.stated_khz = asked.or(own.and_then(|own| own.max_khz)).or(alone);
    cores.features = features(log);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Text;

    const RATES: &str = "1000.00k 2000.00k 3000.00k 4000.00k 5000.00k 6000.00k";

    /// The table, core, CPUs and number of rows of each cluster, for a log with `lines` before `rows`.
    fn clusters_of(lines: &str, rows: &[&str]) -> Vec<(String, String, Vec<u32>, usize)> {
        let rows: Vec<String> =
            rows.iter().map(|label| format!("aes-256-cbc {RATES} {label}")).collect();
        let text = format!("{lines}\n{}\n", rows.join("\n"));
        let log = Log::read(&Text::new(text.into_bytes()).expect("a text"));
        let (tables, _) = tables(&log);
        let words =
            |table: Rows| (table.table, table.cores.name, table.cores.cpus, table.rows.len());
        tables.into_iter().map(words).collect()
    }

    #[test]
    fn two_rows_of_an_old_log_are_of_the_first_and_the_last_cpu() {
        let lines = "Linux 4.4 (b) 01/01/18 _aarch64_ (10 CPU)\nChecking cpufreq OPP for cpu0-cpu3:\n\
                     Checking cpufreq OPP for cpu4-cpu7:\nChecking cpufreq OPP for cpu8-cpu9:";
        let found = clusters_of(lines, &["", ""]);
        let rows: Vec<usize> = found.iter().map(|cluster| cluster.3).collect();
        assert_eq!(rows, [1, 0, 1], "{found:?}");
        let lines = "Linux 4.4 (b) 01/01/18 _aarch64_ (8 CPU)\nChecking cpufreq OPP:";
        let found = clusters_of(lines, &["", ""]);
        assert_eq!(found[1].2, [7], "{found:?}");
        // Four CPUs are one cluster, and its rows are two runs.
        let found = clusters_of("Linux 4.4 (b) 01/01/18 _armv7l_ (4 CPU)", &["", ""]);
        assert_eq!((found.len(), found[0].3), (1, 2), "{found:?}");
    }

    #[test]
    fn clusters_without_clocks_are_known_by_the_memory_benchmark_or_by_their_labels() {
        let lines = "No cpufreq support available. Measured on cpu0: 1006 MHz (1006.5/1006.4/1006.3)\n\
                     Executing benchmark on cpu0 (Cortex-A53):\nExecuting benchmark on cpu4 (Cortex-A72):\n\
                     Executing benchmark on each cluster individually";
        let found = clusters_of(lines, &["(Cortex-A53)", "(Cortex-A72)"]);
        assert_eq!(found[1], ("openssl-cpu4".into(), "Cortex-A72".into(), vec![4], 1), "{found:?}");
        let lines = "OpenSSL results (all 2 CPU clusters measured individually):";
        let found = clusters_of(lines, &["(Cortex-A53)", "(Cortex-A72)"]);
        assert_eq!(found[1], ("openssl-2".into(), "Cortex-A72".into(), vec![], 1), "{found:?}");
    }

    #[test]
    fn a_row_that_is_missing_or_says_otherwise_is_not_given_to_somebody() {
        let lines = "Checking cpufreq OPP for cpu0-cpu3 (Cortex-A55):\n\
                     Checking cpufreq OPP for cpu4-cpu5 (Cortex-A76):\n\
                     Executing benchmark on each cluster individually";
        let found = clusters_of(lines, &["(Cortex-A76)"]);
        assert_eq!((found[0].3, found[1].3), (0, 1), "{found:?}");
        let found = clusters_of(lines, &["(Cortex-X4)"]);
        assert_eq!((found[0].3, found[1].3, found[2].3), (0, 0, 1), "{found:?}");
        assert_eq!(found[2].0, "openssl-somewhere");
    }
}
