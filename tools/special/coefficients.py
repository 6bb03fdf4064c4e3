#!/usr/bin/env python3
"""Makes src/rust/crates/special/src/coefficients.rs: what the methods need and nobody should type.

    pip install mpmath; tools/special/coefficients.py > src/rust/crates/special/src/coefficients.rs
"""

from mpmath import bernoulli, cos, digamma, euler, findroot, legendre, loggamma, mp, mpf, pi, psi

mp.dps = 50


def chebyshev(f, low, high):
    """Coefficients of f on [low, high], the first one twice, as far as an f64 sees them."""
    nodes = 128
    angles = [pi * (k + mpf(1) / 2) / nodes for k in range(nodes)]
    values = [f((low + high) / 2 + (high - low) / 2 * cos(angle)) for angle in angles]
    found = []
    for j in range(nodes):
        sum_ = sum(value * cos(j * angle) for value, angle in zip(values, angles))
        found.append(2 * sum_ / nodes)
    while abs(found[-1]) < mpf(2) ** -56 * abs(found[0]):
        found.pop()
    return found


def gauss(count):
    """The positive nodes of Gauss and Legendre's formula, and their weights."""
    found = []
    for k in range(count // 2):
        x = findroot(lambda x: legendre(count, x), cos(pi * (k + mpf("0.75")) / (count + mpf(1) / 2)))
        slope = count * (x * legendre(count, x) - legendre(count - 1, x)) / (x * x - 1)
        found.append((x, 2 / ((1 - x * x) * slope * slope)))
    return [x for x, _ in found], [weight for _, weight in found]


def temme(orders, degrees):
    """The coefficients of the uniform expansion of the incomplete gamma function, DLMF 8.12.9 to 8.12.12, as series in
    eta: row k has those of a^-k."""
    count = degrees + 2 * orders + 4
    # eta (1 + mu) = mu dmu/deta
    mu = [mpf(0), mpf(1)]
    for n in range(2, count):
        inner = sum(mu[i] * mu[n + 1 - i] * (n + 1 - i) for i in range(2, n))
        mu.append((mu[n - 1] - inner) / (n + 1))
    # eta / mu
    shifted = mu[1:]
    inverse = [mpf(1)]
    for n in range(1, len(shifted)):
        inverse.append(-sum(shifted[i] * inverse[n - i] for i in range(1, n + 1)))
    # Those of Stirling's series for the gamma function itself, from that of its logarithm
    logs = [mpf(0)] * (orders + 1)
    for k in range(1, orders + 1, 2):
        logs[k] = bernoulli(k + 1) / (k * (k + 1))
    stirling = [mpf(1)]
    for n in range(1, orders + 1):
        stirling.append(sum(k * logs[k] * stirling[n - k] for k in range(1, n + 1)) / n)
    rows = [inverse[1:]]
    for k in range(1, orders):
        last = rows[-1]
        sign = (-1) ** k * stirling[k]
        # Both terms have a pole, which cancels.
        assert abs(last[1] + sign) < mpf(10) ** -30
        rows.append([(n + 2) * last[n + 2] + sign * inverse[n + 1] for n in range(len(last) - 2)])
    found = []
    for k, row in enumerate(rows):
        seen = [n for n in range(degrees) if abs(row[n]) * mpf("0.48") ** n / mpf(20) ** k > mpf(10) ** -18]
        if not seen:
            break
        found.append(row[: seen[-1] + 1])
    return found


def rust(number):
    """As rustfmt and clippy want it."""
    text = repr(float(number))
    mantissa, mark, exponent = text.partition("e")
    whole, point, digits = mantissa.partition(".")
    if len(digits) > 3:
        digits = "_".join(digits[i : i + 3] for i in range(0, len(digits), 3))
    exponent = str(int(exponent)) if exponent else ""
    return whole + (point + digits if point else "" if mark else ".0") + mark + exponent


def array(name, doc, numbers):
    print(f"\n/// {doc}\npub(crate) const {name}: [f64; {len(numbers)}] = [")
    for number in numbers:
        print(f"    {rust(number)},")
    print("];")


def main():
    print("//! Made by `tools/special/coefficients.py`.")
    root = findroot(digamma, 1.46)
    first = mpf(float(root))
    array("DIGAMMA_ROOT", "The positive root of `ψ`, in two parts.", [first, root - first])
    array(
        "DIGAMMA",
        "`ψ(x)` over the distance from its root, on [1, 2].",
        chebyshev(lambda x: psi(0, x) / (x - root), mpf(1), mpf(2)),
    )
    rows = temme(14, 30)
    for k, row in enumerate(rows):
        array(f"TEMME_{k}", f"Of `a^-{k}` in the uniform expansion of the incomplete gamma function, by powers of η.", row)
    print("\n/// All of these.")
    print(f"pub(crate) const TEMME: [&[f64]; {len(rows)}] = [")
    for k in range(len(rows)):
        print(f"    &TEMME_{k},")
    print("];")
    array(
        "LGAMMA_1P",
        "`ln Γ(1 + a) / a` on [-1/2, 1/2].",
        chebyshev(lambda a: loggamma(1 + a) / a if a else -euler, mpf(-1) / 2, mpf(1) / 2),
    )


    nodes, weights = gauss(32)
    array("GAUSS_NODES", "The positive nodes of Gauss's formula with 32 nodes on [-1, 1].", nodes)
    array("GAUSS_WEIGHTS", "The weights of these.", weights)


if __name__ == "__main__":
    main()
