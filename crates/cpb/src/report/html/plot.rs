//! Plots as SVG, by the crate plotters. What they show stands in a table beside them: a plot is a
//! picture with a name, and nothing in it can be missed by who does not see it.
//!
//! Colours are numbers here and are given their looks, light and dark, by the style sheet. No text
//! of a record gets into a plot: names stand in the page's own legend.

use super::axis::Axis;
use super::marks::{Mark, REACH};
use anyhow::{Error, Result};
use maud::{Markup, PreEscaped, html};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::ops::Range;

/// The canvas, in units of its own: plotters' places are whole numbers of them.
const CANVAS: (u32, u32) = (1000, 600);
const TEXT: u32 = 23;
const GRID: RGBColor = RGBColor(0xDD, 0xDD, 0xDD);
const AXIS: RGBColor = RGBColor(0x88, 0x88, 0x88);
const INK: RGBColor = RGBColor(0x33, 0x33, 0x33);
/// How much of its colour a band has.
const BAND: f64 = 0.16;
/// And how dark a crossover's interval is.
const SHADE: f64 = 0.2;
/// What has no other width gets this one by the style sheet.
const LINE: u32 = 5;
/// The style sheet dots lines of this width.
const FIT: u32 = 3;
/// The share of the room between two sizes that bars beside each other take.
const BESIDE: f64 = 0.6;
/// Half of a tick's width, as a share of its bar's room.
const TICK: f64 = 0.3;

/// One figure of one path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// Message length in bytes.
    pub(super) bytes: u32,
    /// The figure.
    pub(super) value: f64,
    /// The end of its interval, or of its bar.
    pub(super) low: Option<f64>,
    /// The other end.
    pub(super) high: Option<f64>,
    /// A place on its bar that has a tick.
    pub(super) tick: Option<f64>,
}

/// One path.
#[derive(Clone, Debug)]
pub(super) struct Series {
    /// How it looks.
    pub(super) mark: Mark,
    /// By ascending size.
    pub(super) points: Vec<Point>,
    /// Lines that were fitted to it, each a list of (message length, figure).
    pub(super) fits: Vec<Vec<(f64, f64)>>,
}

/// Where another path gets faster: message lengths, and the figure there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    /// The crossover.
    pub(super) bytes: f64,
    /// The rate that both have there.
    pub(super) value: f64,
    /// Its interval's ends, as far as they were measured.
    pub(super) interval: (f64, f64),
}

/// How points are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As a line with its interval as a band.
    Lines,
    /// Each as a bar from its low to its high end.
    Bars,
}

/// A plot over message length.
#[derive(Debug)]
pub(super) struct Plot {
    /// What is drawn, in words; its name.
    pub(super) title: String,
    /// What stands over the left axis: the quantity and its unit.
    pub(super) unit: &'static str,
    /// What stands beside a place on the left axis.
    pub(super) words: fn(f64) -> String,
    /// How.
    pub(super) form: Form,
    /// What.
    pub(super) series: Vec<Series>,
    /// Where paths cross.
    pub(super) crossings: Vec<Crossing>,
}

type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

impl Plot {
    /// As SVG; none of fewer than two sizes, or without a figure above 0.
    ///
    /// # Errors
    /// None that memory does not give; the signature is that of drawing.
    pub(super) fn draw(&self) -> Result<Option<Markup>> {
        let Some((sizes, figures)) = self.axes() else { return Ok(None) };
        let mut svg = String::new();
        {
            let canvas = SVGBackend::with_string(&mut svg, CANVAS).into_drawing_area();
            self.draw_on(&canvas, sizes, figures)?;
            canvas.present().map_err(Error::msg)?;
        }
        let svg = small(&svg);
        let places = format!("0 0 {} {}", CANVAS.0, CANVAS.1);
        Ok(Some(html! {
            svg class=(self.class()) viewBox=(places) role="img" aria-label=(self.title) {
                (PreEscaped(svg))
            }
        }))
    }

