"""Times beside jaxlib's kernels and beside copies."""

import itertools
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np
from ops import Tally, adjoint, call, eigh, every, geqrf, kepler, lu, matrices, orgqr, svd


def timed(program, *operands, seconds=0.02):
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


def in_turn(ours, theirs, operands, rounds=3):
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


def calls_of(count, m, n):
    """How many calls a program has, each on matrices of its own: as many as make the time for starting it small."""
    return 8 if count * m * n <= 1 << 20 else 1


def bench(ops, tally, cases):
    """Times of ops on batches of matrices beside jaxlib's."""
    def prepared(case):
        """Operands and both programs, compiled side by side with those of other cases."""
        (ours, *sizes), dtype = case
        try:
            operands = []
            for seed in range(calls_of(*sizes)):
                a = matrices(np.random.default_rng(6 + seed), sizes, dtype)
                a = ops.put(a + adjoint(a) if sizes[1] == sizes[2] else a)
                operands.append(tuple(jax.jit(geqrf)(a)) if ours is orgqr else (a,))
            several = [lambda *all_of, f=f: [f(*one) for one in all_of] for f in (ours, THEIRS[ours])]
            return operands, *(jax.jit(f).lower(*operands).compile() for f in several)
        except Exception as error:
            return error

    print("| op | dtype | batch | rows | columns | our µs | ratio to jaxlib |\n|---|---|---|---|---|---|---|")
    all_cases = list(itertools.product(cases, (np.float32, np.float64)))
    with ThreadPoolExecutor(12) as pool:
        programs = list(pool.map(prepared, all_cases))
    for ((ours, count, m, n), dtype), program in zip(all_cases, programs):
        with tally.case(f"{ours.__name__} {np.dtype(dtype).name} {(count, m, n)}"):
            if isinstance(program, Exception):
                raise program
            operands, mine, theirs = program
            # jaxlib takes singular values of a batch matrix by matrix.
            slow = (n >= 1000 and ours in (svd, eigh)) or (ours is svd and count > 1 and max(m, n) > 32)
            took, ratio = in_turn(mine, theirs, operands, rounds=1 if slow else 5)
            took /= calls_of(count, m, n)
            print(f"| {ours.__name__} | {np.dtype(dtype).name} | {count} | {m} | {n} | {took * 1e6:.1f} | {ratio:.2f} |")


def part_bench(ops):
    """Beside jaxlib's kernels. One matrix by itself tells what a loop over a batch would cost."""
    sizes = [(200, 64), (20, 128), (20, 256), (1, 64), (1, 256), (1, 1000)]
    cases = [(f, count, n, n) for (count, n), f in itertools.product(sizes, THEIRS)]
    # Where another routine takes over, and matrices that are not square.
    cases += [(svd, 200, n, n) for n in (33, 34)] + [(svd, 20, n, n) for n in (129, 257)]
    cases += [(svd, 50, 100, 60), (svd, 200, 20, 40), (svd, 200, 300, 4)]
    cases += [(lu, 200, 64, 40), (lu, 20, 256, 100), (lu, 20, 257, 100), (lu, 1, 64, 40), (lu, 1, 128, 100)]
    tally = Tally()
    bench(ops, tally, cases)
    tally.end()


def part_registers(ops):
    """Matrices that the kernels keep in registers, beside jaxlib's kernels."""
    sizes = [(10_000, 4), (10_000, 8), (1_000, 16), (1_000, 24), (1_000, 32), (200, 31), (1, 4), (1, 16), (1, 32), (100_000, 4), (10_000, 16), (10_000, 32)]
    cases = [(f, count, n, n) for (count, n), f in itertools.product(sizes, THEIRS)]
    cases += [(lu, 10_000, 6, 4), (lu, 1_000, 16, 20), (geqrf, 1_000, 32, 8), (svd, 1_000, 12, 30)]
    tally = Tally()
    bench(ops, tally, cases)
    tally.end()


def part_blocks(ops):
    """The kernels that have a block for each matrix, also where NVIDIA's routines are taken otherwise: right, and as
    fast? `crates/cuda/src/sizes` follows from these times and those of part bench."""
    tally = Tally()
    every(ops, tally, [((7,), n, n) for n in (1, 2, 5, 32, 64)] + [((300,), 5, 3)])
    sizes = [(1_000, 48), (200, 64), (5_000, 64), (20, 96), (500, 96), (20, 128), (500, 128), (20, 160), (20, 192), (20, 256), (300, 256)]
    cases = [(f, count, n, n) for count, n in sizes for f in (lu, eigh)]
    cases += [(eigh, 200, 33, 33), (eigh, 2_000, 33, 33), (svd, 200, 64, 64), (svd, 20, 128, 128)]
    cases += [(orgqr, count, n, n) for count, n in [(1, 33), (1, 64), (1, 128), (1, 256), (200, 64), (20, 128), (20, 256)]]
    cases += [(geqrf, 200, 64, 64), (geqrf, 20, 128, 128), (lu, 1, 64, 64), (lu, 1, 128, 128)]
    bench(ops, tally, cases)
    tally.end()


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
