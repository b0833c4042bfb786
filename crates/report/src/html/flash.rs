//! Reads of flash: what decryption adds, the rate of each way of reading, and errors beside a published table.

use super::axis::Axis;
use super::marks::Marks;
use super::plot::shortened;
use super::tables::{self, scrolled};
use crate::format::{evidence_word, short};
use crate::inline_decryption::{block, label, sentence, signed};
use cpb_analysis::flash_reads::{Beside, Bound, FlashRead, beside_published, inline_decryption};
use cpb_core::MemoryReadWorkload;
use cpb_core::memory_read::{Cache, Width};
use cpb_record::Evidence;
use cpb_record::size::Size;
use maud::{Markup, html};

/// The section, or `None` if no record reads flash.
pub(super) fn section(reads: &[FlashRead], marks: &Marks) -> Option<Markup> {
    if reads.is_empty() {
        return None;
    }
    let found = inline_decryption(reads);
    let beside = beside_published(reads);
    Some(html! {
        section id="flash" {
            h2 { "Reads of flash" }
            @for found in &found {
                p { strong { (label(found)) } " on " (found.machine) ": " (sentence(found)) "." }
                @if let Some(block) = block(found) { (tables::block(&block, "read", marks)) }
            }
            @if let Some(chart) = chart(reads) { (chart) }
            @if !beside.is_empty() { (errors(&beside)) }
        }
    })
}

/// The buffer's size, as the note counts it: two buffers in turn have twice as many bytes.
fn buffer(workload: &MemoryReadWorkload) -> String {
    Size::from(workload.buffer() as u32).to_string()
}

fn load(workload: &MemoryReadWorkload) -> String {
    let width = match workload.width {
        Width::Widest => "burst",
        width => width.name(),
    };
    format!("{} {width}", workload.pattern)
}

fn cache(workload: &MemoryReadWorkload) -> &'static str {
    match workload.cache {
        Cache::Filled => "cache filled",
        Cache::Invalidated => "cache emptied",
        Cache::Disabled => "cache off",
    }
}

/// The widths of the names and the plotting area, the height of a row and of the room above and below all rows, in units
/// of the canvas.
const NAMES: i32 = 470;
const AREA: i32 = 740;
const ROW: i32 = 30;
const TOP: i32 = 34;
const BOTTOM: i32 = 60;
/// The distance of a text's baseline from the middle of its row.
const BASELINE: i32 = 7;
/// The radii of the marks of plain and of decrypted flash, and the ends of a published figure's line.
const DOT: i32 = 6;
const RING: i32 = 10;
const LINE: (i32, i32) = (3, 13);
/// Colours that the style sheet replaces by the theme's.
const PLAIN: &str = "#0072B2";
const DECRYPTED: &str = "#D55E00";
const PUBLISHED: &str = "#333333";
const GRID: &str = "#DDDDDD";

/// The rates of all ways of reading on a logarithmic axis. `None` without two of them.
fn chart(reads: &[FlashRead]) -> Option<Markup> {
    let mut ways: Vec<MemoryReadWorkload> = Vec::new();
    for read in reads {
        if !ways.contains(&read.workload) {
            ways.push(read.workload);
        }
    }
    ways.sort_by_key(Bound::of);
    if ways.len() < 2 {
        return None;
    }
    let axis = Axis::of_figures(reads.iter().map(|read| read.rate.value.0 / 1e6), short)?;
    let x = |rate: f64| plotters::coord::ranged1d::Ranged::map(&axis, &rate, (NAMES, NAMES + AREA));
    let height = TOP + ROW * ways.len() as i32;
    let rows = ways.iter().enumerate().map(|(place, way)| {
        let middle = TOP + ROW / 2 + ROW * place as i32;
        let of_way = reads.iter().filter(move |read| read.workload == *way);
        (middle, way, of_way.collect::<Vec<_>>())
    });
    let picture = html! {
        svg class="plot forest reads" viewBox=(format!("0 0 {} {}", NAMES + AREA + 40, height + BOTTOM))
            role="img" aria-label="Rates of reads of flash in MB/s; the values are in the list of every figure" {
            @for tick in &axis.ticks {
                line x1=(x(*tick)) x2=(x(*tick)) y1=(TOP) y2=(height) stroke=(GRID) {}
                text x=(x(*tick)) y=(height + 28) text-anchor="middle" { (short(*tick)) }
            }
            text x=(NAMES + AREA) y=(height + 54) text-anchor="end" { "MB/s" }
            @for (middle, way, reads) in rows {
                text x=(NAMES - 20) y=(middle + BASELINE) class="name detail" {
                    (shortened(&format!("{}, {}, {}", load(way), cache(way), buffer(way)), 44))
                }
                @for read in reads { (mark(read, x(read.rate.value.0 / 1e6), middle)) }
            }
        }
    };
    let published = reads.iter().any(|read| read.evidence == Evidence::Published);
    let own = reads.iter().find(|read| read.evidence != Evidence::Published);
    Some(html! {
        h3 { "Bandwidth" }
        p class="faint" {
            @if let Some(own) = own {
                "A dot is plain flash, a ring decrypted flash, " (evidence_word(own.evidence)) ". "
            }
            @if published { "A line is a published figure: above the middle plain, below it decrypted. " }
            "The axis is logarithmic; the size is that of one buffer."
        }
        (scrolled("Rates of reads of flash", picture))
    })
}

