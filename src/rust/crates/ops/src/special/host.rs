//! On the CPU, in parallel.

use super::Evaluator;
use ::special::Function;
use xla_ffi::{Arg, Cx, Host, Result, Ret, Scalar};

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

impl<T: Real> Evaluator<T> for Host {
    fn evaluate(
        (_, function): (&str, Function),
        arguments: Vec<Arg<'_, T>>,
        mut value: Ret<'_, T>,
        cx: &Cx<'_, Self>,
    ) -> Result<()> {
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
