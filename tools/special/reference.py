#!/usr/bin/env python3
"""Makes src/rust/crates/special/tests/reference.csv: values with more digits than an f64 has.

    pip install mpmath; tools/special/reference.py > src/rust/crates/special/tests/reference.csv

Each line has a function, the relative error that it may have, its arguments, and its value.
"""

from mpmath import (
    besseli, besselj, besselk, bessely, beta, betainc, binomial, diff, digamma, ei, erf, erfc, erfinv, exp, expint,
    expm1, gamma, gammainc, hyp1f1, inf, lambertw, log, log1p, loggamma, mp, mpf, ncdf, nstr, polygamma, quad, sqrt, zeta, pi,
)

mp.dps = 60


def lower(a, x):
    """P by its series, which converges everywhere."""
    return x**a * exp(-x) * hyp1f1(1, a + 1, x) / gamma(a + 1)


def upper(a, x):
    return gammainc(a, x, inf, regularized=True)


def below(a, b, x):
    return betainc(a, b, 0, x, regularized=True)


def above(a, b, x):
    return betainc(b, a, 0, 1 - x, regularized=True)


def below_large(a, b, x):
    """Below the mean, for parameters where the series has too many terms: the integral of the density in log odds."""
    y, slope = 1 - x, a - (a + b) * x
    assert slope >= 0
    density = lambda v: exp(-a * v - (a + b) * log1p(x * expm1(-v)))
    width = 2 / (sqrt((a + b) * x * y) + slope)
    power = a * log(x) + b * log(y) - loggamma(a) - loggamma(b) + loggamma(a + b)
    return exp(power) * quad(density, [k * width for k in range(46)])


def above_large(a, b, x):
    return below_large(b, a, 1 - x)


def in_first(f):
    return lambda a, *rest: diff(lambda a: f(a, *rest), a)


def in_second(f):
    return lambda a, b, x: diff(lambda b: f(a, b, x), b)


def twice(f):
    return lambda a, *rest: diff(lambda a: f(a, *rest), a, 2)


def mixed(f):
    return lambda a, b, x: diff(f, (a, b, x), (1, 1, 0))


def log_of(f):
    return lambda *x: log(f(*x))


def owens_t(h, a):
    integrand = lambda t: exp(-h * h * (1 + t * t) / 2) / (1 + t * t)
    return quad(integrand, [a * k / 40 for k in range(41)]) / (2 * pi)


POSITIVE = [(1e-8,), (0.03,), (0.7,), (1.46,), (3.3,), (9.99,), (12.5,), (170.2,), (1e6,)]
TAILS = [(-37.0,), (-12.3,), (-3.1,), (-0.4,), (0.2,), (4.5,)]
GAMMA = [(1e-3, 0.2), (0.3, 3.5), (0.9, 1e-5), (2.5, 0.7), (2.5, 60.0), (19.0, 22.0), (25.0, 26.5), (25.0, 3.0), (300.0, 410.0)]
BETA = [(1e-3, 2.0, 0.1), (0.4, 0.7, 0.95), (2.5, 3.5, 0.3), (2.5, 3.5, 0.97), (40.0, 3.0, 0.8), (120.0, 90.0, 0.4), (1.5, 300.0, 0.04)]
BELOW_LARGE = [
    (600.0, 550.0, 0.5), (2e3, 3e6, 6.5e-4), (1e6, 1e6, 0.4999), (1e6, 3.0, 0.99999), (5e7, 5e7, 0.49999), (1e6, 9e8, 1.1095e-3),
    (1e12, 1e12, 0.4999995), (1e15, 3e12, 0.99700897),
]
ABOVE_LARGE = [
    (0.5, 5e7, 1.69e-8), (0.5, 5e7, 4e-8), (51.0, 1e12, 5.2e-11), (51.0, 1e12, 1e-10), (5e5, 1.5e6, 0.2505), (1e12, 1e9, 0.99900101),
    (3.0, 1e6, 1e-5),
]
BESSEL = [(0.0, 0.01), (0.0, 1.7), (1.0, 3.3), (0.3, 12.0), (2.5, 30.0), (7.0, 1.0), (20.0, 15.0)]
FAR_OUT = [(30.0, 500.0), (100.0, 3000.0), (200.0, 3e4), (500.0, 1e5), (499.9, 600.0)]

