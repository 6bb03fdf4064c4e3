"""Factorisations and triangular systems: lu, qr, Cholesky, trsm, gtsv. See programs.py for what an op has."""

import numpy as np
from judge import first_bad_minor, spoiled
from matrices import (
    adjoint, batch_of, from_triangle, is_complex, norm, plain, real, reflector_product, size, spoil, triangle,
    unit_lower, wide,
)
from programs import I32, Op, letter


class Lu(Op):
    peer = "getrf"

    def choose(self, rng, dtype):
        return dict(m=size(rng), n=size(rng))

    def results(self, p, batch):
        k = min(p.m, p.n)
        return [((*batch, p.m, p.n), p.dtype), ((*batch, k), I32)]

    def operands(self, rng, p, batch):
        return [spoil(rng, batch_of(rng, batch, p.m, p.n, p.dtype))]

    def check(self, v, p, ins, outs):
        (a,), (packed, pivots) = ins, outs[:2]
        k = min(p.m, p.n)
        low = np.arange(1, k + 1)
        v.require("pivots in range", ((pivots >= low) & (pivots <= p.m)).all(-1))
        v.require("pivots of spoiled", (pivots == low).all(-1), where=v.spoiled)
        order = np.broadcast_to(np.arange(p.m), (*v.batch, p.m)).copy()
        for i in range(k):
            j = (np.clip(pivots[..., i], 1, p.m) - 1)[..., None]
            other = np.take_along_axis(order, j, -1)
            np.put_along_axis(order, j, order[..., i, None], -1)
            order[..., i] = other[..., 0]
        permuted = np.take_along_axis(a, order[..., None], -2)
        lower = unit_lower(packed, k)
        upper = np.triu(wide(packed))[..., :k, :]
        # Rounding is relative to what partial pivoting made of the matrix on the way.
        scale = np.maximum(norm(a), norm(lower) * norm(upper))
        v.equal("PA = LU", lower @ upper, permuted, max(p.m, p.n), scale)
        # Complex pivots are the largest by |Re| + |Im|.
        most = np.sqrt(2) if is_complex(p.dtype) else 1
        v.require("|L| <= 1", (np.abs(lower) <= 1.0001 * most).all((-1, -2)))
        v.all_nan("NaN", packed)

    def nan(self, p, ins):
        return spoiled(ins[0])


class Getrf(Lu):
    lapack = True

    def results(self, p, batch):
        return [*super().results(p, batch), (batch, I32)]

    def check(self, v, p, ins, outs):
        super().check(v, p, ins, outs)
        diagonal = np.diagonal(outs[0], axis1=-2, axis2=-1) == 0
        first = np.where(diagonal.any(-1), diagonal.argmax(-1) + 1, 0)
        v.require("info of getrf", outs[2] == first)


class Geqrf(Op):
    def choose(self, rng, dtype):
        return dict(m=size(rng), n=size(rng))

    def results(self, p, batch):
        return [((*batch, p.m, p.n), p.dtype), ((*batch, min(p.m, p.n)), p.dtype)]

    def operands(self, rng, p, batch):
        return [spoil(rng, batch_of(rng, batch, p.m, p.n, p.dtype))]

    def check(self, v, p, ins, outs):
        (a,), (packed, tau) = ins, outs
        k = min(p.m, p.n)
        q = reflector_product(unit_lower(packed, k), wide(tau))
        v.orthonormal("QᴴQ = I", q, p.dtype)
        v.equal("QR = A", q @ np.triu(wide(packed)), a, max(p.m, p.n))
        v.all_nan("NaN", packed, tau)

    def nan(self, p, ins):
        return spoiled(ins[0])


class LapackGeqrf(Geqrf):
    name, lapack = "geqrf", True


