//! R's jumps (errors, interrupts) on their way through Rust.
//!
//! R leaves its functions by `longjmp`, which frees nothing that Rust has on the way. So each of
//! R's functions that may jump runs in [`protect`]: the jump is caught before it leaves C, becomes a
//! panic without a message as long as there are Rust frames, and goes on where [`guard`](crate::r::entry::guard)
//! has caught that.

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::panic::resume_unwind;

extern "C-unwind" {
    fn xlaffi_unwind_init();
    fn xlaffi_protect(body: unsafe extern "C-unwind" fn(*mut c_void), data: *mut c_void) -> c_int;
    fn xlaffi_unwind_go_on() -> !;
    fn R_CheckUserInterrupt();
}

/// What a panic carries that stands for a jump of R's.
struct Jump;

/// Prepares for jumps.
///
/// # Safety
/// On R's thread, while the library is being loaded.
pub unsafe fn init() {
    // SAFETY: the caller's promise. A jump leaves no Rust behind but this frame and its caller's.
    unsafe { xlaffi_unwind_init() };
}

struct Call<F, T> {
    body: F,
    result: MaybeUninit<T>,
}

unsafe extern "C-unwind" fn run<F: FnOnce() -> T + Copy, T: Copy>(data: *mut c_void) {
    // SAFETY: `protect` passes its own `Call`, which nobody else uses meanwhile.
    let call = unsafe { &mut *data.cast::<Call<F, T>>() };
    call.result = MaybeUninit::new((call.body)());
}

/// Runs `body`, out of which R may jump. Where it does, this unwinds to the function that R called,
/// and there R's jump goes on.
///
/// # Safety
/// On R's thread, within a [`guard`](crate::r::entry::guard). At the moment of a jump `body` has nothing to be freed
/// (what it captures has not: it is `Copy`), and it does not panic.
pub unsafe fn protect<T: Copy>(body: impl FnOnce() -> T + Copy) -> T {
    fn start<F: FnOnce() -> T + Copy, T: Copy>(call: &mut Call<F, T>) -> c_int {
        // SAFETY: the function fits the data; the frames between are C's and those of `run` and
        // `body`, which have nothing to free.
        unsafe { xlaffi_protect(run::<F, T>, std::ptr::from_mut(call).cast()) }
    }
    let mut call = Call {
        body,
        result: MaybeUninit::uninit(),
    };
    if start(&mut call) != 0 {
        resume_unwind(Box::new(Jump));
    }
    // SAFETY: `run` came to its end.
    unsafe { call.result.assume_init() }
}

/// Whether a panic stands for a jump.
pub fn is_jump(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Jump>()
}

/// Lets R's jump go on.
///
/// # Safety
/// On R's thread, after a panic that [`is_jump`], with nothing left to be freed between here and R.
pub unsafe fn go_on() -> ! {
    // SAFETY: the caller's promise.
    unsafe { xlaffi_unwind_go_on() }
}

/// Jumps where the user has pressed Ctrl-C.
pub fn check_interrupt() {
    // SAFETY: only functions that R called get here, on R's thread.
    unsafe { protect(|| R_CheckUserInterrupt()) };
}
