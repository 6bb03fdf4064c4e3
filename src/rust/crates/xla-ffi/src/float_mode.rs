//! The processor's treatment of subnormal numbers.
//!
//! XLA's CPU client calls handlers with subnormals flushed to zero. Rust's code, LAPACK's and
//! whatever a body calls is compiled for gradual underflow, and a matrix must not come out otherwise
//! on one of XLA's threads than on another.

/// Gradual underflow on this thread for as long as it lives.
pub(crate) struct GradualUnderflow {
    found: mode::Bits,
}

impl GradualUnderflow {
    #[inline]
    pub(crate) fn new() -> Self {
        let found = mode::get();
        if found & mode::FLUSH != 0 {
            mode::set(found & !mode::FLUSH);
        }
        GradualUnderflow { found }
    }
}

impl Drop for GradualUnderflow {
    #[inline]
    fn drop(&mut self) {
        if self.found & mode::FLUSH != 0 {
            mode::set(self.found);
        }
    }
}

/// How a thread treats them, for another to do the same.
#[cfg(feature = "registry")]
#[derive(Clone, Copy)]
pub(crate) struct FloatMode(mode::Bits);

#[cfg(feature = "registry")]
impl FloatMode {
    /// This thread's.
    pub(crate) fn current() -> Self {
        FloatMode(mode::get())
    }

    /// Makes it this thread's.
    pub(crate) fn set(self) {
        mode::set(self.0);
    }
}

/// Runs `body` as XLA's CPU client runs handlers, and makes sure that it leaves it so.
#[cfg(feature = "testing")]
pub(crate) fn as_under_xla<R>(body: impl FnOnce() -> R) -> R {
    struct Restore(mode::Bits);
    impl Drop for Restore {
        fn drop(&mut self) {
            mode::set(self.0);
        }
    }
    let found = mode::get();
    let _restore = Restore(found);
    mode::set(found | mode::FLUSH);
    let result = body();
    assert_eq!(
        mode::get() & mode::FLUSH,
        mode::FLUSH,
        "the handler changed how the processor treats subnormals"
    );
    result
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod mode {
    use core::arch::asm;

    pub(super) type Bits = u32;

    /// Results flushed to zero, operands taken for zero.
    pub(super) const FLUSH: Bits = (1 << 15) | (1 << 6);

    #[inline]
    pub(super) fn get() -> Bits {
        let mut bits: Bits = 0;
        // SAFETY: it writes four bytes, which are there.
        unsafe { asm!("stmxcsr [{}]", in(reg) &mut bits, options(nostack, preserves_flags)) };
        bits
    }

    #[inline]
    pub(super) fn set(bits: Bits) {
        // SAFETY: it reads four bytes; they are what `get` gave but for bits that every such
        // processor has.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &bits, options(nostack, preserves_flags)) };
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod mode {
    use core::arch::asm;

    pub(super) type Bits = u64;

    /// Operands and results flushed to zero, of half precision too.
    pub(super) const FLUSH: Bits = (1 << 24) | (1 << 19);

    #[inline]
    pub(super) fn get() -> Bits {
        let bits: Bits;
        // SAFETY: it reads this thread's register.
        unsafe { asm!("mrs {}, fpcr", out(reg) bits, options(nomem, nostack, preserves_flags)) };
        bits
    }

    #[inline]
    pub(super) fn set(bits: Bits) {
        // SAFETY: what `get` gave but for bits that every such processor has.
        unsafe { asm!("msr fpcr, {}", in(reg) bits, options(nostack, preserves_flags)) };
    }
}

/// Elsewhere there is nothing to be known of it.
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod mode {
    pub(super) type Bits = u32;
    pub(super) const FLUSH: Bits = 0;

    #[inline]
    pub(super) fn get() -> Bits {
        0
    }

    #[inline]
    pub(super) fn set(_bits: Bits) {}
}
