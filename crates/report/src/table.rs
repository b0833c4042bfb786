//! Blocks of figures in columns that line up from block to block.

use crate::ascii;
use anstyle::Style;

/// One place in a table.
#[derive(Clone, Debug, Default)]
pub(crate) enum Place {
    /// Nothing.
    #[default]
    Blank,
    /// A figure and its margin.
    Figure {
        /// The number with its mark, aligned at its end.
        number: String,
        /// The margin, aligned at its beginning.
        margin: String,
        /// The style of the number.
        style: Style,
    },
    /// A word instead of a figure.
    Word(&'static str),
    /// Text that takes the rest of the row.
    Note(String),
}

impl Place {
    /// A plain figure.
    pub(crate) fn figure(number: String, margin: String) -> Place {
        Place::Figure { number, margin, style: Style::new() }
    }
}

/// Some rows under one heading.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The common part of the rows.
    pub(crate) heading: String,
    /// The headings of the columns.
    pub(crate) columns: Vec<String>,
    /// Names and places; each row has as many places as there are columns.
    pub(crate) rows: Vec<(String, Vec<Place>)>,
}

/// Styles of the parts that are not figures.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    /// Headings.
    pub(crate) heading: Style,
    /// Margins, columns, words.
    pub(crate) faint: Style,
}

const INDENT: usize = 2;
const GAP: usize = 2;

#[derive(Clone, Copy, Default)]
struct ColumnWidth {
    number: usize,
    margin: usize,
    whole: usize,
}

impl ColumnWidth {
    fn fit(&mut self, place: &Place) {
        match place {
            Place::Blank | Place::Note(_) => {}
            Place::Figure { number, margin, .. } => {
                self.number = self.number.max(length(number));
                self.margin = self.margin.max(length(margin));
            }
            Place::Word(word) => self.whole = self.whole.max(length(word)),
        }
    }

    fn width(&self) -> usize {
        let gap = usize::from(self.margin > 0);
        self.whole.max(self.number + gap + self.margin)
    }
}

/// Lays blocks out in lines of at most `width` columns, or as lists if they do not fit.
pub(crate) fn render(blocks: &[Block], width: usize, look: Look) -> String {
    render_apart(blocks, width, look, "\n")
}

/// The same with another separator than an empty line between blocks.
pub(crate) fn render_apart(blocks: &[Block], width: usize, look: Look, between: &str) -> String {
    let (label, columns) = measure(blocks);
    let table = fits(blocks, width);
    let mut text = String::new();
    for block in blocks {
        if !text.is_empty() {
            text.push_str(between);
        }
        let heading = wrap(&block.heading, width).join("\n");
        let block = Block { heading, ..block.clone() };
        if table {
            grid(&mut text, &block, label, &columns, look);
        } else {
            list(&mut text, &block, width, look);
        }
    }
    text
}

/// Whether blocks fit as a table.
pub(crate) fn fits(blocks: &[Block], width: usize) -> bool {
    let (label, columns) = measure(blocks);
    let notes = blocks.iter().flat_map(|block| &block.rows).flat_map(|(_, places)| places);
    let longest = notes.map(|place| match place {
        Place::Note(words) => GAP + length(words),
        _ => 0,
    });
    let columns: usize = columns.iter().map(|column| GAP + column.width()).sum();
    label + columns.max(longest.max().unwrap_or(0)) <= width
}

/// The widths of the names and of each column.
fn measure(blocks: &[Block]) -> (usize, Vec<ColumnWidth>) {
    let count = blocks.iter().map(|block| block.columns.len()).max().unwrap_or(0);
    let mut columns = vec![ColumnWidth::default(); count];
    let mut label = 0;
    for block in blocks {
        for (column, name) in columns.iter_mut().zip(&block.columns) {
            column.whole = column.whole.max(length(name));
        }
        for (name, places) in &block.rows {
            label = label.max(INDENT + length(name));
            columns.iter_mut().zip(places).for_each(|(column, place)| column.fit(place));
        }
    }
    (label, columns)
}

