//! The names of libraries that this build does without: a plan may name them all the same, and a report
//! then says why they are missing.

use crate::{Entry, Unavailable, Variants};
use cpb_core::{Provider, Unsupported};

/// A library's entry.
pub(crate) const fn entry(name: &'static str) -> Entry {
    Entry {
        name,
        about: "left out when this cpb was built",
        environment: Vec::new,
        loads: false,
        variants: Variants::None,
        open,
    }
}

fn open(_: &str) -> Result<Box<dyn Provider + Send + Sync>, Unavailable> {
    let detail = "left out when this cpb was built; a complete build has it (`make static`)";
    Err(Unavailable { reason: Unsupported::BuildOption, detail: detail.to_owned() })
}
