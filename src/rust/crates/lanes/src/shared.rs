//! What all kinds of vectors have in common.

/// What kernels share, of vectors whose instructions need not be asked for.
macro_rules! shared {
    ($float:ty) => {
        #[inline(never)]
        fn gather(matrices: &[$float], to: &mut [Self]) {
            block::gather_full(matrices, to);
        }
        #[inline(never)]
        fn scatter(from: &mut [Self], matrices: &mut [$float]) {
            block::scatter_full(from, matrices);
        }
        #[inline(never)]
        fn product(columns: &mut [Self], step: &Product<'_, Self>, work: &mut [Self]) {
            rows::product(columns, step, work);
        }
        #[inline(never)]
        fn follow(columns: &mut [Self], step: &Step<'_, Self>, work: &mut [Self]) {
            rows::follow(columns, step, work);
        }
        #[inline(never)]
        fn substitute(strip: &mut [Self], step: &Substitution<'_, Self>, work: &mut [Self]) {
            rows::substitute(strip, step, work);
        }
        #[inline(never)]
        fn reflect(columns: &mut [Self], stride: usize, blocks: &[Block<'_, Self>]) {
            rows::reflect(columns, stride, blocks);
        }
        #[inline(never)]
        fn prepare(
            panel: &[Self],
            stride: usize,
            rows: (usize, usize),
            tau: (&[$float], Task),
            memory: &mut [Self],
        ) {
            rows::prepare(panel, stride, rows, tau, memory);
        }
        #[inline(never)]
        fn project(
            left: &[Self],
            columns: &[Self],
            stride: usize,
            which: Range<usize>,
            to: &mut [Self],
        ) {
            rows::project(left, columns, stride, which, to);
        }
        #[inline(never)]
        fn sweep(a: &mut [Self], step: &Sweep<'_, Self>, p: &mut [Self]) {
            rows::sweep(a, step, p);
        }
        #[inline(never)]
        fn multiply(p: &mut [Self], a: &[Self], step: &Sweep<'_, Self>, which: Range<usize>) {
            rows::multiply(p, a, step, which);
        }
        #[inline(never)]
        fn hemv(p: &mut [Self], a: &[Self], step: &Hemv<'_, Self>, which: Range<usize>) {
            rows::hemv(p, a, step, which);
        }
        #[inline(never)]
        fn larfg(column: &mut [Self], row: usize, x: &mut [Self], results: &mut [$float; 2]) {
            rows::larfg(column, row, x, results);
        }
        #[inline(never)]
        fn gemver(
            a: &mut [Self],
            step: &Gemver<'_, Self>,
            update: Update<'_, Self>,
            results: [&mut [Self]; 3],
        ) {
            rows::gemver(a, step, update, results);
        }
        #[inline(never)]
        fn gemvt(a: &[Self], step: &Gemver<'_, Self>, results: [&mut [Self]; 3]) {
            rows::gemvt(a, step, results);
        }
        #[inline(never)]
        fn gemvh(a: &[Self], step: &Gemver<'_, Self>, results: [&mut [Self]; 3]) {
            rows::gemvh(a, step, results);
        }
        #[inline(never)]
        fn apart<Work: Apart>(work: Work, _: Self) {
            work.run();
        }
        #[inline(never)]
        fn bdsqr(
            d: &mut [Self],
            e: &mut [Self],
            factors: [(&mut [Self], usize); 2],
            failed: &mut Self,
        ) {
            singular::bdsqr(d, e, factors, failed);
        }
        #[inline(never)]
        fn steqr(d: &mut [Self], e: &mut [Self], q: &mut [Self], failed: &mut Self) {
            symmetric::steqr(d, e, q, failed);
        }
        #[inline(never)]
        fn stedc(
            q: &mut [Self],
            problem: &mut Stedc<'_, $float>,
            room: &mut Room<'_, Self>,
            found: &mut bool,
        ) {
            rows::stedc(q, problem, room, found);
        }
        #[inline(never)]
        fn sterf(room: &mut [Self], problem: &mut Stedc<'_, $float>, found: &mut bool) {
            rows::sterf(room, problem, found);
        }
        #[inline(never)]
        fn roots(pairs: &mut [Self], equation: &Secular<'_, $float>, first: usize) {
            rows::roots(pairs, equation, first);
        }
        #[inline(never)]
        fn weights(
            z: &mut [Self],
            equation: &Secular<'_, $float>,
            roots: &Roots<'_, Self>,
            first: usize,
        ) {
            rows::weights(z, equation, roots, first);
        }
        #[inline(never)]
        fn spread(columns: &mut [Self], stride: usize, of: &Spread<'_, Self>, first: usize) {
            rows::spread(columns, stride, of, first);
        }
        #[inline(never)]
        fn ends(columns: &mut [Self], of: [&[Self]; 4], roots: &Roots<'_, Self>, first: usize) {
            rows::ends(columns, of, roots, first);
        }
    };
}
pub(crate) use shared;

/// A vector and its operators by its processor's instructions; where there is a vector, they may be used.
macro_rules! arithmetic {
    (
        $(#[$meta:meta])* $name:ident($raw:ty): $($trait:ident $method:ident $instruction:ident),*;
        fn neg($this:ident) = $negative:expr
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name($raw);

        impl std::ops::Neg for $name {
            type Output = Self;
            #[inline(always)]
            fn neg($this) -> Self {
                // SAFETY: see the module's documentation.
                $name(unsafe { $negative })
            }
        }

        $(
            impl $trait for $name {
                type Output = Self;
                #[inline(always)]
                fn $method(self, other: Self) -> Self {
                    // SAFETY: see the module's documentation.
                    $name(unsafe { $instruction(self.0, other.0) })
                }
            }
        )*

        impl std::ops::AddAssign for $name {
            #[inline(always)]
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }
    };
}
pub(crate) use arithmetic;

/// Functions of a vector that give one, by its processor's instructions.
macro_rules! functions {
    ($name:ident: $(fn $function:ident($this:ident $(, $other:ident)*) = $value:expr;)*) => {$(
        #[inline(always)]
        fn $function($this $(, $other: Self)*) -> Self {
            // SAFETY: see the module's documentation.
            $name(unsafe { $value })
        }
    )*};
}
pub(crate) use functions;

/// The lanes of a vector in memory.
macro_rules! as_array {
    ($float:ty, $width:literal) => {
        #[inline(always)]
        fn as_slice(&self) -> &[$float] {
            // SAFETY: a vector is an array of its lanes, any bits of which are a number.
            let lanes: &[$float; $width] = unsafe { &*std::ptr::from_ref(self).cast() };
            lanes
        }
        #[inline(always)]
        fn as_mut_slice(&mut self) -> &mut [$float] {
            // SAFETY: as above.
            let lanes: &mut [$float; $width] = unsafe { &mut *std::ptr::from_mut(self).cast() };
            lanes
        }
    };
}
pub(crate) use as_array;