    fn class(&self) -> &'static str {
        match self.form {
            Form::Lines => "plot lines",
            Form::Bars => "plot",
        }
    }

    fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| &series.points)
    }

    /// Message lengths, ascending.
    fn sizes(&self) -> Vec<u32> {
        let mut sizes: Vec<u32> = self.points().map(|point| point.bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    fn axes(&self) -> Option<(Axis, Axis)> {
        let sizes = self.sizes();
        if sizes.len() < 2 {
            return None;
        }
        let beside = match self.form {
            Form::Lines => 1.0,
            Form::Bars => self.beside().sqrt(),
        };
        let figures =
            self.points().flat_map(|point| [Some(point.value), point.low, point.high]).flatten();
        Some((Axis::of_sizes(&sizes, beside)?, Axis::of_figures(figures, self.words)?))
    }

    fn draw_on(&self, canvas: &Canvas<'_>, sizes: Axis, figures: Axis) -> Result<()> {
        let text = ("sans-serif", TEXT).into_font().color(&INK);
        canvas.draw(&Text::new(self.unit, (6, 4), text.clone()))?;
        let Range { start: bottom, end: top } = figures.range();
        let mut chart = ChartBuilder::on(canvas)
            .margin_top(40)
            .margin_right(24)
            .x_label_area_size(78)
            .y_label_area_size(112)
            .build_cartesian_2d(sizes, figures)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(AXIS)
            .label_style(text)
            .x_desc("message length in bytes, K = 1024")
            .draw()?;
        for Crossing { bytes, interval: (low, high), .. } in &self.crossings {
            let band = [(*low, bottom), (*high, top)];
            chart.draw_series([Rectangle::new(band, AXIS.mix(SHADE).filled())])?;
            let line = vec![(*bytes, bottom), (*bytes, top)];
            chart.draw_series([PathElement::new(line, INK.stroke_width(2))])?;
        }
        match self.form {
            Form::Lines => self.draw_lines(&mut chart)?,
            Form::Bars => self.draw_bars(&mut chart)?,
        }
        for crossing in self.crossings.iter().filter(|crossing| crossing.value > 0.0) {
            let at = (crossing.bytes, crossing.value);
            chart.draw_series([Circle::new(at, 17, INK.stroke_width(3))])?;
        }
        Ok(())
    }

    fn draw_lines(&self, chart: &mut Chart<'_, '_>) -> Result<()> {
        for series in &self.series {
            let end = |end: fn(&Point) -> Option<f64>| {
                series.points.iter().filter_map(move |point| place(point.bytes, end(point)?))
            };
            let band: Vec<_> =
                end(|point| point.low).chain(end(|point| point.high).rev()).collect();
            if band.len() > 3 {
                let colour = series.mark.colour().mix(BAND);
                chart.draw_series([Polygon::new(band, colour.filled())])?;
            }
        }
        for series in &self.series {
            let colour = series.mark.colour();
            for fit in &series.fits {
                chart.draw_series([PathElement::new(fit.clone(), colour.stroke_width(FIT))])?;
            }
            let line: Vec<_> =
                series.points.iter().filter_map(|point| place(point.bytes, point.value)).collect();
            chart.draw_series([PathElement::new(line.clone(), colour.stroke_width(LINE))])?;
            for at in line {
                draw_marker(chart, series.mark, at)?;
            }
        }
        Ok(())
    }

    /// Room for the bars of one size, as a factor of it.
    fn beside(&self) -> f64 {
        let sizes = self.sizes();
        let gaps = sizes.windows(2).map(|pair| f64::from(pair[1]) / f64::from(pair[0].max(1)));
        gaps.fold(f64::INFINITY, f64::min).powf(BESIDE)
    }

    fn draw_bars(&self, chart: &mut Chart<'_, '_>) -> Result<()> {
        let beside = self.beside();
        let count = self.series.len() as f64;
        for (number, series) in self.series.iter().enumerate() {
            let shift = beside.powf((number as f64 + 0.5) / count - 0.5);
            let width = beside.powf(TICK / count);
            let colour = series.mark.colour();
            for point in &series.points {
                let at = |value: f64| {
                    let (bytes, value) = place(point.bytes, value)?;
                    Some((bytes * shift, value))
                };
                let low = at(point.low.unwrap_or(point.value));
                if let Some((low, high)) = low.zip(point.high.and_then(at)) {
                    let bar = vec![low, high];
                    chart.draw_series([PathElement::new(bar, colour.stroke_width(LINE))])?;
                }
                if let Some((bytes, value)) = point.tick.and_then(at) {
                    let tick = vec![(bytes / width, value), (bytes * width, value)];
                    chart.draw_series([PathElement::new(tick, colour.stroke_width(LINE))])?;
                }
                if let Some(at) = at(point.value) {
                    draw_marker(chart, series.mark, at)?;
                }
            }
        }
        Ok(())
    }
}

fn draw_marker(chart: &mut Chart<'_, '_>, mark: Mark, at: (f64, f64)) -> Result<()> {
    let style = mark.colour().filled();
    match mark.corners() {
        None => chart.draw_series([Circle::new(at, REACH, style)])?,
        Some(corners) => {
            chart.draw_series([EmptyElement::at(at) + Polygon::new(corners, style)])?
        }
    };
    Ok(())
}

/// The place of a figure; none of one that logarithms do not have.
fn place(bytes: u32, value: f64) -> Option<(f64, f64)> {
    (bytes > 0 && value.is_finite() && value > 0.0).then(|| (bytes.into(), value))
}

/// The inside of an SVG without what the style sheet says once for all of them.
fn small(svg: &str) -> String {
    let inside = svg.split_once('>').map_or(svg, |(_, rest)| rest);
    let inside = inside.trim().strip_suffix("</svg>").unwrap_or(inside);
    let mut text = String::with_capacity(inside.len());
    for element in inside.lines() {
        text.push_str(&without(element, " font-size=\""));
    }
    let said = [
        " opacity=\"1\"",
        " font-family=\"sans-serif\"",
        " stroke-width=\"1\"",
        " stroke-width=\"5\"",
        " fill=\"none\"",
        " fill=\"#333333\"",
        " stroke=\"none\"",
    ];
    let text = said.iter().fold(text, |text, said| text.replace(said, ""));
    text.replace(" \"/>", "\"/>")
}

/// An element without an attribute, which is given with its opening quotation mark.
fn without(element: &str, attribute: &str) -> String {
    let rest = element.split_once(attribute);
    let rest = rest.and_then(|(before, rest)| Some((before, rest.split_once('"')?.1)));
    rest.map_or_else(|| element.to_owned(), |(before, after)| format!("{before}{after}"))
}
