//! All ops of this process, what compiled programs keep of them, and the functions that XLA is given.

mod entry;
mod refused;
mod register;
mod run;
mod state;
mod table;

pub use refused::refuse_target_on_cuda;
pub use register::{refuse_on_cuda, register};
pub use table::{common, registered, runs};
