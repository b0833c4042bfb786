//! Plots as SVG, drawn with the crate plotters. A table beside each plot contains the same numbers, so a plot
//! is a picture with a name, and readers who cannot see it miss nothing.
//!
//! Each path is a separate group, which the page's switches show and hide. Lines are drawn only if a fit
//! describes the path; otherwise a dotted connection shows which markers belong together.
//!
//! Colours are numbers here; the style sheet gives them their appearance, light and dark. Names of paths are
//! text of a record: they go through maud, never through plotters.

use super::axis::Axis;
use super::labels;
use super::marks::{Mark, REACH};
use anyhow::{Error, Result};
use cpb_analysis::units::Bytes;
use maud::{Markup, PreEscaped, html};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::ops::Range;

/// The canvas, in its own units: plotters' coordinates are whole numbers of them.
const CANVAS: (u32, u32) = (1000, 680);
/// The margins around the plotting area. The names of lines stand to the right of it, outside [`CANVAS`].
const MARGINS: PlotMargins = PlotMargins { top: 40, right: 24, bottom: 78, left: 112 };
/// Room for the names of lines.
const NAMES: u32 = 250;
/// The most characters of a name that fit there.
const LETTERS: usize = 19;
/// The distance from a name's baseline to the next.
const GAP: i32 = 27;
/// The distance from the plotting area to the names.
const LEADER: i32 = 30;
/// The distance of a name's baseline from the place that it names.
const BASELINE: i32 = 7;
const TEXT: u32 = 23;
pub(super) const GRID: RGBColor = RGBColor(0xDD, 0xDD, 0xDD);
pub(super) const AXIS: RGBColor = RGBColor(0x88, 0x88, 0x88);
pub(super) const INK: RGBColor = RGBColor(0x33, 0x33, 0x33);
/// How dark a crossover's interval is.
const SHADE: f64 = 0.2;
/// The style sheet gives this width to everything without another width.
const LINE: u32 = 5;
/// The style sheet dots lines of this width.
const DOTTED: u32 = 3;
const THIN: u32 = 2;
/// The share of the room between two sizes that bars side by side take.
const BESIDE: f64 = 0.6;
/// Half the width of a tick, as a share of its bar's room.
const TICK: f64 = 0.3;

struct PlotMargins {
    top: u32,
    right: u32,
    bottom: u32,
    left: u32,
}

/// One figure of one path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// Message length in bytes.
    pub(super) bytes: u32,
    /// The figure.
    pub(super) value: f64,
    /// The lower end of its interval, or of its bar.
    pub(super) low: Option<f64>,
    /// The upper end.
    pub(super) high: Option<f64>,
    /// A place on its bar with a tick.
    pub(super) tick: Option<f64>,
}

/// One path.
#[derive(Clone, Debug)]
pub(super) struct Series {
    /// Its name.
    pub(super) name: String,
    /// Its appearance.
    pub(super) mark: Mark,
    /// By ascending size.
    pub(super) points: Vec<Point>,
    /// The fit between its points: curves, each a list of (message length, figure), by ascending size. Empty
    /// if no fit describes it.
    pub(super) curves: Vec<Vec<(f64, f64)>>,
    /// Whether it is drawn initially.
    pub(super) shown: bool,
}

impl Series {
    /// Its figure at a size: from its fit if there is one, otherwise interpolated between two points.
    pub(super) fn at(&self, bytes: Bytes) -> Option<f64> {
        let fitted = self.curves.iter().find_map(|curve| between(curve, bytes.0));
        let points = self.points.iter().filter_map(|point| place(point.bytes, point.value));
        fitted.or_else(|| between(&points.collect::<Vec<_>>(), bytes.0))
    }
}

/// The figure interpolated in logarithms between the two points around `bytes`.
pub(super) fn between(points: &[(f64, f64)], bytes: f64) -> Option<f64> {
    let pair = points.windows(2).find(|pair| (pair[0].0..=pair[1].0).contains(&bytes))?;
    let [(from, low), (to, high)] = [pair[0], pair[1]].map(|(x, y)| (x.ln(), y.ln()));
    let share = if to > from { (bytes.ln() - from) / (to - from) } else { 0.0 };
    Some((low + share * (high - low)).exp())
}

/// A crossover: message lengths, and the figure there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    /// The crossover.
    pub(super) bytes: Bytes,
    /// The rate that both have there.
    pub(super) value: f64,
    /// The ends of its interval, limited to the measured range.
    pub(super) interval: (Bytes, Bytes),
}

