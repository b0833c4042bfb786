//! Logarithmic axes: their range, ticks and labels.

use crate::format;
use cpb_analysis::units::Nanoseconds;
use cpb_record::size::Size;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::prelude::Ranged;
use std::ops::Range;

/// Room beyond the outermost figures, as a share of the distance between them.
const ROOM: f64 = 0.06;
/// The least range, as a factor, because a single figure has no range.
const LEAST_FACTOR: f64 = 3.2;
/// The most ticks that fit along the left side.
const MOST_TICKS: usize = 7;
/// The most sizes that fit along the bottom.
const MOST_SIZES: f64 = 9.0;

/// A logarithmic axis.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// The logarithms of its ends.
    range: Range<f64>,
    /// The figures at its ticks.
    pub(super) ticks: Vec<f64>,
    words: fn(f64) -> String,
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, figure: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (figure.ln() - self.range.start) / (self.range.end - self.range.start);
        from + (share.clamp(0.0, 1.0) * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.range.start.exp()..self.range.end.exp()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, figure: &f64) -> String {
        (self.words)(*figure)
    }
}

impl Axis {
    /// The axis for some figures; `None` if none of them has a logarithm.
    fn around(figures: impl Iterator<Item = f64>, words: fn(f64) -> String) -> Option<Axis> {
        let (low, high) = figures
            .filter(|figure| figure.is_finite() && *figure > 0.0)
            .map(f64::ln)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), f| (low.min(f), high.max(f)));
        if low > high {
            return None;
        }
        let more = (LEAST_FACTOR.ln() - (high - low)).max(0.0) / 2.0;
        let (low, high) = (low - more, high + more);
        let room = ROOM * (high - low);
        Some(Axis { range: low - room..high + room, ticks: Vec::new(), words })
    }

    /// The distance of two figures on an axis of this length.
    pub(super) fn pixels(&self, low: f64, high: f64, length: u32) -> f64 {
        f64::from(length) * (high / low).ln() / (self.range.end - self.range.start)
    }

    /// Message lengths along the bottom; ticks are measured lengths. `beside` is a factor that leaves room on
    /// both sides.
    pub(super) fn of_sizes(sizes: &[u32], beside: f64) -> Option<Axis> {
        let figures = || sizes.iter().map(|size| f64::from(*size)).filter(|size| *size > 0.0);
        let mut axis = Axis::around(figures(), size_words)?;
        axis.range = axis.range.start - beside.ln()..axis.range.end + beside.ln();
        let gap = ((axis.range.end - axis.range.start) / MOST_SIZES).exp();
        for size in figures() {
            if axis.ticks.last().is_none_or(|last| size / last >= gap) {
                axis.ticks.push(size);
            }
        }
        Some(axis)
    }

    /// Ratios around 1; ticks are at multiples of a percentage, or at powers of 2 for a wide range.
    pub(super) fn of_ratios(ratios: impl Iterator<Item = f64>) -> Option<Axis> {
        let (low, high) = ratios
            .filter(|ratio| ratio.is_finite() && *ratio > 0.0)
            .map(f64::ln)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), f| (low.min(f), high.max(f)));
        if low > high {
            return None;
        }
        let room = ROOM * (high - low).max(f64::MIN_POSITIVE);
        let range = low - room..high + room;
        let (start, end) = (range.start.exp(), range.end.exp());
        let steps = |step: f64| -> Vec<f64> {
            let steps = ((start - 1.0) / step).ceil() as i32..=((end - 1.0) / step).floor() as i32;
            steps.map(|number| 1.0 + step * f64::from(number)).filter(|at| *at > 0.0).collect()
        };
        let powers = |every: usize| -> Vec<f64> {
            let powers =
                (range.start / 2f64.ln()).ceil() as i32..=(range.end / 2f64.ln()).floor() as i32;
            powers.filter(|n| n % every as i32 == 0).map(|n| 2f64.powi(n)).collect()
        };
        let by_percent =
            [0.01, 0.02, 0.05, 0.1, 0.2].map(steps).into_iter().filter(|_| end / start < 3.0);
        let by_powers = [1, 2, 4, 8, 16, 64].map(powers);
        let mut all = by_percent.chain(by_powers);
        let ticks = all.find(|ticks| ticks.len() <= MOST_TICKS).unwrap_or_default();
        Some(Axis { range, ticks, words: ratio_words })
    }

    /// Figures along the left side; ticks are at 1, 2 and 5, or fewer.
    pub(super) fn of_figures(
        figures: impl Iterator<Item = f64>,
        words: fn(f64) -> String,
    ) -> Option<Axis> {
        let axis = Axis::around(figures, words)?;
        let grids: [(&[f64], i32); 6] = [
            (&[1.0, 2.0, 5.0], 1),
            (&[1.0, 3.0], 1),
            (&[1.0], 1),
            (&[1.0], 2),
            (&[1.0], 3),
            (&[1.0], 6),
        ];
        let ends = axis.range();
        let ticks = |(steps, every): (&[f64], i32)| -> Vec<f64> {
            let powers = ends.start.log10().floor() as i32..=ends.end.log10().ceil() as i32;
            let powers = powers.filter(|power| power.rem_euclid(every) == 0);
            powers
                .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)))
                .filter(|figure| ends.contains(figure))
                .collect()
        };
        let all = grids.map(ticks);
        let few = all.iter().find(|ticks| ticks.len() <= MOST_TICKS).unwrap_or(&all[5]);
        Some(Axis { ticks: few.clone(), ..axis })
    }
}

