//! The kernels that there are, as values of one type. So their machine code, which is much for every dtype and vector
//! unit, is made in this crate, once for all that call them.

use crate::dispatch::{run, Parts, Unit};
use crate::{cholesky, eigh, lu, qr, svd, triangular, NoMemory, Vectorised};
use matrices::{Complex, Element};

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
    Geqrf qr;
    Orgqr qr;
    Trsm triangular;
    Syevd eigh;
    Gesdd svd;
}

macro_rules! vectorised {
    ($($t:ident)*) => {$(
        impl Vectorised for $t {
            const PARTS: usize = 1;

            #[inline(always)]
            fn parts(values: &[$t]) -> &[$t] {
                values
            }
            #[inline(always)]
            fn parts_mut(values: &mut [$t]) -> &mut [$t] {
                values
            }
            fn run_on(unit: Unit, kernel: AnyKernel<'_, Self>, count: usize) -> Result<(), NoMemory> {
                match kernel {
                    AnyKernel::Lu(mut kernel) => run(unit, &mut kernel, count),
                    AnyKernel::Potrf(mut kernel) => run(unit, &mut kernel, count),
                    AnyKernel::Geqrf(mut kernel) => run(unit, &mut kernel, count),
                    AnyKernel::Orgqr(mut kernel) => run(unit, &mut kernel, count),
                    AnyKernel::Trsm(mut kernel) => run(unit, &mut kernel, count),
                    AnyKernel::Syevd(mut kernel) => run(unit, &mut kernel, count),
                    AnyKernel::Gesdd(mut kernel) => run(unit, &mut kernel, count),
                }
            }
        }

        impl Vectorised for Complex<$t> {
            const PARTS: usize = 2;

            #[inline(always)]
            fn parts(values: &[Self]) -> &[$t] {
                let len = 2 * values.len();
                // SAFETY: a complex number is its two parts, without anything between them.
                unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), len) }
            }
            #[inline(always)]
            fn parts_mut(values: &mut [Self]) -> &mut [$t] {
                let len = 2 * values.len();
                // SAFETY: as above.
                unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), len) }
            }
            fn run_on(unit: Unit, kernel: AnyKernel<'_, Self>, count: usize) -> Result<(), NoMemory> {
                match kernel {
                    AnyKernel::Lu(kernel) => run::<$t, _>(unit, &mut Parts(kernel), count),
                    AnyKernel::Potrf(kernel) => run::<$t, _>(unit, &mut Parts(kernel), count),
                    AnyKernel::Geqrf(kernel) => run::<$t, _>(unit, &mut Parts(kernel), count),
                    AnyKernel::Orgqr(kernel) => run::<$t, _>(unit, &mut Parts(kernel), count),
                    AnyKernel::Trsm(kernel) => run::<$t, _>(unit, &mut Parts(kernel), count),
                    AnyKernel::Syevd(_) | AnyKernel::Gesdd(_) => {
                        unreachable!("a kernel without complex numbers")
                    }
                }
            }
        }
    )*};
}
vectorised!(f32 f64);