/// How points are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As markers with their intervals, joined by the fit.
    Lines,
    /// Each as a bar from its low to its high end.
    Bars,
}

/// A plot over message length.
#[derive(Debug)]
pub(super) struct Plot {
    /// A description of the drawing, which serves as its name.
    pub(super) title: String,
    /// The text above the left axis: the quantity and its unit.
    pub(super) unit: &'static str,
    /// Formats a label of the left axis.
    pub(super) words: fn(f64) -> String,
    /// The form of the points.
    pub(super) form: Form,
    /// The paths.
    pub(super) series: Vec<Series>,
    /// The crossovers.
    pub(super) crossings: Vec<Crossing>,
}

type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

/// Message lengths along the bottom, figures along the left.
struct Axes {
    sizes: Axis,
    figures: Axis,
}

impl Plot {
    /// As SVG; `None` if there are fewer than two sizes, or no figure above 0.
    ///
    /// # Errors
    /// Never fails in practice; the result type is that of drawing.
    pub(super) fn draw(&self) -> Result<Option<Markup>> {
        let Some(axes) = self.axes() else { return Ok(None) };
        let frame = fragment(&axes, |chart| self.draw_frame(chart, &axes))?;
        let mut groups = Vec::new();
        for (place, series) in self.series.iter().enumerate() {
            groups.push(fragment(&axes, |chart| match self.form {
                Form::Lines => draw_line(chart, series, &axes.figures),
                Form::Bars => self.draw_bars(chart, place),
            })?);
        }
        let circles = fragment(&axes, |chart| self.draw_crossings(chart))?;
        let names = match self.form {
            Form::Lines => self.names(&axes)?,
            Form::Bars => vec![None; self.series.len()],
        };
        let (class, names_room) = match self.form {
            Form::Lines => ("plot lines", NAMES),
            Form::Bars => ("plot", 0),
        };
        let places = format!("0 0 {} {}", CANVAS.0 + names_room, CANVAS.1);
        Ok(Some(html! {
            svg class=(class) viewBox=(places) role="img" aria-label=(self.title) {
                text x="6" y="22" { (self.unit) }
                (PreEscaped(frame))
                @for ((series, group), name) in self.series.iter().zip(&groups).zip(names) {
                    g class=(format!("s{}", series.mark.number())) {
                        (PreEscaped(group))
                        @if let Some(name) = name { (name) }
                    }
                }
                (PreEscaped(circles))
            }
        }))
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

    fn axes(&self) -> Option<Axes> {
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
        let figures = Axis::of_figures(figures, self.words)?;
        Some(Axes { sizes: Axis::of_sizes(&sizes, beside)?, figures })
    }

    fn draw_frame(&self, chart: &mut Chart<'_, '_>, axes: &Axes) -> Result<()> {
        let Range { start: bottom, end: top } = axes.figures.range();
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(AXIS)
            .label_style(("sans-serif", TEXT).into_font().color(&INK))
            .x_desc("message length in bytes, K = 1024")
            .draw()?;
        for Crossing { bytes, interval: (low, high), .. } in &self.crossings {
            let band = [(low.0, bottom), (high.0, top)];
            chart.draw_series([Rectangle::new(band, AXIS.mix(SHADE).filled())])?;
            let line = vec![(bytes.0, bottom), (bytes.0, top)];
            chart.draw_series([PathElement::new(line, INK.stroke_width(THIN))])?;
        }
        Ok(())
    }

    fn draw_crossings(&self, chart: &mut Chart<'_, '_>) -> Result<()> {
        for crossing in self.crossings.iter().filter(|crossing| crossing.value > 0.0) {
            let at = (crossing.bytes.0, crossing.value);
            chart.draw_series([Circle::new(at, 17, INK.stroke_width(3))])?;
        }
        Ok(())
    }

    /// The name of each series beside its last point, connected by a line; `None` if there is no room.
    fn names(&self, axes: &Axes) -> Result<Vec<Option<Markup>>> {
        let mut ends: Vec<Option<(i32, i32)>> = Vec::new();
        fragment(axes, |chart| {
            let last = |series: &Series| {
                let mut last = series.points.iter().rev();
                last.find_map(|point| place(point.bytes, point.value))
            };
            ends = self.series.iter().map(|one| Some(chart.backend_coord(&last(one)?))).collect();
            Ok(())
        })?;
        // Names of initially drawn series are placed first.
        let mut order: Vec<usize> = (0..ends.len()).filter(|at| ends[*at].is_some()).collect();
        order.sort_by_key(|at| !self.series[*at].shown);
        let fixed = order.iter().filter(|at| self.series[**at].shown).count();
        let wanted: Vec<i32> = order.iter().map(|at| ends[*at].map_or(0, |(_, y)| y)).collect();
        let range = (GAP, CANVAS.1 as i32 - GAP);
        let mut names = vec![None; ends.len()];
        for (at, y) in order.iter().zip(labels::places(&wanted, fixed, GAP, range)) {
            if let Some((y, end)) = y.zip(ends[*at]) {
                names[*at] = Some(name(&self.series[*at], end, y));
            }
        }
        Ok(names)
    }

    /// The room for the bars of one size, as a factor of it.
    fn beside(&self) -> f64 {
        let sizes = self.sizes();
        let gaps = sizes.windows(2).map(|pair| f64::from(pair[1]) / f64::from(pair[0].max(1)));
        gaps.fold(f64::INFINITY, f64::min).powf(BESIDE)
    }

    fn draw_bars(&self, chart: &mut Chart<'_, '_>, number: usize) -> Result<()> {
        let beside = self.beside();
        let series = &self.series[number];
        // Initially drawn series share the room, and so do the others behind them.
        let alike = |one: &&Series| one.shown == series.shown;
        let count = self.series.iter().filter(alike).count() as f64;
        let number = self.series[..number].iter().filter(alike).count() as f64;
        let shift = beside.powf((number + 0.5) / count - 0.5);
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
        Ok(())
    }
}

/// Draws with the axes of a plot and returns the inner part of an SVG.
fn fragment(axes: &Axes, draw: impl FnOnce(&mut Chart<'_, '_>) -> Result<()>) -> Result<String> {
    let mut svg = String::new();
    {
        let canvas: Canvas<'_> = SVGBackend::with_string(&mut svg, CANVAS).into_drawing_area();
        let mut chart = ChartBuilder::on(&canvas)
            .margin_top(MARGINS.top)
            .margin_right(MARGINS.right)
            .x_label_area_size(MARGINS.bottom)
            .y_label_area_size(MARGINS.left)
            .build_cartesian_2d(axes.sizes.clone(), axes.figures.clone())?;
        draw(&mut chart)?;
        canvas.present().map_err(Error::msg)?;
    }
    Ok(small(&svg))
}

/// Draws the fit of a path, or a dotted connection if the path has no fit, its intervals and its markers.
fn draw_line(chart: &mut Chart<'_, '_>, series: &Series, figures: &Axis) -> Result<()> {
    let colour = series.mark.colour();
    for curve in &series.curves {
        chart.draw_series([PathElement::new(curve.clone(), colour.stroke_width(LINE))])?;
    }
    for stretch in dotted(series) {
        chart.draw_series([PathElement::new(stretch, colour.stroke_width(DOTTED))])?;
    }
    for point in &series.points {
        let ends = [point.low, point.high].map(|end| place(point.bytes, end?));
        if let [Some(low), Some(high)] = ends
            && figures.pixels(low.1, high.1, plot_height()) > 2.5 * f64::from(REACH)
        {
            let whisker = vec![low, high];
            chart.draw_series([PathElement::new(whisker, colour.stroke_width(THIN))])?;
        }
    }
    for point in &series.points {
        if let Some(at) = place(point.bytes, point.value) {
            draw_marker(chart, series.mark, at)?;
        }
    }
    Ok(())
}

fn plot_height() -> u32 {
    CANVAS.1 - MARGINS.top - MARGINS.bottom
}

/// Stretches between neighbouring points that no curve covers.
fn dotted(series: &Series) -> Vec<Vec<(f64, f64)>> {
    let reached = |from: f64, to: f64| {
        series.curves.iter().any(|curve| {
            let ends = curve.first().zip(curve.last());
            ends.is_some_and(|(first, last)| first.0 <= from && to <= last.0)
        })
    };
    let points: Vec<(f64, f64)> =
        series.points.iter().filter_map(|point| place(point.bytes, point.value)).collect();
    let mut stretches: Vec<Vec<(f64, f64)>> = Vec::new();
    for pair in points.windows(2).filter(|pair| !reached(pair[0].0, pair[1].0)) {
        match stretches.last_mut().filter(|last| last.last() == Some(&pair[0])) {
            Some(last) => last.push(pair[1]),
            None => stretches.push(pair.to_vec()),
        }
    }
    stretches
}

/// A name beside the plotting area, and the line that connects it with the last point.
fn name(series: &Series, (x, end): (i32, i32), y: i32) -> Markup {
    let left = (CANVAS.0 - MARGINS.right) as i32 + LEADER;
    let RGBColor(red, green, blue) = series.mark.colour();
    let colour = format!("#{red:02X}{green:02X}{blue:02X}");
    let line = format!("{},{end} {},{y} {},{y}", x + REACH, left - 10, left - 3);
    html! {
        polyline class="leader" points=(line) stroke=(colour) stroke-width="1" {}
        text class="name" x=(left) y=(y + BASELINE) { (shortened(&series.name, LETTERS)) }
    }
}

/// A name of at most `most` characters: of a longer one, the beginning and the end.
pub(super) fn shortened(name: &str, most: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= most {
        return name.to_owned();
    }
    let head = most / 2;
    let tail = letters.len() - (most - 1 - head);
    letters[..head].iter().chain(&['…']).chain(&letters[tail..]).collect()
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

/// The coordinates of a figure; `None` if a logarithm does not exist.
fn place(bytes: u32, value: f64) -> Option<(f64, f64)> {
    (bytes > 0 && value.is_finite() && value > 0.0).then(|| (bytes.into(), value))
}

/// The inner part of an SVG without what the style sheet defines once for all of them.
pub(super) fn small(svg: &str) -> String {
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

/// Removes an attribute from an element; the attribute is given with its opening quotation mark.
fn without(element: &str, attribute: &str) -> String {
    let rest = element.split_once(attribute);
    let rest = rest.and_then(|(before, rest)| Some((before, rest.split_once('"')?.1)));
    rest.map_or_else(|| element.to_owned(), |(before, after)| format!("{before}{after}"))
}

#[cfg(test)]
mod tests {
    use super::super::axis::number_words;
    use super::super::marks::Marks;
    use super::*;

    fn series(curves: Vec<Vec<(f64, f64)>>) -> Series {
        let mut marks = Marks::default();
        marks.add("a<b");
        let point = |(bytes, value): (u32, f64)| Point {
            bytes,
            value,
            low: Some(value * 0.999),
            high: Some(value * 1.001),
            tick: None,
        };
        Series {
            name: "a<b".into(),
            mark: marks.of("a<b").unwrap(),
            points: [(16, 10.0), (256, 100.0), (4096, 400.0)].map(point).to_vec(),
            curves,
            shown: true,
        }
    }

    fn draw(series: Series) -> String {
        let plot = Plot {
            title: "t".into(),
            unit: "MB/s",
            words: number_words,
            form: Form::Lines,
            series: vec![series],
            crossings: Vec::new(),
        };
        plot.draw().unwrap().unwrap().into_string()
    }

    /// The number of dotted lines in the series' group, and the number of others.
    fn lines(svg: &str) -> (usize, usize) {
        let group = svg.split("<g class=\"s0\">").nth(1).expect("the series");
        let group = group.split("<polyline class=\"leader\"").next().expect("its name");
        let dotted = group.matches("stroke-width=\"3\"").count();
        (dotted, group.matches("<polyline").count() - dotted)
    }

    #[test]
    fn what_no_fit_describes_has_no_line_but_a_dotted_connection() {
        assert_eq!(lines(&draw(series(Vec::new()))), (1, 0));
        let whole = vec![vec![(16.0, 10.0), (256.0, 100.0), (4096.0, 400.0)]];
        assert_eq!(lines(&draw(series(whole))), (0, 1));
        // A path that switches has a line on either side and dots in between.
        let switched =
            vec![vec![(16.0, 10.0), (256.0, 100.0)], vec![(1024.0, 300.0), (4096.0, 400.0)]];
        assert_eq!(lines(&draw(series(switched))), (1, 2));
    }

    #[test]
    fn names_stand_beside_the_ends_of_lines_and_are_escaped() {
        let svg = draw(series(Vec::new()));
        assert!(svg.contains("class=\"name\"") && svg.contains(">a&lt;b</text>"), "{svg}");
        assert_eq!(
            shortened("cryptodev:authenc(hmac(sha256),cbc(aes))", 19),
            "cryptodev…cbc(aes))"
        );
        assert_eq!(shortened("openssl:two-calls", 19), "openssl:two-calls");
    }

    #[test]
    fn a_crossing_lies_on_the_fit_where_there_is_one() {
        let fitted = series(vec![vec![(16.0, 10.0), (1024.0, 160.0)]]);
        assert!((fitted.at(Bytes(128.0)).unwrap() - 40.0).abs() < 1e-9);
        assert!((series(Vec::new()).at(Bytes(64.0)).unwrap() - 10f64.powf(1.5)).abs() < 1e-9);
        assert_eq!(series(Vec::new()).at(Bytes(8192.0)), None);
    }
}