/// The label of a ratio's tick.
fn ratio_words(ratio: f64) -> String {
    let words = format!("{ratio:.3}");
    words.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The label of a size's tick: bytes, or K and M, which are binary.
fn size_words(bytes: f64) -> String {
    let words = Size::from(bytes.round() as u32).to_string();
    words.trim_end_matches(" B").replace(" KiB", "K").replace(" MiB", "M")
}

/// The label of a tick with a number.
pub(super) fn number_words(number: f64) -> String {
    match number.log10() + 1e-9 {
        power if !(-4.0..9.0).contains(&power) => format!("{number:.0e}"),
        power if power >= 6.0 => format!("{:.0}M", number / 1e6),
        power if power >= 4.0 => format!("{:.0}k", number / 1e3),
        power if power >= 0.0 => format!("{number:.0}"),
        power => format!("{number:.*}", -power.floor() as usize),
    }
}

/// The label of a tick with a time in nanoseconds.
pub(super) fn time_words(ns: f64) -> String {
    let words = format::time(Nanoseconds(ns));
    match words.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(figures: &[f64]) -> Option<Axis> {
        Axis::of_figures(figures.iter().copied(), number_words)
    }

    fn words(figures: &[f64]) -> Vec<String> {
        let axis = of(figures).unwrap();
        axis.ticks.iter().map(|figure| axis.format_ext(figure)).collect()
    }

    #[test]
    fn ticks_are_round_few_and_within_the_range() {
        assert_eq!(words(&[2.1, 180.0]), ["2", "5", "10", "20", "50", "100", "200"]);
        assert_eq!(words(&[0.02, 35.0]), ["0.03", "0.1", "0.3", "1", "3", "10", "30"]);
        assert_eq!(words(&[1.0, 1e6]), ["1", "10", "100", "1000", "10k", "100k", "1M"]);
        assert!(words(&[1e-3, 1e15]).len() <= MOST_TICKS);
        assert!(of(&[f64::NAN, f64::INFINITY, 0.0, -1.0]).is_none());
        for one in [1e-3, 1.0, 123.0, 9e14] {
            let axis = of(&[one]).unwrap();
            assert!(axis.range().contains(&one) && !axis.ticks.is_empty(), "{axis:?}");
        }
    }

    #[test]
    fn figures_lie_within_the_plot_whatever_they_are() {
        let axis = of(&[1.0, 1000.0]).unwrap();
        assert_eq!(axis.map(&1000f64.sqrt(), (0, 100)), 50);
        for figure in [f64::MIN_POSITIVE, 0.5, f64::MAX, f64::INFINITY] {
            assert!((0..=100).contains(&axis.map(&figure, (100, 0))), "{figure}");
        }
    }

    #[test]
    fn sizes_are_ticks_as_far_as_there_is_room() {
        let all: Vec<u32> = (4..=16).map(|power| 1 << power).collect();
        let axis = Axis::of_sizes(&all, 1.0).unwrap();
        assert!(axis.ticks.len() < all.len() && axis.ticks.len() > 4, "{axis:?}");
        for (bytes, text) in [(16.0, "16"), (4096.0, "4K"), (1500.0, "1500")] {
            assert_eq!(size_words(bytes), text);
        }
        assert!(Axis::of_sizes(&[0], 1.0).is_none());
    }

    #[test]
    fn ratios_have_ticks_around_1() {
        let words = |ratios: &[f64]| -> Vec<String> {
            let axis = Axis::of_ratios(ratios.iter().copied()).unwrap();
            axis.ticks.iter().map(|ratio| axis.format_ext(ratio)).collect()
        };
        assert_eq!(words(&[0.97, 1.03]), ["0.97", "0.98", "0.99", "1", "1.01", "1.02", "1.03"]);
        assert_eq!(words(&[0.97, 1.5]), ["1", "1.1", "1.2", "1.3", "1.4", "1.5"]);
        assert_eq!(words(&[0.3, 9.0]), ["0.25", "0.5", "1", "2", "4", "8"]);
        assert!(Axis::of_ratios([f64::NAN].into_iter()).is_none());
    }

    #[test]
    fn times_have_their_unit() {
        for (ns, text) in [(20.0, "20 ns"), (1000.0, "1 µs"), (5e7, "50 ms")] {
            assert_eq!(time_words(ns), text);
        }
    }
}
