"""Singular values, eigenvalues, reductions, Kepler's equation. See programs.py for what an op has."""

import numpy as np
from judge import ascending, descending, spoiled
from matrices import (
    adjoint, batch_of, eps, eye, from_triangle, hermitian, is_complex, norm, real, reflector_product, size, spoil,
    subnormal, triangle, unit_lower, wide,
)
from programs import I32, Op, letter


def singular_values(a):
    """numpy's, of matrices scaled to ordinary size."""
    top = np.abs(wide(a)).max((-1, -2), initial=0)
    top = np.where(np.isfinite(top) & (top > 0), top, 1)[..., None, None]
    scaled = np.nan_to_num((wide(a) / top).astype(np.complex128 if is_complex(a.dtype) else np.float64))
    return np.linalg.svd(scaled, compute_uv=False).astype(np.longdouble) * top[..., 0]


class Svd(Op):
    peer = "gesdd"

    def can_alias(self, p):
        # Of its own ops only this one has no result that could take the operand's place.
        return self.lapack

    def choose(self, rng, dtype):
        return dict(m=size(rng), n=size(rng), mode="S")

    def peer_attributes(self, p):
        return dict(mode=letter("S"))

    def results(self, p, batch):
        k = min(p.m, p.n)
        return [((*batch, p.m, k), p.dtype), ((*batch, k), real(p.dtype)), ((*batch, k, p.n), p.dtype)]

    def peer_results(self, p, batch):
        u, s, vt = Svd.results(self, p, batch)
        return [((*batch, p.m, p.n), p.dtype), s, u, vt, (batch, I32)]

    def operands(self, rng, p, batch):
        return [spoil(rng, batch_of(rng, batch, p.m, p.n, p.dtype))]

    def holds(self, v, p, a, u, s, vt):
        k, n = min(p.m, p.n), max(p.m, p.n)
        v.require("descending", descending(s))
        reference = singular_values(a)
        v.small("values", (wide(s) - reference)[..., None], norm(a), n, p.dtype)
        if u is not None:
            v.orthonormal("UᴴU = I", u, p.dtype)
            v.orthonormal("VᴴV = I", adjoint(vt), p.dtype)
            v.equal("USVᴴ = A", (wide(u)[..., :k] * s[..., None, :]) @ wide(vt)[..., :k, :], a, n)

    def check(self, v, p, ins, outs):
        self.holds(v, p, ins[0], *outs)
        v.all_nan("NaN", *outs)

    def nan(self, p, ins):
        return spoiled(ins[0])


class Gesdd(Svd):
    lapack = True

    def choose(self, rng, dtype):
        return dict(m=size(rng), n=size(rng), mode=str(rng.choice(["A", "S", "N"])))

    def attributes(self, p):
        return dict(mode=letter(p.mode))

    def results(self, p, batch):
        k = min(p.m, p.n)
        columns, rows = (k, k) if p.mode == "S" else (p.m, p.n)
        vectors = [((*batch, p.m, columns), p.dtype), ((*batch, rows, p.n), p.dtype)]
        return [((*batch, p.m, p.n), p.dtype), ((*batch, k), real(p.dtype)), *vectors, (batch, I32)]

    peer_results = results
    peer_attributes = attributes

    def wanted(self, p, outs):
        return outs[1:2] if p.mode == "N" else outs[1:4]

    def check(self, v, p, ins, outs):
        _, s, u, vt, info = outs
        v.require("info", info == 0)
        v.require("info of spoiled", info != 0, where=v.spoiled)
        self.holds(v, p, ins[0], *((None, s, None) if p.mode == "N" else (u, s, vt)))
        v.all_nan("NaN", *self.wanted(p, outs))


class Gesvd(Gesdd):
    pass


