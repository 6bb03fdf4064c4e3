"""The parts of tools/gpu/check that run under JAX: `cases.py LIBRARY PLATFORM PART`."""

import itertools
import pathlib
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "ops-lib"))
from handlers import Library, captured, column_major, own_kernel

jax.config.update("jax_enable_x64", True)

RATIO = 30.0  # LAPACK's own threshold for its test ratios (LAPACK working note 41).
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
SHAPES = [(1, 1), (2, 2), (3, 5), (5, 3), (4, 4), (16, 16), (17, 20), (32, 32), (33, 33), (64, 40), (40, 64), (129, 129), (300, 3), (3, 300)]
BATCHES = [(), (1,), (7,), (2, 3)]
MANY = [((300,), 4, 4), ((300,), 5, 3), ((70_000,), 2, 2), ((40,), 64, 64)]
# Sizes up to which our own kernels have a block for each matrix and from which on they have none, and more
# matrices than there are blocks.
BLOCKS = [((3,), 34, 33), ((3,), 70, 71), ((3,), 128, 128), ((3,), 129, 193), ((4,), 256, 257), ((4,), 257, 257), ((2,), 1024, 5), ((2,), 5, 1025), ((2,), 256, 20), ((2,), 20, 257), ((2100,), 33, 2)]
# Past the change from Jacobi's method to QR iteration.
LARGE = [((), 1100, 1030), ((), 1030, 1100)]
EMPTY = [((), 0, 3), ((), 3, 0), ((0,), 4, 4), ((2, 0), 3, 2), ((3,), 0, 0)]


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


def every(ops, cases, dtypes=DTYPES):
    """Each op on each case, against what its results must satisfy."""
    rng, count = np.random.default_rng(1), 0
    run = {f: jax.jit(f) for f in (lu, geqrf, orgqr, svd, eigh)}
    for (batch, m, n), dtype in itertools.product(cases, dtypes):
        what = f"{np.dtype(dtype).name} {(*batch, m, n)}"
        host = matrices(rng, (*batch, m, n), dtype)
        a = ops.put(host)
        if host.size == 0:
            # Nothing to compute: it must only succeed.
            square = [eigh] if m == n else []
            jax.block_until_ready([run[f](a) for f in (lu, geqrf, svd, *square)])
            count += 3
            continue
        packed, pivots = run[lu](a)
        check_lu(host, packed, pivots, f"lu {what}")
        packed, tau = run[geqrf](a)
        q = run[orgqr](packed, tau)
        check_qr(host, packed, q, f"qr {what}")
        check_svd(host, *run[svd](a), f"svd {what}")
        count += 4
        if m == n:
            hermitian = host + adjoint(host)
            check_eigh(hermitian, *run[eigh](ops.put(hermitian)), f"eigh {what}")
            count += 1
        assert np.array_equal(np.asarray(a), host), f"{what}: the operand was written"
    return count


def check_kepler(ops, count=100_000):
    rng = np.random.default_rng(2)
    for dtype, close in [(np.float64, 4e-13), (np.float32, 2e-6)]:
        m = rng.uniform(-100, 100, count).astype(dtype)
        e = rng.uniform(0, 0.999, count).astype(dtype)
        s, c = (np.asarray(x, np.float64) for x in jax.jit(kepler)(ops.put(m), ops.put(e)))
        off = np.sin(np.arctan2(s, c) - e.astype(np.float64) * s - m)
        assert np.abs(off).max() < close, f"kepler {dtype}: {np.abs(off).max()}"
        assert np.abs(s * s + c * c - 1).max() < close
        bad = np.array([np.nan, np.inf, 1, 1, 1], dtype), np.array([0.5, 0.5, 1, -0.1, np.nan], dtype)
        assert np.isnan(np.asarray(jax.jit(kepler)(*map(ops.put, bad)))).all()
    return 4


def check_print(ops):
    @jax.jit
    def show(x):
        jax.ffi.ffi_call("xlaffi.print_tensor", [], has_side_effect=True)(x)
        return x + 1

    x = ops.put(np.arange(6, dtype=np.float32).reshape(2, 3) * 2)
    text = captured(lambda: show(x).block_until_ready())
    assert text == "PJRTBuffer\n  0  2  4\n  6  8 10\n[ f32{2,3} ]\n", text
    return 1