fn grid(text: &mut String, block: &Block, label: usize, columns: &[ColumnWidth], look: Look) {
    let mut names = String::new();
    for (column, name) in columns.iter().zip(&block.columns) {
        names.push_str(&" ".repeat(GAP + column.width() - length(name)));
        names.push_str(name);
    }
    // A long heading may extend over the room that the columns' names leave.
    let heading = block.heading.lines().last().map_or(0, length);
    let names = " ".repeat(label) + &names;
    let free = names.chars().take_while(|c| *c == ' ').count();
    let names: String = if heading + GAP <= free {
        names.chars().skip(heading).collect()
    } else {
        "\n".to_owned() + &names
    };
    paint(text, look.heading, &block.heading);
    paint(text, look.faint, &names);
    end_line(text);
    for (name, places) in &block.rows {
        text.push_str(&" ".repeat(INDENT));
        text.push_str(name);
        text.push_str(&" ".repeat(label - INDENT - length(name)));
        for (column, place) in columns.iter().zip(places) {
            text.push_str(&" ".repeat(GAP));
            match place {
                Place::Blank => text.push_str(&" ".repeat(column.width())),
                Place::Note(words) => paint(text, look.faint, words),
                Place::Word(word) => {
                    text.push_str(&" ".repeat(column.width() - length(word)));
                    paint(text, look.faint, word);
                }
                Place::Figure { number, margin, style } => {
                    let tail = usize::from(column.margin > 0) + column.margin;
                    text.push_str(&" ".repeat(column.width() - tail - length(number)));
                    paint(text, *style, number);
                    text.push_str(&" ".repeat(tail - column.margin));
                    paint(text, look.faint, margin);
                    text.push_str(&" ".repeat(column.margin - length(margin)));
                }
            }
        }
        end_line(text);
    }
}

fn list(text: &mut String, block: &Block, width: usize, look: Look) {
    paint(text, look.heading, &block.heading);
    end_line(text);
    let name_width = block.columns.iter().map(|name| length(name)).max().unwrap_or(0);
    for (name, places) in &block.rows {
        text.push_str(&" ".repeat(INDENT));
        text.push_str(name);
        end_line(text);
        for (column, place) in block.columns.iter().zip(places) {
            if let Place::Note(words) = place {
                for line in wrap(words, width.saturating_sub(2 * INDENT)) {
                    text.push_str(&" ".repeat(2 * INDENT));
                    paint(text, look.faint, &line);
                    end_line(text);
                }
            }
            if matches!(place, Place::Blank | Place::Note(_)) {
                continue;
            }
            text.push_str(&" ".repeat(2 * INDENT + name_width - length(column)));
            paint(text, look.faint, column);
            text.push_str(&" ".repeat(GAP));
            match place {
                Place::Blank | Place::Note(_) => {}
                Place::Word(word) => paint(text, look.faint, word),
                Place::Figure { number, margin, style } => {
                    paint(text, *style, number);
                    text.push(' ');
                    paint(text, look.faint, margin);
                }
            }
            end_line(text);
        }
    }
}

/// Appends text in a style.
pub(crate) fn paint(text: &mut String, style: Style, what: &str) {
    if !what.trim().is_empty() {
        text.push_str(&format!("{style}{what}{style:#}"));
    } else {
        text.push_str(what);
    }
}

fn end_line(text: &mut String) {
    text.truncate(text.trim_end_matches(' ').len());
    text.push('\n');
}

/// The number of columns that a text takes on a terminal.
pub(crate) fn length(text: &str) -> usize {
    ascii::width(text)
}

/// A text aligned left in `width` columns.
pub fn left(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(length(text)))
}

/// A text aligned right in `width` columns.
pub fn right(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(length(text))) + text
}

/// Splits a word into parts of at most `width`, each as long as possible, and breaks after separators of
/// lists if there are any.
fn broken(mut word: &str, width: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    while let Some((end, _)) = word.char_indices().nth(width.max(1)) {
        let sign = word[..end].rfind([':', ';', ',', '/']).map(|place| place + 1);
        let (part, rest) = word.split_at(sign.filter(|place| *place > end / 2).unwrap_or(end));
        parts.push(part);
        word = rest;
    }
    parts.push(word);
    parts
}

/// Splits text into lines of at most `width`; a longer word continues on the next line.
pub fn wrap(words: &str, width: usize) -> Vec<String> {
    let words = ascii::shown(words);
    let mut lines = vec![String::new()];
    for word in words.split_whitespace().flat_map(|word| broken(word, width)) {
        let line = lines.last_mut().map_or(0, |line| length(line));
        if line > 0 && line + 1 + length(word) > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