class Eigh(Op):
    complex_name = None
    peer = "syevd"

    def choose(self, rng, dtype):
        n = size(rng)
        return dict(m=n, n=n, mode="V", uplo=str(rng.choice(["L", "U"])))

    def attributes(self, p):
        return dict(uplo=letter(p.uplo))

    def peer_target(self, dtype):
        if self.lapack:
            return self.target(dtype)
        return super().peer_target(dtype).replace("syevd", "heevd" if is_complex(dtype) else "syevd")

    def peer_attributes(self, p):
        return dict(mode=letter(p.mode), uplo=letter(p.uplo))

    def results(self, p, batch):
        return [((*batch, p.n, p.n), p.dtype), ((*batch, p.n), real(p.dtype))]

    def operands(self, rng, p, batch):
        a = batch_of(rng, batch, p.n, p.n, p.dtype, hermitian)
        a[..., ~triangle(p.n, p.uplo)] = rng.choice([np.nan, np.inf, 0, 1e30])
        return [spoil(rng, a, triangle(p.n, p.uplo))]

    def check(self, v, p, ins, outs):
        a = from_triangle(ins[0], p.uplo)
        vectors, w = outs[:2]
        v.require("ascending", ascending(w))
        top = np.abs(a).max((-1, -2), initial=0)
        top = np.where(np.isfinite(top) & (top > 0), top, 1)[..., None, None]
        scaled = np.nan_to_num((a / top).astype(np.complex128 if is_complex(p.dtype) else np.float64))
        reference = np.linalg.eigvalsh(scaled).astype(np.longdouble) * top[..., 0]
        v.small("values", (wide(w) - reference)[..., None], norm(a), p.n, p.dtype)
        if p.mode == "V":
            v.orthonormal("VᴴV = I", vectors, p.dtype)
            product = a @ wide(vectors) - wide(vectors) * w[..., None, :]
            v.small("AV = VW", product, norm(a), p.n, p.dtype)
            v.all_nan("NaN", vectors)
        v.all_nan("NaN of values", w)

    def nan(self, p, ins):
        return spoiled(ins[0], triangle(p.n, p.uplo))


class Syevd(Eigh):
    lapack, complex_name = True, "heevd"

    def choose(self, rng, dtype):
        return {**super().choose(rng, dtype), "mode": str(rng.choice(["V", "N"]))}

    def attributes(self, p):
        return dict(mode=letter(p.mode), uplo=letter(p.uplo))

    def results(self, p, batch):
        return [*super().results(p, batch), (batch, I32)]

    def wanted(self, p, outs):
        return outs[:2] if p.mode == "V" else outs[1:2]

    def check(self, v, p, ins, outs):
        super().check(v, p, ins, outs)
        v.require("info", outs[2] == 0)
        v.require("info of spoiled", outs[2] > 0, where=v.spoiled)


class General(Op):
    """Square matrices without structure."""

    lapack = True

    def choose(self, rng, dtype):
        n = size(rng)
        return dict(m=n, n=n)

    def operands(self, rng, p, batch):
        return [spoil(rng, batch_of(rng, batch, p.n, p.n, p.dtype))]

    def nan(self, p, ins):
        return spoiled(ins[0])

    def values(self, p, parts):
        return wide(parts[0]) if is_complex(p.dtype) else wide(parts[0]) + 1j * wide(parts[1])

    def sums(self, v, p, a, w):
        """What the eigenvalues of a nearby matrix have, however ill-conditioned each of them is."""
        v.small("trace", (w.sum(-1) - np.trace(wide(a), axis1=-2, axis2=-1))[..., None, None], norm(a), p.n, p.dtype)


