//! What a program's bytes tell both sides of the PJRT C API, and what XLA is told of it: [`Reductions`] says which
//! programs XLA's CPU would compute wrongly otherwise. The included plugin tells XLA so for whatever host it serves,
//! the host for plugins of others.

mod calls;
mod loops;
mod options;
mod reductions;
mod size;
mod statements;
mod words;

pub use calls::{renamed, targets};
pub use loops::turn_alike;
pub use options::{flag, NO_SUCH_OPTION};
pub use reductions::Reductions;
pub use size::counted;
pub use words::contains;
