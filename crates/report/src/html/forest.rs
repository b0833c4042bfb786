//! A forest plot: a row for each ratio, with its interval, compared with the line at 1 and the band around it
//! in which two figures count as the same.

use super::axis::Axis;
use super::marks::COLOURS;
use super::plot::{AXIS, GRID, INK, shortened, small};
use anyhow::{Error, Result};
use cpb_analysis::ratio::TIE;
use maud::{Markup, PreEscaped, html};
use plotters::prelude::*;

/// The widths of the names, the plotting area and the figures beside it, in units of the canvas.
const NAMES: u32 = 540;
const AREA: u32 = 520;
const FIGURES: u32 = 190;
/// The height of a row, and the room above and below all rows.
const ROW: u32 = 30;
const TOP: u32 = 34;
const BOTTOM: u32 = 78;
/// The most characters of a row's name that fit beside its detail.
const LETTERS: usize = 38;
/// The distance of a text's baseline from the middle of its row.
const BASELINE: i32 = 7;
/// Half the height of a marker.
const REACH: i32 = 9;
const SHADE: f64 = 0.2;
const LINE: u32 = 5;

/// A verdict, which determines colour and marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    /// The second costs more.
    Slower,
    /// The second costs less.
    Faster,
    /// There is no verdict.
    Unknown,
    /// Both cost the same, within the band.
    Same,
}

impl Change {
    /// In one word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Change::Slower => "slower",
            Change::Faster => "faster",
            Change::Unknown => "unknown",
            Change::Same => "same",
        }
    }
}

/// One ratio.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    /// What it is a ratio of; empty if it is the same as in the row above.
    pub(super) name: String,
    /// What distinguishes it from others with that name.
    pub(super) detail: String,
    /// Cost of the second divided by cost of the first.
    pub(super) ratio: f64,
    /// Its interval.
    pub(super) interval: Option<(f64, f64)>,
    /// The verdict.
    pub(super) change: Change,
}

/// Some ratios.
#[derive(Debug)]
pub(super) struct Forest {
    /// A description of the drawing, which serves as its name.
    pub(super) title: String,
    /// From top to bottom.
    pub(super) bars: Vec<Bar>,
}

impl Forest {
    /// As SVG; `None` without any ratio.
    ///
    /// # Errors
    /// Never fails in practice; the result type is that of drawing.
    pub(super) fn draw(&self) -> Result<Option<Markup>> {
        let ratios = self.bars.iter().map(|bar| bar.ratio).chain([1.0 - TIE, 1.0 + TIE]);
        let Some(axis) = Axis::of_ratios(ratios) else { return Ok(None) };
        if self.bars.is_empty() {
            return Ok(None);
        }
        let height = TOP + ROW * self.bars.len() as u32 + BOTTOM;
        let mut svg = String::new();
        {
            let size = (NAMES + AREA + FIGURES, height);
            let canvas = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            self.draw_on(&canvas, axis)?;
            canvas.present().map_err(Error::msg)?;
        }
        let places = format!("0 0 {} {height}", NAMES + AREA + FIGURES);
        let middle = |place: usize| (TOP + ROW / 2 + ROW * place as u32) as i32 + BASELINE;
        Ok(Some(html! {
            svg class="plot forest" viewBox=(places) role="img" aria-label=(self.title) {
                (PreEscaped(small(&svg)))
                @for (place, bar) in self.bars.iter().enumerate() {
                    text x="0" y=(middle(place)) class="name" { (shortened(&bar.name, LETTERS)) }
                    text x=(NAMES - 16) y=(middle(place)) class="detail" { (bar.detail) }
                    text x=(NAMES + AREA + 16) y=(middle(place)) class=(bar.change.word()) {
                        (change(bar.ratio)) " " tspan class="margin" { (margin(bar)) }
                    }
                }
            }
        }))
    }

