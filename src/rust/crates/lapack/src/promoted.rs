//! Single precision for a LAPACK that has none (R's own, on most systems): every routine in double
//! precision, on copies.

use crate::error::NO_MEMORY;
use crate::int::Int;
use crate::list::{arguments, list};
use crate::routines::gesdd_real;
use crate::sys::Routines;
use crate::workspace::filled;
use matrices::{Complex, Element};

/// A type of single precision.
pub(crate) trait Narrow: Element {
    /// The same kind of numbers in double precision.
    type Wide: Routines;
    fn widen(self) -> Self::Wide;
    fn narrow(wide: Self::Wide) -> Self;
}

impl Narrow for f32 {
    type Wide = f64;

    fn widen(self) -> f64 {
        self.into()
    }

    fn narrow(wide: f64) -> Self {
        wide as f32
    }
}

impl Narrow for Complex<f32> {
    type Wide = Complex<f64>;

    fn widen(self) -> Complex<f64> {
        Complex::new(self.re.into(), self.im.into())
    }

    fn narrow(wide: Complex<f64>) -> Self {
        Complex::new(wide.re as f32, wide.im as f32)
    }
}

/// A copy in double precision.
struct Widened<N: Narrow> {
    copy: Vec<N::Wide>,
    /// Where it goes back to.
    origin: Option<*mut N>,
}

impl<N: Narrow> Widened<N> {
    /// Zeros in place of that many elements, and room for a column behind them: see `padded.rs`.
    #[inline(never)]
    fn scratch(_: *const N, extents: &[Int]) -> Option<Self> {
        let sizes = || {
            extents
                .iter()
                .map(|&extent| usize::try_from(extent).unwrap_or(0))
        };
        let len = sizes().try_fold(1, usize::checked_mul)?;
        let mut copy = filled(len.checked_add(sizes().next()?)?, N::Wide::ZERO).ok()?;
        copy.truncate(len);
        Some(Widened { copy, origin: None })
    }

    /// A copy of what is read.
    ///
    /// # Safety
    /// There are as many elements at `from` as the extents say.
    #[inline(never)]
    unsafe fn read(from: *const N, extents: &[Int]) -> Option<Self> {
        let mut widened = Self::scratch(from, extents)?;
        if !widened.copy.is_empty() {
            // SAFETY: by contract.
            let from = unsafe { std::slice::from_raw_parts(from, widened.copy.len()) };
            for (to, from) in widened.copy.iter_mut().zip(from) {
                *to = from.widen();
            }
        }
        Some(widened)
    }

    /// A copy that goes back when it is dropped.
    ///
    /// # Safety
    /// There are as many elements at `origin` as the extents say, until then.
    unsafe fn write(origin: *mut N, extents: &[Int]) -> Option<Self> {
        // SAFETY: by contract.
        let mut widened = unsafe { Self::read(origin, extents) }?;
        widened.origin = Some(origin);
        Some(widened)
    }
}

impl<N: Narrow> Drop for Widened<N> {
    #[inline(never)]
    fn drop(&mut self) {
        let Some(origin) = self.origin.filter(|_| !self.copy.is_empty()) else {
            return;
        };
        // SAFETY: by `write`'s contract; nobody else has them during a routine's call.
        let to = unsafe { std::slice::from_raw_parts_mut(origin, self.copy.len()) };
        for (to, &from) in to.iter_mut().zip(&self.copy) {
            *to = N::narrow(from);
        }
    }
}

/// Columns of the left singular vectors that `job` asks for.
pub(crate) fn columns(job: u8, m: Int, n: Int) -> Int {
    match job {
        b'A' => m,
        b'S' => m.min(n),
        _ => 0,
    }
}

