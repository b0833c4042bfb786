//! The command line of `cpb`: its output, what it refuses, the files it reads and writes. Measurements here
//! are short, and no figure is judged.

mod ascii;
mod bad_input;
mod compare;
mod doctor;
mod documents;
mod filter;
mod identify;
mod import;
mod library;
mod logs;
mod memory_reads;
mod otfad;
mod output;
mod own_library;
mod providers_page;
mod report;
mod schema;
