//! A comparison of two runs or providers, for a terminal.

use super::explain_text::what;
use super::footnotes::first_of;
use super::format::{margin, percent, significant};
use super::table::{Block, Place, paint, render as table, wrap};
use super::terminal::{Styles, write_note, write_styled_note};
use cpb_analysis::compare::{Compared, ComparedCell, Kind, MeanRatio};
use cpb_analysis::paths::Subject;
use cpb_analysis::ratio::{Basis, TIE, Verdict};
use cpb_analysis::uncertain::Bounded;
use cpb_analysis::units::Times;
use cpb_record::size::Size;

/// The number of sizes side by side.
const BESIDE: usize = 3;

/// Renders for a terminal of `width` columns.
pub fn render(compared: &Compared, width: usize, colour: bool) -> String {
    let styles = Styles::new(colour);
    let mut text = String::new();
    for line in wrap(&headline(compared), width) {
        paint(&mut text, styles.look.heading, &line);
        text.push('\n');
    }
    for difference in &compared.differences {
        write_note(&mut text, "differs", difference, width);
    }
    text.push('\n');
    text.push_str(&table(&blocks(compared), width, styles.look));
    let of_subjects = |family: &&MeanRatio| matches!(family.of, Kind::Subject(_));
    let (of_subjects, others): (Vec<&MeanRatio>, Vec<&MeanRatio>) =
        compared.families.iter().partition(of_subjects);
    let heading_of_others = match others.first().map(|family| &family.of) {
        Some(Kind::Pair(..)) => "\ngeometric mean over all cells of a pair\n",
        _ => "\ngeometric mean over all cells of a provider\n",
    };
    let heading = "\ngeometric mean over all sizes and providers\n";
    for (heading, families) in [(heading, of_subjects), (heading_of_others, others)] {
        // The mean of a single cell is already in the table.
        if families.iter().all(|family| family.cells == 1) {
            continue;
        }
        text.push_str(heading);
        let rows = families.into_iter().map(|family| {
            let of = match &family.of {
                Kind::Subject(subject) => what(subject, 1),
                Kind::Provider(name) => name.clone(),
                Kind::Pair(first, second) => pair(Some(first), second),
            };
            let of = on(of, family.machine.as_deref());
            (format!("{of} ({})", family.cells), vec![place(&family.ratio, family.verdict)])
        });
        let families =
            Block { heading: String::new(), columns: vec![String::new()], rows: rows.collect() };
        text.push_str(table(&[families], width, styles.look).trim_start_matches('\n'));
    }
    text.push('\n');
    let words = "cost of the second divided by cost of the first, ± half of the 95% interval; slower and \
                 faster are 99% sure; ?: no verdict; a longer run may give one, and single \
                 readings never do";
    write_note(&mut text, "note", words, width);
    if is_of_instructions(compared) {
        write_note(&mut text, "compared in", INSTRUCTIONS, width);
    }
    for (word, words) in drawn(compared) {
        write_note(&mut text, word, &words, width);
    }
    if compared.unpaired > 0 {
        let words = format!("{} cells have a figure in only one of the two", compared.unpaired);
        write_note(&mut text, "left out", &words, width);
    }
    for (names, whose) in apart(compared).into_iter().zip(["first", "second"]) {
        if let Some(names) = names {
            let words = format!("machines only in the {whose}: {names}");
            write_note(&mut text, "left out", &words, width);
        }
    }
    for warning in &compared.warnings {
        write_styled_note(&mut text, "warning", warning, width, styles.warning);
    }
    text
}

/// What is compared if both runs are emulated.
const INSTRUCTIONS: &str = "instructions an operation, of the whole CPU if known, because both runs are emulated and their \
     times mean nothing; a slower cell is one with more instructions";

/// Whether instructions are compared instead of time.
pub fn is_of_instructions(compared: &Compared) -> bool {
    compared.cells.iter().any(|row| row.metric == Basis::Instructions)
}

/// Effects of what processes draw at their start, in words: cells with two levels, and cells that differ from
/// their neighbours.
pub(crate) fn drawn(compared: &Compared) -> Vec<(&'static str, String)> {
    let mut notes = Vec::new();
    let mut note = |label, words: Vec<String>, meaning| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if !words.is_empty() {
            notes.push((label, format!("{}: {meaning}", first_of(&words, "; "))));
        }
    };
    let levels = compared.cells.iter().filter_map(|row| {
        let levels = row.levels?;
        Some(format!("{}, {} apart", named(row), percent(levels.apart)))
    });
    note(
        "two levels",
        levels.collect(),
        "the passes of both runs fall on two levels, as if each process drew one at its start (by the location of its \
         stack, for example); the levels were compared, not how often each was drawn",
    );
    let alone = compared.cells.iter().filter(|row| row.alone).map(cell);
    note(
        "alone",
        alone.collect(),
        "the neighbouring sizes are unchanged, so this may be a speed that processes draw at their start; \
         measure again to find out",
    );
    notes
}

