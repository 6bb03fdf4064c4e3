//! One tail of a distribution, from which both follow, and their logarithms.

use crate::number::Number;

/// A probability: the smaller of the two, or about half. It is `factor exp(log)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail<T> {
    pub(crate) is_lower: bool,
    pub(crate) log: T,
    pub(crate) factor: T,
}

impl<T: Number> Tail<T> {
    /// All or nothing.
    pub(crate) fn certain(is_lower: bool, is_one: bool) -> Self {
        Tail {
            is_lower: is_lower != is_one,
            log: T::constant(0.0),
            factor: T::constant(0.0),
        }
    }

    pub(crate) fn swapped(self) -> Self {
        let is_lower = !self.is_lower;
        Tail { is_lower, ..self }
    }

    fn value(self) -> T {
        if self.factor.value() == 0.0 {
            return self.factor;
        }
        self.log.exp() * self.factor
    }

    /// The probability of the lower or of the upper tail.
    pub(crate) fn of(self, lower: bool) -> T {
        if self.is_lower == lower {
            return self.value();
        }
        -self.value() + 1.0
    }

    /// Its logarithm.
    pub(crate) fn log_of(self, lower: bool) -> T {
        if self.is_lower != lower {
            return (-self.value()).ln_1p();
        }
        if self.factor.value() == 0.0 {
            return T::constant(f64::NEG_INFINITY);
        }
        self.log + self.factor.ln()
    }
}

/// The smaller tail and the logarithm of its probability, from that of the one that is given; none where it is no
/// probability.
pub(crate) fn smaller(log_p: f64, lower: bool) -> Option<(f64, bool)> {
    if log_p.is_nan() || log_p > 0.0 {
        return None;
    }
    if log_p > -std::f64::consts::LN_2 {
        return Some(((-log_p.exp_m1()).ln(), !lower));
    }
    Some((log_p, lower))
}

/// The same from the probability itself.
pub(crate) fn smaller_of(p: f64, lower: bool) -> Option<(f64, bool)> {
    if !(0.0..=1.0).contains(&p) {
        return None;
    }
    if p > 0.5 {
        return Some(((1.0 - p).ln(), !lower));
    }
    Some((p.ln(), lower))
}
