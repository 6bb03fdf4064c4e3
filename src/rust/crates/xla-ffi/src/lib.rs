//! Typed, safe Rust over XLA's FFI C API: write custom-call handlers in Rust.
//!
//! An op is three things: a struct of its operands ([`io!`]), its name and element types ([`Op`]),
//! and its body ([`Kernel`]). [`handler`] makes of them the C function that XLA calls. Operands are
//! checked before the body runs, and no body needs `unsafe`.
//!
//! ```
//! use xla_ffi::{io, Arg, Cx, Floats, HandlerFn, Host, Kernel, MinRank, Op, Platform, Result, Ret, Scalar};
//!
//! // What the op needs of a platform, per element type: here, of the CPU.
//! trait Negate<T>: Platform {
//!     fn negate(data: &mut [T]);
//! }
//! impl<T: Scalar + std::ops::Neg<Output = T>> Negate<T> for Host {
//!     fn negate(data: &mut [T]) {
//!         data.iter_mut().for_each(|x| *x = -*x);
//!     }
//! }
//!
//! io! {
//!     /// `y = -x`, and how many rows each matrix has.
//!     pub struct NegIo<'f, T> {
//!         /// `(..., m, n)`
//!         x: Arg<'f, T, MinRank<2>>,
//!         /// `(..., m, n)`
//!         y: Ret<'f, T, MinRank<2>>,
//!         /// `(...)`
//!         rows: Ret<'f, i32>,
//!     }
//! }
//!
//! pub struct Neg;
//!
//! impl Op for Neg {
//!     const TARGET: &'static str = "neg";
//!     type Dtypes = Floats; // f32 and f64; see also RealAndComplex, Integers, AllDtypes, dtype_set!
//! }
//!
//! impl<T: Scalar, P: Negate<T>> Kernel<P, T> for Neg {
//!     type Io<'f> = NegIo<'f, T>;
//!
//!     fn run(mut io: NegIo<'_, T>, _cx: &Cx<'_, P>) -> Result<()> {
//!         let (batch_dims, _batch, [m, _n]) = io.x.split_dims()?;
//!         io.y.expect_dims(io.x.dims())?;
//!         io.rows.expect_dims(batch_dims)?;
//!         io.y.copy_from(&io.x)?; // nothing to do where XLA gave both the same memory
//!         P::negate(io.y.as_mut_slice()?);
//!         io.rows.as_mut_slice()?.fill(m as i32);
//!         Ok(())
//!     }
//! }
//!
//! let for_xla: HandlerFn = xla_ffi::handler::<Neg, Host>;
//! ```
//!
//! An op over buffers of any type, with attributes and no results:
//!
//! ```
//! use xla_ffi::{io, AnyBuffer, Attr, Cx, HandlerFn, Host, Kernel, Op, Platform, Result, Untyped};
//!
//! io! {
//!     pub struct ShowIo<'f> {
//!         /// any shape
//!         x: AnyBuffer<'f>,
//!         /// printed first
//!         header: Attr<&'f str> = "buffer",
//!         limit: Attr<Option<i64>>,
//!     }
//! }
//!
//! pub struct Show;
//!
//! impl Op for Show {
//!     const TARGET: &'static str = "show";
//!     type Dtypes = Untyped;
//! }
//!
//! impl<P: Platform> Kernel<P> for Show {
//!     type Io<'f> = ShowIo<'f>;
//!
//!     fn run(io: ShowIo<'_>, _cx: &Cx<'_, P>) -> Result<()> {
//!         println!("{}: {} {:?}", *io.header, io.x.dtype(), io.x.dims());
//!         if let Some(limit) = *io.limit {
//!             println!("{:?}", io.x.as_bytes()?.get(..limit as usize));
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let for_xla: HandlerFn = xla_ffi::handler::<Show, Host>;
//! ```

#![deny(
    missing_docs,
    rustdoc::broken_intra_doc_links,
    rustdoc::private_intra_doc_links
)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod attr;
mod attrs;
mod buffer;
mod completion;
mod context;
mod dims;
mod dtype;
mod dtype_set;
mod entry;
mod error;
mod float_mode;
mod fork_join;
mod frame;
mod io;
mod io_macro;
mod layout;
mod nearest;
mod op;
mod operand;
mod panics;
mod pending;
mod pool;
mod query;
#[cfg(feature = "registry")]
#[cfg_attr(docsrs, doc(cfg(feature = "registry")))]
pub mod registry;
mod report;
mod scratch;
mod state;
mod state_type;
mod sync;
#[doc(hidden)]
pub mod sys;
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub mod testing;
mod traits;
mod user_data;
mod version;
mod view;

/// For handlers that pass a call frame on instead of decoding it, or decode it by a table.
#[doc(hidden)]
pub mod raw {
    pub use crate::entry::{enter, OpEntry};
    pub use crate::nearest::nearest;
    pub use crate::report::report;
    pub use crate::state::enter_instantiate;
    pub use crate::version::answer_metadata;
}

pub use attr::{AnyAttr, AttrType, Attrs};
pub use attrs::AttrValue;
pub use buffer::{AnyBuffer, AnyBufferMut};
pub use context::Context;
pub use dims::{AnyRank, MinRank, Rank, RankCheck, RankSpec};
pub use dtype::{DataKind, DataType, DataTypeInfo, Pred, Scalar};
pub use dtype_set::{AllDtypes, AnyFloats, Floats, Integers, RealAndComplex, Untyped};
pub use entry::handler;
pub use error::{Code, Error, Operand, OperandKind, Result};
pub use frame::{CallFrame, Described};
pub use half;
pub use io::{Attr, Field, FieldDtype, FieldInfo, FieldKind, Io, RemainingArgs, RemainingRets};
pub use num_complex::{self, Complex};
pub use op::{describe, Cx, Dispatch, DtypeSet, Host, Kernel, Op, OpInfo, Platform};
pub use operand::{Arg, Ret};
pub use pending::{KeptArg, KeptRet, Pending, Promise};
pub use query::{metadata, Answer, Metadata};
pub use scratch::Scratch;
pub use state::{bundle, Stateful};
pub use traits::Traits;
pub use user_data::UserData;
pub use version::{HandlerFn, REPORTED_VERSION};

/// For the macros of this crate only.
#[doc(hidden)]
pub mod __private {
    pub use crate::dtype::Generic;
    pub use crate::layout::{deciding_dtype, no_kernel, Layout};
    pub use crate::op::run_kernel;
}

/// Its examples compile and run, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
