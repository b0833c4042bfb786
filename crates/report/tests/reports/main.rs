//! Printed reports of records: synthetic ones, published ones, and ones with planted costs. No library is
//! linked here.

mod explain;
mod golden;
mod planted_truth;
mod published;
