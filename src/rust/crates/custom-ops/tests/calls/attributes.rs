//! Attributes, and errors of bodies.

use super::common::*;
use custom_ops::abi::Call as Body;
use xla_ffi::testing::Call;

/// `; alpha: f64 = 2, lags: i64[p] = [1, 2], mode: str = "fast", k: i32 = 3 -> y: f64[5 + p + k]`
unsafe extern "C" fn writes_attributes(call: *const Body) -> i32 {
    unsafe {
        let call = &*call;
        let attribute = |i: usize| &*call.attributes.add(i);
        let y = (*call.buffers).cast::<f64>();
        *y = *attribute(0).data.cast::<f64>();
        *y.add(1) = attribute(1).length as f64;
        let lags = std::slice::from_raw_parts(attribute(1).data.cast::<i64>(), attribute(1).length);
        *y.add(2) = lags.iter().sum::<i64>() as f64;
        let mode = std::slice::from_raw_parts(attribute(2).data.cast::<u8>(), attribute(2).length);
        *y.add(3) = f64::from(u8::from(mode == b"fast"));
        *y.add(4) = f64::from(*attribute(3).data.cast::<i32>());
        *y.add(5) = *call.dims as f64;
    }
    0
}

#[test]
fn attributes_have_defaults() {
    let text = "; alpha: f64 = 2, lags: i64[p] = [1, 2], mode: str = \"fast\", k: i32 = 3 -> y: f64[5 + p + k]";
    let handler = simple("told", text, writes_attributes);
    let mut frame = Call::new().ret::<f64>(&[10]).build();
    frame.call(handler).unwrap();
    assert_eq!(frame.ret::<f64>(0)[..6], [2.0, 2.0, 3.0, 1.0, 3.0, 2.0]);
    let mut frame = Call::new()
        .ret::<f64>(&[8])
        .attr("alpha", 0.5)
        .attr("k", 2i32)
        .attr("lags", &[7i64][..])
        .attr("mode", "slow")
        .attr("xlaffi.op", registered("told"))
        .build();
    frame.call(handler).unwrap();
    assert_eq!(frame.ret::<f64>(0)[..6], [0.5, 1.0, 7.0, 0.0, 2.0, 1.0]);
    let mut frame = Call::new().ret::<f64>(&[10]).attr("alpha", 1f32).build();
    let text = failure(&mut frame, handler);
    assert_eq!(
        text,
        "INVALID_ARGUMENT: told: attribute `alpha` must be a scalar f64, got a scalar f32"
    );
    let mut frame = Call::new().ret::<f64>(&[10]).attr("beta", 1f32).build();
    let text = failure(&mut frame, handler);
    assert_eq!(
        text,
        "INVALID_ARGUMENT: told: there is no attribute `beta`: there are `alpha`, `lags`, `mode`, `k`"
    );
    let mut frame = Call::new().ret::<f64>(&[9]).build();
    let text = failure(&mut frame, handler);
    assert_eq!(
        text,
        "INVALID_ARGUMENT: told: result `y` must have shape (10), got (9)"
    );
}

#[test]
fn an_attribute_without_default_must_be_there() {
    let handler = simple("needs", "; alpha: f64 -> y: f64[]", writes_attributes);
    let text = failure(&mut Call::new().ret::<f64>(&[]).build(), handler);
    assert_eq!(
        text,
        "INVALID_ARGUMENT: needs: attribute `alpha` must be a scalar f64, got none"
    );
}

/// Fails for the third element, with a text.
unsafe extern "C" fn fails(call: *const Body) -> i32 {
    unsafe {
        let call = &*call;
        if (*call.buffers).cast::<f64>().read() < 0.0 {
            let text = c"x is negative";
            let text = text.to_bytes_with_nul();
            assert!(text.len() <= call.message_size);
            std::ptr::copy_nonoverlapping(text.as_ptr(), call.message.cast(), text.len());
            return 11;
        }
        (*call.buffers.add(1)).cast::<f64>().write(1.0);
    }
    0
}

#[test]
fn errors_of_bodies_have_code_and_text_and_element() {
    let handler = simple("fails", "x: f64[...] -> y: f64[...]", fails);
    let mut frame = Call::new().arg(&[], &[-1.0]).ret::<f64>(&[]).build();
    assert_eq!(
        failure(&mut frame, handler),
        "OUT_OF_RANGE: fails: x is negative"
    );
    for threads in [1, 4] {
        let mut x = vec![1.0; 1000];
        x[7] = -1.0;
        x[900] = -1.0;
        let mut frame = Call::new()
            .arg(&[1000], &x)
            .ret::<f64>(&[1000])
            .threads(threads)
            .build();
        let text = failure(&mut frame, handler);
        assert_eq!(
            text,
            "OUT_OF_RANGE: fails: x is negative (element 8 of the batch of 1000)"
        );
    }
}
