//! cpb on another machine: the orders and answers between it and the host ([`protocol`]), and the agent that
//! runs there ([`server`]).

pub mod protocol;
pub mod server;