class Geev(General):
    aliases = {}

    def choose(self, rng, dtype):
        return {**super().choose(rng, dtype), "left": str(rng.choice(["V", "N"])), "right": str(rng.choice(["V", "N"]))}

    def attributes(self, p):
        return dict(compute_left=letter(p.left), compute_right=letter(p.right))

    def results(self, p, batch):
        vectors = ((*batch, p.n, p.n), np.result_type(p.dtype, np.complex64))
        parts = [((*batch, p.n), p.dtype)] * (1 if is_complex(p.dtype) else 2)
        return [*parts, vectors, vectors, (batch, I32)]

    def wanted(self, p, outs):
        left, right = outs[-3:-1]
        return [*outs[:-3], *([left] if p.left == "V" else []), *([right] if p.right == "V" else [])]

    def check(self, v, p, ins, outs):
        a, w = ins[0], self.values(p, outs)
        left, right, info = outs[-3:]
        v.require("info", info == 0)
        v.require("info of spoiled", info != 0, where=v.spoiled)
        self.sums(v, p, a, w)
        for name, vectors, matrix, values in (
            ("right", right, wide(a), w), ("left", left, adjoint(wide(a)), np.conj(w))
        ):
            if getattr(p, name) == "V":
                x = wide(vectors)
                residual = matrix @ x - x * values[..., None, :]
                v.small(f"{name} vectors", residual, norm(a), p.n, p.dtype, where=v.good & self.balanced(a))
                lengths = np.sqrt((np.abs(x) ** 2).sum(-2))
                # Of a pair of values that are subnormal the imaginary parts may vanish, and with them the pair.
                normal = (norm(a) == 0) | (norm(a) > 1e3 * subnormal(p.dtype) / eps(p.dtype))
                holds = (np.abs(lengths - 1) <= 50 * eps(p.dtype) * p.n).all(-1)
                v.require(f"{name} lengths", holds, where=v.good & normal)
        v.all_nan("NaN", *self.wanted(p, outs))

    def balanced(self, a):
        """Whether rows and columns are of like size. LAPACK's routine scales them alike before it
        starts (so do numpy's and jaxlib's), and its vectors of the original are wrong where they are not."""
        size_of = np.abs(wide(a))
        sizes = np.concatenate([size_of.sum(-1), size_of.sum(-2)], -1)
        largest = sizes.max(-1)
        return (sizes == 0).sum(-1) + (sizes > 1e-3 * largest[..., None]).sum(-1) == sizes.shape[-1]


class Gees(General):
    def choose(self, rng, dtype):
        return {**super().choose(rng, dtype), "mode": str(rng.choice(["V", "N"]))}

    def attributes(self, p):
        return dict(mode=letter(p.mode), sort=letter("N"))

    def results(self, p, batch):
        square = ((*batch, p.n, p.n), p.dtype)
        parts = [((*batch, p.n), p.dtype)] * (1 if is_complex(p.dtype) else 2)
        return [square, square, *parts, (batch, I32), (batch, I32)]

    def wanted(self, p, outs):
        return [outs[0], *([outs[1]] if p.mode == "V" else []), *outs[2:-2]]

    def check(self, v, p, ins, outs):
        a, t, z = ins[0], outs[0], outs[1]
        w = self.values(p, outs[2:])
        v.require("info", outs[-1] == 0)
        v.require("info of spoiled", outs[-1] > 0, where=v.spoiled)
        self.sums(v, p, a, w)
        below = np.tril(t, -1 if is_complex(p.dtype) else -2)
        v.require("triangular", (below == 0).all((-1, -2)))
        diagonal = np.sort(np.diagonal(t, axis1=-2, axis2=-1).real, -1)
        v.small("diagonal", (np.sort(w.real, -1) - wide(diagonal))[..., None].real, norm(a), p.n, p.dtype)
        if p.mode == "V":
            v.orthonormal("ZᴴZ = I", z, p.dtype)
            v.equal("ZTZᴴ = A", wide(z) @ wide(t) @ adjoint(wide(z)), a, p.n)
        v.all_nan("NaN", *self.wanted(p, outs))


class Gehrd(General):
    def attributes(self, p):
        return dict(low=np.int32(1), high=np.int32(p.n))

    def results(self, p, batch):
        return [((*batch, p.n, p.n), p.dtype), ((*batch, p.n - 1), p.dtype), (batch, I32)]

    def check(self, v, p, ins, outs):
        (a,), (packed, tau, info) = ins, outs
        h = np.triu(wide(packed), -1)
        q = reflector_product(unit_lower(packed, p.n - 1, below=1), wide(tau))
        v.require("info", info == 0)
        v.orthonormal("QᴴQ = I", q, p.dtype)
        v.equal("QHQᴴ = A", q @ h @ adjoint(q), a, p.n)
        v.all_nan("NaN", packed, tau)


