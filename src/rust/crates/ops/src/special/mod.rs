//! Special functions, element by element: one op, which takes the function's name.

mod cuda;
mod host;

use ::special::Function;
use xla_ffi::{
    io, Arg, Attr, Cx, Error, Floats, Kernel, Op, Operand, OperandKind, Platform, RemainingArgs,
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

/// A platform that evaluates functions of `T`.
pub trait Evaluator<T: Scalar>: Platform {
    /// The function of that name and of so many arguments at every element. All operands have one shape.
    ///
    /// # Errors
    /// The platform's own; memory shared by an argument and the values in a way that cannot be worked with.
    fn evaluate(
        function: (&str, Function),
        arguments: Vec<Arg<'_, T>>,
        values: Ret<'_, T>,
        cx: &Cx<'_, Self>,
    ) -> Result<()>;
}

impl<T: Scalar, P: Evaluator<T>> Kernel<P, T> for Special {
    type Io<'f> = SpecialIo<'f, T>;

    fn run(io: SpecialIo<'_, T>, cx: &Cx<'_, P>) -> Result<()> {
        io.value.expect_dims(io.x.dims())?;
        let mut arguments = vec![io.x];
        for argument in io.more {
            let argument = Arg::new(argument?)?;
            argument.expect_dims(arguments[0].dims())?;
            arguments.push(argument);
        }
        let function = named(*io.function, arguments.len())?;
        P::evaluate((*io.function, function), arguments, io.value, cx)
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