def part_environment(ops):
    print(f"jax {jax.__version__}, {ops.device.device_kind}, Python {sys.version.split()[0]}")
    if ops.cuda:
        query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,clocks.sm,clocks.mem", "--format=csv,noheader"]
        print(subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip())
        maps = {line.split()[-1] for line in open("/proc/self/maps") if any(n in line for n in ("cusolver.so", "cublas.so", "nvrtc.so", "libcuda.so"))}
        print("\n".join(sorted(maps)))


def part_small(ops):
    count = every(ops, [((), 5, 3), ((3,), 4, 4), ((2,), 3, 5), ((), 40, 40), ((2,), 33, 20)], [np.float32, np.complex128])
    count += check_kepler(ops, 1000)
    print(f"{count} small cases right")


def part_ops(ops):
    count = every(ops, [(b, m, n) for b in BATCHES for m, n in SHAPES], [np.float32, np.complex128])
    count += every(ops, [(b, m, n) for b in [(), (7,)] for m, n in SHAPES], [np.float64, np.complex64])
    count += every(ops, MANY + LARGE, [np.float32, np.float64]) + every(ops, BLOCKS, [np.float32, np.complex128]) + every(ops, EMPTY)
    count += check_kepler(ops) + check_print(ops)
    print(f"{count} cases right")


def part_policy(ops):
    """Aliased operands; NaN, infinite and singular matrices; the transposed attribute; triangles."""
    rng, count = np.random.default_rng(3), 0
    for dtype, (batch, n) in itertools.product(DTYPES, [(3, 4), (3, 40), (3, 130)]):
        host = matrices(rng, (batch, n, n), dtype)
        host = host + adjoint(host)
        broken = host.copy()
        broken[1, n - 1, 0] = np.inf if n == 4 else np.nan
        good = [0, 2]
        for f in (lu, geqrf, svd, eigh):
            want, got = (jax.jit(f)(ops.put(x)) for x in (host, broken))
            for i, (w, g) in enumerate(zip(want, got)):
                w, g = np.asarray(w), np.asarray(g)
                where = f"{f.__name__} {np.dtype(dtype).name} {n}, result {i}"
                assert np.array_equal(g[good], w[good]), f"{where}: a neighbour of a broken matrix differs"
                if g.dtype == np.int32:
                    assert np.array_equal(g[1], np.arange(1, n + 1)), f"{where}: pivots"
                else:
                    assert np.isnan(g[1]).all(), f"{where}: not NaN"
                count += 1
        for f in (lu, geqrf, eigh):
            inside = jax.jit(lambda a, f=f: f(a, aliases={0: 0}), donate_argnums=0)
            for want, got in zip(jax.jit(f)(ops.put(host)), inside(ops.put(host))):
                assert np.array_equal(np.asarray(want), np.asarray(got)), f"{f.__name__} in place"
                count += 1
        # Singular: a factorisation like any other.
        singular = host.copy()
        singular[1] = 0
        singular[2, :, 1] = singular[2, :, 0]
        check_lu(singular, *jax.jit(lu)(ops.put(singular)), f"singular lu {n}")
        # The upper triangle alone.
        upper = np.triu(host) + np.tril(np.full_like(host, 9), -1)
        check_eigh(host, *jax.jit(lambda a: eigh(a, uplo="U"))(ops.put(upper)), f"upper eigh {n}")
        count += 2
    for dtype, (m, n) in itertools.product(DTYPES, [(33, 33), (50, 40), (40, 50)]):
        # Ranks, gaps, grades and scales, as a batch.
        one, power = matrices(rng, (m, n), dtype), 30 if real(dtype) == np.float32 else 290
        rows, columns = np.indices((m, n))
        kinds = [0 * one, rows == columns, (rows + 1) * (columns + 2), one * 10.0 ** -columns, one * 10.0 ** -rows, one * 10.0**-power, one * 10.0**power]
        host = np.array(kinds).astype(dtype)
        results = [np.asarray(x) for x in jax.jit(svd)(ops.put(host))]
        for i, parts in enumerate(zip(host, *results)):
            scale = 2.0 ** -np.frexp(np.abs(host[i]).max() or 1)[1]
            a, u, s, vt = parts
            check_svd(wide(a) * scale, u, np.float64(s) * scale, vt, f"svd, matrix {i}, {np.dtype(dtype).name} {m} x {n}")
            count += 1
    for m, n in [(4, 9), (9, 4)]:
        host, k = matrices(rng, (m, n), np.complex128), min(m, n)

        def transposed(a):
            results = [jax.ShapeDtypeStruct(s, d) for s, d in (((m, k), a.dtype), ((k,), np.float64), ((k, n), a.dtype))]
            return jax.ffi.ffi_call("xlaffi.svd", results)(a, transposed=True)

        check_svd(host, *jax.jit(transposed)(ops.put(host)), "svd, row-major")
        count += 1
    print(f"{count} cases right")