class Geqp3(Op):
    lapack = True
    aliases = {0: 0, 1: 1}

    def choose(self, rng, dtype):
        return dict(m=size(rng), n=size(rng))

    def results(self, p, batch):
        k = min(p.m, p.n)
        return [((*batch, p.m, p.n), p.dtype), ((*batch, p.n), I32), ((*batch, k), p.dtype)]

    def operands(self, rng, p, batch):
        fixed = (rng.random((*batch, p.n)) < 0.2).astype(I32)
        return [spoil(rng, batch_of(rng, batch, p.m, p.n, p.dtype)), fixed]

    def check(self, v, p, ins, outs):
        (a, fixed), (packed, columns, tau) = ins, outs
        v.require("permutation", (np.sort(columns, -1) == np.arange(1, p.n + 1)).all(-1))
        order = np.clip(columns - 1, 0, p.n - 1)
        first = np.take_along_axis(fixed, order, -1)
        v.require("fixed columns first", (np.diff(first, axis=-1) <= 0).all(-1))
        q = reflector_product(unit_lower(packed, min(p.m, p.n)), wide(tau))
        v.orthonormal("QᴴQ = I", q, p.dtype)
        permuted = np.take_along_axis(a, order[..., None, :], -1)
        v.equal("QR = AP", q @ np.triu(wide(packed)), permuted, max(p.m, p.n))
        v.all_nan("NaN", packed, tau)

    def nan(self, p, ins):
        return spoiled(ins[0])


def reflectors(rng, batch, m, k, dtype):
    """Columns with junk where R lies, and factors that make `I - tau v vᴴ` unitary. Nothing below the
    ones is much larger than they are, as in reflectors of a factorisation."""
    packed = plain(rng, (*batch, m, k), dtype) * 10.0 ** rng.uniform(-3, 0, (*batch, 1, k))
    packed = packed.astype(dtype)
    length = (np.abs(unit_lower(packed, k)) ** 2).sum(-2)
    angle = rng.uniform(0, 2 * np.pi, length.shape) if is_complex(dtype) else np.pi
    tau = ((1 - np.exp(1j * angle)) / length if is_complex(dtype) else 2 / length) * (rng.random(length.shape) < 0.9)
    return packed, tau.astype(dtype)


class Orgqr(Op):
    complex_name = "ungqr"
    # Rounded factors are not quite unitary.
    slack = 100.0

    def choose(self, rng, dtype):
        m = size(rng)
        return dict(m=m, k=min(m, size(rng)))

    def results(self, p, batch):
        return [((*batch, p.m, p.k), p.dtype)]

    def operands(self, rng, p, batch):
        packed, tau = reflectors(rng, batch, p.m, p.k, p.dtype)
        return [spoil(rng, packed, np.tri(p.m, p.k, -1, bool)), tau]

    def check(self, v, p, ins, outs):
        packed, tau = ins
        q = reflector_product(unit_lower(packed, p.k), wide(tau))[..., : p.k]
        v.small("columns of Q", wide(outs[0]) - q, np.longdouble(1), p.m, p.dtype, self.slack)
        v.all_nan("NaN", outs[0])

    def nan(self, p, ins):
        return spoiled(ins[0])


class LapackOrgqr(Orgqr):
    name, lapack = "orgqr", True


class Ormqr(Op):
    lapack, complex_name, aliases = True, "unmqr", {2: 0}

    def choose(self, rng, dtype):
        m, n, left = size(rng), size(rng), bool(rng.integers(2))
        return dict(m=m, n=n, k=min(m if left else n, size(rng)), left=left, transpose=bool(rng.integers(2)))

    def attributes(self, p):
        return dict(left=p.left, transpose=p.transpose)

    def results(self, p, batch):
        return [((*batch, p.m, p.n), p.dtype)]

    def operands(self, rng, p, batch):
        rows = p.m if p.left else p.n
        packed, tau = reflectors(rng, batch, rows, p.k, p.dtype)
        return [packed, tau, spoil(rng, batch_of(rng, batch, p.m, p.n, p.dtype))]

    def check(self, v, p, ins, outs):
        packed, tau, c = ins
        q = reflector_product(unit_lower(packed, p.k), wide(tau))
        q = adjoint(q) if p.transpose else q
        with np.errstate(invalid="ignore"):
            product = q @ wide(c) if p.left else wide(c) @ q
        v.small("product", wide(outs[0]) - product, norm(c), max(p.m, p.n), p.dtype, Orgqr.slack)
        v.all_nan("NaN", outs[0])

    def nan(self, p, ins):
        return spoiled(ins[2])


