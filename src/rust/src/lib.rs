//! The R side of xlaffi: one file per R object, no numerics and no raw C API of XLA.
//!
//! R calls the functions in [`entry::routines!`] by `.Call(wrap__<name>, ...)`. Each runs under
//! [`entry::guard`], so an error or a panic reaches R as data and is raised there, and a jump of R's
//! ([`unwind`]) frees what Rust holds. Objects are external pointers ([`pointer`]); everything here
//! runs on R's own thread.

mod about;
mod argument;
mod bit64;
mod buffer;
mod by_parts;
mod callback;
mod client;
mod code;
mod device;
mod digest;
mod distributed;
mod dtype;
mod entry;
mod executable;
mod failure;
mod handler;
mod host;
mod in_flight;
mod launch;
mod literal;
mod memory;
mod other_hosts;
mod own_address;
mod own_instances;
mod own_kernel;
mod own_op;
mod own_signature;
mod pace;
mod parts;
mod plugin;
mod pointer;
mod printed;
mod process;
mod program;
mod protected;
mod python;
mod registry;
mod routine;
mod run;
mod sharding;
mod shared_library;
mod signature;
mod unwind;
mod value;
mod vector;
mod watch;
mod worker;

/// The functions that R calls, file by file.
const ROUTINES: &[&[entry::Routine]] = &[
    about::ROUTINES,
    buffer::ROUTINES,
    callback::op::ROUTINES,
    callback::request::ROUTINES,
    client::ROUTINES,
    code::ROUTINES,
    device::ROUTINES,
    digest::ROUTINES,
    distributed::ROUTINES,
    dtype::ROUTINES,
    in_flight::ROUTINES,
    own_op::ROUTINES,
    own_instances::ROUTINES,
    own_kernel::ROUTINES,
    own_signature::ROUTINES,
    run::ROUTINES,
    signature::ROUTINES,
    executable::ROUTINES,
    by_parts::ROUTINES,
    plugin::ROUTINES,
    printed::ROUTINES,
    process::ROUTINES,
    program::ROUTINES,
    python::ROUTINES,
    registry::ROUTINES,
    routine::ROUTINES,
    shared_library::ROUTINES,
    watch::ROUTINES,
];
