//! Handlers by target and platform, behind functions whose addresses never change.
//!
//! XLA keeps the pointer that it was given under a name for ever, and refuses a second one. So XLA
//! is given a [trampoline](Registered::trampoline), which runs whatever handler is current: one can
//! be replaced, or withdrawn before its library is unloaded, and a call that comes too late gets an
//! error instead of unmapped memory.
//!
//! What XLA has asked once it keeps, too: a handler that takes the place of another must have the
//! same traits and stages, and a version that XLA accepts.

mod barrier;
mod by_slot;
mod call;
mod calls;
mod current;
mod entry;
mod futures;
mod handlers;
mod lookup;
mod names;
mod register;
mod services;
mod slot;
mod slots;
mod state;
mod tables;
mod trampoline;
mod watch;
mod withdrawn;

pub use barrier::metadata_behind;
pub use current::registered_with;
pub use entry::{canonical_platform, Entry};
pub use handlers::{Barrier, Handlers};
pub use register::{Registered, Replaced};
pub use slots::CAPACITY;
pub use state::Registry;
pub use watch::{checking, CheckedScratch, Checks, Debug, Finding, Kind, Profile, Row};
pub use withdrawn::Withdrawn;
