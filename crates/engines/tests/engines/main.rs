//! Drivers against device models, on a bus whose memory is that of the test.
//!
//! Every driver gives known answers in every form of dispatch, and after every fault its next job is right.

mod bus;
mod caam;
mod dcp;
mod rounds;
mod vectors;
