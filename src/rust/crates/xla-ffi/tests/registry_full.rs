//! A full registry; alone in its process, because it fills the one there is.

use std::collections::HashSet;

use xla_ffi::registry::{Registry, CAPACITY};
use xla_ffi::testing::Call;
use xla_ffi::{sys, Code, HandlerFn};

unsafe extern "C" fn nothing(_: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    std::ptr::null_mut()
}

#[test]
#[cfg_attr(miri, ignore = "fills every slot, which takes Miri very long")]
fn a_full_registry_says_so_and_goes_on_working() {
    const { assert!(CAPACITY >= 256) };
    let registry = Registry::global();
    let register = |i: usize| {
        // SAFETY: a handler, and a function of this program.
        unsafe { registry.register(&format!("op {i}"), "host", nothing as HandlerFn, None) }
    };
    let trampolines: HashSet<usize> = (0..CAPACITY)
        .map(|i| register(i).expect("a free slot").trampoline as usize)
        .collect();
    assert_eq!(
        trampolines.len(),
        CAPACITY,
        "each name has a function of its own"
    );

    let failure = register(CAPACITY).expect_err("full");
    assert_eq!(failure.code(), Code::ResourceExhausted);
    let text = format!(
        "cannot register custom call target `op {CAPACITY}` (platform host): \
         all {CAPACITY} slots are taken, and XLA never lets go of a name"
    );
    assert_eq!(failure.to_string(), text);

    // Withdrawing frees no slot, since XLA keeps the function; but the name can come back.
    assert!(registry.unregister("op 7", "host"));
    register(CAPACITY).expect_err("still full");
    let again = register(7).expect("its own slot");
    Call::new().run(again.trampoline).expect("it works");
}
