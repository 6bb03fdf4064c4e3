//! A shared library of ops: what it takes to write one's own.
//!
//! `cargo build --example handlers` makes it; `tests/real_xla.py` loads it in Python, hands its
//! handlers to JAX and runs them. It exports `handler(name)`, the C function of an op (or null),
//! and `unregister(name)`.

use std::ffi::{c_char, c_void, CStr};
use std::ops::{AddAssign, Mul};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Once;
use std::time::Duration;

use xla_ffi::registry::Registry;
use xla_ffi::{
    bundle, handler, io, AnyBufferMut, Arg, Attr, Attrs, Context, Cx, Error, Host, Kernel, Op,
    Pending, Platform, RealAndComplex, RemainingArgs, Result, Ret, Scalar, Stateful, Untyped,
};

io! {
    /// `y = scale * x + y`, for as many threads as XLA has.
    pub struct AxpyIo<'f, T> {
        /// any shape
        x: Arg<'f, T>,
        /// like `x`
        y: Arg<'f, T>,
        /// like `x`; may be `y`'s memory
        out: Ret<'f, T>,
        /// how often
        repeat: Attr<i32> = 1,
    }
}

/// `y = repeat * x + y`.
pub struct Axpy;

impl Op for Axpy {
    const TARGET: &'static str = "axpy";
    type Dtypes = RealAndComplex;
}

impl<T, P> Kernel<P, T> for Axpy
where
    T: Scalar + AddAssign + Mul<Output = T>,
    P: Platform,
{
    type Io<'f> = AxpyIo<'f, T>;

    fn run(mut io: AxpyIo<'_, T>, cx: &Cx<'_, P>) -> Result<()> {
        io.out.expect_dims(io.x.dims())?;
        io.out.copy_from(&io.y)?;
        let (x, out, repeat) = (io.x.as_slice()?, io.out.as_mut_slice()?, *io.repeat);
        const CHUNK: usize = 4096;
        cx.parallel_for_each(x.chunks(CHUNK).zip(out.chunks_mut(CHUNK)), |(x, out)| {
            for (x, out) in x.iter().zip(out) {
                for _ in 0..repeat {
                    *out += *x;
                }
            }
        });
        Ok(())
    }
}

io! {
    /// Fails as told.
    pub struct FailIo<'f> {
        x: Arg<'f, f32>,
        out: Ret<'f, f32>,
        how: Attr<&'f str>,
    }
}

/// Fails.
pub struct Fail;

impl Op for Fail {
    const TARGET: &'static str = "fail";
    type Dtypes = Untyped;
}

impl<P: Platform> Kernel<P> for Fail {
    type Io<'f> = FailIo<'f>;

    fn run(mut io: FailIo<'_>, _cx: &Cx<'_, P>) -> Result<()> {
        match *io.how {
            "panic" => panic!("a panic in Rust"),
            "error" => {
                Err(Error::invalid_argument("is not to be had").with_operand(io.x.operand()))
            }
            _ => io.out.copy_from(&io.x),
        }
    }
}

io! {
    /// Tells what XLA told: bytes of text.
    pub struct TellIo<'f> {
        args: RemainingArgs<'f>,
        text: AnyBufferMut<'f>,
        attrs: Attrs<'f>,
    }
}

/// Prints its arguments, attributes and context into a buffer of bytes.
pub struct Tell;

impl Op for Tell {
    const TARGET: &'static str = "tell";
    type Dtypes = Untyped;
}

impl<P: Platform> Kernel<P> for Tell {
    type Io<'f> = TellIo<'f>;

    fn run(mut io: TellIo<'_>, cx: &Cx<'_, P>) -> Result<()> {
        let mut text = String::new();
        for arg in io.args {
            let arg = arg?;
            text += &format!("{}{:?}{:?} ", arg.dtype(), arg.dims(), arg.as_bytes()?);
        }
        for (name, attr) in io.attrs.iter() {
            text += &format!("{}={} ", String::from_utf8_lossy(name), attr.type_());
        }
        text += &format!(
            "device={} threads={}",
            cx.device_ordinal()?,
            cx.num_threads()
        );
        cx.run_id()?;
        if cx.stream().is_ok() {
            text += " stream";
        }
        let out = io.text.as_mut_slice::<u8>()?;
        out.fill(b' ');
        let len = text.len().min(out.len());
        out[..len].copy_from_slice(&text.as_bytes()[..len]);
        Ok(())
    }
}

io! {
    /// What the sums are made from.
    pub struct SumsSetup<'f> {
        steps: Attr<&'f [i64]>,
    }
}

io! {
    /// Sums that were made with the program.
    pub struct SumsIo<'f> {
        x: Arg<'f, i64>,
        out: Ret<'f, i64>,
        steps: Attr<&'f [i64]>,
    }
}