/// The machines that are only in the first, and only in the second, in words.
pub fn apart(compared: &Compared) -> [Option<String>; 2] {
    let names = |names: &Vec<String>| {
        let names = names.iter().map(String::as_str);
        let names: Vec<&str> =
            names.map(|name| if name.is_empty() { "an unnamed one" } else { name }).collect();
        (!names.is_empty()).then(|| first_of(&names, "; "))
    };
    compared.apart.each_ref().map(names)
}

/// The operation, and the machine if there are several.
fn on(what: String, machine: Option<&str>) -> String {
    match machine {
        Some(machine) => format!("{what}: {machine}"),
        None => what,
    }
}

fn headline(compared: &Compared) -> String {
    format!("{} compared with {}: {}", compared.second, compared.first, counts(compared))
}

/// The number of cells that are slower, faster, the same, or without a verdict, in words.
pub fn counts(compared: &Compared) -> String {
    let count = |verdict| compared.cells.iter().filter(|row| row.verdict == verdict).count();
    let unknown = match count(Verdict::Unknown) {
        0 => String::new(),
        many => format!(", {many} without a verdict"),
    };
    format!(
        "{} slower, {} faster, {} the same within {:.0}%{unknown}",
        count(Verdict::Slower),
        count(Verdict::Faster),
        count(Verdict::Tie),
        TIE * 100.0
    )
}

/// The compared providers, in words.
fn pair(first: Option<&str>, second: &str) -> String {
    first.map_or_else(|| second.to_owned(), |first| format!("{second} / {first}"))
}

/// A cell and its ratio in words.
pub fn cell(row: &ComparedCell) -> String {
    format!("{}: {}×", named(row), significant(row.ratio.value.0, 4))
}

/// The mean over a provider's cells in words; `None` for other families, and for a single cell.
pub fn family(family: &MeanRatio) -> Option<String> {
    let Kind::Provider(name) = &family.of else { return None };
    let name = on(name.clone(), family.machine.as_deref());
    let ratio = significant(family.ratio.value.0, 4);
    (family.cells > 1).then(|| format!("{name} over {} cells: {ratio}×", family.cells))
}

/// A cell in words.
fn named(row: &ComparedCell) -> String {
    let size = match row.bytes {
        0 => String::new(),
        bytes => format!(" at {}", Size::from(bytes)),
    };
    let who = pair(row.against.as_deref(), &row.provider);
    let machine = row.machine.as_ref().map(|machine| format!(" on {machine}")).unwrap_or_default();
    format!("{who} {}{size}{machine}", what(&row.subject, row.threads))
}

/// The operation, the number of threads, and the machine if there are several.
type Subheading<'a> = (&'a Subject, u8, Option<&'a str>);

fn blocks(compared: &Compared) -> Vec<Block> {
    let mut groups: Vec<(Subheading, Vec<&ComparedCell>)> = Vec::new();
    for row in &compared.cells {
        let group = (&row.subject, row.threads, row.machine.as_deref());
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((group, vec![row])),
        }
    }
    let block = |((subject, threads, machine), rows): (Subheading, Vec<&ComparedCell>)| {
        group(&on(what(subject, threads), machine), &rows)
    };
    groups.into_iter().flat_map(block).collect()
}

fn group(heading: &str, rows: &[&ComparedCell]) -> Vec<Block> {
    let mut sizes: Vec<u32> = rows.iter().map(|row| row.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut pairs: Vec<(Option<&str>, &str)> = Vec::new();
    for row in rows {
        let pair = (row.against.as_deref(), row.provider.as_str());
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    let block = |sizes: &[u32]| {
        let row = |(first, second): &(Option<&str>, &str)| {
            let is_it =
                |row: &&&ComparedCell| row.against.as_deref() == *first && row.provider == *second;
            let place = |size: &u32| {
                let row = rows.iter().filter(is_it).find(|row| row.bytes == *size);
                row.map_or(Place::Blank, |row| place(&row.ratio, row.verdict))
            };
            (pair(*first, second), sizes.iter().map(place).collect())
        };
        Block {
            heading: heading.to_owned(),
            columns: sizes
                .iter()
                .map(|size| match size {
                    0 => "time".to_owned(),
                    size => Size::from(*size).to_string(),
                })
                .collect(),
            rows: pairs.iter().map(row).collect(),
        }
    };
    sizes.chunks(BESIDE).map(block).collect()
}

fn place(ratio: &Bounded<Times>, verdict: Verdict) -> Place {
    let word = match verdict {
        Verdict::Slower => "slower ",
        Verdict::Faster => "faster ",
        Verdict::Tie => "same ",
        Verdict::Unknown => "? ",
    };
    let share =
        ratio.interval.map(|interval| (interval.high.0 - interval.low.0) / 2.0 / ratio.value.0);
    Place::figure(format!("{word}{}", significant(ratio.value.0, 4)), margin(share))
}
