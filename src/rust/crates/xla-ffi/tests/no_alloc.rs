//! A call that succeeds allocates nothing: trampoline, entry, decoding, body.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use xla_ffi::registry::Registry;
use xla_ffi::testing::Call;
use xla_ffi::{
    handler, io, AnyBuffer, Arg, Attr, Attrs, Cx, Floats, Host, Kernel, MinRank, Op, Platform,
    RemainingArgs, Result, Ret, Scalar,
};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator, counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, data: *mut u8, layout: Layout) {
        // SAFETY: handed on.
        unsafe { System.dealloc(data, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

io! {
    struct MixIo<'f, T> {
        a: Arg<'f, T, MinRank<2>>,
        any: AnyBuffer<'f>,
        rest: RemainingArgs<'f>,
        out: Ret<'f, T, MinRank<2>>,
        pivots: Ret<'f, i32>,
        scale: Attr<f64> = 1.0,
        label: Attr<&'f str>,
        sizes: Attr<&'f [i64]>,
        nested: Attr<Attrs<'f>>,
        maybe: Attr<Option<bool>>,
    }
}

struct Mix;

impl Op for Mix {
    const TARGET: &'static str = "mix";
    type Dtypes = Floats;
}

impl<T: Scalar, P: Platform> Kernel<P, T> for Mix {
    type Io<'f> = MixIo<'f, T>;

    fn run(mut io: MixIo<'_, T>, cx: &Cx<'_, P>) -> Result<()> {
        let (batch_dims, _, [m, n]) = io.a.split_dims()?;
        io.out.expect_dims(io.a.dims())?;
        io.pivots
            .expect_batch_dims(batch_dims, &[m.min(n) as i64])?;
        io.out.copy_from(&io.a)?;
        let depth = io.nested.get::<i32>("depth")?;
        let rest = io
            .rest
            .try_fold(0, |sum, arg| Ok(sum + arg?.len() as i32))?;
        let bytes = io.any.as_bytes()?.len() as i32;
        let attrs = (*io.scale as i32) + io.label.len() as i32 + io.sizes.len() as i32;
        let numbers = cx.device_ordinal()? + i32::from(io.maybe.unwrap_or(false));
        io.pivots
            .as_mut_slice()?
            .fill(depth + rest + bytes + attrs + numbers);
        Ok(())
    }
}

#[test]
fn a_call_allocates_nothing() {
    // SAFETY: a handler of this program.
    let registered =
        unsafe { Registry::global().register("mix", "host", handler::<Mix, Host>, None) };
    let trampoline = registered.expect("a free slot").trampoline;
    let mut frame = Call::new()
        .arg(&[1, 2, 2], &[1f64, 2.0, 3.0, 4.0])
        .arg(&[3], &[1u8, 2, 3])
        .arg(&[1], &[1f32])
        .arg(&[5], &[1i16; 5])
        .ret::<f64>(&[1, 2, 2])
        .ret::<i32>(&[1, 2])
        .attr("label", "four")
        .attr("sizes", &[1i64, 2][..])
        .attr("nested", vec![("depth".to_owned(), 100i32.into())])
        .context(0, 1000, 0)
        .build();
    frame.call(trampoline).expect("operands that fit");
    assert_eq!(frame.ret::<i32>(1), [100 + 6 + 3 + 7 + 1000; 2]);

    let before = ALLOCATIONS.with(Cell::get);
    for _ in 0..100 {
        frame.call(trampoline).expect("operands that fit");
    }
    assert_eq!(ALLOCATIONS.with(Cell::get) - before, 0);
    // And the counter does count.
    drop(std::hint::black_box(Box::new(before)));
    assert_eq!(ALLOCATIONS.with(Cell::get) - before, 1);
}
