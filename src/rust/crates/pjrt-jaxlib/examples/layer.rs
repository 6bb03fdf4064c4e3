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

fn milliseconds(name: &str, since: Instant) {
    let ms = since.elapsed().as_secs_f64() * 1e3;
    println!("{name:21} {ms:9.1} ms");
}

fn microseconds(name: &str, body: impl FnMut()) {
    println!("{name:20} {:10.2} us", best(5000, body));
}

#[repr(align(64))]
struct Page([f32; 16]);

/// A client and a program for two matrices of 2 × 2.
struct Small {
    client: *mut PJRT_Client,
    program: *mut PJRT_LoadedExecutable,
    data: Page,
}

impl Small {
    fn upload(&self, semantics: PJRT_HostBufferSemantics) -> *mut PJRT_Buffer {
        let data = self.data.0.as_ptr().cast();
        let mut args = upload_args(self.client, PJRT_Buffer_Type::F32, &[2, 2], data);
        args.host_buffer_semantics = semantics;
        upload(args)
    }

    fn run(&self, arguments: [*mut PJRT_Buffer; 2]) -> *mut PJRT_Buffer {
        let mut outputs = [std::ptr::null_mut()];
        let lists = [arguments.as_ptr()];
        let places = [outputs.as_mut_ptr()];
        call!(
            PJRT_LoadedExecutable_Execute,
            PJRT_LoadedExecutable_Execute_Args {
                executable: self.program,
                argument_lists: lists.as_ptr(),
                num_devices: 1,
                num_args: 2,
                output_lists: places.as_ptr(),
            }
        )
        .expect("ran");
        outputs[0]
    }
}

fn upload(args: PJRT_Client_BufferFromHostBuffer_Args) -> *mut PJRT_Buffer {
    let (buffer, event) = upload_with(args).expect("uploaded");
    destroy_event(event);
    buffer
}

fn small_calls(small: &Small) {
    let copied = PJRT_HostBufferSemantics::kImmutableOnlyDuringCall;
    let zero_copy = PJRT_HostBufferSemantics::kMutableZeroCopy;
    let (x, y) = (small.upload(copied), small.upload(copied));
    microseconds("upload, copied", || destroy(small.upload(copied)));
    microseconds("upload, zero copy", || destroy(small.upload(zero_copy)));
    microseconds("execute", || destroy(small.run([x, y])));
    microseconds("execute and address", || {
        let out = small.run([x, y]);
        address(out).expect("ready");
        destroy(out);
    });
    let out = small.run([x, y]);
    microseconds("address again", || drop(address(out)));
    microseconds("dimensions", || drop(dims(out)));
    microseconds("whole cycle", || {
        let (x, y) = (small.upload(zero_copy), small.upload(zero_copy));
        let out = small.run([x, y]);
        address(out).expect("ready");
        [x, y, out].into_iter().for_each(destroy);
    });
    destroy(out);
}

fn main() {
    let start = Instant::now();
    let client = client();
    milliseconds("first client", start);
    let start = Instant::now();
    let program = compile(
        client,
        "func.func @main(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> {
           %0 = stablehlo.add %x, %y : tensor<2x2xf32>
           return %0 : tensor<2x2xf32>
         }",
    );
    milliseconds("first program", start);
    let data = Page([1.0; 16]);
    small_calls(&Small {
        client,
        program,
        data,
    });

    let n = 2000;
    let big = vec![1.0f64; n * n];
    let shape = [n as i64; 2];
    let mut args = upload_args(client, PJRT_Buffer_Type::F64, &shape, big.as_ptr().cast());
    let large = |name, args| {
        let ms = best(3, || destroy(upload(args))) / 1e3;
        println!("{name:21} {ms:9.2} ms");
    };
    large("2000x2000 f64, plain", args);
    let strides = [8, 8 * n as i64];
    (args.byte_strides, args.num_byte_strides) = (strides.as_ptr(), 2);
    large("2000x2000 f64, turned", args);
}
