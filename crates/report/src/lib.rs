//! Reports: functions of a [summary](cpb_analysis::summary::Summary).
//!
//! Published tables have no summary: [`published`] shows them as they were printed.
//!
//! [`terminal`] is for people, [`markdown`] for documents, [`csv`] and [`json`] for programs. Nothing is
//! computed here, and a figure that the summary withholds cannot be shown.

pub mod ascii;
pub mod bencher;
mod by_size;
pub mod compare;
pub mod csv;
pub mod doctor;
mod execution;
pub mod explain;
mod explain_text;
mod footnotes;
mod format;
pub mod google_benchmark;
mod groups;
pub mod html;
pub mod identify;
mod inline_decryption;
pub mod json;
mod latencies;
pub mod markdown;
mod memory_read;
mod named;
mod one_pass;
pub mod published;
mod queue_gain;
mod rates;
mod retired;
mod table;
pub mod terminal;
mod threads;
mod verdict;

pub use footnotes::engine_count;
pub use table::{left, right, wrap};
