//! Bodies in the host.

use super::common::*;
use custom_ops::bind::Sets;
use custom_ops::signature::Signature;
use custom_ops::{Body as Code, CustomOp, Instance, Options};
use xla_ffi::testing::Call;
use xla_ffi::HandlerFn;

/// An op whose body is a closure, given whole batches.
fn host(name: &str, text: &str, body: custom_ops::HostBody) -> HandlerFn {
    let signature = Signature::parse(text).unwrap();
    let sets = Sets::new(&signature, &[]).unwrap();
    let instances = vec![Instance::new(Vec::new(), Code::Host(body))];
    let options = Options {
        whole: true,
        ..Options::default()
    };
    // SAFETY: a closure may be called from any thread.
    handler(&unsafe { CustomOp::new(name, signature, sets, instances, options) }.unwrap())
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    let chunks = bytes.chunks_exact(8);
    chunks
        .map(|chunk| f64::from_ne_bytes(chunk.try_into().unwrap()))
        .collect()
}

#[test]
fn bodies_of_the_host_see_whole_batches() {
    let text = "x: f64[..., n], w: f64[]?; k: i32 = 3 -> x: f64[..., n], y: f64[...]";
    let body = |call: &mut custom_ops::BoundCall<'_>| {
        assert_eq!((call.operands(), call.results()), (2, 2));
        assert_eq!(
            (call.dims(), call.batch_sizes()),
            (&[3i64][..], &[2usize][..])
        );
        assert_eq!((call.batch_rank(0), call.strides(0)), (1, vec![24]));
        let x = call.operand(0).unwrap();
        assert_eq!((x.name, x.dims), ("x", &[2i64, 3][..]));
        let sum: f64 = doubles(x.bytes).iter().sum();
        assert!(call.operand(1).is_none());
        assert_eq!(call.attribute(0).bytes, 3i32.to_ne_bytes());
        let changed = call.result(0);
        assert_eq!(doubles(changed.bytes), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        changed.bytes[..8].copy_from_slice(&sum.to_ne_bytes());
        let y = call.result(1);
        assert_eq!((y.name, y.index, y.dims), ("y", 0, &[2i64][..]));
        y.bytes.fill(0);
        Ok(())
    };
    let handler = host("host", text, Box::new(body));
    let mut frame = Call::new()
        .arg(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        .ret::<f64>(&[2, 3])
        .ret::<f64>(&[2])
        .build();
    frame.call(handler).unwrap();
    assert_eq!(frame.ret::<f64>(0)[..2], [21.0, 2.0]);
}

#[test]
fn bodies_of_the_host_may_answer_later() {
    let body = |call: &mut custom_ops::BoundCall<'_>| {
        let promise = call.pending()?;
        let address = call.result(0).bytes.as_mut_ptr() as usize;
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            // SAFETY: XLA's memory until the promise is answered.
            unsafe { (address as *mut f64).write(7.0) };
            promise.complete(Ok(()));
        });
        Ok(())
    };
    let handler = host("later", "-> y: f64[]", Box::new(body));
    let mut frame = Call::new().ret::<f64>(&[]).build();
    frame.call(handler).unwrap();
    assert_eq!(frame.ret::<f64>(0), [7.0]);
}

#[test]
fn a_call_within_a_call_has_room_of_its_own() {
    let inner = simple("inner", AFFINE, affine);
    let body = move |call: &mut custom_ops::BoundCall<'_>| {
        let mut frame = Call::new()
            .arg(&[2, 1], &[1.0, 2.0])
            .arg(&[1], &[10.0])
            .arg(&[2], &[1.0, 2.0])
            .ret::<f64>(&[2, 1])
            .build();
        frame.call(inner).unwrap();
        let sum: f64 = frame.ret::<f64>(0).iter().sum();
        call.result(0).bytes.copy_from_slice(&sum.to_ne_bytes());
        Ok(())
    };
    let outer = host("outer", "-> y: f64[]", Box::new(body));
    let mut frame = Call::new().ret::<f64>(&[]).build();
    frame.call(outer).unwrap();
    assert_eq!(frame.ret::<f64>(0), [33.0]);
}
