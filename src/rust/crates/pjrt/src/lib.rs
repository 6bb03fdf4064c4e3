//! A host for PJRT plugins: load one, compile StableHLO, move buffers, execute.
//!
//! [`Plugin`] → [`Client`] → [`Executable`] and [`Buffer`]. Every object keeps what it came from
//! alive, so they may be dropped in any order and from any thread. A plugin's library is never
//! unloaded: XLA keeps threads and statics that must not lose their code.
//!
//! Data goes in by [`Client::upload`] and out by [`Buffer::read`]. Both convert the element type
//! and the order (R's memory is column-major, XLA's row-major) in one pass.

mod api;
mod barrier;
mod buffer;
mod client;
mod compile;
mod convert;
mod custom_calls;
mod device;
mod dtype;
mod empty_layouts;
mod error;
mod event;
mod executable;
mod execute;
mod host_data;
mod in_memory;
mod kind;
mod layout;
mod lost;
mod options;
mod parts;
mod plugin;
mod program;
mod read;
mod ready;
mod sharding;
mod small;
mod stages;
mod staging;
mod stored;
mod transfer;
mod upload;
mod value;

pub use barrier::{catch_exceptions, Barrier, Fallible, Infallible};
pub use buffer::Buffer;
pub use client::Client;
pub use custom_calls::{custom_calls, may_have_custom_calls, may_have_side_effects, CustomCall};
pub use device::{Device, Memory, MemoryStats};
pub use dtype::DType;
pub use empty_layouts::order_nothing_by_default;
pub use error::{Code, Error, Kind, Result};
pub use event::Event;
pub use executable::Executable;
pub use execute::ExecuteOptions;
pub use host_data::{Dest, HostData, Source};
pub use in_memory::Shape;
pub use kind::ProgramKind;
pub use layout::Order;
pub use options::{compile_options, CompileOptions};
pub use parts::Parts;
pub use plugin::Plugin;
pub use program::{Program, ProgramFormat};
pub use programs::{Reductions, NO_SUCH_OPTION};
pub use sharding::{Part, Sharding, Shardings};
pub use stored::Stored;
pub use value::Value;
