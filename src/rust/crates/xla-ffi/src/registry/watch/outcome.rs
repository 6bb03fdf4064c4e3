//! What a run of a handler left behind.

use super::scratch_source::Spoilt;
use super::zone::Zone;
use crate::sys;

/// What a run left behind.
pub(super) struct Run {
    pub(super) args: Vec<Option<Zone>>,
    /// Those that have memory of their own.
    pub(super) rets: Vec<Option<Zone>>,
    pub(super) aliases: Vec<Option<usize>>,
    /// Scratch memory beside which it wrote.
    pub(super) scratch: Vec<Spoilt>,
    pub(super) error: *mut sys::XLA_FFI_Error,
}

impl Run {
    pub(super) fn ret(&self, index: usize) -> &[u8] {
        let zone = match self.aliases[index] {
            Some(arg) => &self.args[arg],
            None => &self.rets[index],
        };
        zone.as_ref().map_or(&[], Zone::inside)
    }

    /// What every byte of that result was at first, if it has memory of its own.
    pub(super) fn ret_fill(&self, index: usize) -> Option<u8> {
        self.rets[index].as_ref().map(Zone::filled_with)
    }
}
