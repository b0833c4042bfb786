//! The marks of paths: each has a colour, a marker and a dash, the same on the whole page.

use maud::{Markup, html};
use plotters::style::RGBColor;

/// Okabe and Ito's colours ("Color Universal Design", 2008), those with the best contrast on white first;
/// yellow is darker. The style sheet refers to them by these numbers.
pub(super) const COLOURS: [RGBColor; 8] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x56, 0xB4, 0xE9),
    RGBColor(0x80, 0x76, 0x00),
    RGBColor(0x00, 0x00, 0x00),
];

/// Half the width of a marker on a plot's canvas.
pub(super) const REACH: i32 = 10;

/// The corners of each marker, in shares of [`REACH`] from its middle, downwards positive; a circle has none.
const MARKERS: [&[(f64, f64)]; 8] = [
    // A circle.
    &[],
    &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    &[(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)],
    &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
    &[(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)],
    // A cross of two bars.
    &[
        (-0.4, -1.2),
        (0.4, -1.2),
        (0.4, -0.4),
        (1.2, -0.4),
        (1.2, 0.4),
        (0.4, 0.4),
        (0.4, 1.2),
        (-0.4, 1.2),
        (-0.4, 0.4),
        (-1.2, 0.4),
        (-1.2, -0.4),
        (-0.4, -0.4),
    ],
    // An hourglass.
    &[(-1.0, -1.1), (1.0, -1.1), (-1.0, 1.1), (1.0, 1.1)],
    // A bar.
    &[(-1.25, -0.5), (1.25, -0.5), (1.25, 0.5), (-1.25, 0.5)],
];

/// The paths of a page, in the order in which they get their marks.
#[derive(Debug, Default)]
pub(super) struct Marks(Vec<String>);

impl Marks {
    /// Gives a path its mark if it has none.
    pub(super) fn add(&mut self, name: &str) {
        if !self.0.iter().any(|known| known == name) {
            self.0.push(name.to_owned());
        }
    }

    /// The mark of a path; `None` for any other name.
    pub(super) fn of(&self, name: &str) -> Option<Mark> {
        self.0.iter().position(|known| known == name).map(Mark)
    }

    /// The same for words that may continue after the name: `openssl, from 1 KiB`.
    fn of_words(&self, words: &str) -> Option<Mark> {
        self.of(words).or_else(|| self.of(words.split_once(", ")?.0))
    }

    /// The definitions of the page's symbols, which must appear once before their use.
    pub(super) fn symbols(&self) -> Markup {
        let first = self.0.len().min(COLOURS.len() * MARKERS.len());
        html! {
            svg class="symbols" width="0" height="0" aria-hidden="true" {
                @for mark in (0..first).map(Mark) {
                    symbol id=(format!("m{}", mark.0)) viewBox="-14 -14 28 28" {
                        (mark.shape())
                    }
                }
            }
        }
    }

    /// Style rules by which the switch of each path hides its parts of the drawings in the same operation.
    pub(super) fn switches(&self) -> String {
        let rule = |number: usize| {
            format!(".operation:has(.k{number}:not(:checked)) .s{number}{{display:none}}\n")
        };
        (0..self.0.len()).map(rule).collect()
    }

    /// A path's name, preceded by its mark if it has one.
    pub(super) fn named(&self, name: &str) -> Markup {
        html! {
            span class="path" { @if let Some(mark) = self.of_words(name) { (mark.glyph()) } (name) }
        }
    }
}

/// The mark of one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark(usize);

impl Mark {
    /// Its number on the page, which ends the class name of everything drawn for its path.
    pub(super) fn number(self) -> usize {
        self.0
    }

    fn place(self) -> usize {
        self.0 % COLOURS.len()
    }

    /// Its colour as the style sheet refers to it.
    pub(super) fn colour(self) -> RGBColor {
        COLOURS[self.place()]
    }

    /// The corners of its marker on a canvas; `None` for a circle. From the ninth path on, colours repeat
    /// with other markers.
    pub(super) fn corners(self) -> Option<Vec<(i32, i32)>> {
        let marker = MARKERS[(self.0 + self.0 / COLOURS.len()) % MARKERS.len()];
        let place = |share: f64| (share * f64::from(REACH)).round() as i32;
        let corners = marker.iter().map(|(x, y)| (place(*x), place(*y)));
        (!marker.is_empty()).then(|| corners.collect())
    }

    fn shape(self) -> Markup {
        let class = format!("c{}", self.place());
        match self.corners() {
            None => html! { circle class=(class) r=(REACH) {} },
            Some(corners) => {
                let points: Vec<String> = corners.iter().map(|(x, y)| format!("{x},{y}")).collect();
                html! { polygon class=(class) points=(points.join(" ")) {} }
            }
        }
    }

    /// The marker alone, for a line of text.
    pub(super) fn glyph(self) -> Markup {
        let symbol = self.0 % (COLOURS.len() * MARKERS.len());
        html! {
            svg class="mark" aria-hidden="true" { use href=(format!("#m{symbol}")) {} }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_of_sixty_four_paths_look_alike() {
        let looks = (0..64).map(Mark).map(|mark| {
            let RGBColor(red, green, blue) = mark.colour();
            ((red, green, blue), mark.corners())
        });
        assert_eq!(looks.collect::<HashSet<_>>().len(), 64);
    }

    #[test]
    fn a_path_keeps_its_mark_and_what_is_no_path_has_none() {
        let mut marks = Marks::default();
        for name in ["openssl", "mbedtls:c", "openssl"] {
            marks.add(name);
        }
        assert_eq!(marks.of("mbedtls:c"), Some(Mark(1)));
        assert_eq!(marks.of("16 B"), None);
        assert!(marks.named("mbedtls:c, to 64 B").into_string().contains("#m1"));
        assert_eq!(marks.named("a<b").into_string(), r#"<span class="path">a&lt;b</span>"#);
    }
}
