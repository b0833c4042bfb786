//! The report of `cpb sim` on a run.

use anyhow::Result;
use cpb_sim::{CAUSE_NAMES, CAUSES, CacheFinding, CacheMistake, Image, Machine, Profile, Stop};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// The report of a run as text.
pub(super) fn render(machine: &Machine) -> String {
    let (cycles, instructions) = (machine.cycles(), machine.instructions());
    let mut text = String::new();
    let chip = machine.chip();
    let seconds = cycles as f64 / (chip.clock.core.value * 1e6);
    let _ = writeln!(text, "simulated    {}: {}", chip.name, chip.description);
    let _ = writeln!(text, "cycles       {cycles}, {:.3} ms on the chip", seconds * 1e3);
    let _ = writeln!(
        text,
        "instructions {instructions}, {:.3} per cycle",
        instructions as f64 / cycles.max(1) as f64
    );
    let _ = writeln!(text, "spent        {}", shares(&machine.timing().spent()));
    for timed in &machine.measure().timed {
        let (calls, name) = (timed.cycles.len(), &timed.name);
        let least = timed.cycles.iter().min().copied().unwrap_or(0);
        let most = timed.cycles.iter().max().copied().unwrap_or(0);
        let mean = timed.cycles.iter().sum::<u64>() as f64 / calls.max(1) as f64;
        let more = if timed.more == 0 { String::new() } else { format!(" ({} more)", timed.more) };
        let _ = writeln!(
            text,
            "time         {name}: {calls} calls{more}, mean {mean:.1}, least {least}, most {most} \
             cycles"
        );
    }
    text.truncate(text.trim_end().len());
    text
}

/// Shares by cause, in percent; causes without a share are left out.
fn shares(spent: &[u64; CAUSES]) -> String {
    let total = spent.iter().sum::<u64>().max(1) as f64;
    let part = |(name, cycles): (&str, &u64)| {
        (*cycles != 0).then(|| format!("{name} {:.1}%", *cycles as f64 / total * 100.0))
    };
    let parts: Vec<String> = CAUSE_NAMES.into_iter().zip(spent).filter_map(part).collect();
    parts.join(", ")
}

fn causes(spent: &[u64; CAUSES]) -> Value {
    let pairs = CAUSE_NAMES.into_iter().zip(spent);
    Value::Object(
        pairs.map(|(name, cycles)| (name.to_owned(), json!(cycles))).collect::<Map<_, _>>(),
    )
}

/// The report of a run as JSON.
///
/// # Errors
/// Returns an error if it cannot be written as JSON.
pub(super) fn json(machine: &Machine, image: &Image, stop: Stop, output: &str) -> Result<String> {
    let measure = machine.measure();
    let mut before = (0, 0, [0; 4], [0; CAUSES]);
    let mut marks = Vec::new();
    for mark in &measure.marks {
        let mut spent = mark.spent;
        spent.iter_mut().zip(before.3).for_each(|(cycles, old)| *cycles -= old);
        marks.push(json!({
            "marker": mark.number.map_or("DWT_CYCCNT".to_owned(), |n| format!("DBG #{n}")),
            "at": image.describe(mark.address),
            "cycle": mark.cycles,
            "cycles_since": mark.cycles - before.0,
            "instructions_since": mark.instructions - before.1,
            "loads_since": mark.accesses[0] - before.2[0],
            "stores_since": mark.accesses[1] - before.2[1],
            "bus_reads_since": mark.accesses[2] - before.2[2],
            "bus_writes_since": mark.accesses[3] - before.2[3],
            "spent_since": causes(&spent),
        }));
        before = (mark.cycles, mark.instructions, mark.accesses, mark.spent);
    }
    let timed = measure.timed.iter().map(|t| {
        json!({"function": t.name, "cycles": t.cycles, "instructions": t.instructions,
            "calls_not_listed": t.more})
    });
    let value = json!({
        "evidence": "simulated",
        "chip": machine.chip().name,
        "core_mhz": machine.chip().clock.core.value,
        "end": stop.to_string(),
        "diagnosis": (!stop.is_success()).then(|| machine.diagnose(stop, image)),
        "cycles": machine.cycles(),
        "instructions": machine.instructions(),
        "loads": machine.accesses()[0],
        "stores": machine.accesses()[1],
        "bus_reads": machine.accesses()[2],
        "bus_writes": machine.accesses()[3],
        "mispredicted_branches": machine.timing().predictor.missed,
        "spent": causes(&machine.timing().spent()),
        "cache_findings": machine.cache_findings(image).map(|all| findings_json(&all, image)),
        "markers": marks,
        "markers_not_listed": measure.more_marks,
        "timed": timed.collect::<Vec<_>>(),
        "output": output,
    });
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

fn findings_json(findings: &[CacheFinding], image: &Image) -> Value {
    let finding = |finding: &CacheFinding| {
        json!({
            "mistake": match finding.mistake {
                CacheMistake::NotCleaned => "not-cleaned",
                CacheMistake::NotInvalidated => "not-invalidated",
                CacheMistake::SharedLine => "shared-line",
                CacheMistake::CodeOverwritten => "code-overwritten",
            },
            "engine": finding.engine,
            "first": finding.first,
            "last": finding.last,
            "pc": finding.pc,
            "at": image.describe(finding.pc),
            "description": finding.describe(image),
        })
    };
    findings.iter().map(finding).collect()
}

/// What `--check-caches` found, with one line for each finding.
pub(super) fn cache_findings(findings: &[CacheFinding], image: &Image) -> String {
    if findings.is_empty() {
        return "caches       no mistake found".to_owned();
    }
    let lines = findings.iter().map(|finding| format!("\n  {}", finding.describe(image)));
    let count = findings.len();
    let noun = if count == 1 { "mistake" } else { "mistakes" };
    format!("caches       {count} {noun} in their use:{}", lines.collect::<String>())
}

/// Cycles by function and by cause, as a table.
pub(super) fn profile(profile: &Profile) -> String {
    let mut text = format!("{:<40} {:>14} {:>14}", "function", "instructions", "cycles");
    for name in CAUSE_NAMES {
        let _ = write!(text, " {name:>12}");
    }
    text.push('\n');
    for (name, instructions, spent) in profile.by_function() {
        let _ = write!(text, "{name:<40} {instructions:>14} {:>14}", spent.iter().sum::<u64>());
        for cycles in spent {
            let _ = write!(text, " {cycles:>12}");
        }
        text.push('\n');
    }
    text
}