def definite(a):
    """Mostly positive definite, else Hermitian."""
    return a @ adjoint(a) + a.shape[-1] * 1e-3 * np.eye(a.shape[-1]) if abs(a.flat[0]) < 1.5 else (a + adjoint(a)) / 2


class Cholesky(Op):
    peer = "potrf"

    def choose(self, rng, dtype):
        n = size(rng)
        return dict(m=n, n=n, uplo=str(rng.choice(["L", "U"])))

    def attributes(self, p):
        return dict(uplo=letter(p.uplo))

    def results(self, p, batch):
        return [((*batch, p.n, p.n), p.dtype)]

    def operands(self, rng, p, batch):
        a = batch_of(rng, batch, p.n, p.n, p.dtype, definite)
        # Junk where nothing is read.
        other = ~triangle(p.n, p.uplo)
        a[..., other] = rng.choice([np.nan, np.inf, 0, 1, 1e30])
        return [spoil(rng, a, triangle(p.n, p.uplo))]

    def factor_holds(self, v, p, a, factor, where):
        part = np.tril(wide(factor)) if p.uplo == "L" else np.triu(wide(factor))
        product = part @ adjoint(part) if p.uplo == "L" else adjoint(part) @ part
        whole = from_triangle(a, p.uplo)
        v.small("LLᴴ = A", product - whole, norm(whole), p.n, p.dtype, where=where)

    def check(self, v, p, ins, outs):
        a, factor = ins[0], outs[0]
        expected, close = first_bad_minor(from_triangle(a, p.uplo), p.dtype)
        failed = np.isnan(factor).all((-1, -2))
        v.require("NaN where not definite", failed | close, where=v.good & (expected > 0))
        v.require("a factor where definite", ~failed | close, where=v.good & (expected == 0))
        self.factor_holds(v, p, a, factor, v.good & ~failed)
        v.require("zeros elsewhere", (factor[..., ~triangle(p.n, p.uplo)] == 0).all(-1), where=v.good & ~failed)
        v.all_nan("NaN", factor)

    def nan(self, p, ins):
        return spoiled(ins[0], triangle(p.n, p.uplo))

    finite_beside_peer = False


class Potrf(Cholesky):
    lapack = True

    def results(self, p, batch):
        return [*super().results(p, batch), (batch, I32)]

    def check(self, v, p, ins, outs):
        (a,), (factor, info) = ins, outs
        expected, close = first_bad_minor(from_triangle(a, p.uplo), p.dtype)
        v.require("info of potrf", (info == expected) | close)
        v.require("info of spoiled", info > 0, where=v.spoiled)
        self.factor_holds(v, p, a, factor, v.good & (info == 0))
        other = ~triangle(p.n, p.uplo)
        same = (factor[..., other] == a[..., other]) | (np.isnan(factor[..., other]) & np.isnan(a[..., other]))
        v.require("the other triangle is kept", same.all(-1), where=v.good & (info == 0))
        v.all_nan("NaN", factor)


