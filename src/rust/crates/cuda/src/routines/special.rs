//! Special functions, element by element.

use super::{expect_whole, Real};
use crate::{single, Cuda};
use xla_ffi::{Arg, Cx, Error, Result, Ret};

/// The function of that name at every element, f32 being computed in f64 and rounded once. An argument may have the very
/// memory of the values, so these are operands and no slices.
///
/// # Errors
/// The [module's](super); an argument shares a part of its memory with the values; there is no such function of so many
/// arguments.
pub fn special<T: Real>(
    cx: &Cx<'_, Cuda>,
    function: &str,
    arguments: &[Arg<'_, T>],
    values: &mut Ret<'_, T>,
) -> Result<()> {
    let (count, address) = (values.len(), values.as_mut_ptr());
    for argument in arguments {
        argument.expect_dims(values.dims())?;
        expect_whole(argument, &[address])?;
    }
    let kernel = format!("{function}_{}", ["f32", "f64"][T::PRECISION]);
    let (values, elements) = (address as u64, count as u64);
    let cuda = cx.platform();
    let at = |i: usize| arguments[i].as_ptr() as u64;
    // SAFETY: operands of `count` elements each, as many as the kernel has: its name is that of a function of so many
    // arguments, as the caller has found.
    unsafe {
        match arguments.len() {
            1 => single::launch(cuda, &kernel, count, [at(0), values, elements]),
            2 => single::launch(cuda, &kernel, count, [at(0), at(1), values, elements]),
            3 => single::launch(
                cuda,
                &kernel,
                count,
                [at(0), at(1), at(2), values, elements],
            ),
            other => Err(Error::internal(format!("{kernel} of {other} arguments"))),
        }
    }
}
