#!/usr/bin/env python3
"""Makes far.csv: angles, and what is left of them when multiples of 2π are taken away.

    digits.py > far.csv

Only whole numbers: π by Machin's formula to 2,400 bits. Each line has an f64 by its bits and the
nearest f64 to the wrapped angle by its bits. The angles are the worst ones near multiples of 2π in each
binade from 8 to the largest f64 (by continued fractions), their f32 counterparts, those of the bug
reports, powers of ten, and random ones.
"""

import math
import random
import struct
from fractions import Fraction

BITS = 2400


def arctan_inverse(x):
    total = term = (1 << BITS) // x
    n, sign = 3, -1
    while term:
        term //= x * x
        total += sign * (term // n)
        n, sign = n + 2, -sign
    return total


TAU = Fraction(8 * (4 * arctan_inverse(5) - arctan_inverse(239)), 1 << BITS)


def wrapped(m):
    m = Fraction(m)
    return m - TAU * round(m / TAU)


def worst(digits, low, high):
    """In each binade, numbers of so many digits closest to a multiple of 2π: convergents of 2^e / 2π."""
    for exponent in range(low, high):
        # digit string d: d * 2^exponent near k * 2π, so d / k near 2π / 2^exponent
        x = Fraction(2) ** exponent / TAU
        h0, h1, k0, k1 = 0, 1, 1, 0
        rest, best = x, None
        for _ in range(200):
            whole = math.floor(rest)
            h0, h1 = h1, whole * h1 + h0
            k0, k1 = k1, whole * k1 + k0
            if k1 >= 1 << digits:
                break
            best = k1
            if rest == whole:
                break
            rest = 1 / (rest - whole)
        if best:
            while best < 1 << (digits - 1) and best * 2 < 1 << digits and best % 2 == 0:
                best *= 2
            yield float(best) * 2.0**exponent


def hexadecimal(x):
    return f"{struct.unpack('<Q', struct.pack('<d', x))[0]:016x}"


def angles():
    yield from (2253666990800.8984, 1e22, 1e300, 1.7976931348623157e308, 1e14, 2.5e7, 6381956970095103 * 2.0**797)
    yield from (10.0**i for i in range(1, 309, 7))
    yield from worst(53, -49, 971)
    yield from worst(24, -20, 104)
    generator = random.Random(1)
    yield from (generator.uniform(1, 2) * 2.0 ** generator.randint(3, 1022) for _ in range(300))
    yield from (generator.uniform(-1, 1) * 10.0 ** generator.randint(1, 15) for _ in range(300))


def main():
    print("angle,wrapped")
    for m in dict.fromkeys(angles()):
        print(f"{hexadecimal(m)},{hexadecimal(float(wrapped(m)))}")


if __name__ == "__main__":
    main()
