//! What one call of a 1×1 op costs: `cargo run --release -p xla-ffi --example overhead`.

use std::hint::black_box;
use std::time::Instant;

use xla_ffi::registry::Registry;
use xla_ffi::testing::Call;
use xla_ffi::{
    handler, io, Arg, Attr, Cx, Floats, HandlerFn, Host, Kernel, MinRank, Op, Platform, Result,
    Ret, Scalar,
};

io! {
    struct OneIo<'f, T> {
        a: Arg<'f, T, MinRank<2>>,
        out: Ret<'f, T, MinRank<2>>,
        pivots: Ret<'f, i32>,
        flag: Attr<bool> = false,
    }
}

struct One;

impl Op for One {
    const TARGET: &'static str = "one";
    type Dtypes = Floats;
}

impl<T: Scalar, P: Platform> Kernel<P, T> for One {
    type Io<'f> = OneIo<'f, T>;

    fn run(mut io: OneIo<'_, T>, _cx: &Cx<'_, P>) -> Result<()> {
        io.out.expect_dims(io.a.dims())?;
        io.out.copy_from(&io.a)?;
        io.pivots.as_mut_slice()?.fill(i32::from(*io.flag));
        Ok(())
    }
}

fn measure(what: &str, function: HandlerFn) {
    let call = Call::new()
        .arg(&[1, 1], &[2f32])
        .ret::<f32>(&[1, 1])
        .ret::<i32>(&[1]);
    let mut frame = call.attr("flag", true).build();
    // Many short rounds, of which the best had the processor to itself.
    const CALLS: u32 = 1000;
    let mut best = f64::INFINITY;
    for _ in 0..5000 {
        let start = Instant::now();
        for _ in 0..CALLS {
            frame.call(black_box(function)).expect("operands that fit");
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS));
    }
    println!("{what}: {best:.1} ns a call");
}

fn main() {
    let direct: HandlerFn = handler::<One, Host>;
    // SAFETY: a handler of this program.
    let registered = unsafe { Registry::global().register("one", "host", direct, None) };
    measure("entry, decoding, body", direct);
    measure(
        "the same through a trampoline",
        registered.expect("a free slot").trampoline,
    );
}
