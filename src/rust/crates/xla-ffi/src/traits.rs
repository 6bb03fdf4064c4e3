//! What XLA is told of a handler.

use core::fmt;
use core::ops::BitOr;

use crate::sys;

/// Properties of a handler that XLA asks for before its first call; see
/// [`Op::TRAITS`](crate::Op::TRAITS).
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Traits(sys::XLA_FFI_Handler_Traits);

impl Traits {
    /// None of them.
    pub const NONE: Traits = Traits(0);

    /// The handler does nothing but launch work on the stream that it is given, the same at every
    /// call, so XLA may record it once (in a CUDA graph) and replay it without a call.
    pub const COMMAND_BUFFER_COMPATIBLE: Traits =
        Traits(sys::XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE);

    /// Those with XLA's bits; bits that this crate does not know are kept.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Traits {
        Traits(bits)
    }

    /// XLA's bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether all of `other` are among them.
    #[must_use]
    pub const fn contains(self, other: Traits) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both together, in constants; elsewhere `|` does the same.
    #[must_use]
    pub const fn with(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }
}

impl BitOr for Traits {
    type Output = Traits;

    fn bitor(self, other: Traits) -> Traits {
        self.with(other)
    }
}

impl fmt::Debug for Traits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = self.0;
        let mut parts = Vec::new();
        if self.contains(Traits::COMMAND_BUFFER_COMPATIBLE) {
            left &= !Traits::COMMAND_BUFFER_COMPATIBLE.0;
            parts.push("COMMAND_BUFFER_COMPATIBLE".to_owned());
        }
        if left != 0 {
            parts.push(format!("{left:#x}"));
        }
        let text = if parts.is_empty() {
            "NONE".to_owned()
        } else {
            parts.join(" | ")
        };
        write!(f, "Traits({text})")
    }
}