class Trsm(Op):
    lapack, aliases = True, {1: 0}

    def choose(self, rng, dtype):
        pick = lambda letters: str(rng.choice(list(letters)))  # noqa: E731
        return dict(m=size(rng), n=size(rng), side=pick("LR"), uplo=pick("LU"), trans_x=pick("NTC"), diag=pick("NNU"))

    def attributes(self, p):
        return {name: letter(p[name]) for name in ("side", "uplo", "trans_x", "diag")}

    def results(self, p, batch):
        return [((*batch, p.m, p.n), p.dtype)]

    def operands(self, rng, p, batch):
        n = p.m if p.side == "L" else p.n
        x = plain(rng, (*batch, n, n), p.dtype) / n
        x[..., range(n), range(n)] = np.nan if p.diag == "U" else 1 + rng.random((*batch, n))
        x[..., ~triangle(n, p.uplo)] = np.nan
        factor = 2.0 ** rng.integers(-100, 100) if real(p.dtype) == np.float32 else 2.0 ** rng.integers(-900, 900)
        return [x.astype(p.dtype), (plain(rng, (*batch, p.m, p.n), p.dtype) * factor).astype(p.dtype)]

    def check(self, v, p, ins, outs):
        x, y = wide(ins[0]), ins[1]
        n = x.shape[-1]
        x = np.where(triangle(n, p.uplo, strict=p.diag == "U"), x, 0)
        if p.diag == "U":
            x[..., range(n), range(n)] = 1
        op = {"N": x, "T": np.swapaxes(x, -1, -2), "C": adjoint(x)}[p.trans_x]
        solution = wide(outs[0])
        product = op @ solution if p.side == "L" else solution @ op
        v.equal("op(X) S = Y", product, y, n, norm(x) * norm(solution) + norm(y))


class Gtsv(Op):
    lapack, aliases = True, {i: i for i in range(4)}

    def choose(self, rng, dtype):
        return dict(n=size(rng), k=int(rng.integers(1, 5)))

    def results(self, p, batch):
        line = ((*batch, p.n), p.dtype)
        return [line, line, line, ((*batch, p.n, p.k), p.dtype), (batch, I32)]

    def operands(self, rng, p, batch):
        lines = [plain(rng, (*batch, p.n), p.dtype).astype(p.dtype) for _ in range(3)]
        lines[1] = (lines[1] * rng.choice([0, 1, 4], (*batch, 1), p=[0.1, 0.4, 0.5])).astype(p.dtype)
        lines[0][..., :1], lines[2][..., -1:] = np.nan, np.nan  # not read
        return [*lines, spoil(rng, plain(rng, (*batch, p.n, p.k), p.dtype).astype(p.dtype))]

    def wanted(self, p, outs):
        return outs[3:]

    def check(self, v, p, ins, outs):
        dl, d, du, b = map(wide, ins)
        x, info = wide(outs[3]), outs[4]
        product = d[..., None] * x
        product[..., 1:, :] += dl[..., 1:, None] * x[..., :-1, :]
        product[..., :-1, :] += du[..., :-1, None] * x[..., 1:, :]
        size_of = 3 * sum(np.sqrt((np.abs(np.nan_to_num(line)) ** 2).sum(-1)) for line in (dl, d, du))
        where = v.good & (info == 0)
        v.small("A S = B", product - b, size_of * norm(x) + norm(b), p.n, p.dtype, where=where)
        v.all_nan("NaN", outs[3])

    def nan(self, p, ins):
        return spoiled(ins[3])


class Permutation(Op):
    name, peer, dtypes = "lu_row_order", None, (np.int32,)

    def can_alias(self, p):
        return False

    def choose(self, rng, dtype):
        k = size(rng)
        return dict(k=k, m=k + int(rng.integers(0, 5)))

    def results(self, p, batch):
        return [((*batch, p.m), I32)]

    def operands(self, rng, p, batch):
        return [rng.integers(np.arange(1, p.k + 1), p.m + 1, (*batch, p.k)).astype(I32)]

    def vectors(self, p):
        return True

    def check(self, v, p, ins, outs):
        pivots, order = ins[0], outs[0]
        expected = np.broadcast_to(np.arange(p.m), (*v.batch, p.m)).copy()
        for at in np.ndindex(*v.batch):
            for i, j in enumerate(pivots[at] - 1):
                expected[at][[i, j]] = expected[at][[j, i]]
        v.require("rows", (order == expected).all(-1))


OPS = [Lu(), Getrf(), Geqrf(), LapackGeqrf(), Geqp3(), Orgqr(), LapackOrgqr(), Ormqr(), Cholesky(), Potrf(), Trsm(),
       Gtsv(), Permutation()]