FUNCTIONS = [
    ("lgamma", 2e-15, loggamma, [x for x in POSITIVE]),
    ("gamma", 3e-15, gamma, [x for x in POSITIVE[:-1]] + [(-0.5,), (-7.3,)]),
    ("digamma", 2e-15, digamma, POSITIVE),
    ("polygamma", 4e-15, lambda n, x: polygamma(int(n), x), [(n, *x) for n in (1.0, 2.0, 5.0) for x in POSITIVE[1:]]),
    ("zeta", 4e-15, zeta, [(1.001, 0.5), (2.5, 3.0), (7.0, 0.01), (30.0, 1.5)]),
    ("beta", 5e-15, beta, [(1e-3, 4.0), (2.5, 3.5), (120.0, 30.0)]),
    ("lbeta", 3e-15, log_of(beta), [(1e-3, 4.0), (2.5, 30.0), (12.0, 30.0), (1e5, 1e6)]),
    ("choose", 1e-14, binomial, [(7.5, 3.0), (60.0, 30.0), (0.5, 40.0)]),
    ("erf", 1e-15, erf, [(1e-10,), (0.3,), (2.0,)]),
    ("erfc", 1e-15, erfc, [(-1.0,), (0.3,), (2.0,), (20.0,)]),
    ("erfcx", 2e-15, lambda x: exp(x * x) * erfc(x), [(-3.0,), (0.3,), (9.9,), (10.1,), (1e5,)]),
    ("erfinv", 2e-15, erfinv, [(1e-12,), (0.3,), (0.6,), (0.9999,)]),
    ("ndtr", 2e-15, ncdf, TAILS),
    ("log_ndtr", 2e-15, log_of(ncdf), TAILS),
    ("gammainc_p", 5e-14, lower, GAMMA),
    ("gammainc_q", 5e-14, upper, GAMMA),
    ("log_gammainc_p", 5e-14, log_of(lower), GAMMA),
    ("log_gammainc_q", 5e-14, log_of(upper), GAMMA),
    ("gammainc_p_a", 1e-12, in_first(lower), GAMMA),
    ("gammainc_p_aa", 1e-11, twice(lower), GAMMA),
    ("log_gammainc_q_a", 1e-12, in_first(log_of(upper)), GAMMA),
    ("betainc", 5e-14, below, BETA),
    ("betainc_c", 5e-14, above, BETA),
    ("log_betainc", 5e-14, log_of(below), BETA),
    ("betainc_a", 1e-12, in_first(below), BETA),
    ("betainc_b", 1e-12, in_second(below), BETA),
    ("betainc_ab", 1e-11, mixed(below), BETA),
    ("log_betainc_c_a", 1e-12, in_first(log_of(above)), BETA),
    ("betainc", 2e-14, below_large, BELOW_LARGE),
    ("betainc_c", 2e-14, above_large, ABOVE_LARGE),
    ("betainc_b", 1e-12, in_second(below_large), BELOW_LARGE[:3]),
    ("bessel_j", 1e-14, besselj, BESSEL + FAR_OUT),
    ("bessel_y", 1e-14, bessely, BESSEL + FAR_OUT),
    ("bessel_i", 1e-14, besseli, BESSEL),
    ("bessel_k", 1e-14, besselk, BESSEL),
    ("expint_n", 5e-15, expint, [(1.0, 0.3), (1.0, 1.1), (4.0, 0.9), (2.0, 30.0)]),
    ("expint_ei", 5e-15, ei, [(-3.0,), (0.1,), (5.0,), (39.0,), (41.0,)]),
    ("owens_t", 1e-14, owens_t, [(0.5, 0.3), (3.0, 0.9), (2.0, 4.0), (8.0, 0.1)]),
    ("lambert_w", 1e-15, lambda x: lambertw(x).real, [(-0.36,), (1e-3,), (2.0,), (1e10,)]),
]


def main():
    print("function,tolerance,a,b,c,value")
    for name, tolerance, f, points in FUNCTIONS:
        for point in points:
            value = f(*[mpf(x) for x in point])
            cells = [repr(x) for x in point] + [""] * (3 - len(point))
            print(",".join([name, f"{tolerance:g}", *cells, nstr(value, 20)]))


if __name__ == "__main__":
    main()
