//! The harness's own floor: see [`cpb_core::null`].

use crate::{Entry, Variants};
use cpb_core::null::{NULL, Null};

pub(crate) const ENTRY: Entry = Entry {
    name: NULL,
    about: "does nothing: the harness's own floor",
    environment: Vec::new,
    loads: false,
    variants: Variants::None,
    open: |_| Ok(Box::new(Null)),
};
