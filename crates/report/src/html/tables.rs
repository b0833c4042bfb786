//! Blocks of figures as tables.

use super::marks::Marks;
use crate::table::{Block, Place};
use maud::{Markup, html};

/// A block as a table with the block's heading as its name; the first column is headed `corner`.
pub(super) fn block(block: &Block, corner: &str, marks: &Marks) -> Markup {
    let table = html! {
        table {
            caption { (block.heading) }
            thead {
                tr {
                    th scope="col" { (corner) }
                    @for column in &block.columns { th scope="col" class="n" { (column) } }
                }
            }
            tbody {
                @for (name, places) in &block.rows {
                    (row(name, places, block.columns.len(), marks))
                }
            }
        }
    };
    scrolled(&block.heading, table)
}

/// A container that scrolls content wider than a phone, by keyboard as well. It is a group and not a region,
/// because dozens of landmarks on a page are of no use.
pub(super) fn scrolled(name: &str, table: Markup) -> Markup {
    scrolled_as("scroll", name, table)
}

/// The same with a class from the style sheet.
pub(super) fn scrolled_as(class: &str, name: &str, table: Markup) -> Markup {
    html! { div class=(class) tabindex="0" role="group" aria-label=(name) { (table) } }
}

fn row(name: &str, places: &[Place], columns: usize, marks: &Marks) -> Markup {
    // A row without places is a statement about all sizes: a refusal.
    if places.is_empty() {
        return html! { tr { td class="faint" colspan=(columns + 1) { (name) } } };
    }
    html! {
        tr {
            th scope="row" { (marks.named(name)) }
            @for place in places { (self::place(place, columns)) }
        }
    }
}

fn place(place: &Place, columns: usize) -> Markup {
    match place {
        Place::Blank => html! { td {} },
        Place::Word(word) => html! { td class="n faint" { (word) } },
        Place::Note(words) => html! { td class="faint" colspan=(columns) { (words) } },
        Place::Figure { number, margin, .. } => {
            let bare = number.trim_start_matches(['*', '=']);
            let mark = &number[..number.len() - bare.len()];
            html! {
                td class=(if mark.is_empty() { "n" } else { "n best" }) {
                    @if !mark.is_empty() { span class="star" { (mark) } }
                    (bare)
                    @if !margin.is_empty() { " " span class="pm" { (margin) } }
                }
            }
        }
    }
}
