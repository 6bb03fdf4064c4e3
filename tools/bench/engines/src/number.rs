//! The element types, as every engine knows them.

use num_complex::Complex;

pub trait Number: faer::traits::ComplexField + xla_ffi::Scalar + Copy {
    /// Of its parts.
    type Part: xla_ffi::Scalar;
    /// Ours, and the letter in LAPACK's names.
    const NAME: &'static str;
    const LETTER: char;
    const COMPLEX: bool;
    fn new(re: f64, im: f64) -> Self;
    fn conjugate(self) -> Self;
}

macro_rules! numbers {
    ($($real:ident $name:literal $letter:literal $complex:literal $complex_letter:literal;)*) => {$(
        impl Number for $real {
            type Part = $real;
            const NAME: &'static str = $name;
            const LETTER: char = $letter;
            const COMPLEX: bool = false;
            fn new(re: f64, _: f64) -> Self {
                re as $real
            }
            fn conjugate(self) -> Self {
                self
            }
        }
        impl Number for Complex<$real> {
            type Part = $real;
            const NAME: &'static str = $complex;
            const LETTER: char = $complex_letter;
            const COMPLEX: bool = true;
            fn new(re: f64, im: f64) -> Self {
                Complex::new(re as $real, im as $real)
            }
            fn conjugate(self) -> Self {
                self.conj()
            }
        }
    )*};
}
numbers! {
    f32 "f32" 's' "c64" 'c';
    f64 "f64" 'd' "c128" 'z';
}
