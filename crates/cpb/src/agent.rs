//! cpb on another machine: what it is told and says ([`protocol`]), and what runs there ([`server`]).

pub mod protocol;
pub mod server;
