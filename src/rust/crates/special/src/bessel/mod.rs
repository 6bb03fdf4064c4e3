//! Bessel functions of real order.
//!
//! N. M. Temme, "On the numerical evaluation of the modified Bessel function of the third kind", J. Comput. Phys. 19
//! (1975), 324-337, and "On the numerical evaluation of the ordinary Bessel function of the second kind", ibid. 21 (1976),
//! 343-350: near 0 his series, else continued fractions (the complex one of Steed's method for J and Y, A. R. Barnett et
//! al., Comput. Phys. Commun. 8 (1974), 377-395), Wronskians, and recurrences in the direction in which they are stable. Far
//! out Hankel's asymptotic expansions, DLMF 10.17 and 10.40. Negative orders by reflection, DLMF 10.2.3, 10.27.2.

mod common;
mod modified;
mod ordinary;

pub use modified::{bessel_i, bessel_i_scaled, bessel_k, bessel_k_scaled};
pub use ordinary::{bessel_j, bessel_y};

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn near(got: f64, want: f64) {
        assert!((got / want - 1.0).abs() < 1e-14, "{got} is not {want}");
    }

    fn near_by(got: f64, want: f64) {
        assert!((got / want - 1.0).abs() < 1e-12, "{got} is not {want}");
    }

    #[test]
    fn halves_are_elementary() {
        for x in [1e-5, 0.3, 1.9, 2.1, 7.0, 24.0, 26.0, 300.0f64] {
            let size = (2.0 / (PI * x)).sqrt();
            assert!((bessel_j(0.5, x) - size * x.sin()).abs() < 1e-15 * size.max(1.0));
            assert!((bessel_y(0.5, x) + size * x.cos()).abs() < 2e-15 * size.max(1.0));
            assert!((bessel_j(-0.5, x) - size * x.cos()).abs() < 2e-15 * size.max(1.0));
            near(bessel_k_scaled(0.5, x), (PI / (2.0 * x)).sqrt());
            near(bessel_i_scaled(0.5, x), -0.5 * size * (-2.0 * x).exp_m1());
        }
    }

    #[test]
    fn wronskians() {
        for order in [0.0, 0.3, 1.0, 2.5, 10.0, 50.7] {
            for x in [0.01, 1.0, 3.0, 12.0, 40.0, 1e3, 1e5] {
                let (j, j1) = (bessel_j(order, x), bessel_j(order + 1.0, x));
                let (y, y1) = (bessel_y(order, x), bessel_y(order + 1.0, x));
                let close = |one: f64| assert!((one - 1.0).abs() < 2e-13, "{order} {x}: {one}");
                close((j1 * y - j * y1) * PI * x / 2.0);
                let (i, i1) = (bessel_i_scaled(order, x), bessel_i_scaled(order + 1.0, x));
                let (k, k1) = (bessel_k_scaled(order, x), bessel_k_scaled(order + 1.0, x));
                close((i * k1 + i1 * k) * x);
            }
        }
    }

    #[test]
    fn ends() {
        assert_eq!(bessel_j(0.0, 0.0), 1.0);
        assert_eq!(bessel_j(2.0, 0.0), 0.0);
        assert_eq!(bessel_y(1.0, 0.0), f64::NEG_INFINITY);
        assert_eq!(bessel_i(0.0, 0.0), 1.0);
        assert_eq!(bessel_k(0.0, 0.0), f64::INFINITY);
        assert_eq!(bessel_i(1.0, 1000.0), f64::INFINITY);
        assert_eq!(bessel_k(1.0, 1000.0), 0.0);
        assert!(bessel_j(0.0, -1.0).is_nan());
        assert_eq!(bessel_j(-0.5, 0.0), f64::INFINITY);
        assert_eq!(bessel_j(-1.5, 0.0), f64::NEG_INFINITY);
        assert_eq!(bessel_j(-2.0, 0.0), 0.0);
        assert_eq!(bessel_y(-0.5, 0.0), 0.0);
        assert_eq!(bessel_y(-1.0, 0.0), f64::INFINITY);
        near(bessel_j(-1.0, 2.0), -bessel_j(1.0, 2.0));
        near(bessel_i(-1.0, 2.0), bessel_i(1.0, 2.0));
    }
    #[test]
    fn orders_beyond_all_steps_end() {
        for order in [1e10, 1e15, 1e300] {
            assert_eq!(bessel_j(order, 3.0), 0.0);
            assert_eq!(bessel_y(order, 3.0), f64::NEG_INFINITY);
            assert_eq!(bessel_i(order, 3.0), 0.0);
            assert_eq!(bessel_k(order, 3.0), f64::INFINITY);
        }
        assert!(bessel_k(1e14, 1e15).is_nan());
        assert!(bessel_j(1e7, 1e8).is_nan());
    }

    #[test]
    fn values_in_range_whose_scaled_ones_are_not() {
        near_by(bessel_i(500.0, 100.0), 3.590_051_431_469_61e-283);
        near_by(bessel_k(500.0, 100.0), 2.731_383_171_990_18e279);
        near_by(bessel_k(1000.0, 400.0), 1.643_965_724_562_9e246);
        near_by(bessel_i(800.0, 700.0), 4.512_725_679_485_76e119);
        assert_eq!(bessel_i(2000.0, 800.0), 0.0);
        assert_eq!(bessel_k(2000.0, 800.0), f64::INFINITY);
        assert_eq!(bessel_i(1e4, 1e4), f64::INFINITY);
        assert_eq!(bessel_k(1e4, 1e4), 0.0);
    }
}
