//! All functions by name.

use crate::number::{Dual, Number};
use crate::{bessel, beta, beta_inc, erf, expint, gamma, gamma_inc, lambert, owens_t, tail, zeta};

/// A function of one, two or three numbers.
#[derive(Clone, Copy, Debug)]
pub enum Function {
    /// Of one.
    One(fn(f64) -> f64),
    /// Of two.
    Two(fn(f64, f64) -> f64),
    /// Of three.
    Three(fn(f64, f64, f64) -> f64),
}

impl Function {
    /// How many arguments it takes.
    #[must_use]
    pub fn arity(&self) -> usize {
        match self {
            Function::One(_) => 1,
            Function::Two(_) => 2,
            Function::Three(_) => 3,
        }
    }
}

use Function::{One, Three, Two};

type Named = (&'static str, Function);

/// Functions of a module, each with the number of its arguments, by their own names.
macro_rules! functions {
    ($module:ident: $($arity:ident $name:ident),*) => {
        &[$((stringify!($name), $arity($module::$name))),*]
    };
}

static FAMILIES: &[&[Named]] = &[
    functions!(gamma: One lgamma, One gamma),
    functions!(zeta: One digamma, Two polygamma, Two zeta),
    functions!(beta: Two lbeta, Two beta, Two choose, Two lchoose),
    functions!(erf: One erf, One erfc, One erfcx, One erfinv, One erfcinv),
    functions!(erf: One ndtr, One log_ndtr, One ndtri, One ndtri_exp),
    functions!(bessel: Two bessel_j, Two bessel_y),
    functions!(bessel: Two bessel_i, Two bessel_i_scaled, Two bessel_k, Two bessel_k_scaled),
    functions!(expint: Two expint_n, One expint_ei),
    functions!(owens_t: Two owens_t),
    functions!(lambert: One lambert_w),
    GAMMA_INC,
    BETA_INC,
];

/// The variable of second derivatives.
fn twice(x: f64) -> Dual<Dual<f64>> {
    Dual::variable(Dual::variable(x))
}

/// Tails by name, their first and their second derivative in `a`; inverses.
macro_rules! gamma_tails {
    ($($name:literal $in_a:literal $in_aa:literal $of:ident($lower:literal);)*
        inverses $($inverse:literal $smaller:ident($is_lower:literal);)*) => {
        &[
            ("log_gamma_density", Two(gamma_inc::log_gamma_density)),
            $(
                ($name, Two(|a, x| gamma_inc::tail(a, x).$of($lower))),
                ($in_a, Two(|a, x| gamma_inc::tail(Dual::variable(a), x).$of($lower).slope)),
                ($in_aa, Two(|a, x| gamma_inc::tail(twice(a), x).$of($lower).slope.slope)),
            )*
            $(
                ($inverse, Two(|a, p| {
                    let smaller = tail::$smaller(p, $is_lower);
                    smaller.map_or(f64::NAN, |(log, lower)| gamma_inc::quantile(a, log, lower))
                })),
            )*
        ]
    };
}

static GAMMA_INC: &[Named] = gamma_tails! {
    "gammainc_p" "gammainc_p_a" "gammainc_p_aa" of(true);
    "gammainc_q" "gammainc_q_a" "gammainc_q_aa" of(false);
    "log_gammainc_p" "log_gammainc_p_a" "log_gammainc_p_aa" log_of(true);
    "log_gammainc_q" "log_gammainc_q_a" "log_gammainc_q_aa" log_of(false);
    inverses
    "gammainc_p_inv" smaller_of(true);
    "gammainc_q_inv" smaller_of(false);
    "log_gammainc_p_inv" smaller(true);
    "log_gammainc_q_inv" smaller(false);
};

/// Tails by name, their first and their second derivatives in `a` and `b`; inverses.
macro_rules! beta_tails {
    ($($name:literal $in_a:literal $in_b:literal $in_aa:literal $in_ab:literal $in_bb:literal $of:ident($lower:literal);)*
        inverses $($inverse:literal $smaller:ident($is_lower:literal);)*) => {
        &[
            ("log_beta_density", Three(beta_inc::log_beta_density)),
            $(
                ($name, Three(|a, b, x| beta_inc::tail(a, b, x, 1.0 - x).$of($lower))),
                ($in_a, Three(|a, b, x| {
                    let (a, b) = (Dual::variable(a), Dual::fixed(b));
                    beta_inc::tail(a, b, x, 1.0 - x).$of($lower).slope
                })),
                ($in_b, Three(|a, b, x| {
                    let (a, b) = (Dual::fixed(a), Dual::variable(b));
                    beta_inc::tail(a, b, x, 1.0 - x).$of($lower).slope
                })),
                ($in_aa, Three(|a, b, x| {
                    let (a, b) = (twice(a), Number::constant(b));
                    beta_inc::tail(a, b, x, 1.0 - x).$of($lower).slope.slope
                })),
                ($in_ab, Three(|a, b, x| {
                    let a = Dual::fixed(Dual::variable(a));
                    let b = Dual::variable(Dual::fixed(b));
                    beta_inc::tail(a, b, x, 1.0 - x).$of($lower).slope.slope
                })),
                ($in_bb, Three(|a, b, x| {
                    let (a, b) = (Number::constant(a), twice(b));
                    beta_inc::tail(a, b, x, 1.0 - x).$of($lower).slope.slope
                })),
            )*
            $(
                ($inverse, Three(|a, b, p| {
                    let smaller = tail::$smaller(p, $is_lower);
                    smaller.map_or(f64::NAN, |(log, lower)| beta_inc::quantile(a, b, log, lower))
                })),
            )*
        ]
    };
}

static BETA_INC: &[Named] = beta_tails! {
    "betainc" "betainc_a" "betainc_b" "betainc_aa" "betainc_ab" "betainc_bb" of(true);
    "betainc_c" "betainc_c_a" "betainc_c_b" "betainc_c_aa" "betainc_c_ab" "betainc_c_bb" of(false);
    "log_betainc" "log_betainc_a" "log_betainc_b" "log_betainc_aa" "log_betainc_ab" "log_betainc_bb" log_of(true);
    "log_betainc_c" "log_betainc_c_a" "log_betainc_c_b" "log_betainc_c_aa" "log_betainc_c_ab" "log_betainc_c_bb"
        log_of(false);
    inverses
    "betainc_inv" smaller_of(true);
    "betainc_c_inv" smaller_of(false);
    "log_betainc_inv" smaller(true);
    "log_betainc_c_inv" smaller(false);
};

/// The function of that name.
#[must_use]
pub fn function(name: &str) -> Option<Function> {
    let found = all().find(|(known, _)| *known == name);
    found.map(|&(_, function)| function)
}

/// The function of that name, found by the compiler.
///
/// # Panics
/// Where there is none.
#[cfg(target_arch = "nvptx64")]
#[must_use]
pub const fn known(name: &str) -> Function {
    let mut family = 0;
    while family < FAMILIES.len() {
        let mut i = 0;
        while i < FAMILIES[family].len() {
            let (other, function) = FAMILIES[family][i];
            if are_equal(other.as_bytes(), name.as_bytes()) {
                return function;
            }
            i += 1;
        }
        family += 1;
    }
    panic!("no function has this name")
}

#[cfg(target_arch = "nvptx64")]
const fn are_equal(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// All names.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().map(|&(name, _)| name)
}

fn all() -> impl Iterator<Item = &'static Named> {
    FAMILIES.iter().copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_found_once() {
        let all: BTreeSet<_> = names().collect();
        assert_eq!(all.len(), names().count());
        assert!(all.into_iter().all(|name| function(name).is_some()));
        assert!(function("no such").is_none());
    }

    #[test]
    fn what_is_no_number_stays_so() {
        for (name, function) in super::all() {
            let nan = f64::NAN;
            let values = match function {
                One(f) => vec![f(nan)],
                Two(f) => vec![f(nan, 1.0), f(1.0, nan)],
                Three(f) => vec![f(nan, 1.0, 0.5), f(1.0, nan, 0.5), f(1.0, 1.0, nan)],
            };
            assert!(
                values.iter().all(|value| value.is_nan()),
                "{name}: {values:?}"
            );
        }
    }
}
