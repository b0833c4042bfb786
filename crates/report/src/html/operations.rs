//! The operations one after the other: their figures, costs and crossovers.

use super::figures::{self, Figure};
use super::marks::Marks;
use super::plot::Series;
use super::tables;
use crate::explain::costs_block;
use crate::explain_text::{notes, what};
use crate::format;
use crate::groups::{Comparisons, Group};
use crate::table::Block;
use crate::{by_size, execution};
use anyhow::Result;
use cpb_analysis::evidence_policy::{Metric, meaningful};
use cpb_analysis::explain::Explained;
use cpb_analysis::fit::LEAST_SIZES;
use cpb_analysis::paths::Subject;
use cpb_analysis::summary::Summary;
use cpb_record::Evidence;
use maud::{Markup, html};

/// One operation, ready to be displayed.
pub(super) struct Operation {
    /// The algorithm by which operations are grouped.
    pub(super) algorithm: String,
    /// Its title.
    pub(super) title: String,
    /// The machine, if one part has records of several.
    pub(super) machine: String,
    /// The main figures; `None` if the evidence does not support any.
    main: Option<Figure>,
    /// Why there are no main figures.
    refused: Option<&'static str>,
    /// Fixed costs and costs per byte.
    costs: Option<Block>,
    /// Crossovers, and remarks on fits.
    notes: Vec<(&'static str, String)>,
    /// The figures that are folded.
    more: Vec<Figure>,
}

/// A group of a measured record.
pub(super) fn measured(
    summary: &Summary,
    groups: &[Group<'_>],
    group: &Group<'_>,
    task: Option<&Explained>,
    marks: &Marks,
) -> Operation {
    let refused = meaningful(Metric::Rate, summary.run.evidence).err();
    let mut more: Vec<Figure> = Vec::new();
    if refused.is_none() {
        more.extend(figures::cycles(group, task, marks));
        more.extend(figures::latency(group, marks));
        more.extend(task.and_then(|task| figures::cpu(&group.heading, task, marks)));
        more.extend(figures::threads(groups, group));
    }
    let counted = execution::wanted(summary);
    if counted {
        more.push(Figure {
            title: "counts by message length",
            words: Some(by_size::LEGEND),
            wide: true,
            tables: by_size::blocks(summary, group, true),
            ..Figure::default()
        });
    }
    let comparisons = Comparisons::of(summary);
    Operation {
        algorithm: format::algorithm(group.workload()),
        title: group.heading.clone(),
        machine: String::new(),
        main: match refused {
            None => Some(figures::rates(group, &comparisons, task, marks)),
            Some(_) => None,
        },
        refused,
        costs: task.and_then(fitted),
        notes: task.map(notes).unwrap_or_default(),
        more,
    }
}

/// A task with published readings.
pub(super) fn published(task: &Explained, marks: &Marks) -> Operation {
    let title = what(&task.subject, task.threads);
    let algorithm = match &task.subject {
        Subject::Published { algorithm, .. } => algorithm.clone(),
        Subject::Measured(workload) => format::algorithm(workload),
    };
    Operation {
        algorithm,
        machine: task.machine.clone(),
        main: Some(figures::published_rates(&title, task, marks)),
        refused: None,
        costs: fitted(task),
        notes: notes(task),
        more: Vec::new(),
        title,
    }
}

/// The costs, if there are enough sizes for a line somewhere; otherwise they would repeat the rates.
fn fitted(task: &Explained) -> Option<Block> {
    let enough = task.paths.iter().any(|costs| costs.sizes.len() >= LEAST_SIZES);
    enough.then(|| costs_block(task, false)).flatten()
}

impl Operation {
    /// Renders a section with the anchor `id`.
    pub(super) fn show(&self, id: &str, marks: &Marks) -> Result<Markup> {
        let plot = match self.main.as_ref().and_then(|figure| figure.plot.as_ref()) {
            Some(plot) => plot.draw()?,
            None => None,
        };
        let more = folded(&self.more, marks)?;
        Ok(html! {
            section class="operation" id=(id) {
                h4 {
                    (self.title)
                    @if !self.machine.is_empty() { " " span class="faint" { (self.machine) } }
                }
                @if let Some(why) = self.refused {
                    p class="refused" { "MB/s, times and cycles are refused, " (why) "." }
                }
                div class=(if plot.is_some() { "beside" } else { "beside alone" }) {
                    @if let Some(plot) = plot {
                        figure {
                            div class="canvas" { (plot) }
                            figcaption { (self.legend(marks)) }
                        }
                    }
                    @if let Some(figure) = &self.main {
                        div class="rates" {
                            @for table in &figure.tables { (tables::block(table, "path", marks)) }
                        }
                    }
                    @if let Some(costs) = &self.costs {
                        div class="costs" { (tables::block(costs, "path", marks)) }
                    }
                    @if !self.notes.is_empty() {
                        div class="said" { (notes_list(&self.notes)) }
                    }
                }
                @if let Some(more) = more { (more) }
            }
        })
    }

    /// The drawn paths, each with a switch for all plots of this operation.
    fn legend(&self, marks: &Marks) -> Markup {
        let plots = self.main.iter().chain(&self.more).filter_map(|figure| figure.plot.as_ref());
        let mut drawn: Vec<&Series> = Vec::new();
        for series in plots.flat_map(|plot| &plot.series) {
            if !drawn.iter().any(|known| known.mark == series.mark) {
                drawn.push(series);
            }
        }
        let hidden = drawn.iter().filter(|series| !series.shown).count();
        html! {
            fieldset class="legend" {
                legend class="unseen" { "Drawn paths" }
                @for series in &drawn {
                    label class=[(!series.shown).then_some("more-paths")] {
                        input type="checkbox" class=(format!("k{}", series.mark.number()))
                            autocomplete="off" checked[series.shown];
                        (marks.named(&series.name))
                    }
                }
            }
            @if hidden > 0 {
                p class="faint" {
                    "Initially drawn: the " (drawn.len() - hidden)
                    " paths that are fastest somewhere or come nearest to it. Tick " (hidden)
                    @if hidden == 1 { " other" } @else { " others" } " to see more."
                }
            }
        }
    }
}

/// Notes as a list of labels and texts.
pub(super) fn notes_list<W: AsRef<str>>(notes: &[(W, String)]) -> Markup {
    html! {
        dl class="notes" {
            @for (word, words) in notes {
                div class=(format!("note {}", kind(word.as_ref()))) {
                    dt { (word.as_ref()) }
                    dd { (words) }
                }
            }
        }
    }
}

fn kind(word: &str) -> &'static str {
    match word {
        "warning" | "wrong" | "unproven" | "failed" => "warning",
        _ => "",
    }
}

/// The folded figures. `None` if nothing is folded.
fn folded(figures: &[Figure], marks: &Marks) -> Result<Option<Markup>> {
    if figures.is_empty() {
        return Ok(None);
    }
    let titles: Vec<&str> = figures.iter().map(|figure| figure.title).collect();
    let cards: Result<Vec<Markup>> = figures.iter().map(|figure| card(figure, marks)).collect();
    Ok(Some(html! {
        details class="more" {
            summary { (titles.join(", ")) }
            div class="cards" { @for card in cards? { (card) } }
        }
    }))
}

fn card(figure: &Figure, marks: &Marks) -> Result<Markup> {
    let plot = match &figure.plot {
        Some(plot) => plot.draw()?,
        None => None,
    };
    Ok(html! {
        div class=(if figure.wide { "card wide" } else { "card" }) {
            h5 { (figure.title) }
            @if let Some(words) = &figure.words { p class="faint" { (words) } }
            @if let Some(plot) = plot { figure { div class="canvas" { (plot) } } }
            @for table in &figure.tables { (tables::block(table, "path", marks)) }
        }
    })
}

/// Why rates with such evidence are not shown; `None` if they are.
pub(super) fn refused(evidence: Evidence) -> Option<&'static str> {
    meaningful(Metric::AcrossExecutors, evidence).err()
}
