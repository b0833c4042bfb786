//! The harness's own floor: see [`cpb_core::null`].

use crate::Implementation;
use cpb_core::null::{NULL, Null};

pub(crate) const ENTRY: Implementation = Implementation {
    name: NULL,
    environment: Vec::new,
    executors: None,
    open: |_| Ok(Box::new(Null)),
};
