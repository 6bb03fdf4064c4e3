//! All functions by name.

use crate::{beta, erf, gamma, zeta};

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

use Function::{One, Two};

static FUNCTIONS: &[(&str, Function)] = &[
    ("lgamma", One(gamma::lgamma)),
    ("gamma", One(gamma::gamma)),
    ("digamma", One(zeta::digamma)),
    ("polygamma", Two(zeta::polygamma)),
    ("zeta", Two(zeta::zeta)),
    ("lbeta", Two(beta::lbeta)),
    ("beta", Two(beta::beta)),
    ("choose", Two(beta::choose)),
    ("lchoose", Two(beta::lchoose)),
    ("erf", One(erf::erf)),
    ("erfc", One(erf::erfc)),
    ("erfcx", One(erf::erfcx)),
    ("erfinv", One(erf::erfinv)),
    ("erfcinv", One(erf::erfcinv)),
    ("ndtr", One(erf::ndtr)),
    ("log_ndtr", One(erf::log_ndtr)),
    ("ndtri", One(erf::ndtri)),
    ("ndtri_exp", One(erf::ndtri_exp)),
];

/// The function of that name.
#[must_use]
pub fn function(name: &str) -> Option<Function> {
    let found = FUNCTIONS.iter().find(|(known, _)| *known == name);
    found.map(|&(_, function)| function)
}

/// All names.
pub fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|&(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_found_once() {
        let all: BTreeSet<_> = names().collect();
        assert_eq!(all.len(), FUNCTIONS.len());
        assert!(all.into_iter().all(|name| function(name).is_some()));
        assert!(function("no such").is_none());
    }

    #[test]
    fn what_is_no_number_stays_so() {
        for (name, function) in FUNCTIONS {
            let nan = f64::NAN;
            let values = match function {
                One(f) => vec![f(nan)],
                Two(f) => vec![f(nan, 1.0), f(1.0, nan)],
                Function::Three(f) => vec![f(nan, 1.0, 0.5), f(1.0, nan, 0.5), f(1.0, 1.0, nan)],
            };
            assert!(
                values.iter().all(|value| value.is_nan()),
                "{name}: {values:?}"
            );
        }
    }
}
