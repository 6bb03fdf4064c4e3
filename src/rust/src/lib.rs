//! The R side of xlaffi: one file per R object, no numerics and no raw C API of XLA.
//!
//! R calls the functions marked `#[extendr]` by `.Call(wrap__<name>, ...)`. Each runs under
//! [`failure::guard`], so an error or a panic reaches R as data and is raised there. Objects are
//! external pointers ([`pointer`]); everything here runs on R's own thread.

// extendr_module! makes public functions, which only R calls.
#![allow(missing_docs)]

mod about;
mod buffer;
mod client;
mod device;
mod dtype;
mod executable;
mod failure;
mod fast;
mod handler;
mod host;
mod literal;
mod pace;
mod plugin;
mod pointer;
mod printed;
mod program;
mod python;
mod registry;
mod run;
mod signature;
mod vector;
mod worker;

use extendr_api::prelude::*;

extendr_module! {
    mod xlaffi;
    use about;
    use buffer;
    use client;
    use device;
    use dtype;
    use run;
    use signature;
    use executable;
    use plugin;
    use printed;
    use program;
    use python;
    use registry;
}
