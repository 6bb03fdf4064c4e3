"""Our handlers under JAX, and what their results must satisfy."""

import itertools
import math
import pathlib
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import jax
import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "ops-lib"))
from handlers import Library, column_major

jax.config.update("jax_enable_x64", True)

RATIO = 30.0  # LAPACK's own threshold for its test ratios (LAPACK working note 41).
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


class Tally:
    """Counts what is right, and goes on after what is wrong, so that one run tells all of it."""

    MOST = 25

    def __init__(self):
        self.right, self.wrong = 0, 0

    @contextmanager
    def case(self, what):
        """What is done in here is right unless it raises."""
        try:
            yield
            self.right += 1
        except Exception as error:
            self.wrong += 1
            print(f"WRONG: {what}: {type(error).__name__}: {str(error)[:600]}", flush=True)
            if self.wrong == self.MOST:
                self.end()

    def end(self):
        """The end of a part."""
        print(f"{self.right} cases right, {self.wrong} wrong")
        if self.wrong:
            sys.exit(1)


class Ops:
    """Our handlers as targets of JAX, on one platform, as `xlaffi.<target>`."""

    def __init__(self, path, platform):
        self.path = path
        self.cuda = platform == "cuda"
        self.device = jax.devices(platform)[0]
        library = Library(path)
        targets = ["lu", "geqrf", "orgqr", "svd", "eigh", "kepler", "print_tensor"]
        if self.cuda:
            names = "getrf geqrf orgqr ormqr potrf syevd gesvd gesvdj gesvdp sytrd geev"
            targets += [f"cusolver_{name}_ffi" for name in names.split()] + ["cu_lu_pivots_to_permutation"]
        for target in targets:
            library.register(target, "xlaffi.", platform)

    def put(self, x):
        return jax.device_put(x, self.device)


def call(target, results, *operands, vectors=(), aliases=None, **attributes):
    """A target on matrices; `results` are shapes and dtypes, operands and results of rank 2 and more
    are column-major, those whose place is in `vectors` (results after operands) are batches of
    vectors."""
    places = [*operands, *results]
    shapes = [o.shape for o in operands] + [shape for shape, _ in results]
    layouts = [tuple(range(len(s))) if i in vectors or len(s) < 2 else column_major(len(s)) for i, s in enumerate(shapes)]
    assert len(layouts) == len(places)
    return jax.ffi.ffi_call(
        target,
        [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in results],
        input_layouts=layouts[: len(operands)],
        output_layouts=layouts[len(operands) :],
        input_output_aliases=aliases,
        vmap_method=None,
    )(*operands, **attributes)


def real(dtype):
    return np.zeros((), dtype).real.dtype


def lu(a, name="xlaffi.lu", **more):
    *batch, m, n = a.shape
    return call(name, [(a.shape, a.dtype), ((*batch, min(m, n)), np.int32)], a, vectors=(2,), **more)


def geqrf(a, name="xlaffi.geqrf", **more):
    *batch, m, n = a.shape
    return call(name, [(a.shape, a.dtype), ((*batch, min(m, n)), a.dtype)], a, vectors=(2,), **more)


def orgqr(packed, tau, name="xlaffi.orgqr"):
    shape = (*packed.shape[:-1], tau.shape[-1])
    return call(name, [(shape, packed.dtype)], packed, tau, vectors=(1,))[0]


def svd(a):
    *batch, m, n = a.shape
    k = min(m, n)
    results = [((*batch, m, k), a.dtype), ((*batch, k), real(a.dtype)), ((*batch, k, n), a.dtype)]
    return call("xlaffi.svd", results, a, vectors=(2,))


def eigh(a, **more):
    return call("xlaffi.eigh", [(a.shape, a.dtype), (a.shape[:-1], real(a.dtype))], a, vectors=(2,), **more)


def kepler(m, e):
    return call("xlaffi.kepler", [(m.shape, m.dtype)] * 2, m, e, vectors=range(4))


def matrices(rng, shape, dtype):
    a = rng.standard_normal(shape)
    if np.issubdtype(dtype, np.complexfloating):
        a = a + 1j * rng.standard_normal(shape)
    return a.astype(dtype)


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def norm(a):
    return np.abs(a).sum(-2).max(-1, initial=0)


def small(residual, size, scale, dtype, what):
    """Every residual is no larger than rounding makes it."""
    eps = np.finfo(dtype).eps
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(norm(residual) == 0, 0, norm(residual) / (max(size, 1) * scale * eps))
    worst = ratio.max(initial=0) if np.all(np.isfinite(ratio)) else np.inf
    assert worst < RATIO, f"{what}: ratio {worst}"


