//! Process 0's side: lets the processes in, passes on what one tells to the others, and says who is gone.

mod admission;
mod listener;
mod service;
mod state;

pub(super) use listener::{open, Listener};