class Sytrd(Op):
    lapack, complex_name = True, "hetrd"

    def choose(self, rng, dtype):
        n = size(rng)
        return dict(m=n, n=n, uplo=str(rng.choice(["L", "U"])))

    def attributes(self, p):
        return dict(uplo=letter(p.uplo))

    def results(self, p, batch):
        line = ((*batch, p.n - 1), real(p.dtype))
        return [
            ((*batch, p.n, p.n), p.dtype), ((*batch, p.n), real(p.dtype)), line, ((*batch, p.n - 1), p.dtype),
            (batch, I32),
        ]

    operands = Eigh.operands
    nan = Eigh.nan

    def wanted(self, p, outs):
        # The first one keeps what was in the triangle that is not read.
        return outs[1:]

    def check(self, v, p, ins, outs):
        a = from_triangle(ins[0], p.uplo)
        packed, d, e, tau, info = outs
        n = p.n
        v.require("info", info == 0)
        t = np.zeros((*v.batch, n, n), a.dtype)
        t[..., range(n), range(n)] = d
        t[..., range(1, n), range(n - 1)] = t[..., range(n - 1), range(1, n)] = e
        if p.uplo == "L":
            q = reflector_product(unit_lower(packed, n - 1, below=1), wide(tau))
        else:
            vectors = np.triu(wide(packed), 2)[..., 1:]
            vectors[..., range(n - 1), range(n - 1)] = 1
            q = reflector_product(vectors, wide(tau), order=-1)
        v.orthonormal("QᴴQ = I", q, p.dtype)
        v.small("QTQᴴ = A", q @ t @ adjoint(q) - a, norm(a), n, p.dtype)
        v.all_nan("NaN", d, e, tau)


def newton(m, e):
    """E for m >= 0, wide. The equation is convex, so that the steps fall to E from above."""
    w = 1 - e
    tiny = np.finfo(np.longdouble).tiny
    x = np.minimum(np.minimum(m / w, m + e), np.cbrt(12 * m / np.maximum(e, tiny)))
    x = np.minimum(x, np.longdouble(np.pi))
    for _ in range(100):
        # x - sin x by its series where it would cancel.
        series, term = np.zeros_like(x), x**3 / 6
        for k in range(4, 28, 2):
            series, term = series + term, -term * x * x / (k * (k + 1))
        lag = np.where(x < 1, series, x - np.sin(x))
        x = x - (w * x + e * lag - m) / (w + 2 * e * np.sin(x / 2) ** 2)
    return x


class Kepler(Op):
    dtypes = (np.float32, np.float64)
    aliases = {}
    points = 64

    def choose(self, rng, dtype):
        return dict(n=self.points)

    def results(self, p, batch):
        return [((*batch, p.n), p.dtype)] * 2

    def vectors(self, p):
        return True

    def operands(self, rng, p, batch):
        shape = (*batch, p.n)
        m = rng.uniform(-1, 1, shape) * 10.0 ** rng.uniform(-12, 4, shape)
        e = 1 - 10.0 ** -rng.uniform(0, 6, shape)
        e = np.where(rng.random(shape) < 0.3, rng.random(shape), e)
        return [m.astype(p.dtype), np.minimum(e, 1 - np.finfo(p.dtype).eps).astype(p.dtype)]

    def check(self, v, p, ins, outs):
        m, e = wide(ins[0]), wide(ins[1])
        # 2π in two parts, the first with so few bits that its products with whole numbers are exact.
        high, low = np.longdouble("6.2831853071793375420384109020233"), np.longdouble("2.48934886875864535690338706838799e-13")
        turns = np.rint(m / (high + low))
        m = m - turns * high - turns * low
        anomaly = np.sign(m) * newton(np.abs(m), e)
        # One ulp of M and one of the result.
        slope = eps(p.dtype) * np.maximum(np.abs(m), 1e-3 * eps(p.dtype)) / (1 - e * np.cos(anomaly))
        for name, found, exact, tilt in (
            ("sin", outs[0], np.sin(anomaly), np.abs(np.cos(anomaly))),
            ("cos", outs[1], np.cos(anomaly), np.abs(np.sin(anomaly)))
        ):
            unit = eps(p.dtype) * np.abs(exact) + slope * tilt + 1e-19
            worst = (np.abs(wide(found) - exact) / unit).max(-1)
            v.require(name, worst <= 4, worst)


OPS = [Svd(), Gesdd(), Gesvd(), Eigh(), Syevd(), Geev(), Gees(), Gehrd(), Sytrd(), Kepler()]
