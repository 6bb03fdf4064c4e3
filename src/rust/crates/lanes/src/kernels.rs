//! The kernels that there are, as values of one type. So their machine code, which is much for every dtype and vector
//! unit, is made in this crate, once for all that call them.

use crate::dispatch::{run, Unit};
use crate::dtype::InParts;
use crate::kernel::{Most, Parts};
use crate::scratch::NoMemory;
use crate::{cholesky, crossprod, eigh, lu, qr, svd, triangular};
use matrices::{Complex, Element, Matrices};

macro_rules! kernels {
    ($($name:ident $module:ident;)*) => {
        /// A kernel and the matrices that it is for.
        pub enum AnyKernel<'a, T: Element> {
            $(
                #[allow(missing_docs)]
                $name($module::$name<'a, T>),
            )*
        }

        $(
            impl<'a, T: Element> From<$module::$name<'a, T>> for AnyKernel<'a, T> {
                #[inline]
                fn from(kernel: $module::$name<'a, T>) -> Self {
                    AnyKernel::$name(kernel)
                }
            }
        )*
    };
}
kernels! {
    Lu lu;
    Potrf cholesky;
    Crossprod crossprod;
    Geqrf qr;
    Orgqr qr;
    Trsm triangular;
    Syevd eigh;
    Gesdd svd;
}

/// A dtype of the kernels.
pub trait Vectorised: InParts {
    /// Runs `kernel` over `count` matrices on this thread, with a vector unit that the processor has. None of the
    /// matrices is without rows or columns.
    ///
    /// # Errors
    /// There is no memory to work in; the matrices are as they were.
    fn run_on(unit: Unit, kernel: AnyKernel<'_, Self>, count: usize) -> Result<(), NoMemory>;

    /// The same with the processor's best unit, of matrices that [suit](suits) it.
    ///
    /// # Errors
    /// As above.
    #[inline]
    fn in_lanes<'a>(kernel: impl Into<AnyKernel<'a, Self>>, count: usize) -> Result<(), NoMemory> {
        let unit = Unit::best().expect("a vector unit, as `suits` found one");
        Self::run_on(unit, kernel.into(), count)
    }
}

macro_rules! vectorised {
    ($($t:ident)*) => {$(
        impl Vectorised for $t {
            fn run_on(unit: Unit, kernel: AnyKernel<'_, Self>, count: usize) -> Result<(), NoMemory> {
                match kernel {
                    AnyKernel::Lu(mut kernel) => run(unit, &mut kernel, count),
                    AnyKernel::Potrf(mut kernel) => run(unit, &mut kernel, count),
                    AnyKernel::Crossprod(mut kernel) => run(unit, &mut kernel, count),
                    AnyKernel::Geqrf(mut kernel) => run(unit, &mut kernel, count),
                    AnyKernel::Orgqr(mut kernel) => run(unit, &mut kernel, count),
                    AnyKernel::Trsm(mut kernel) => run(unit, &mut kernel, count),
                    AnyKernel::Syevd(mut kernel) => run(unit, &mut kernel, count),
                    AnyKernel::Gesdd(mut kernel) => run(unit, &mut kernel, count),
                }
            }
        }

        impl Vectorised for Complex<$t> {
            fn run_on(unit: Unit, kernel: AnyKernel<'_, Self>, count: usize) -> Result<(), NoMemory> {
                match kernel {
                    AnyKernel::Lu(kernel) => run::<$t, _>(unit, &mut Parts(kernel), count),
                    AnyKernel::Potrf(kernel) => run::<$t, _>(unit, &mut Parts(kernel), count),
                    AnyKernel::Crossprod(_) => unreachable!("a kernel of real numbers"),
                    AnyKernel::Geqrf(kernel) => run::<$t, _>(unit, &mut Parts(kernel), count),
                    AnyKernel::Orgqr(kernel) => run::<$t, _>(unit, &mut Parts(kernel), count),
                    AnyKernel::Trsm(kernel) => run::<$t, _>(unit, &mut Parts(kernel), count),
                    AnyKernel::Syevd(kernel) => run::<$t, _>(unit, &mut Parts(kernel), count),
                    AnyKernel::Gesdd(kernel) => run::<$t, _>(unit, &mut Parts(kernel), count),
                }
            }
        }
    )*};
}
vectorised!(f32 f64);

/// Whether matrices of that shape are computed here, by a kernel of that size, on a processor that there is code for.
pub fn suits<T: Vectorised>(shape: Matrices, most: Most) -> bool {
    let most = if T::COMPLEX { most.complex } else { most.real };
    shape.rows.max(shape.cols) <= most && Unit::best().is_some()
}
