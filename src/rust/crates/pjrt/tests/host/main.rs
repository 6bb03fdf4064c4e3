//! The host on a fake plugin, without XLA.

mod behaviour;
mod fake;
mod versions;