    fn draw_on(
        &self,
        canvas: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
        axis: Axis,
    ) -> Result<()> {
        let rows = self.bars.len() as f64;
        let mut chart = ChartBuilder::on(canvas)
            .margin_top(TOP)
            .margin_left(NAMES)
            .margin_right(FIGURES)
            .x_label_area_size(BOTTOM)
            .build_cartesian_2d(axis, rows..0.0)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .disable_y_axis()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(AXIS)
            .label_style(("sans-serif", 23).into_font().color(&INK))
            .x_desc("cost of the second divided by cost of the first")
            .draw()?;
        let band = [(1.0 - TIE, 0.0), (1.0 + TIE, rows)];
        chart.draw_series([Rectangle::new(band, AXIS.mix(SHADE).filled())])?;
        let same = vec![(1.0, 0.0), (1.0, rows)];
        chart.draw_series([PathElement::new(same, INK.stroke_width(2))])?;
        for (place, bar) in self.bars.iter().enumerate() {
            let middle = place as f64 + 0.5;
            let colour = match bar.change {
                Change::Slower => COLOURS[1],
                Change::Faster => COLOURS[2],
                Change::Unknown | Change::Same => AXIS,
            };
            if let Some((low, high)) = bar.interval {
                let whisker = vec![(low, middle), (high, middle)];
                chart.draw_series([PathElement::new(whisker, colour.stroke_width(LINE))])?;
            }
            let at = (bar.ratio, middle);
            let towards = |side: i32| {
                vec![(side * REACH, 0), (-side * REACH, -REACH), (-side * REACH, REACH)]
            };
            let triangle =
                |side| EmptyElement::at(at) + Polygon::new(towards(side), colour.filled());
            match bar.change {
                Change::Slower => chart.draw_series([triangle(1)]).map(drop)?,
                Change::Faster => chart.draw_series([triangle(-1)]).map(drop)?,
                Change::Same => {
                    chart.draw_series([Circle::new(at, REACH - 1, colour.filled())])?;
                }
                Change::Unknown => {
                    chart.draw_series([Circle::new(at, REACH - 1, colour.stroke_width(2))])?;
                }
            }
        }
        Ok(())
    }
}

/// A ratio as a change: +4.0%, or as a multiple.
pub(super) fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    match percent.abs() {
        _ if !(0.5..2.0).contains(&ratio) => {
            format!("×{}", crate::format::significant(ratio, 3))
        }
        size if size < 1.0 => format!("{percent:+.2}%"),
        size if size < 10.0 => format!("{percent:+.1}%"),
        _ => format!("{percent:+.0}%"),
    }
}

fn margin(bar: &Bar) -> String {
    let share = bar.interval.map(|(low, high)| (high - low) / 2.0 / bar.ratio);
    crate::format::margin(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, ratio: f64, change: Change) -> Bar {
        let interval = Some((ratio * 0.99, ratio * 1.01));
        Bar { name: name.into(), detail: "1 KiB".into(), ratio, interval, change }
    }

    #[test]
    fn changes_are_told_in_percent_and_large_ones_as_a_factor() {
        for (ratio, words) in
            [(1.004, "+0.40%"), (0.962, "-3.8%"), (1.5, "+50%"), (2.5, "×2.50"), (0.1, "×0.100")]
        {
            assert_eq!(change(ratio), words);
        }
    }

    #[test]
    fn each_ratio_has_its_row_and_names_are_escaped() {
        let bars = vec![bar("a<b", 1.1, Change::Slower), bar("c", 0.999, Change::Same)];
        let svg = Forest { title: "t".into(), bars }.draw().unwrap().unwrap().into_string();
        assert!(svg.contains("a&lt;b") && svg.contains("+10%") && svg.contains("-0.10%"), "{svg}");
        assert_eq!(svg.matches("<polygon").count(), 1, "{svg}");
        assert_eq!(svg.matches("<circle").count(), 1, "{svg}");
        assert!(Forest { title: String::new(), bars: Vec::new() }.draw().unwrap().is_none());
    }
}
