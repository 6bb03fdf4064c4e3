//! The host on a fake plugin, without XLA.

mod behaviour;
mod devices;
mod fake;
mod lost;
mod parts;
mod refusals;
mod versions;
