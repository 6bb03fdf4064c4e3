"""The parts of tools/gpu/check that run under JAX: `cases.py LIBRARY PLATFORM PART`."""

import importlib
import importlib.metadata
import itertools
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np
from jax.experimental import serialize_executable
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from ops import DTYPES, Ops, Tally, adjoint, call, check_eigh, check_lu, check_svd, eigh, every, geqrf, kepler, lu, matrices, real, svd, wide
from handlers import captured

SHAPES = [(1, 1), (2, 2), (3, 5), (5, 3), (4, 4), (16, 16), (17, 20), (32, 32), (33, 33), (64, 40), (40, 64), (129, 129), (300, 3), (3, 300)]
BATCHES = [(), (1,), (7,), (2, 3)]
MANY = [((300,), 4, 4), ((300,), 5, 3), ((70_000,), 2, 2), ((40,), 64, 64)]
# Sizes up to which our own kernels have a block for each matrix and from which on they have none, and more
# matrices than there are blocks.
BLOCKS = [((3,), 34, 33), ((3,), 70, 71), ((3,), 128, 128), ((3,), 129, 193), ((3,), 65, 65), ((3,), 256, 256), ((4,), 256, 257), ((4,), 257, 257), ((2,), 1024, 5), ((2,), 5, 1025), ((2,), 256, 20), ((2,), 20, 257), ((2100,), 33, 2)]
# Past the change from Jacobi's method to QR iteration.
LARGE = [((), 1100, 1030), ((), 1030, 1100)]
EMPTY = [((), 0, 3), ((), 3, 0), ((0,), 4, 4), ((2, 0), 3, 2), ((3,), 0, 0)]


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


def check_print(ops):
    @jax.jit
    def show(x):
        jax.ffi.ffi_call("xlaffi.print_tensor", [], has_side_effect=True)(x)
        return x + 1

    x = ops.put(np.arange(6, dtype=np.float32).reshape(2, 3) * 2)
    text = captured(lambda: show(x).block_until_ready())
    assert text == "PJRTBuffer\n  0  2  4\n  6  8 10\n[ f32{2,3} ]\n", text


def said(*words):
    """What a program prints, if it is there."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        return done.stdout.strip() or done.stderr.strip()
    except OSError as error:
        return str(error)


def versions(cuda):
    """What all this runs on, as far as it can be told without a device."""
    print(f"{platform.platform()}, {platform.libc_ver()}, Python {sys.version.split()[0]}")
    wanted = ("jax", "numpy", "scipy", "nvidia", "torch", "cupy")
    packages = {f"{d.name} {d.version}" for d in importlib.metadata.distributions() if (d.name or "").startswith(wanted)}
    print(", ".join(sorted(packages)))
    if cuda:
        print(said("nvidia-smi", "--query-gpu=name,driver_version,memory.total,clocks.sm,clocks.mem", "--format=csv,noheader"))
        print(said("nvcc", "--version"))
        print(said("compute-sanitizer", "--version"))


def part_environment(ops):
    """The device, and which of NVIDIA's libraries are in the process when an op has run."""
    print(f"{ops.device.device_kind}, {len(jax.devices(ops.device.platform))} of them")
    jax.block_until_ready(jax.jit(eigh)(ops.put(np.eye(3))))
    names = ("cusolver", "cublas", "nvrtc", "libcuda.so")
    maps = {line.split()[-1] for line in open("/proc/self/maps") if any(name in line for name in names)}
    print("\n".join(sorted(maps)))


def part_small(ops):
    """What the sanitizers look at."""
    tally = Tally()
    every(ops, tally, [((), 5, 3), ((3,), 4, 4), ((2,), 3, 5), ((), 40, 40), ((2,), 40, 40), ((2,), 33, 20)], [np.float32, np.complex128])
    with tally.case("kepler"):
        check_kepler(ops, 1000)
    tally.end()


