//! R objects: how they are read, made, kept from R's collector and handed over.

pub mod argument;
pub mod bit64;
pub mod call;
pub mod entry;
pub mod failure;
pub mod finalizer;
pub mod memory;
pub mod object;
pub mod pointer;
pub mod protected;
pub mod unwind;
pub mod value;
pub mod vector;
