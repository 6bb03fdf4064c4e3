#!/usr/bin/env python3
"""Makes src/rust/crates/special/src/coefficients.rs: what the methods need and nobody should type.

    pip install mpmath; tools/special/coefficients.py > src/rust/crates/special/src/coefficients.rs
"""

from mpmath import cos, digamma, euler, findroot, loggamma, mp, mpf, pi, psi

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
    array(
        "LGAMMA_1P",
        "`ln Γ(1 + a) / a` on [-1/2, 1/2].",
        chebyshev(lambda a: loggamma(1 + a) / a if a else -euler, mpf(-1) / 2, mpf(1) / 2),
    )


if __name__ == "__main__":
    main()
