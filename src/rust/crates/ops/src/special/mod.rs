//! Special functions, element by element: one op, which takes the function's name.

use ::special::Function;
use xla_ffi::{
    io, Arg, Attr, Cx, Error, Floats, Host, Kernel, Op, Operand, OperandKind, RemainingArgs,
    Result, Ret, Scalar,
};

io! {
    /// `value = function(x, more…)`
    pub struct SpecialIo<'f, T> {
        /// any shape: the function's first argument
        x: Arg<'f, T>,
        /// shape of `x`: its other arguments
        more: RemainingArgs<'f>,
        /// shape of `x`
        value: Ret<'f, T>,
        /// which function
        function: Attr<&'f str>,
    }
}

/// `special`: a function of the crate of that name, of as many arguments as it has. f32 is computed in f64 and
/// rounded once.
pub struct Special;

impl Op for Special {
    const TARGET: &'static str = "special";
    type Dtypes = Floats;
}

/// An element type that is computed with in f64.
pub trait Real: Scalar {
    /// Exactly this number.
    fn widened(self) -> f64;
    /// The nearest number.
    fn nearest(wide: f64) -> Self;
}

impl Real for f32 {
    fn widened(self) -> f64 {
        self.into()
    }
    fn nearest(wide: f64) -> Self {
        wide as f32
    }
}

impl Real for f64 {
    fn widened(self) -> f64 {
        self
    }
    fn nearest(wide: f64) -> Self {
        wide
    }
}

/// Elements that a thread takes at a time: some 10 to 100 µs of work.
const CHUNK: usize = 512;

impl<T: Real> Kernel<Host, T> for Special {
    type Io<'f> = SpecialIo<'f, T>;

    fn run(io: SpecialIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
        let mut value = io.value;
        value.expect_dims(io.x.dims())?;
        let mut arguments = vec![io.x];
        for argument in io.more {
            let argument = Arg::new(argument?)?;
            argument.expect_dims(arguments[0].dims())?;
            arguments.push(argument);
        }
        let function = named(*io.function, arguments.len())?;
        // What shares the result's memory is read there.
        let mut sources = Vec::with_capacity(arguments.len());
        for argument in &arguments {
            sources.push(if argument.is_aliased() {
                value.copy_from(argument)?;
                None
            } else {
                Some(argument.as_slice()?)
            });
        }
        let chunks = value.as_mut_slice()?.chunks_mut(CHUNK).enumerate();
        cx.parallel_for_each(chunks, |(at, chunk)| {
            for (i, element) in chunk.iter_mut().enumerate() {
                let here = *element;
                let argument = |k: usize| {
                    let source: Option<&[T]> = sources[k];
                    source
                        .map_or(here, |source| source[at * CHUNK + i])
                        .widened()
                };
                *element = T::nearest(match function {
                    Function::One(f) => f(argument(0)),
                    Function::Two(f) => f(argument(0), argument(1)),
                    Function::Three(f) => f(argument(0), argument(1), argument(2)),
                });
            }
        });
        Ok(())
    }
}

/// The function, if it takes that many arguments.
fn named(name: &str, arguments: usize) -> Result<Function> {
    let operand = || Operand::new(OperandKind::Attribute, "function");
    let Some(function) = ::special::function(name) else {
        let wanted = "name a special function, as \"lgamma\" does";
        return Err(Error::mismatch(
            operand(),
            wanted,
            format_args!("\"{name}\""),
        ));
    };
    if function.arity() != arguments {
        return Err(Error::mismatch(
            operand(),
            format_args!("have {arguments} arguments as the call does"),
            format_args!("\"{name}\", which has {}", function.arity()),
        ));
    }
    Ok(function)
}
