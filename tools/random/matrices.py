"""Small matrices of all kinds, and arithmetic to judge results by.

`wide` numbers have 64 bits and a range in which nothing here overflows or underflows, squares of
subnormal numbers and products of the largest ones included.
"""

import numpy as np

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 33, 63, 64, 65, 70)
WEIGHTS = np.array([8, 9, 9, 9, 8, 7, 6, 6, 5, 4, 3, 3, 2, 1.5, 0.8, 0.15, 0.15, 0.15, 0.1])
BATCHES = ((), (1,), (2,), (3,), (5,), (7,), (8,), (9,), (16,), (17,), (31,), (2, 3), (3, 1, 4), (0,))


def size(rng):
    return int(rng.choice(SIZES, p=WEIGHTS / WEIGHTS.sum()))


def real(dtype):
    return np.finfo(dtype).dtype


def is_complex(dtype):
    return np.dtype(dtype).kind == "c"


def eps(dtype):
    return np.longdouble(np.finfo(dtype).eps)


def subnormal(dtype):
    """The smallest number there is: what rounding may cost where relative errors end."""
    return np.longdouble(np.finfo(dtype).smallest_subnormal)


def wide(a):
    return a.astype(np.clongdouble if is_complex(a.dtype) else np.longdouble)


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def norm(a):
    """Frobenius norm of each matrix, wide."""
    return np.sqrt((np.abs(wide(a)) ** 2).sum((-1, -2)))


def eye(like, n):
    return np.broadcast_to(np.eye(n, dtype=like.dtype), (*like.shape[:-2], n, n))


def plain(rng, shape, dtype):
    a = rng.standard_normal(shape)
    if is_complex(dtype):
        a = a + 1j * rng.standard_normal(shape)
    return a


def kind_plain(rng, m, n, dtype):
    return plain(rng, (m, n), dtype)


def kind_low_rank(rng, m, n, dtype):
    rank = rng.integers(0, min(m, n) + 1)
    return plain(rng, (m, rank), dtype) @ plain(rng, (rank, n), dtype)


def kind_integers(rng, m, n, dtype):
    return rng.integers(-2, 3, (m, n)).astype(np.float64)


def kind_graded(rng, m, n, dtype):
    span = 8 if real(dtype) == np.float32 else 60
    return plain(rng, (m, n), dtype) * 10.0 ** -np.linspace(0, span * rng.random(), n)


def kind_spread(rng, m, n, dtype):
    span = 10 if real(dtype) == np.float32 else 80
    return plain(rng, (m, n), dtype) * 10.0 ** rng.uniform(-span, span, (m, n))


def kind_same_columns(rng, m, n, dtype):
    return np.repeat(plain(rng, (m, 1), dtype), n, axis=1)


def kind_sparse(rng, m, n, dtype):
    return plain(rng, (m, n), dtype) * (rng.random((m, n)) < 0.3)


def kind_identity(rng, m, n, dtype):
    return np.eye(m, n)[rng.permutation(m)] * rng.choice([-1.0, 1.0])


def kind_zero(rng, m, n, dtype):
    return np.zeros((m, n)) * rng.choice([-1.0, 1.0])


def kind_orthogonal(rng, m, n, dtype):
    q, _ = np.linalg.qr(plain(rng, (max(m, n), max(m, n)), dtype))
    return q[:m, :n]


KINDS = {
    kind_plain: 10, kind_low_rank: 3, kind_integers: 2, kind_graded: 2, kind_spread: 1,
    kind_same_columns: 1, kind_sparse: 2, kind_identity: 1, kind_zero: 0.5, kind_orthogonal: 1,
}
KIND_LIST = list(KINDS)
KIND_WEIGHTS = np.array(list(KINDS.values())) / sum(KINDS.values())


def scale(rng, dtype):
    """A factor: mostly 1, else anything between the smallest and the largest numbers."""
    top = 120 if real(dtype) == np.float32 else 1000
    low = -145 if real(dtype) == np.float32 else -1065
    pick = rng.random()
    if pick < 0.7:
        return 1.0
    if pick < 0.85:
        return 2.0 ** rng.integers(low, top)
    return 2.0 ** rng.integers(*((low, low + 40) if pick < 0.95 else (top - 15, top)))


def matrix(rng, m, n, dtype, finish=lambda a: a):
    """A finite matrix; `finish` makes it Hermitian or the like."""
    kind = KIND_LIST[rng.choice(len(KIND_LIST), p=KIND_WEIGHTS)]
    with np.errstate(over="ignore", under="ignore"):
        a = finish(kind(rng, m, n, dtype)) * scale(rng, dtype)
        if m and n and rng.random() < 0.05:
            # One column far below the others: subnormal where those are of ordinary size.
            a[:, rng.integers(n)] *= 1e-310 if real(dtype) == np.float64 else 1e-40
            a = finish(a)
        out = a.astype(dtype)
    return out if np.isfinite(out).all() else matrix(rng, m, n, dtype, finish)


def batch_of(rng, batch, m, n, dtype, finish=lambda a: a):
    out = np.empty((*batch, m, n), dtype)
    for at in np.ndindex(*batch):
        out[at] = matrix(rng, m, n, dtype, finish)
    return out


def spoil(rng, a, allowed=None, share=0.08):
    """Puts NaN or an infinity into some matrices, at one of the `allowed` places (all by default)."""
    m, n = a.shape[-2:]
    places = np.argwhere(np.ones((m, n), bool) if allowed is None else allowed)
    for at in np.ndindex(*a.shape[:-2]):
        if len(places) and rng.random() < share:
            value = rng.choice([np.nan, np.inf, -np.inf])
            if is_complex(a.dtype) and rng.random() < 0.5:
                value = complex(0, value)
            a[at][tuple(places[rng.integers(len(places))])] = value
    return a


def reflector_product(vectors, tau, order=1):
    """`H_1 H_2 …` (or backwards) with `H_i = I - tau_i v_i v_iᴴ`, wide; `vectors` are columns."""
    m, k = vectors.shape[-2:]
    q = np.array(eye(vectors, m))
    for i in range(k)[::order]:
        v = vectors[..., i]
        q = q - ((q @ v[..., None]) * tau[..., i, None, None]) @ np.conj(v)[..., None, :]
    return q


def unit_lower(packed, k, below=0):
    """The vectors below the diagonal (or `below` it further) of k columns, with their ones, wide."""
    v = np.tril(wide(packed)[..., :, :k], -1 - below)
    v[..., range(below, k + below), range(k)] = 1
    return v


def hermitian(a):
    return (a + adjoint(a)) / 2


def from_triangle(a, uplo):
    """The Hermitian matrices of which one triangle is given, wide."""
    a = wide(a)
    part = np.tril(a, -1) if uplo == "L" else np.triu(a, 1)
    n = a.shape[-1]
    out = np.where(part == 0, 0, part)
    out = out + adjoint(out)
    out[..., range(n), range(n)] = a[..., range(n), range(n)].real
    return out


def triangle(n, uplo, strict=False):
    offset = 1 if strict else 0
    rows, columns = np.indices((n, n))
    return rows >= columns + offset if uplo == "L" else rows <= columns - offset
