//! The memory's own bound: see [`cpb_core::copy`].

use crate::{Entry, Variants};
use cpb_core::copy::{MEMCPY, Memcpy};

pub(crate) const ENTRY: Entry = Entry {
    name: MEMCPY,
    about: "copies and computes nothing: the memory's own bound",
    environment: Vec::new,
    loads: false,
    variants: Variants::None,
    open: |_| Ok(Box::new(Memcpy { executor: "the C library's memcpy", options: "" })),
};