/// `x` plus the sum of all steps up to each: the sums are made once, with the program.
pub struct Sums;

/// How many states there are.
static STATES: AtomicUsize = AtomicUsize::new(0);

/// The state of [`Sums`].
pub struct Made(Vec<i64>);

impl Drop for Made {
    fn drop(&mut self) {
        STATES.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Op for Sums {
    const TARGET: &'static str = "sums";
    type Dtypes = Untyped;
}

impl<P: Platform> Stateful<P> for Sums {
    type State = Made;
    type Setup<'f> = SumsSetup<'f>;
    const INITIALIZES: bool = true;

    fn instantiate(setup: SumsSetup<'_>, _: &Context<'_>) -> Result<Made> {
        if setup.steps.is_empty() {
            return Err(Error::invalid_argument("there are no steps"));
        }
        STATES.fetch_add(1, Ordering::SeqCst);
        let mut sum = 0;
        let sums = setup.steps.iter().map(|step| {
            sum += step;
            sum
        });
        Ok(Made(sums.collect()))
    }
}

impl<P: Platform> Kernel<P> for Sums {
    type Io<'f> = SumsIo<'f>;

    fn run(mut io: SumsIo<'_>, cx: &Cx<'_, P>) -> Result<()> {
        let Made(sums) = cx.state()?;
        assert_eq!(sums.len(), io.steps.len());
        let x = io.x.as_slice()?[0];
        for (out, sum) in io.out.as_mut_slice()?.iter_mut().zip(sums) {
            *out = x + sum;
        }
        Ok(())
    }
}

io! {
    /// Doubles.
    pub struct LaterIo<'f> {
        x: Arg<'f, f64>,
        out: Ret<'f, f64>,
        pending: Pending<'f>,
        fails: Attr<bool> = false,
    }
}

/// Twice `x`, by a thread that begins when the handler has returned.
pub struct Doubled;

impl Op for Doubled {
    const TARGET: &'static str = "doubled";
    type Dtypes = Untyped;
}

impl<P: Platform> Kernel<P> for Doubled {
    type Io<'f> = LaterIo<'f>;

    fn run(io: LaterIo<'_>, _: &Cx<'_, P>) -> Result<()> {
        io.out.expect_dims(io.x.dims())?;
        let (x, mut out) = (io.pending.keep(io.x)?, io.pending.keep_mut(io.out)?);
        let (promise, fails) = (io.pending.promise(), *io.fails);
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            for (out, x) in out.iter_mut().zip(&*x) {
                *out = 2.0 * x;
            }
            promise.complete(if fails {
                Err(Error::invalid_argument("was told to fail"))
            } else {
                Ok(())
            });
        });
        Ok(())
    }
}

/// How many states of `sums` there are.
#[no_mangle]
pub extern "C" fn states() -> usize {
    STATES.load(Ordering::SeqCst)
}

fn register() -> Result<()> {
    // SAFETY: handlers of this library, which must stay loaded while they are registered.
    unsafe {
        let sums = bundle::<Sums, Host>().into();
        Registry::global().register_handlers("sums", "host", sums, Some("handlers"))?;
    }
    let all = [
        (Axpy::TARGET, handler::<Axpy, Host> as xla_ffi::HandlerFn),
        (Fail::TARGET, handler::<Fail, Host>),
        (Tell::TARGET, handler::<Tell, Host>),
        (Doubled::TARGET, handler::<Doubled, Host>),
    ];
    for (target, handler) in all {
        // SAFETY: a handler of this library, which must stay loaded while it is registered.
        unsafe { Registry::global().register(target, "host", handler, Some("handlers"))? };
    }
    Ok(())
}

/// # Safety
/// `name` is null or ends in NUL.
unsafe fn text<'a>(name: *const c_char) -> &'a str {
    if name.is_null() {
        return "";
    }
    // SAFETY: by contract.
    unsafe { CStr::from_ptr(name) }.to_str().unwrap_or("")
}

/// The handler of that name, null where there is none.
///
/// # Safety
/// `name` is null or ends in NUL.
#[no_mangle]
pub unsafe extern "C" fn handler_of(name: *const c_char) -> *mut c_void {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        if let Err(error) = register() {
            eprintln!("handlers: {error}");
        }
    });
    // SAFETY: by contract.
    let name = unsafe { text(name) };
    Registry::global()
        .lookup(name, "host")
        .map_or(ptr::null_mut(), |handler| handler as *mut c_void)
}

/// Withdraws the handler of that name; returns whether there was one.
///
/// # Safety
/// `name` is null or ends in NUL.
#[no_mangle]
pub unsafe extern "C" fn unregister(name: *const c_char) -> bool {
    // SAFETY: by contract.
    Registry::global().unregister(unsafe { text(name) }, "host")
}
