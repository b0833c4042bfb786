//! The table of providers in docs/ matches `cpb list`: `CPB_UPDATE_DOCS=1 cargo test -p cpb --test cli
//! providers_page` updates it.

use cpb_core::catalog::{self, Provision};
use std::fmt::Write;

const BEGIN: &str = "<!-- providers, from `cpb list` -->\n";
const END: &str = "<!-- end of providers -->";

#[test]
fn the_table_of_providers_is_what_cpb_list_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/providers.md");
    let readme = std::fs::read_to_string(path).expect("docs/providers.md");
    let (before, rest) = readme.split_once(BEGIN).expect("the table's beginning");
    let (there, after) = rest.split_once(END).expect("the table's end");
    let mut table =
        String::from("\n| provider | what it is | where it comes from |\n|---|---|---|\n");
    for entry in catalog::LIST {
        let from = match entry.kind {
            Provision::Linked => "built in",
            Provision::Installed => "installed, loaded when it is measured",
            Provision::Kernel => "the kernel",
        };
        writeln!(table, "| `{}` | {} | {from} |", entry.name, entry.about).expect("a string");
    }
    table.push('\n');
    if std::env::var_os("CPB_UPDATE_DOCS").is_some() {
        let written = format!("{before}{BEGIN}{table}{END}{after}");
        std::fs::write(path, written).expect("docs/providers.md can be written");
        return;
    }
    assert_eq!(there, table, "run this test with CPB_UPDATE_DOCS=1");
}
