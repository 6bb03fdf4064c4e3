//! In which precision a dtype is computed: its own where LAPACK has it, else the double one.

use super::routines::Routines;
#[cfg(feature = "promote-f32")]
use xla_ffi::{Code, Error};
use xla_ffi::{Result, Scalar};

/// A dtype that the CPU ops compute with.
pub trait Precision: Scalar {
    /// What LAPACK works in.
    type Work: Routines;

    /// What a matrix is filled with that could not be computed.
    const NAN: Self;

    /// Whether the value is neither infinite nor NaN.
    fn is_finite(self) -> bool;

    /// Runs `f` on `matrix` in the working precision and leaves the result in `matrix`. `scratch`
    /// is reused from one matrix of a batch to the next; it stays empty where no conversion is
    /// needed.
    fn in_work<R>(
        matrix: &mut [Self],
        scratch: &mut Vec<Self::Work>,
        f: impl FnOnce(&mut [Self::Work]) -> R,
    ) -> Result<R>;
}

macro_rules! computed_as_it_is {
    ($scalar:ident) => {
        impl Precision for $scalar {
            type Work = $scalar;
            const NAN: Self = $scalar::NAN;

            fn is_finite(self) -> bool {
                $scalar::is_finite(self)
            }

            fn in_work<R>(
                matrix: &mut [Self],
                _: &mut Vec<Self::Work>,
                f: impl FnOnce(&mut [Self::Work]) -> R,
            ) -> Result<R> {
                Ok(f(matrix))
            }
        }
    };
}

#[cfg(not(feature = "promote-f32"))]
computed_as_it_is!(f32);
computed_as_it_is!(f64);

#[cfg(feature = "promote-f32")]
impl Precision for f32 {
    type Work = f64;
    const NAN: Self = f32::NAN;

    fn is_finite(self) -> bool {
        f32::is_finite(self)
    }

    fn in_work<R>(
        matrix: &mut [Self],
        scratch: &mut Vec<Self::Work>,
        f: impl FnOnce(&mut [Self::Work]) -> R,
    ) -> Result<R> {
        scratch.clear();
        reserve(scratch, matrix.len())?;
        scratch.extend(matrix.iter().map(|&v| f64::from(v)));
        let result = f(scratch);
        for (to, from) in matrix.iter_mut().zip(scratch) {
            *to = *from as f32;
        }
        Ok(result)
    }
}

/// Makes room in an empty vector, or says that there is no memory for it.
#[cfg(feature = "promote-f32")]
fn reserve<T>(vector: &mut Vec<T>, len: usize) -> Result<()> {
    vector.try_reserve_exact(len).map_err(|_| {
        let bytes = len.saturating_mul(size_of::<T>());
        Error::new(
            Code::ResourceExhausted,
            format!("no memory for a working copy of {bytes} bytes"),
        )
    })
}
