//! How a run of a handler differs from others.

use super::fill::Fill;
use super::zone::Place;

/// How a run differs from others.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    pub(super) fill: Fill,
    pub(super) place: Place,
    /// Results that have an operand's memory have it.
    pub(super) shared: bool,
}
