//! Work that only the main thread may do, asked for by other threads.
//!
//! R runs on one thread. A thread that needs it [asks](ask): its errand is queued, and it waits.
//! The main thread [serves](serve) errands one by one, wherever it waits itself, and where it is
//! told by the bell that there is one. Nothing here is locked while an errand runs, so an errand may
//! wait in its turn, and serve others meanwhile.

mod ask;
mod attend;
mod queue;
mod thread;

pub use ask::{ask, is_needed, wake_askers};
pub use attend::{attend, claim, serve, Attending};
pub use queue::{close, has_work};
pub use thread::{depth, is_here, is_serving, wake, Patience, Refusal};

#[cfg(test)]
mod tests;
