//! The R side of xlaffi: no numerics and no raw C API of XLA.
//!
//! R calls the functions in `r::entry::routines!` by `.Call(wrap__<name>, ...)`. Each runs under
//! `r::entry::guard`, so an error or a panic reaches R as data and is raised there, and a jump of R's
//! (`r::unwind`) frees what Rust holds. Objects are external pointers (`r::pointer`); everything here
//! runs on R's own thread.

mod callback;
mod custom;
mod host;
mod r;
mod routines;
mod runtime;
