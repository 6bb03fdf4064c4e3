//! A call whose arrays were checked and laid out.

use core::ffi::c_void;

use xla_ffi::{Context, DataType, Promise, Result};

use super::arrays::{Flat, Pair};
use super::attributes::Decoded;
use super::interface::Interface;
use super::layout::Layout;

/// A call whose arrays were checked: all that its body needs but XLA's services.
pub(crate) struct Prepared<'a> {
    pub(crate) interface: &'a Interface,
    /// What each variable of the signature stands for.
    pub(crate) dtypes: &'a [DataType],
    pub(crate) attributes: &'a Decoded,
    pub(crate) layout: &'a Layout,
    pub(crate) flats: &'a [Flat<'a>],
    /// Operands whose elements are copied to their results before the body runs; they are the last
    /// of the arrays, in this order.
    pub(crate) copies: &'a [Pair],
    /// Bytes of scratch memory.
    pub(crate) scratch: usize,
    pub(crate) state: *mut c_void,
}

/// A call, ready to run: what all threads share.
pub(crate) struct Plan<'a> {
    pub(crate) call: Prepared<'a>,
    pub(crate) context: &'a Context<'a>,
    /// Makes the call one that is completed after the handler has returned.
    pub(crate) pending: &'a dyn Fn() -> Result<Promise>,
}

// SAFETY: threads run bodies on different elements of the batch, whose results lie apart; all else
// is read, but for `pending`, which only bodies of whole batches ask: those run on one thread. Bodies
// may be called from any thread, as whoever makes an op promises.
unsafe impl Sync for Plan<'_> {}