/// Goes through the arguments of a routine, makes copies and then the call.
macro_rules! widen {
    ($routine:ident [$($copies:tt)*] [$($passed:tt)*] ()) => {
        $($copies)*
        // SAFETY: what the method asks for, of operands in which only the precision is another.
        return unsafe { <Self::Wide as Routines>::$routine($($passed)*) };
    };
    ($routine:ident $copies:tt [$($passed:tt)*] (int $name:ident, $($rest:tt)*)) => {
        widen! { $routine $copies [$($passed)* $name,] ($($rest)*) }
    };
    ($routine:ident $copies:tt [$($passed:tt)*] (char $name:ident, $($rest:tt)*)) => {
        widen! { $routine $copies [$($passed)* $name,] ($($rest)*) }
    };
    ($routine:ident $copies:tt [$($passed:tt)*] (write int $name:ident, $($rest:tt)*)) => {
        widen! { $routine $copies [$($passed)* $name,] ($($rest)*) }
    };
    ($routine:ident $copies:tt [$($passed:tt)*] (complex int $name:ident, $($rest:tt)*)) => {
        widen! { $routine $copies [$($passed)* $name,] ($($rest)*) }
    };
    ($routine:ident $copies:tt $passed:tt (unsorted, $($rest:tt)*)) => {
        widen! { $routine $copies $passed ($($rest)*) }
    };
    ($routine:ident $copies:tt $passed:tt (out $name:ident, $($rest:tt)*)) => {
        widen! { $routine $copies $passed ($($rest)*) }
    };
    // The type of a copy follows from where it comes from.
    ($routine:ident $copies:tt $passed:tt (write real $($rest:tt)*)) => {
        widen! { $routine $copies $passed (write $($rest)*) }
    };
    // What only real or only complex matrices have is of no extent for the others.
    ($routine:ident $copies:tt $passed:tt
        (real write $name:ident [$($extent:expr),*], $($rest:tt)*)) => {
        widen! { $routine $copies $passed
            (write $name [Int::from(!Self::COMPLEX), $($extent),*], $($rest)*) }
    };
    ($routine:ident $copies:tt $passed:tt
        (complex scratch real $name:ident [$($extent:expr),*], $($rest:tt)*)) => {
        widen! { $routine $copies $passed
            (scratch $name [Int::from(Self::COMPLEX), $($extent),*], $($rest)*) }
    };
    ($routine:ident [$($copies:tt)*] [$($passed:tt)*]
        (scratch $name:ident [$($extent:expr),*], $($rest:tt)*)) => {
        widen! { $routine
            [$($copies)*
                let copy = Widened::scratch($name, &[$($extent),*]);
                let Some(mut $name) = copy else { return NO_MEMORY };]
            [$($passed)* $name.copy.as_mut_ptr(),] ($($rest)*) }
    };
    ($routine:ident [$($copies:tt)*] [$($passed:tt)*]
        (write $name:ident [$($extent:expr),*], $($rest:tt)*)) => {
        widen! { $routine
            [$($copies)*
                // SAFETY: the extents are what the routine's documentation asks for.
                let copy = unsafe { Widened::write($name, &[$($extent),*]) };
                let Some(mut $name) = copy else { return NO_MEMORY };]
            [$($passed)* $name.copy.as_mut_ptr(),] ($($rest)*) }
    };
    ($routine:ident [$($copies:tt)*] [$($passed:tt)*]
        (read $name:ident [$($extent:expr),*], $($rest:tt)*)) => {
        widen! { $routine
            [$($copies)*
                // SAFETY: as above.
                let copy = unsafe { Widened::read($name, &[$($extent),*]) };
                let Some($name) = copy else { return NO_MEMORY };]
            [$($passed)* $name.copy.as_ptr(),] ($($rest)*) }
    };
}

macro_rules! promoted {
    ($name:ident $arguments:tt ($($method:tt)*) $names:tt $fortran:tt $passed:tt) => {
        /// # Safety
        /// As [`Routines`]'.
        unsafe fn $name($($method)*) -> Int {
            widen! { $name [] [] $arguments }
        }
    };
}

macro_rules! all_promoted {
    ($($name:ident: $real:literal, $complex:literal $arguments:tt $(-> $info:ident)?;)*) => {
        /// [`Routines`] in double precision.
        #[allow(clippy::too_many_arguments)] // LAPACK's own
        pub(crate) trait Promoted: Narrow
        where
            Self::Real: Narrow<Wide = <Self::Wide as Element>::Real>,
        {
            $(arguments! { promoted!($name $arguments) both [] [] [] [] [] [] $arguments })*
        }
    };
}
list!(all_promoted!());

impl<N: Narrow> Promoted for N where N::Real: Narrow<Wide = <N::Wide as Element>::Real> {}