def part_ops(ops):
    """Ops, element types, shapes, batches."""
    tally = Tally()
    every(ops, tally, [(b, m, n) for b in BATCHES for m, n in SHAPES], [np.float32, np.complex128])
    every(ops, tally, [(b, m, n) for b in [(), (7,)] for m, n in SHAPES], [np.float64, np.complex64])
    every(ops, tally, MANY + LARGE, [np.float32, np.float64])
    every(ops, tally, BLOCKS, [np.float32, np.complex128])
    every(ops, tally, EMPTY)
    with tally.case("kepler"):
        check_kepler(ops)
    with tally.case("print_tensor"):
        check_print(ops)
    # More matrices than cuSOLVER takes at once.
    count, some = (40_000, [0, 16_383, 16_384, 32_767, 32_768, 39_999]) if ops.cuda else (40, [0, 39])
    for dtype in (np.float32, np.complex64):
        with tally.case(f"eigh of {count} matrices, {np.dtype(dtype).name}"):
            host = matrices(np.random.default_rng(9), (count, 33, 33), dtype)
            host += adjoint(host)
            v, w = (np.asarray(x) for x in jax.jit(eigh)(ops.put(host)))
            check_eigh(host[some], v[some], w[some], "some of them")
            assert np.isfinite(w).all()
    tally.end()