def wide(x):
    return np.asarray(x).astype(np.complex128)


def check_lu(a, packed, pivots, what):
    a, p = wide(a), wide(packed)
    *batch, m, n = a.shape
    k = min(m, n)
    lower = np.tril(p[..., :k], -1) + np.eye(m, k)
    upper = np.triu(p[..., :k, :])
    a, pivots = a.copy().reshape(-1, m, n), np.asarray(pivots).reshape(-1, k)
    rows = np.tile(np.arange(m), (len(a), 1))
    every = np.arange(len(a))
    for i in range(k):
        other = pivots[:, i] - 1
        assert np.all((other >= i) & (other < m)), f"{what}: pivots out of range"
        kept = rows[every, i].copy()
        rows[every, i] = rows[every, other]
        rows[every, other] = kept
    a = np.take_along_axis(a, rows[:, :, None], 1).reshape(*batch, m, n)
    small(a - lower @ upper, max(m, n), norm(a), packed.dtype, what)


def orthonormal(q, dtype, what):
    small(adjoint(q) @ q - np.eye(q.shape[-1]), q.shape[-2], 1.0, dtype, f"{what}, orthogonality")


def check_qr(a, packed, q, what):
    a, q = wide(a), wide(q)
    k = min(a.shape[-2:])
    r = np.triu(wide(packed)[..., :k, :])
    small(a - q @ r, max(a.shape[-2:]), norm(a), packed.dtype, what)
    orthonormal(q, packed.dtype, what)


def check_svd(a, u, s, vt, what):
    dtype, a, u, vt, s = u.dtype, wide(a), wide(u), wide(vt), np.asarray(s)
    small(a - (u * s[..., None, :]) @ vt, max(a.shape[-2:]), norm(a), dtype, what)
    orthonormal(u, dtype, what)
    orthonormal(adjoint(vt), dtype, what)
    assert np.all(np.diff(s) <= 0) and np.all(s >= 0), f"{what}: order"


def check_eigh(a, v, w, what):
    dtype, a, v, w = v.dtype, wide(a), wide(v), np.asarray(w)
    small(a @ v - v * w[..., None, :], a.shape[-1], norm(a), dtype, what)
    orthonormal(v, dtype, what)
    assert np.all(np.diff(w) >= 0), f"{what}: order"


def every(ops, tally, cases, dtypes=DTYPES):
    """Each op on each case, against what its results must satisfy. XLA compiles in threads, ahead of the runs."""
    rng = np.random.default_rng(1)
    with ThreadPoolExecutor() as pool:

        def ahead(f, *operands):
            shapes = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in operands]
            return pool.submit(lambda: jax.jit(f).lower(*shapes).compile())

        work = []
        for (batch, m, n), dtype in itertools.product(cases, dtypes):
            shape = (*batch, m, n)
            programs = {f: ahead(f, (shape, dtype)) for f in (lu, geqrf, svd, *([eigh] if m == n else []))}
            if math.prod(shape):
                programs[orgqr] = ahead(orgqr, (shape, dtype), ((*batch, min(m, n)), dtype))
            work.append((shape, dtype, programs))
        for shape, dtype, programs in work:
            what = f"{np.dtype(dtype).name} {shape}"
            host = matrices(rng, shape, dtype)
            a = ops.put(host)
            run = {f: lambda *operands, program=program: program.result()(*operands) for f, program in programs.items()}
            if host.size == 0:
                # Nothing to compute: it must only succeed.
                for f in run:
                    with tally.case(f"{f.__name__} {what}"):
                        jax.block_until_ready(run[f](a))
                continue
            with tally.case(f"lu {what}"):
                check_lu(host, *run[lu](a), f"lu {what}")
            with tally.case(f"qr {what}"):
                packed, tau = run[geqrf](a)
                check_qr(host, packed, run[orgqr](packed, tau), f"qr {what}")
            with tally.case(f"svd {what}"):
                check_svd(host, *run[svd](a), f"svd {what}")
            if eigh in run:
                with tally.case(f"eigh {what}"):
                    hermitian = host + adjoint(host)
                    check_eigh(hermitian, *run[eigh](ops.put(hermitian)), f"eigh {what}")
            with tally.case(f"operand {what}"):
                assert np.array_equal(np.asarray(a), host), "the operand was written"
