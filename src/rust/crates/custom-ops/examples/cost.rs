//! What calls of own ops cost: `cargo run --release -p own-ops --example cost`; with `-- --alone`
//! batches are left out, for a profiler.

use std::hint::black_box;
use std::time::Instant;

use custom_ops::abi::Call as Body;
use custom_ops::bind::Sets;
use custom_ops::signature::Signature;
use custom_ops::{register, Body as Code, CustomOp, Instance, Options};
use xla_ffi::testing::{Call, Frame};
use xla_ffi::{DataType, HandlerFn};

/// `x: T[..., n], y: T[] -> z: T[..., n]`, of f64.
unsafe extern "C" fn times(call: *const Body) -> i32 {
    // SAFETY: as the signature says.
    unsafe {
        let call = &*call;
        let array = |i: usize| (*call.buffers.add(i)).cast::<f64>();
        let (x, y, z) = (array(0), *array(1), array(2));
        for i in 0..*call.dims as usize {
            *z.add(i) = *x.add(i) * y;
        }
    }
    0
}

fn op(name: &str, text: &str, dtypes: &[DataType]) -> HandlerFn {
    let signature = Signature::parse(text).expect("a signature");
    let sets = Sets::new(&signature, &[]).expect("sets of dtypes");
    let instances = vec![Instance::new(dtypes.to_vec(), Code::C(times))];
    // SAFETY: a function of this file, as the signatures say.
    let op = unsafe { CustomOp::new(name, signature, sets, instances, Options::default()) };
    let op = op.expect("an op");
    register(&op, None).expect("a free slot").trampoline
}

/// The best of many short rounds, which had the processor to itself, in ns a call.
fn measure(frame: &mut Frame, handler: HandlerFn, calls: u32, rounds: u32) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        for _ in 0..calls {
            frame.call(black_box(handler)).expect("operands that fit");
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(calls));
    }
    best
}

fn main() {
    let ten = [1.0; 10];
    let variable = op("times", "x: T[n], y: T[] -> z: T[n]", &[DataType::F64]);
    let mut frame = Call::new()
        .arg(&[10], &ten)
        .arg(&[], &[2.0])
        .ret::<f64>(&[10])
        .build();
    println!(
        "times on 10 elements: {:.1} ns",
        measure(&mut frame, variable, 1000, 1000)
    );
    let call = Call::new()
        .arg(&[10], &ten)
        .arg(&[], &[2.0])
        .ret::<f64>(&[10]);
    let digest = custom_ops::registered("times").map_or(0, |op| op.digest());
    let mut frame = call.attr("xlaffi.op", digest).build();
    println!(
        "the same with its digest: {:.1} ns",
        measure(&mut frame, variable, 1000, 1000)
    );
    if std::env::args().any(|argument| argument == "--alone") {
        return;
    }
    let batch = op("batch", "x: f64[..., n], y: f64[] -> z: f64[..., n]", &[]);
    for count in [1000i64, 100_000] {
        let x = vec![1.0; 2 * count as usize];
        for threads in [0, 2] {
            let call = Call::new()
                .arg(&[count, 2], &x)
                .arg(&[], &[2.0])
                .ret::<f64>(&[count, 2]);
            let mut frame = call.threads(threads).build();
            let best = measure(&mut frame, batch, 10, 100) / count as f64;
            println!("of a batch of {count}, {threads} threads: {best:.1} ns an element");
        }
    }
}
