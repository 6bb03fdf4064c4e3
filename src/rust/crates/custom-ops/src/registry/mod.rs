//! All ops of this process, what compiled programs keep of them, and the functions that XLA is given.

mod entry;
mod register;
mod run;
mod state;
mod table;

pub use register::{refuse_on_cuda, register};
pub use table::{common, registered, runs};
