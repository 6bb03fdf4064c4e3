//! Kepler's equation to about 30 digits, and by how much a result misses it.

use std::f64::consts::{PI, TAU};

/// A number as an unevaluated sum, the second part below the last bit of the first.
#[derive(Clone, Copy)]
struct Double(f64, f64);

impl Double {
    fn sum(a: f64, b: f64) -> Double {
        let s = a + b;
        let t = s - a;
        Double(s, (a - (s - t)) + (b - t))
    }

    fn product(a: f64, b: f64) -> Double {
        let p = a * b;
        Double(p, a.mul_add(b, -p))
    }

    fn add(self, other: Double) -> Double {
        let high = Double::sum(self.0, other.0);
        let low = Double::sum(self.1, other.1);
        let first = Double::sum(high.0, high.1 + low.0);
        Double::sum(first.0, first.1 + low.1)
    }

    fn mul(self, other: Double) -> Double {
        let p = Double::product(self.0, other.0);
        Double::sum(p.0, p.1 + self.0 * other.1 + self.1 * other.0)
    }

    fn over(self, by: f64) -> Double {
        let q = self.0 / by;
        let back = Double::product(q, by);
        Double::sum(q, ((self.0 - back.0) - back.1 + self.1) / by)
    }

    fn neg(self) -> Double {
        Double(-self.0, -self.1)
    }
}

/// The series `x^first / first! - x^(first + 2) / (first + 2)! + …`.
fn series(x: f64, first: u32) -> Double {
    let minus_x2 = Double::product(x, x).neg();
    let mut term = Double(1.0, 0.0);
    for k in 1..=first {
        term = term.mul(Double(x, 0.0)).over(f64::from(k));
    }
    let mut total = term;
    let mut k = f64::from(first);
    while term.0.abs() > 1e-34 * total.0.abs() {
        term = term.mul(minus_x2).over((k + 1.0) * (k + 2.0));
        total = total.add(term);
        k += 2.0;
    }
    total
}

/// The solution for one point.
pub struct Reference {
    sin: Double,
    cos: Double,
    /// M less a multiple of 2π.
    wrapped: f64,
    /// `1 - e cos E`.
    slope: f64,
}

impl Reference {
    /// For finite `|m| < 1e14` and `e` in [0, 1).
    pub fn of(m: f64, e: f64) -> Reference {
        // 2π in three parts; the product with the first is subtracted without rounding.
        let n = (m / TAU).round();
        let second = Double::product(-n, 2.449_293_598_294_706_4e-16);
        let m = Double(n.mul_add(-TAU, m), 0.0)
            .add(second)
            .add(Double(n * 5.989_539_619_436_679e-33, 0.0));
        let (wrapped, negative) = (m.0, m.0 < 0.0);
        let m = if negative { m.neg() } else { m };

        let (w, x) = (Double::sum(1.0, -e), newton(m.0, e));
        let lag = series(x, 3);
        let versine = series(x, 2);
        let sin = Double(x, 0.0).add(lag.neg());
        let cos = Double(1.0, 0.0).add(versine.neg());
        // One more step, whose result needs f64 only.
        let f = w
            .mul(Double(x, 0.0))
            .add(Double(e, 0.0).mul(lag))
            .add(m.neg());
        let slope = w.0 + e * versine.0;
        let step = -f.0 / slope;
        let step = step * (1.0 - 0.5 * step * e * sin.0 / slope);
        let moved = |value: Double, first: f64, second: f64| {
            value.add(Double(step * first, -0.5 * step * step * second))
        };
        let (found_sin, found_cos) = (moved(sin, cos.0, sin.0), moved(cos, -sin.0, cos.0));
        Reference {
            sin: if negative { found_sin.neg() } else { found_sin },
            cos: found_cos,
            wrapped,
            slope,
        }
    }

    /// Errors of sin and cos. The unit is one ulp of the value plus what one ulp of the wrapped M
    /// makes of it; `digits` is 24 for f32 and 53 for f64.
    pub fn errors(&self, sin: f64, cos: f64, digits: i32) -> [f64; 2] {
        let input = ulp(self.wrapped, digits) / self.slope;
        [(sin, self.sin, self.cos.0), (cos, self.cos, self.sin.0)].map(|(got, want, rate)| {
            let unit = ulp(want.0, digits) + rate.abs() * input;
            ((got - want.0) - want.1).abs() / unit
        })
    }
}

/// Distance of the floating-point numbers around `x`, which is that of the subnormal ones at least.
fn ulp(x: f64, digits: i32) -> f64 {
    let least = if digits == 24 {
        2f64.powi(-149)
    } else {
        f64::from_bits(1)
    };
    if x.abs() < f64::MIN_POSITIVE {
        return least;
    }
    // Divided last: the power of the smallest exponents alone would be infinite.
    let exponent = (x.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    (2f64.powi(exponent) / 2f64.powi(digits - 1)).max(least)
}

/// E to f64, for `m >= 0`. E - e sin E is convex, so that Newton's method falls to the root from
/// any start above it.
fn newton(m: f64, e: f64) -> f64 {
    let w = 1.0 - e;
    let mut x = PI.min(m / w).min((12.0 * m / e).cbrt()).min(m + e);
    for _ in 0..60 {
        let lag = if x < 0.5 { short_lag(x) } else { x - x.sin() };
        let versine = 2.0 * (0.5 * x).sin().powi(2);
        let step = (w * x + e * lag - m) / (w + e * versine);
        x -= step;
        if step.abs() <= 1e-15 * x {
            break;
        }
    }
    x
}

/// `x - sin x` for `x < 0.5`.
fn short_lag(x: f64) -> f64 {
    let x2 = x * x;
    let tail = [156.0, 110.0, 72.0, 42.0, 20.0]
        .iter()
        .fold(1.0, |tail, by| 1.0 - x2 / by * tail);
    x * x2 / 6.0 * tail
}