def part_policy(ops):
    """Aliased operands; NaN, infinite and singular matrices; the transposed attribute; triangles."""
    rng, tally = np.random.default_rng(3), Tally()
    for dtype, (batch, n) in itertools.product(DTYPES, [(3, 4), (3, 40), (3, 130)]):
        host = matrices(rng, (batch, n, n), dtype)
        host = host + adjoint(host)
        broken = host.copy()
        broken[1, n - 1, 0] = np.inf if n == 4 else np.nan
        good = [0, 2]
        for f in (lu, geqrf, svd, eigh):
            with tally.case(f"{f.__name__} {np.dtype(dtype).name} {n} beside NaN"):
                want, got = (jax.jit(f)(ops.put(x)) for x in (host, broken))
                for i, (w, g) in enumerate(zip(want, got)):
                    w, g = np.asarray(w), np.asarray(g)
                    assert np.array_equal(g[good], w[good]), f"result {i}: a neighbour of a broken matrix differs"
                    if g.dtype == np.int32:
                        assert np.array_equal(g[1], np.arange(1, n + 1)), f"result {i}: pivots"
                    else:
                        assert np.isnan(g[1]).all(), f"result {i}: not NaN"
        for f in (lu, geqrf, eigh):
            with tally.case(f"{f.__name__} {np.dtype(dtype).name} {n} in place"):
                inside = jax.jit(lambda a, f=f: f(a, aliases={0: 0}), donate_argnums=0)
                for want, got in zip(jax.jit(f)(ops.put(host)), inside(ops.put(host))):
                    assert np.array_equal(np.asarray(want), np.asarray(got))
        with tally.case(f"singular lu {np.dtype(dtype).name} {n}"):
            singular = host.copy()
            singular[1] = 0
            singular[2, :, 1] = singular[2, :, 0]
            check_lu(singular, *jax.jit(lu)(ops.put(singular)), "singular")
        with tally.case(f"upper eigh {np.dtype(dtype).name} {n}"):
            upper = np.triu(host) + np.tril(np.full_like(host, 9), -1)
            check_eigh(host, *jax.jit(lambda a: eigh(a, uplo="U"))(ops.put(upper)), "upper")
    for dtype, (m, n) in itertools.product(DTYPES, [(33, 33), (50, 40), (40, 50)]):
        # Ranks, gaps, grades and scales, as a batch.
        one, power = matrices(rng, (m, n), dtype), 30 if real(dtype) == np.float32 else 290
        rows, columns = np.indices((m, n))
        kinds = [0 * one, rows == columns, (rows + 1) * (columns + 2), one * 10.0 ** -columns, one * 10.0 ** -rows, one * 10.0**-power, one * 10.0**power]
        host = np.array(kinds).astype(dtype)
        with tally.case(f"svd of ranks and scales, {np.dtype(dtype).name} {m} x {n}"):
            results = [np.asarray(x) for x in jax.jit(svd)(ops.put(host))]
            for i, parts in enumerate(zip(host, *results)):
                scale = 2.0 ** -np.frexp(np.abs(host[i]).max() or 1)[1]
                a, u, s, vt = parts
                check_svd(wide(a) * scale, u, np.float64(s) * scale, vt, f"matrix {i}")
    for dtype, n in itertools.product(DTYPES, [20, 33, 64, 100, 128, 200, 256]):
        # Values of all kinds, as a batch: none, one, few, close to each other, in pairs, of all sizes.
        one, power = matrices(rng, (n, n), dtype), 30 if real(dtype) == np.float32 else 290
        one = one + adjoint(one)
        rows, columns = np.indices((n, n))
        same, beside = rows == columns, abs(rows - columns) == 1
        kinds = [0 * one, same, 0 * one + 1, same - 2 / n, 2 * same - 1.0 * beside, same * abs(rows - n // 2) + beside, beside]
        kinds += [same * abs(rows % 21 - 10) + beside * np.where(np.maximum(rows, columns) % 21, 1, 1e-8), same + 1e-9 * one]
        kinds += [one * 10.0 ** -(rows + columns), (rows + 1) * (columns + 1), one * 10.0**-power, one * 10.0**power]
        host = np.array(kinds).astype(dtype)
        with tally.case(f"eigh of clusters and scales, {np.dtype(dtype).name} {n}"):
            v, w = (np.asarray(x) for x in jax.jit(eigh)(ops.put(host)))
            for i, a in enumerate(host):
                scale = 2.0 ** -np.frexp(np.abs(a).max() or 1)[1]
                check_eigh(wide(a) * scale, v[i], np.float64(w[i]) * scale, f"matrix {i}")
    for m, n in [(4, 9), (9, 4)]:
        host, k = matrices(rng, (m, n), np.complex128), min(m, n)

        def transposed(a):
            results = [jax.ShapeDtypeStruct(s, d) for s, d in (((m, k), a.dtype), ((k,), np.float64), ((k, n), a.dtype))]
            return jax.ffi.ffi_call("xlaffi.svd", results)(a, transposed=True)

        with tally.case(f"svd, row-major, {m} x {n}"):
            check_svd(host, *jax.jit(transposed)(ops.put(host)), "row-major")
    tally.end()


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


def part_graphs(ops):
    """What XLA may record as a CUDA graph and replay on other memory gives what calls one by one give."""
    tally, rng = Tally(), np.random.default_rng(10)

    def chain(m, e, pivots):
        for _ in range(6):
            m, _ = kepler(m, e)
        if not ops.cuda:
            return m, pivots
        return m, call("xlaffi.cu_lu_pivots_to_permutation", [((3, 4), np.int32)], pivots, vectors=(0, 1))[0]

    program, step = jax.jit(chain), jax.jit(kepler)
    for run, count in itertools.product(range(4), (1000, 33_333)):
        with tally.case(f"run {run} of {count} points"):
            m, e = (ops.put(x) for x in (rng.uniform(-4, 4, count), rng.uniform(0, 0.9, count)))
            pivots = np.array([[1, 1, 2], [0, 1, 2], [3, 3, run % 3]], np.int32)
            got, rows = program(m, e, ops.put(pivots))
            for _ in range(6):
                m, _ = step(m, e)
            assert np.array_equal(np.asarray(got), np.asarray(m))
            for row, swaps in zip(np.asarray(rows) if ops.cuda else [], pivots):
                expected = np.arange(4)
                for i, other in enumerate(swaps):
                    expected[[i, other]] = expected[[other, i]]
                assert np.array_equal(row, expected), (row, expected)
    tally.end()


def part_stored(ops):
    """Compiled programs that go through bytes give what they gave."""
    tally, rng = Tally(), np.random.default_rng(11)
    for f, n in itertools.product((lu, geqrf, svd, eigh), (4, 40)):
        with tally.case(f"{f.__name__} {n}"):
            a = matrices(rng, (3, n, n), np.float64)
            a = ops.put(a + adjoint(a))
            program = jax.jit(f).lower(a).compile()
            again = serialize_executable.deserialize_and_load(*serialize_executable.serialize(program))
            for x, y in zip(program(a), again(a)):
                assert np.array_equal(np.asarray(x), np.asarray(y))
    tally.end()


def part_devices(ops):
    """Every device gives what the first one gives, alone and with a share of a batch, all at once."""
    tally, rng = Tally(), np.random.default_rng(12)
    devices = jax.devices(ops.device.platform)
    mesh = Mesh(np.array(devices), ("d",))
    for f, n in itertools.product((lu, geqrf, svd, eigh), (8, 40)):
        a = matrices(rng, (4 * len(devices), n, n), np.float64)
        a += adjoint(a)
        want = [np.asarray(x) for x in jax.jit(f)(ops.put(a))]
        with tally.case(f"{f.__name__} {n} on each of {len(devices)}"):
            runs = [jax.jit(f)(jax.device_put(a, device)) for device in devices]
            for run in runs:
                assert all(np.array_equal(np.asarray(x), y) for x, y in zip(run, want))
        with tally.case(f"{f.__name__} {n} shared by {len(devices)}"):
            shared = jax.device_put(a, NamedSharding(mesh, P("d")))
            parts = jax.jit(jax.shard_map(lambda x, f=f: tuple(f(x)), mesh=mesh, in_specs=P("d"), out_specs=P("d")))
            parts = [np.asarray(x) for x in parts(shared)]
            assert all(np.allclose(x, y, rtol=1e-12, atol=1e-12) for x, y in zip(parts, want))
    tally.end()


def part_large(ops):
    """A matrix whose elements 32 bits cannot count, by products with a vector."""
    tally, n = Tally(), 46_400 if ops.cuda else 500
    limit = (ops.device.memory_stats() or {}).get("bytes_limit", 0)
    if ops.cuda and limit < 32 * n * n:
        print(f"skipped: {limit} bytes of memory are too few for a matrix with {n} rows")
        return
    a = jax.random.normal(jax.random.key(13), (n, n), np.float32)
    v = jax.random.normal(jax.random.key(14), (n,), np.float32)

    def product(x, y):
        return jax.numpy.matmul(x, y, precision="highest")

    def close(got, want):
        off = np.linalg.norm(np.float64(got) - want) / np.linalg.norm(np.float64(want))
        assert off < 1e-2, off

    with tally.case(f"lu of {n} rows"):
        packed, pivots = jax.jit(lu)(a)
        upper = jax.jit(lambda x, v: product(jax.numpy.triu(x), v))(packed, v)
        got = np.asarray(jax.jit(lambda x, v: product(jax.numpy.tril(x, -1), v) + v)(packed, upper))
        want = np.array(jax.jit(product)(a, v))
        for i, other in enumerate(np.asarray(pivots) - 1):
            want[[i, other]] = want[[other, i]]
        close(got, want)
        del packed
    with tally.case(f"qr of {n} rows"):
        packed, _ = jax.jit(geqrf)(a)
        got = jax.jit(lambda x, v: product(jax.numpy.triu(x).T, product(jax.numpy.triu(x), v)))(packed, v)
        want = jax.jit(lambda x, v: product(x.T, product(x, v)))(a, v)
        close(np.asarray(got), np.asarray(want))
    tally.end()


# Parts that have a file of their own.
ROOMS = {"own": "own", "jaxlib": "beside", "bench": "times", "registers": "times", "blocks": "times", "kepler": "times"}


def main():
    library, where, part = sys.argv[1:]
    if part == "environment":
        versions(where == "cuda")
    room = importlib.import_module(ROOMS[part]) if part in ROOMS else sys.modules[__name__]
    getattr(room, f"part_{part}")(Ops(library, where))


if __name__ == "__main__":
    main()