def part_streams(ops):
    """Programs that run at once give what they give alone."""
    rng = np.random.default_rng(4)
    work = []
    for f, shape in itertools.product((lu, geqrf, svd, eigh), [(50, 8, 8), (1, 200, 200), (20, 40, 40)]):
        a = matrices(rng, shape, np.float64)
        a = ops.put(a + adjoint(a))
        program = jax.jit(f).lower(a).compile()
        work.append((program, a, [np.asarray(x) for x in program(a)]))

    def again(job):
        program, a, want = work[job % len(work)]
        return all(np.array_equal(np.asarray(x), w) for x, w in zip(program(a), want))

    with ThreadPoolExecutor(4) as pool:
        same = list(pool.map(again, range(10 * len(work))))
    assert all(same), f"{same.count(False)} of {len(same)} runs differ from the first"
    print(f"{len(same)} runs in four threads, all the same")


def part_jaxlib(ops):
    """Our handlers of jaxlib's targets beside jaxlib's own, on the same operands."""
    rng, count = np.random.default_rng(5), 0

    def both(target, results, *operands, **more):
        return [jax.jit(lambda *o, p=p: call(p + target, results, *o, **more))(*operands) for p in ("xlaffi.", "")]

    def close(ours, theirs, dtype, what):
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        assert np.allclose(ours, theirs, rtol=0, atol=3e3 * np.finfo(dtype).eps * (1 + np.abs(theirs).max(initial=0))), what

    for dtype, (batch, m, n) in itertools.product(DTYPES, [((), 5, 5), ((3,), 8, 8), ((2,), 40, 30), ((2,), 150, 150)]):
        k, r = min(m, n), real(dtype)
        what = f"{np.dtype(dtype).name} {(*batch, m, n)}"
        a = ops.put(matrices(rng, (*batch, m, n), dtype))
        info = (batch, np.int32)
        ours, theirs = both("cusolver_getrf_ffi", [(a.shape, dtype), ((*batch, k), np.int32), info], a, vectors=(2,))
        close(ours[0], theirs[0], dtype, f"getrf {what}")
        assert np.array_equal(ours[1], theirs[1])
        ours, theirs = both("cusolver_geqrf_ffi", [(a.shape, dtype), ((*batch, k), dtype)], a, vectors=(2,))
        close(ours[0], theirs[0], dtype, f"geqrf {what}")
        packed, tau = ours
        ours, theirs = both("cusolver_orgqr_ffi", [(a.shape, dtype)], packed, tau, vectors=(1,))
        close(ours[0], theirs[0], dtype, f"orgqr {what}")
        for left, transpose in itertools.product((True, False), repeat=2):
            c = ops.put(matrices(rng, (*batch, m, 3) if left else (*batch, 3, m), dtype))
            ours, theirs = both("cusolver_ormqr_ffi", [(c.shape, dtype)], packed, tau, c, vectors=(1,), left=left, transpose=transpose)
            close(ours[0], theirs[0], dtype, f"ormqr {what}")
        values = ((*batch, k), r)
        ours, theirs = both("cusolver_gesvd_ffi", [(a.shape, dtype), values, ((*batch, m, n), dtype), ((*batch, n, n), dtype), info], a,
                            vectors=(2,), full_matrices=False, compute_uv=True, transposed=False)
        close(ours[1], theirs[1], r, f"gesvd {what}")
        check_svd(a, ours[2], ours[1], ours[3], f"gesvd {what}")
        for target in ("cusolver_gesvdj_ffi", "cusolver_gesvdp_ffi"):
            ours, theirs = both(target, [(a.shape, dtype), values, ((*batch, m, k), dtype), ((*batch, n, k), dtype), info], a,
                                vectors=(2,), full_matrices=False, compute_uv=True)
            close(ours[1], theirs[1], r, f"{target} {what}")
            check_svd(a, ours[2], ours[1], adjoint(np.asarray(ours[3])), f"{target} {what}")
        count += 9
        if m != n:
            continue
        host = np.asarray(a)
        host = host @ adjoint(host) + np.eye(n)
        a = ops.put(host.astype(dtype))
        ours, theirs = both("cusolver_potrf_ffi", [(a.shape, dtype), info], a, lower=True)
        close(np.tril(ours[0]), np.tril(theirs[0]), dtype, f"potrf {what}")
        for algorithm in range(3):
            ours, theirs = both("cusolver_syevd_ffi", [(a.shape, dtype), values, info], a, vectors=(2,), lower=True, algorithm=np.uint8(algorithm))
            close(ours[1], theirs[1], r, f"syevd {what}")
            check_eigh(a, ours[0], ours[1], f"syevd {what}")
        beside = (*batch, n - 1)
        ours, theirs = both("cusolver_sytrd_ffi", [(a.shape, dtype), values, (beside, r), (beside, dtype), info], a, vectors=(2, 3, 4), lower=True)
        close(np.abs(ours[2]), np.abs(theirs[2]), dtype, f"sytrd {what}")
        square = (a.shape, dtype)
        ours, theirs = both("cusolver_geev_ffi", [square, ((*batch, n), np.result_type(dtype, 1j)), square, square, info], a,
                            vectors=(2,), left=False, right=True)
        close(np.sort(np.abs(ours[1])), np.sort(np.abs(theirs[1])), r, f"geev {what}")
        count += 6
    pivots = ops.put(np.array([[2, 2, 3], [1, 1, 2]], np.int32))
    ours, theirs = both("cu_lu_pivots_to_permutation", [((2, 5), np.int32)], pivots, vectors=(0, 1))
    assert np.array_equal(ours[0], theirs[0])
    print(f"{count + 1} cases right")


