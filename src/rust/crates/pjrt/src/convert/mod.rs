//! Conversion of element types and order in one pass over the data.
//!
//! [`scalar`] says how one number becomes another, [`pair`] has the loops over them, [`plan`] says
//! how an array is walked, [`kernel`] walks it, [`stream`] large ones; [`range`] refuses what does not
//! fit. Here the types are chosen, once per array.

mod kernel;
mod pair;
mod plan;
pub(crate) mod range;
mod scalar;
mod stream;
mod transpose;
mod types;

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::host_data::{Dest, Source};
use pair::Pair;
use plan::Plan;
use scalar::Cast;
use types::{for_real, for_size};

/// An array in device memory to be filled: what the strides reach is inside memory of the caller's.
pub(crate) struct Target<'a> {
    pub data: *mut u8,
    pub dtype: DType,
    pub strides: &'a [isize],
}

/// An array in device memory to be read: what the strides reach is inside it.
pub(crate) struct Origin<'a> {
    pub data: *const u8,
    pub dtype: DType,
    pub dims: &'a [i64],
    pub strides: &'a [isize],
}

/// Converts a whole array.
///
/// # Safety
/// As [`kernel::convert`], with elements of these types.
unsafe fn convert<S: Cast<D> + 'static, D: Copy + 'static>(
    plan: &Plan,
    from: *const u8,
    to: *mut u8,
    pause: &dyn Fn(),
) {
    // SAFETY: the caller's promise.
    unsafe { kernel::convert(plan, &Pair::of::<S, D>(), from, to, pause) };
}

/// Whether the source's elements have the wanted type already.
pub(crate) fn is_plain(source: &Source<'_>, dtype: DType) -> bool {
    matches!(
        (source, dtype),
        (Source::F64(_), DType::F64)
            | (Source::I32(_), DType::I32)
            | (Source::I64(_), DType::I64)
            | (Source::U8(_), DType::U8)
            | (Source::Complex(_), DType::C128)
            | (Source::Bytes(_), _)
    )
}

/// Fills an array for the device from host memory. `pause` is called now and then in a large one.
///
/// # Errors
/// `INVALID_ARGUMENT` where complex numbers are to become real ones.
///
/// # Safety
/// `strides` stay within the source's elements and those of `target` within its memory, which
/// nobody else uses meanwhile.
pub(crate) unsafe fn to_device(
    source: Source<'_>,
    dims: &[i64],
    strides: &[isize],
    target: Target<'_>,
    pause: &dyn Fn(),
) -> Result<()> {
    let plan = Plan::new(dims, strides, target.strides);
    let (from, to, dtype) = (source.as_ptr(), target.data, target.dtype);
    macro_rules! real {
        ($S:ty) => {
            // SAFETY: the caller's promise; the types are those of the elements.
            for_real!(dtype, D => unsafe { convert::<$S, D>(&plan, from, to, pause) }, complex => unsafe {
                if dtype == DType::C64 {
                    convert::<$S, [f32; 2]>(&plan, from, to, pause)
                } else {
                    convert::<$S, [f64; 2]>(&plan, from, to, pause)
                }
            })
        };
    }
    if is_plain(&source, dtype) {
        // SAFETY: the caller's promise; the type has the elements' size.
        for_size!(dtype.size(), T => unsafe { convert::<T, T>(&plan, from, to, pause) });
        return Ok(());
    }
    match source {
        Source::F64(_) => real!(f64),
        Source::I32(_) => real!(i32),
        Source::I64(_) => real!(i64),
        Source::U8(_) | Source::Bytes(_) => real!(u8),
        Source::Complex(_) if dtype == DType::C64 => {
            // SAFETY: as above.
            unsafe { convert::<[f64; 2], [f32; 2]>(&plan, from, to, pause) };
        }
        Source::Complex(_) => {
            return Err(Error::argument(format!(
                "complex numbers cannot become {dtype}: c64 or c128 is needed"
            )))
        }
    }
    Ok(())
}

/// Whether an array of that type can be read into `dest`.
///
/// # Errors
/// `INVALID_ARGUMENT` where complex numbers are to become real ones.
pub(crate) fn check_read(dtype: DType, dest: &Dest<'_>) -> Result<()> {
    if dtype.is_complex() && !matches!(dest, Dest::Complex(_) | Dest::Bytes(_)) {
        return Err(Error::argument(format!(
            "an array of {dtype} cannot be read as real numbers"
        )));
    }
    Ok(())
}

/// Fills host memory from an array of the device. The strides `to` are those of `dest`. `pause` is
/// called now and then in a large one.
///
/// # Errors
/// As [`check_read`].
///
/// # Safety
/// The strides of `origin` stay within its memory and `to` within `dest`; the memory is readable
/// and nobody writes it meanwhile.
pub(crate) unsafe fn from_device(
    origin: Origin<'_>,
    to: &[isize],
    mut dest: Dest<'_>,
    pause: &dyn Fn(),
) -> Result<()> {
    check_read(origin.dtype, &dest)?;
    let (start, bytes) = dest.memory();
    if bytes >= kernel::LARGE {
        crate::staging::advise_huge(start, bytes);
    }
    let plan = Plan::new(origin.dims, origin.strides, to);
    let (from, dtype) = (origin.data, origin.dtype);
    macro_rules! real {
        ($data:expr, $D:ty) => {{
            let to = $data.as_mut_ptr().cast::<u8>();
            // SAFETY: the caller's promise; the types are those of the elements.
            for_real!(dtype, S => unsafe { convert::<S, $D>(&plan, from, to, pause) }, complex => ())
        }};
    }
    match dest {
        Dest::Bytes(x) => {
            // SAFETY: the caller's promise; the type has the elements' size.
            for_size!(dtype.size(), T => unsafe { convert::<T, T>(&plan, from, x.as_mut_ptr(), pause) });
        }
        Dest::F64(x) => real!(x, f64),
        Dest::I32(x) => real!(x, i32),
        Dest::I64(x) => real!(x, i64),
        Dest::U8(x) => real!(x, u8),
        Dest::Complex(x) => {
            let to = x.as_mut_ptr().cast::<u8>();
            match dtype {
                // SAFETY: as above.
                DType::C64 => unsafe { convert::<[f32; 2], [f64; 2]>(&plan, from, to, pause) },
                // SAFETY: as above.
                DType::C128 => unsafe { convert::<[f64; 2], [f64; 2]>(&plan, from, to, pause) },
                _ => real!(x, [f64; 2]),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