fn mark(read: &FlashRead, x: i32, middle: i32) -> Markup {
    let is_decrypted = read.engine.is_some();
    if read.evidence == Evidence::Published {
        let (near, far) = if is_decrypted { LINE } else { (-LINE.0, -LINE.1) };
        return html! {
            line x1=(x) x2=(x) y1=(middle + near) y2=(middle + far) stroke=(PUBLISHED) stroke-width="3" {}
        };
    }
    if is_decrypted {
        html! { circle cx=(x) cy=(middle) r=(RING) stroke=(DECRYPTED) stroke-width="3" {} }
    } else {
        html! { circle cx=(x) cy=(middle) r=(DOT) fill=(PLAIN) {} }
    }
}

/// From these shares on, an error has the next colour.
const STEPS: [f64; 3] = [0.01, 0.03, 0.06];

/// The class of a cell by the size and the sign of its error.
fn class(error: f64) -> String {
    let step = STEPS.iter().filter(|step| error.abs() >= **step).count();
    let side = if error < 0.0 { "under" } else { "over" };
    if step == 0 { "n".into() } else { format!("n {side}{step}") }
}

/// The errors as a table with a row for each kind of flash and load, and a column for each size and state of the cache.
fn errors(beside: &[Beside]) -> Markup {
    let column = |each: &Beside| {
        let workload = &each.published.workload;
        (buffer(workload), cache(workload))
    };
    let row = |each: &Beside| {
        let kind = if each.published.engine.is_some() { "decrypted" } else { "plain" };
        (kind, load(&each.published.workload))
    };
    let (mut columns, mut rows) = (Vec::new(), Vec::new());
    for each in beside {
        if !columns.contains(&column(each)) {
            columns.push(column(each));
        }
        if !rows.contains(&row(each)) {
            rows.push(row(each));
        }
    }
    let errors = || beside.iter().map(|each| each.error.abs());
    let mean = errors().sum::<f64>() / beside.len() as f64;
    let largest = errors().fold(0.0, f64::max);
    let within = errors().filter(|error| *error <= 0.03).count();
    let percent = |share: f64| format!("{:.1}%", 100.0 * share);
    let kind = beside.first().map_or("", |each| evidence_word(each.measured.evidence));
    let table = html! {
        table class="heat" {
            caption { "Error of the " (kind) " rate beside the published one" }
            thead {
                tr {
                    th scope="col" { "flash" }
                    th scope="col" { "read" }
                    @for (size, cache) in &columns { th scope="col" class="n" { (size) ", " (cache) } }
                }
            }
            tbody {
                @for one in &rows {
                    tr {
                        th scope="row" { (one.0) }
                        th scope="row" { (one.1) }
                        @for place in &columns {
                            @match beside.iter().find(|each| row(each) == *one && column(each) == *place) {
                                None => { td class="n faint" { "–" } }
                                Some(each) => {
                                    td class=(class(each.error)) {
                                        (signed(each.error)) @if each.published.doubtful { "?" }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    };
    html! {
        h3 { "Beside the published table" }
        p {
            (beside.len()) " figures: mean error " (percent(mean)) ", largest " (percent(largest)) ", " (within)
            " within 3%."
        }
        p class="faint" {
            span class="swatch over2" {} " too fast, "
            span class="swatch under2" {} " too slow; darker from 1%, 3% and 6% on. ? marks a published figure that may be read wrongly, – one that is \
             not there or cannot be read."
        }
        (scrolled("Errors beside the published table", table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpb_analysis::uncertain::Bounded;
    use cpb_analysis::units::BytesPerSecond;

    fn read(evidence: Evidence, engine: Option<&str>, id: &str, rate: f64) -> FlashRead {
        FlashRead {
            machine: "imxrt1170-evk".into(),
            evidence,
            engine: engine.map(str::to_owned),
            workload: format!("memory-read/{id}").parse().unwrap(),
            rate: Bounded { value: BytesPerSecond(rate), interval: None },
            doubtful: evidence == Evidence::Published && rate > 1e9,
        }
    }

    #[test]
    fn each_published_figure_has_its_error_and_each_read_its_marks() {
        let (stream, hits) =
            ("32-bit/linear/4096/flash/cache-invalidated", "8-bit/ping-pong/8192/flash");
        let (own, published) = (Evidence::Simulated, Evidence::Published);
        let reads = [
            read(own, None, stream, 50e6),
            read(own, Some("OTFAD"), stream, 49e6),
            read(own, None, hits, 1.0e9),
            read(own, Some("OTFAD"), hits, 1.0e9),
            read(published, None, stream, 48e6),
            read(published, Some("OTFAD"), stream, 49e6),
            read(published, None, hits, 1.1e9),
        ];
        let page = section(&reads, &Marks::default()).unwrap().into_string();
        for words in [
            "3 figures: mean error 4.4%, largest 9.1%, 1 within 3%.",
            "<td class=\"n over2\">+4.2%</td>",
            "<td class=\"n\">+0.0%</td>",
            "<td class=\"n under3\">-9.1%?</td>",
            "ping-pong 8-bit, cache filled, 4 KiB",
            "adds 2.0% to the time of a stream of lines or words",
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
        assert_eq!(page.matches("<circle").count(), 4, "{page}");
        assert_eq!(page.matches(PUBLISHED).count(), 3, "{page}");
        assert!(section(&[], &Marks::default()).is_none());
    }
}
