//! On a GPU: the same code, compiled for it.

use super::Evaluator;
use ::special::Function;
use cuda::routines::{special::special, Real};
use cuda::Cuda;
use xla_ffi::{Arg, Cx, Result, Ret};

impl<T: Real> Evaluator<T> for Cuda {
    fn evaluate(
        (name, _): (&str, Function),
        arguments: Vec<Arg<'_, T>>,
        mut values: Ret<'_, T>,
        cx: &Cx<'_, Self>,
    ) -> Result<()> {
        special(cx, name, &arguments, &mut values)
    }
}
