//! R's thread and others: work that may take long, and where R's thread serves programs that need R.

pub mod abandon;
pub mod attend;
pub mod contained;
pub mod idle;
pub mod leave;
mod on_r;
pub mod pace;
pub mod serve;
pub mod worker;
