//! Matrices brought near 1, so that the squares of what matters neither overflow nor vanish.

use super::lanes::{Float, Lanes};

/// Powers of 2, each in two factors, as one may be beyond the largest number.
pub(crate) struct Scale<V> {
    there: [V; 2],
    back: [V; 2],
}

impl<V: Lanes> Scale<V> {
    /// The scale of matrices whose largest magnitudes are `largest`; these become 1 or more, and
    /// less than 2.
    #[inline(always)]
    pub(crate) fn of(largest: V) -> Self {
        let one = largest.like(1.0);
        let mut scale = Scale {
            there: [one; 2],
            back: [one; 2],
        };
        for (lane, largest) in largest.as_slice().iter().enumerate() {
            let exponent = exponent(largest.f64());
            let half = exponent / 2;
            for (part, exponent) in [half, exponent - half].into_iter().enumerate() {
                scale.back[part].as_mut_slice()[lane] = V::Float::of(power(exponent));
                scale.there[part].as_mut_slice()[lane] = V::Float::of(power(-exponent));
            }
        }
        scale
    }

    /// Brings numbers near 1.
    #[inline(always)]
    pub(crate) fn there(&self, values: &mut [V]) {
        let [a, b] = self.there;
        for v in values.iter_mut() {
            *v = *v * a * b;
        }
    }

    /// Brings numbers back.
    #[inline(always)]
    pub(crate) fn back(&self, values: &mut [V]) {
        let [a, b] = self.back;
        for v in values.iter_mut() {
            *v = *v * a * b;
        }
    }
}

/// `e` with `2ᵉ <= value < 2ᵉ⁺¹`; 0 for 0.
#[inline(always)]
fn exponent(value: f64) -> i32 {
    const LIFT: i32 = 60;
    if value == 0.0 {
        return 0;
    }
    let (value, lifted) = if value < f64::MIN_POSITIVE {
        (value * power(LIFT), LIFT)
    } else {
        (value, 0)
    };
    (value.to_bits() >> 52) as i32 - 1023 - lifted
}

/// `2ᵉ`, which is a normal number.
#[inline(always)]
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}
