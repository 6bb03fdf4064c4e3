//! A kernel for each special function and precision: `lgamma_f64(x, value, count)`. f32 is computed in f64 and rounded
//! once, as on the CPU.
#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]

use core::arch::nvptx::*;
use special::Function;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: ends the kernel with an error.
    unsafe { trap() }
}

trait Real: Copy {
    fn widened(self) -> f64;
    fn nearest(wide: f64) -> Self;
}

impl Real for f64 {
    fn widened(self) -> f64 {
        self
    }
    fn nearest(wide: f64) -> f64 {
        wide
    }
}

impl Real for f32 {
    fn widened(self) -> f64 {
        self.into()
    }
    fn nearest(wide: f64) -> f32 {
        wide as f32
    }
}

/// The function at every element, by as many threads as there are.
///
/// # Safety
/// All arrays have `count` elements; an argument may be the very memory of the values.
#[inline(always)]
unsafe fn each<T: Real, const N: usize>(
    function: Function,
    arguments: [*const T; N],
    values: *mut T,
    count: usize,
) {
    // SAFETY: registers that every thread has.
    let (block, thread, threads, blocks) = unsafe {
        (_block_idx_x(), _thread_idx_x(), _block_dim_x(), _grid_dim_x())
    };
    let mut i = block as usize * threads as usize + thread as usize;
    while i < count {
        // SAFETY: `i < count`.
        let x = |k: usize| unsafe { *arguments[k].add(i) }.widened();
        let value = match function {
            Function::One(f) => f(x(0)),
            Function::Two(f) => f(x(0), x(1)),
            Function::Three(f) => f(x(0), x(1), x(2)),
        };
        // SAFETY: `i < count`.
        unsafe { *values.add(i) = T::nearest(value) };
        i += threads as usize * blocks as usize;
    }
}

macro_rules! kernel {
    ($name:ident: $type:ident $of:literal $($x:ident)*) => {
        /// # Safety
        /// As [`each`].
        #[no_mangle]
        pub unsafe extern "ptx-kernel" fn $name($($x: *const $type,)* values: *mut $type, count: usize) {
            const FUNCTION: Function = special::known($of);
            // SAFETY: as promised.
            unsafe { each(FUNCTION, [$($x),*], values, count) }
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
