//! The limit that memory itself sets: see [`cpb_core::copy`].

use crate::Implementation;
use cpb_core::copy::{MEMCPY, Memcpy};

pub(crate) const ENTRY: Implementation = Implementation {
    name: MEMCPY,
    environment: Vec::new,
    executors: None,
    open: |_| Ok(Box::new(Memcpy { executor: "the C library's memcpy", options: "" })),
};