def own(target, *operands, results, aliases=None, **attributes):
    """A target of one's own, on arrays by rows; `results` are shapes and dtypes."""
    types = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in results]
    return jax.jit(jax.ffi.ffi_call(target, types, input_output_aliases=aliases))(*operands, **attributes)


def part_own(ops):
    """Ops of one's own with a kernel: dtypes, batches, blocks, scratch memory, attributes, errors, elementwise."""
    root = pathlib.Path(__file__).resolve().parents[2]
    header = (root / "inst/include/xlaffi.h").read_text()
    rng = np.random.default_rng(8)

    def kernel(name, signature, body, **more):
        return own_kernel(ops.path, f"own.{name}", signature, body, header=header, **more)

    count = 0

    def same(got, expected, what, tolerance=0.0):
        nonlocal count
        got, expected = np.asarray(got), np.asarray(expected)
        assert got.shape == expected.shape and got.dtype == expected.dtype, what
        assert np.allclose(got.astype(expected.dtype), expected, rtol=tolerance, atol=tolerance), what
        count += 1

    # A kernel for each dtype; more elements than threads of a block, and than blocks reach at once.
    names = {"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "ui8": "uint8", "ui16": "uint16", "ui32": "uint32",
             "ui64": "uint64", "f32": "float32", "f64": "float64"}
    times = kernel("times", "x: T[n], y: T[] -> z: T[n]", "z[i] = x[i] * *y;", dtypes=f"T={','.join(names)}")
    for dtype, n in itertools.product(names.values(), (1, 257, 70_001)):
        x = rng.integers(0, 10, n).astype(dtype)
        z = own(times, ops.put(x), ops.put(np.asarray(3, dtype)), results=[((n,), dtype)])
        same(z[0], x * np.asarray(3, dtype), f"times {dtype} {n}")
    x = rng.standard_normal(300_000_000 // 8).astype(np.float32)
    same(own(times, ops.put(x), ops.put(np.float32(2)), results=[(x.shape, x.dtype)])[0], 2 * x, "times, large")
    half = kernel("half", "x: f16[n], y: bf16[n] -> z: f16[n], w: bf16[n]",
                  "z[i] = xlaffi_to_f16(2 * xlaffi_from_f16(x[i])); w[i] = xlaffi_to_bf16(2 * xlaffi_from_bf16(y[i]));")
    x, y = rng.standard_normal(1000).astype(np.float16), jnp.asarray(rng.standard_normal(1000), jnp.bfloat16)
    z, w = own(half, ops.put(x), ops.put(y), results=[((1000,), np.float16), ((1000,), jnp.bfloat16)])
    same(z, 2 * x, "f16")
    same(np.asarray(w, np.float32), 2 * np.asarray(y, np.float32), "bf16")
    swap = kernel("swap", "x: T[n], p: pred[n] -> z: T[n]", "z[i].x = p[i] ? x[i].y : x[i].x; z[i].y = p[i] ? x[i].x : x[i].y;", dtypes="T=c64,c128")
    for dtype in (np.complex64, np.complex128):
        x, p = (rng.standard_normal(99) + 1j * rng.standard_normal(99)).astype(dtype), rng.random(99) < 0.5
        z = own(swap, ops.put(x), ops.put(p), results=[((99,), dtype)])[0]
        same(z, np.where(p, x.imag + 1j * x.real, x).astype(dtype), f"swap {dtype}")

    # Batches that broadcast, in one launch.
    affine = kernel("affine", "x: f64[..., n], w: f64[n], c: f64[...] -> y: f64[..., n]", "y[i] = x[i] * w[i] + *c;")
    for shape in ((7, 3, 5), (70_000, 3), (2, 1, 1)):
        x, w = rng.standard_normal(shape), rng.standard_normal(shape[-1])
        for c in (rng.standard_normal(shape[:-1]), rng.standard_normal(shape[-2:-1]), rng.standard_normal(())):
            y = own(affine, *(ops.put(a) for a in (x, w, c)), results=[(shape, np.float64)])[0]
            same(y, x * w + np.asarray(c)[..., None], f"affine {shape} {np.shape(c)}", 1e-14)

    # A block for each element of the batch, with shared memory of both kinds, and barriers.
    rms = kernel("rms", "x: T[..., n]; eps: f64 = 0 -> y: T[..., n]", """
        extern __shared__ char memory[];
        T *part = (T *) memory;
        T sum = 0;
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) sum += x[j] * x[j];
        part[threadIdx.x] = sum;
        __syncthreads();
        for (int left = blockDim.x / 2; left > 0; left /= 2) {
          if (threadIdx.x < left) part[threadIdx.x] += part[threadIdx.x + left];
          __syncthreads();
        }
        const T scale = 1 / sqrt(part[0] / n + (T) eps);
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) y[j] = x[j] * scale;""", grid="1", block="256", shared="8*256")
    for shape, dtype in itertools.product(((), (5,), (70_000,), (2, 3)), (np.float32, np.float64)):
        x = rng.standard_normal((*shape, 37)).astype(dtype)
        y = own(rms, ops.put(x), results=[(x.shape, dtype)], eps=np.float64(0.5))[0]
        expected = (x / np.sqrt(np.mean(x.astype(np.float64) ** 2, -1, keepdims=True) + 0.5)).astype(dtype)
        same(y, expected, f"rms {shape} {dtype}", 1e-5 if dtype == np.float32 else 1e-13)

    # Grids that follow from dimensions, scratch memory, attributes, arrays in place.
    transpose = kernel("transpose", "x: i32[m, n] -> y: i32[n, m]", """
        const int64_t column = blockIdx.x * blockDim.x + threadIdx.x;
        if (column < n) y[column * m + blockIdx.y] = x[blockIdx.y * n + column];""", grid="(n + 31)/32,m", block="32")
    x = rng.integers(0, 1000, (33, 70)).astype(np.int32)
    same(own(transpose, ops.put(x), results=[((70, 33), np.int32)])[0], x.T, "transpose")
    back = kernel("back", "x: f64[..., n] -> y: f64[..., n] ; old: f64[n]", """
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) old[j] = x[j];
        __syncthreads();
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) y[j] = old[n - 1 - j];""", grid="1", block="64")
    x = rng.standard_normal((70_000, 33))
    same(own(back, ops.put(x), results=[(x.shape, np.float64)])[0], x[:, ::-1], "scratch memory")
    taps = kernel("taps", "x: f64[n]; h: f64[p], mode: str = \"plain\" -> y: f64[n]", """
        y[i] = mode_length;
        for (int64_t j = 0; j < p && j <= i; j++) y[i] += h[j] * x[i - j];""")
    x, h = rng.standard_normal(500), np.array([1.0, -2.0, 0.5])
    same(own(taps, ops.put(x), results=[((500,), np.float64)], h=h)[0], 5 + np.convolve(x, h)[:500], "attributes", 1e-13)
    add = kernel("add", "x: f64[n], y: f64[n] -> x: f64[n]", "x[i] += y[i];")
    for aliases in (None, {0: 0}):
        given = ops.put(x)
        z = own(add, given, ops.put(x), results=[((500,), np.float64)], aliases=aliases)[0]
        same(z, 2 * x, f"in place {aliases}")
        same(given, x, "the operand stays")

    # Errors, and calls after them.
    roots = kernel("roots", "x: f64[..., n] -> y: f64[..., n]", """
        if (x[i] < 0) FAIL_WITH(XLAFFI_OUT_OF_RANGE, "x[%lld] is %g", i, x[i]);
        y[i] = sqrt(x[i]);""")
    x = np.ones((300, 1000))
    x[123, 456] = -2.5
    try:
        jax.block_until_ready(own(roots, ops.put(x), results=[(x.shape, np.float64)]))
        raise AssertionError("no error")
    except jax.errors.JaxRuntimeError as error:
        assert "x[456] is -2.5 (element 124 of the batch of 300)" in str(error), error
    same(own(roots, ops.put(x**2), results=[(x.shape, np.float64)])[0], np.abs(x), "after an error")

    # What ffi_elementwise() makes of an expression.
    head, text = (root / "tools/gpu/elementwise.cu").read_text().split("\n", 1)
    support, body = text.split("// kernel\n")
    distance = kernel("distance", head.removeprefix("// "), body, support=support)
    for dtype in (np.float32, np.float64):
        x, y = rng.standard_normal((100, 1000)).astype(dtype), rng.standard_normal(100).astype(dtype)
        z = own(distance, ops.put(x), ops.put(y), results=[(x.shape, dtype)])[0]
        d = x.astype(np.float64) - y[:, None]
        expected = np.where(np.abs(d) < 1, d**2 / 2, np.abs(d) - 0.5) + np.exp(-np.minimum(x, 1)) + np.sign(y)[:, None]
        same(z, expected.astype(dtype), f"elementwise {dtype}", 1e-5 if dtype == np.float32 else 1e-13)
    print(f"{count} cases right")


def timed(program, *operands, seconds=0.05):
    """Seconds of one run, many being under way at once."""
    jax.block_until_ready(program(*operands))
    runs = 1
    while True:
        start = time.perf_counter()
        for _ in range(runs):
            last = program(*operands)
        jax.block_until_ready(last)
        took = time.perf_counter() - start
        if took > seconds or runs > 10_000:
            return took / runs
        runs = max(runs * 2, int(runs * seconds / max(took, 1e-6)))


def in_turn(ours, theirs, operands, rounds=5):
    """Medians of our time and of the ratio to theirs."""
    pairs = [(timed(ours, *operands), timed(theirs, *operands)) for _ in range(rounds)]
    return statistics.median(p[0] for p in pairs), statistics.median(p[0] / p[1] for p in pairs)


def jaxlibs_svd(a):
    u, s, vt = jax.lax.linalg.svd(a, full_matrices=False)
    return u, s, vt


# jaxlib's kernels of the ops.
THEIRS = {
    lu: lambda a: call("cusolver_getrf_ffi", [(a.shape, a.dtype), ((*a.shape[:-2], min(a.shape[-2:])), np.int32), (a.shape[:-2], np.int32)], a, vectors=(2,)),
    geqrf: lambda a: geqrf(a, name="cusolver_geqrf_ffi"),
    svd: jaxlibs_svd,
    eigh: lambda a: call("cusolver_syevd_ffi", [(a.shape, a.dtype), (a.shape[:-1], a.dtype), (a.shape[:-2], np.int32)], a,
                         vectors=(2,), lower=True, algorithm=np.uint8(0)),
    orgqr: lambda p, t: orgqr(p, t, name="cusolver_orgqr_ffi"),
}


def bench(ops, cases):
    """Times of ops on batches of matrices beside jaxlib's."""
    rng = np.random.default_rng(6)
    print("| op | dtype | batch | rows | columns | our µs | ratio to jaxlib |\n|---|---|---|---|---|---|---|")
    for (ours, count, m, n), dtype in itertools.product(cases, (np.float32, np.float64)):
        a = matrices(rng, (count, m, n), dtype)
        a = ops.put(a + adjoint(a) if m == n else a)
        operands = (a,)
        if ours is orgqr:
            operands = tuple(jax.jit(geqrf)(a))
        # jaxlib takes singular values of a batch matrix by matrix.
        quick = (n >= 1000 and ours in (svd, eigh)) or (ours is svd and count > 1 and max(m, n) > 32)
        took, ratio = in_turn(jax.jit(ours), jax.jit(THEIRS[ours]), operands, rounds=2 if quick else 5)
        print(f"| {ours.__name__} | {np.dtype(dtype).name} | {count} | {m} | {n} | {took * 1e6:.1f} | {ratio:.2f} |")


def part_bench(ops):
    """Beside jaxlib's kernels. One matrix by itself tells what a loop over a batch would cost."""
    sizes = [(10_000, 4), (1_000, 16), (1_000, 32), (200, 64), (20, 128), (20, 256), (1, 16), (1, 64), (1, 256), (1, 1000), (1, 2000)]
    cases = [(f, count, n, n) for (count, n), f in itertools.product(sizes, THEIRS)]
    # Where another routine takes over, and matrices that are not square.
    cases += [(svd, 200, n, n) for n in (31, 32, 33, 34)] + [(svd, 20, n, n) for n in (129, 257)] + [(svd, 50, 100, 60), (svd, 200, 20, 40), (svd, 200, 300, 4)]
    cases += [(lu, 10_000, 6, 4), (lu, 1_000, 16, 20), (lu, 200, 64, 40), (lu, 20, 256, 100), (lu, 20, 257, 100), (lu, 1, 64, 40), (lu, 1, 128, 100)]
    bench(ops, cases)


def part_blocks(ops):
    """The kernels that have a block for each matrix where NVIDIA's routines are taken otherwise: right, and
    as fast? To be compared with what part bench says of the same sizes."""
    every(ops, [((7,), n, n) for n in (1, 2, 5, 32, 64)] + [((300,), 5, 3)])
    sizes = [(10_000, 4), (1_000, 16), (1_000, 32), (200, 64), (20, 128), (20, 256), (1, 16), (1, 64)]
    cases = [(lu, count, n, n) for count, n in sizes] + [(svd, count, n, n) for count, n in sizes[:3]]
    bench(ops, cases)


def part_kepler(ops):
    """Bandwidth: two arrays are read and two written, as a copy of two arrays does."""
    rng, count = np.random.default_rng(7), 1 << 26
    print("| dtype | points | GB/s | of a copy's |\n|---|---|---|---|")
    for dtype in (np.float32, np.float64):
        m, e = (ops.put(x.astype(dtype)) for x in (rng.uniform(-4, 4, count), rng.uniform(0, 0.99, count)))
        copy = jax.jit(lambda m, e: (m + 1, e + 1))
        took, ratio = in_turn(jax.jit(kepler), copy, (m, e))
        rate = 4 * count * np.dtype(dtype).itemsize / took / 1e9
        print(f"| {np.dtype(dtype).name} | {count} | {rate:.0f} | {1 / ratio:.3f} |")


def main():
    library, platform, part = sys.argv[1:]
    globals()[f"part_{part}"](Ops(library, platform))


if __name__ == "__main__":
    main()
