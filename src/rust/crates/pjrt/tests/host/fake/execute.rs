//! What the words of a program do.

use super::objects::*;
use super::run::*;
use pjrt_api::*;
use std::ptr::null_mut;

/// A module of two results: one in two tiles on devices 1 and 0, and one that both have.
pub const SHARDED: &[u8] =
    b"\x62\x10\x08\x02\x2a\x0a\x08\x03\x1a\x02\x02\x01\x22\x02\x01\x00\x2a\x00";

/// The module of the program "typed", with a configuration around it: a parameter f32[2,3].
pub const TYPED: &[u8] = b"\x0a\x0a\x22\x08\x0a\x06\x10\x0b\x1a\x02\x02\x03";

/// # Safety
/// The lists are as the API says, with an element for `device`.
pub unsafe fn execute_on(
    a: &PJRT_LoadedExecutable_Execute_Args,
    code: &str,
    device: usize,
) -> *mut PJRT_Error {
    // SAFETY: the caller's promise, and the lists are as long as the host says.
    let (inputs, kept, outputs) = unsafe {
        let options = &*a.options;
        let kept = match options.num_non_donatable_input_indices {
            0 => &[],
            n => std::slice::from_raw_parts(options.non_donatable_input_indices, n),
        };
        let inputs = std::slice::from_raw_parts(*a.argument_lists.add(device), a.num_args);
        (inputs, kept, *a.output_lists.add(device))
    };
    let fails = Some((PJRT_Error_Code::INTERNAL, "the handler said no".to_string()));
    let output = |i: usize, b: *mut PJRT_Buffer| {
        // SAFETY: the host's list has room for each output.
        unsafe { *outputs.add(i) = b }
    };
    let event = FakeEvent::default();
    match code {
        "fails" => return error(PJRT_Error_Code::ABORTED, "not today"),
        "loses the device" => {
            let said = "CUDA error: : CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered";
            return error(PJRT_Error_Code::INTERNAL, said);
        }
        "none" => event.set(None),
        "none, fails" => event.set(fails),
        "none, second fails" => event.set(fails.filter(|_| device == 1)),
        "pass" => {
            let data = peek::<FakeBuffer, _>(inputs[0])
                .data
                .lock()
                .unwrap()
                .clone();
            let passed = take::<FakeBuffer, _>(BUFFER, six(row_major(2), FakeEvent::ready()));
            *passed.data.lock().unwrap() = data;
            output(0, passed.give());
        }
        "donor" => {
            if !kept.contains(&0) {
                peek::<FakeBuffer, _>(inputs[0]).delete();
            }
            output(0, six(row_major(2), FakeEvent::ready()));
        }
        "late" | "late, fails" => {
            let ready = FakeEvent::default();
            output(0, six(row_major(2), ready.clone()));
            let outcome = (code == "late, fails").then_some(fails).flatten();
            later(move || ready.set(outcome));
        }
        "gated" => {
            let gate = FakeEvent::default();
            output(0, six(row_major(2), gate.clone()));
            *GATE.lock().unwrap() = Some(gate);
        }
        "two" => {
            output(0, six(row_major(2), FakeEvent::ready()));
            output(
                1,
                six(Placing::MinorToMajor(vec![0, 1]), FakeEvent::ready()),
            );
        }
        "one strange" => {
            let mut strange = take::<FakeBuffer, _>(BUFFER, six(row_major(2), FakeEvent::ready()));
            strange.kind = PJRT_Buffer_Type::F8E5M2;
            output(0, strange.give());
            output(1, six(row_major(2), FakeEvent::ready()));
        }
        "strides" => output(0, six(Placing::ByteStrides(vec![4, 8]), FakeEvent::ready())),
        "tiled" => output(0, six(Placing::Tiled, FakeEvent::ready())),
        _ => output(0, six(row_major(2), FakeEvent::ready())),
    }
    if !a.device_complete_events.is_null() {
        // SAFETY: the host's list has room for an event of each device.
        unsafe { *a.device_complete_events.add(device) = event.give() };
    }
    null_mut()
}
