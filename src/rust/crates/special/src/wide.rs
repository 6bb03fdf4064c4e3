//! Numbers beyond the range of f64.

#[cfg(target_arch = "nvptx64")]
use crate::elementary::*;
use std::f64::consts::{LN_2, LOG2_E};

/// What large numbers of a recurrence are multiplied by, and the binary exponent of its inverse.
pub(crate) const SHRINK: f64 = 1.0 / (2u128.pow(100) as f64 * 2u128.pow(100) as f64);
pub(crate) const SHRUNK: i32 = 200;
/// The logarithm of 2 is this, of which multiples below 2^20 are exact, and what is left.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// `value 2^exponent`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide {
    pub(crate) value: f64,
    pub(crate) exponent: i32,
}

impl Wide {
    pub(crate) fn from(value: f64) -> Self {
        Wide { value, exponent: 0 }
    }

    pub(crate) fn times_exp(self, x: f64) -> Self {
        if x.abs() > 1e8 * LN_2 {
            let value = self.value * x.exp();
            return Wide { value, ..self };
        }
        let twos = (x * LOG2_E).round();
        let rest = (x - twos * LN_2_HIGH) - twos * LN_2_LOW;
        Wide {
            value: self.value * rest.exp(),
            exponent: self.exponent + twos as i32,
        }
    }

    /// Rounded into the range: in two steps, which do not leave it before the result does.
    pub(crate) fn narrow(self) -> f64 {
        let exponent = self.exponent.clamp(-4000, 4000);
        let quarter = 2f64.powi(exponent / 4);
        self.value * quarter * quarter * quarter * 2f64.powi(exponent - exponent / 4 * 3)
    }
}
