//! `cpb` at the command line: what it says, what it refuses, what it reads and writes. What is measured here is
//! measured for a moment, and no figure is judged.

mod ascii;
mod bad_input;
mod compare;
mod doctor;
mod filter;
mod identify;
mod import;
mod library;
mod logs;
mod output;
mod providers_page;
mod report;
mod schema;
