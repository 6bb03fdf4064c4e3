"""Densities where R itself loses digits, with 40 digits, as CSV on standard output; needs mpmath.

Arguments are written in hexadecimal, so that they are what R reads.
"""

from mpmath import log, loggamma, mp, mpf

mp.dps = 40


def log_density(name, x, a, b):
    if name == "dbeta":
        return (a - 1) * log(x) + (b - 1) * log(1 - x) - (loggamma(a) + loggamma(b) - loggamma(a + b))
    if name == "df":
        constant = loggamma((a + b) / 2) - loggamma(a / 2) - loggamma(b / 2) + a / 2 * log(a / b)
        return constant + (a / 2 - 1) * log(x) - (a + b) / 2 * log(1 + a * x / b)
    if name == "dgamma":
        return (a - 1) * log(x) - x * b + a * log(b) - loggamma(a)
    if name == "dt":
        return loggamma((a + 1) / 2) - loggamma(a / 2) - log(a * mp.pi) / 2 - (a + 1) / 2 * log(1 + x * x / a)
    if name == "dpois":
        return x * log(a) - a - loggamma(x + 1)
    if name == "dbinom":
        return loggamma(a + 1) - loggamma(x + 1) - loggamma(a - x + 1) + x * log(b) + (a - x) * log(1 - b)
    if name == "dnbinom":
        return loggamma(x + a) - loggamma(a) - loggamma(x + 1) + a * log(b) + x * log(1 - b)
    return loggamma(x + a) - loggamma(a) - loggamma(x + 1) + a * log(a / (a + b)) + x * log(b / (a + b))


CASES = {
    "dbeta": ([1e-300, 1e-8, 0.3, 0.999, 1 - 1e-10], [1e-10, 0.5, 3.7, 1e3, 1e8], [1e-10, 1.0, 33.3, 1e5]),
    "df": ([1e-300, 1e-8, 0.5, 1.3, 37.0, 1e8], [1e-10, 0.5, 10.0, 1e5, 1e8], [1e-10, 1.0, 33.3, 1e5]),
    "dgamma": ([1e-300, 1e-8, 0.5, 10.0, 1e3, 1e8], [1e-10, 0.5, 1.0, 33.3, 1e3, 1e8], [0.3, 1.0, 1e4]),
    "dt": ([0.0, 1e-8, 0.5, 10.0, 1e8], [1e-10, 0.5, 1.0, 33.3, 1e5, 1e12], [0.0]),
    "dpois": ([0.0, 1.0, 50.0, 1e4, 1e9], [1e-10, 0.5, 33.3, 1e4, 1e9 + 1.0], [0.0]),
    "dbinom": ([0.0, 1.0, 50.0, 1e4, 1e8], [1e8, 1e9, 1e12], [1e-10, 0.1, 0.5, 1 - 1e-10]),
    "dnbinom": ([1.0, 50.0, 1e4, 1e8], [1e-10, 0.5, 33.3, 1e8, 1e12], [1e-10, 0.1, 0.9, 1 - 1e-10]),
    "dnbinom_mu": ([0.0, 1.0, 50.0, 1e4, 1e8], [1e-10, 0.5, 33.3, 1e8, 1e12], [1e-10, 0.1, 33.3, 1e8]),
}

print("name,x,a,b,log")
for name, (xs, first, second) in CASES.items():
    for x in xs:
        for a in first:
            for b in second:
                value = log_density(name, mpf(x), mpf(a), mpf(b))
                print(f"{name},{x.hex()},{a.hex()},{b.hex()},{mp.nstr(value, 20)}")
