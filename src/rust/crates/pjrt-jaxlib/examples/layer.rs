//! Times of the plugin's own layer: `cargo run --release -p pjrt-jaxlib --example layer`.
//!
//! Microseconds per call, the best of several rounds, on 2×2 f32 arrays; then an upload of
//! 2000×2000 f64 with each of the ways that host memory can be given.
#[path = "../tests/common/mod.rs"]
mod common;
use common::*;
use pjrt_api::*;
use std::time::Instant;

const ROUNDS: usize = 15;

/// The best time of one call of `body`, in microseconds.
fn best(times: usize, mut body: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..times {
            body();
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / times as f64);
    }
    best
}

#[repr(align(64))]
struct Page([f32; 16]);

fn main() {
    let start = Instant::now();
    let client = client();
    println!(
        "first client          {:9.1} ms",
        start.elapsed().as_secs_f64() * 1e3
    );
    let start = Instant::now();
    let program = compile(
        client,
        "func.func @main(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> {
           %0 = stablehlo.add %x, %y : tensor<2x2xf32>
           return %0 : tensor<2x2xf32>
         }",
    );
    println!(
        "first program         {:9.1} ms",
        start.elapsed().as_secs_f64() * 1e3
    );

    let data = Page([1.0; 16]);
    let up = |semantics| {
        let mut args = upload_args(
            client,
            PJRT_Buffer_Type::F32,
            &[2, 2],
            data.0.as_ptr().cast(),
        );
        args.host_buffer_semantics = semantics;
        let (buffer, event) = upload_with(args).expect("uploaded");
        destroy_event(event);
        buffer
    };
    let (x, y) = (
        up(PJRT_HostBufferSemantics::kImmutableOnlyDuringCall),
        up(PJRT_HostBufferSemantics::kImmutableOnlyDuringCall),
    );
    let run = |arguments: [*mut PJRT_Buffer; 2]| {
        let mut outputs = [std::ptr::null_mut()];
        let lists = [arguments.as_ptr()];
        let places = [outputs.as_mut_ptr()];
        call!(
            PJRT_LoadedExecutable_Execute,
            PJRT_LoadedExecutable_Execute_Args {
                executable: program,
                argument_lists: lists.as_ptr(),
                num_devices: 1,
                num_args: 2,
                output_lists: places.as_ptr(),
            }
        )
        .expect("ran");
        outputs[0]
    };
    for (name, semantics) in [
        (
            "upload, copied",
            PJRT_HostBufferSemantics::kImmutableOnlyDuringCall,
        ),
        (
            "upload, zero copy",
            PJRT_HostBufferSemantics::kMutableZeroCopy,
        ),
    ] {
        println!(
            "{name:20} {:10.2} us",
            best(5000, || destroy(up(semantics)))
        );
    }
    println!(
        "execute              {:10.2} us",
        best(5000, || destroy(run([x, y])))
    );
    println!(
        "execute and address  {:10.2} us",
        best(5000, || {
            let out = run([x, y]);
            address(out).expect("ready");
            destroy(out);
        })
    );
    let out = run([x, y]);
    println!(
        "address again        {:10.2} us",
        best(5000, || drop(address(out)))
    );
    println!(
        "dimensions           {:10.2} us",
        best(5000, || drop(dims(out)))
    );
    println!(
        "whole cycle          {:10.2} us",
        best(5000, || {
            let x = up(PJRT_HostBufferSemantics::kMutableZeroCopy);
            let y = up(PJRT_HostBufferSemantics::kMutableZeroCopy);
            let out = run([x, y]);
            address(out).expect("ready");
            [x, y, out].into_iter().for_each(destroy);
        })
    );
    destroy(out);

    let n = 2000;
    let big = vec![1.0f64; n * n];
    let shape = [n as i64; 2];
    let mut args = upload_args(client, PJRT_Buffer_Type::F64, &shape, big.as_ptr().cast());
    println!(
        "2000x2000 f64, plain  {:9.2} ms",
        best(3, || {
            let (buffer, event) = upload_with(args).expect("uploaded");
            destroy_event(event);
            destroy(buffer);
        }) / 1e3
    );
    let strides = [8, 8 * n as i64];
    (args.byte_strides, args.num_byte_strides) = (strides.as_ptr(), 2);
    println!(
        "2000x2000 f64, turned {:9.2} ms",
        best(3, || {
            let (buffer, event) = upload_with(args).expect("uploaded");
            destroy_event(event);
            destroy(buffer);
        }) / 1e3
    );
}
