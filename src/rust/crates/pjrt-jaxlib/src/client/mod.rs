//! Clients and their devices.

pub(crate) mod device;
pub(crate) mod entries;
pub(crate) mod options;

pub(crate) use entries::Client;
