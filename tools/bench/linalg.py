"""Linear algebra on XLA CPU: our handlers beside jaxlib's own, in one JAX process, in turn.

    linalg.py LIBRARY [FILTER...]     (the path that tools/ops-lib/build.sh prints)

FILTER: only cases whose name, for instance "f64 svd 4x4", holds all of these words. A case is the
kernels alone: matrices come as the handlers want them, column-major, and the operand is left as it
is. `solve` is getrf and two trsm with one right-hand side. When nothing is filtered, writes
results-linalg.md here and inst/extdata/bench-linalg.csv. Needs jax.

Ours use the LAPACK that set-up puts beside jaxlib, or what XLAFFI_LAPACK names. Batches are run with
the threads that there are. Single matrices are run with one thread of the BLAS: the two libraries'
idle threads wait for work in a loop, on the cores that the other needs.
"""

import csv
import datetime
import importlib.metadata
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np
import scipy_openblas32

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "ops-lib"))
from handlers import Library

jax.config.update("jax_enable_x64", True)
EXTDATA = HERE.parents[1] / "inst" / "extdata"
SHAPES = [(10_000, 4), (1_000, 16), (500, 32), (200, 64), (100, 128), (1, 128), (1, 256), (1, 512), (1, 1000)]
# What the project aims at, as ratio of our time to jaxlib's.
GOALS = {4: 0.2, 16: 0.5, 32: 0.55, 64: 0.55}
GOAL_ABOVE = 1.0
LETTERS = {"f32": "s", "f64": "d"}
DTYPES = {"f32": jnp.float32, "f64": jnp.float64}
ROUNDS, ROUND_SECONDS = 11, 0.02


def goal(n):
    return GOALS.get(n, GOAL_ABOVE)


def letter(text):
    return np.uint8(ord(text))


class Kernels:
    """LAPACK's routines as jaxlib's targets; `prefix` says whose."""

    def __init__(self, prefix, dtype):
        self.prefix, self.type, self.dtype = f"{prefix}lapack_{LETTERS[dtype]}", dtype, DTYPES[dtype]

    def call(self, routine, *operands, results, **attributes):
        specs = [jax.ShapeDtypeStruct(shape, dtype or self.dtype) for shape, dtype in results]
        return jax.ffi.ffi_call(f"{self.prefix}{routine}_ffi", specs)(*operands, **attributes)

    def qr(self, x, _):
        packed, tau = self.call("geqrf", x, results=[(x.shape, None), (x.shape[:-1], None)])
        (q,) = self.call("orgqr", packed, tau, results=[(x.shape, None)])
        return packed, q

    def lu(self, x, _):
        results = [(x.shape, None), (x.shape[:-1], jnp.int32), (x.shape[:-2], jnp.int32)]
        return self.call("getrf", x, results=results)

    def svd(self, x, _):
        results = [(x.shape, None), (x.shape[:-1], None), (x.shape, None), (x.shape, None), (x.shape[:-2], jnp.int32)]
        # Singular vectors have free signs; the values tell whether both do the same work.
        return self.call("gesdd", x, results=results, mode=letter("S"))[1:2]

    def eigh(self, _, spd):
        results = [(spd.shape, None), (spd.shape[:-1], None), (spd.shape[:-2], jnp.int32)]
        return self.call("syevd", spd, results=results, mode=letter("V"), uplo=letter("L"))[1:2]

    def cholesky(self, _, spd):
        results = [(spd.shape, None), (spd.shape[:-2], jnp.int32)]
        factor, info = self.call("potrf", spd, results=results, uplo=letter("L"))
        return factor, info

    def solve(self, x, _):
        lu = self.lu(x, _)[0]
        b = x[..., :1]
        for uplo, diag in (("L", "U"), ("U", "N")):
            sides = {"side": letter("L"), "uplo": letter(uplo), "trans_x": letter("N"), "diag": letter(diag)}
            (b,) = self.call("trsm", lu, b, results=[(b.shape, None)], **sides)
        return (b,)


OPS = ["qr", "lu", "svd", "eigh", "cholesky", "solve"]
ROUTINES = ["geqrf", "orgqr", "getrf", "gesdd", "syevd", "potrf", "trsm"]


def matrices(count, n, dtype):
    random = np.random.default_rng(n)
    x = random.standard_normal((count, n, n))
    spd = x @ x.transpose(0, 2, 1) / n + np.eye(n)
    return jnp.asarray(x, DTYPES[dtype]), jnp.asarray(spd, DTYPES[dtype])


def seconds(run, args, repeats):
    start = time.perf_counter()
    for _ in range(repeats):
        jax.block_until_ready(run(*args))
    return (time.perf_counter() - start) / repeats


def compare(op, dtype, count, n):
    """Seconds per call of ours and of jaxlib's, round by round."""
    args = matrices(count, n, dtype)
    ways = [jax.jit(getattr(Kernels(prefix, dtype), op)).lower(*args).compile() for prefix in ("xlaffi_", "")]
    answers = [way(*args) for way in ways]
    scale = 200 * n * jnp.finfo(DTYPES[dtype]).eps
    for ours, theirs in zip(*answers):
        # A solution is as good as its matrix; factors compare well.
        off = jnp.abs(ours - theirs).max() / jnp.maximum(jnp.abs(theirs).max(), 1)
        assert off <= (1e3 if op == "solve" else 1) * scale, f"{dtype} {op} {count}x{n}x{n}: {off}"
    repeats = max(1, round(ROUND_SECONDS / seconds(ways[1], args, 2)))
    times = [[], []]
    for _ in range(ROUNDS):
        for kept, way in zip(times, ways):
            kept.append(seconds(way, args, repeats))
    return times


def lapack_name():
    named = os.environ.get("XLAFFI_LAPACK")
    return named or f"scipy-openblas32 {importlib.metadata.version('scipy-openblas32')}"


def prepare(path):
    """Registers ours, and has jaxlib load its LAPACK, which it does when it first lowers a call."""
    ours = Library(path)
    for letter_ in LETTERS.values():
        for routine in ROUTINES:
            ours.register(f"lapack_{letter_}{routine}_ffi", "xlaffi_")
    jnp.linalg.eigh(jnp.eye(2))


def measure(path, words, single):
    """Rows of the table, of the single matrices or of the batches."""
    prepare(path)
    rows = []
    for dtype in DTYPES:
        for op in OPS:
            for count, n in SHAPES:
                name = f"{dtype} {op} {n}x{n}"
                if (count == 1) != single or not all(word in name.split() for word in words):
                    continue
                ours, theirs = compare(op, dtype, count, n)
                ratio = statistics.median(a / b for a, b in zip(ours, theirs))
                row = [dtype, op, count, n, statistics.median(ours) * 1e3, statistics.median(theirs) * 1e3, ratio]
                print(f"{name:>22} x {count:<6} ours {row[4]:9.3f} ms   jaxlib {row[5]:9.3f} ms   "
                      f"ratio {ratio:.2f}   goal {goal(n)}", file=sys.stderr)
                rows.append(row)
    return rows


def environment():
    """With the LAPACK of ours: within R the plugin tells where jaxlib is; here nobody does."""
    folder = pathlib.Path(scipy_openblas32.get_lib_dir())
    libraries = [str(file) for file in folder.glob("libscipy_openblas*") if file.suffix in (".so", ".dylib", ".dll")]
    return os.environ | {"XLAFFI_LAPACK": os.environ.get("XLAFFI_LAPACK") or libraries[0]}


def in_process(path, words, single):
    threads = {"OPENBLAS_NUM_THREADS": "1", "NPROC": "1"} if single else {}
    command = [sys.executable, __file__, path, *words, "--single" if single else "--batches"]
    done = subprocess.run(command, env=environment() | threads, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def main():
    path, *words = sys.argv[1:]
    if words and words[-1].startswith("--"):
        json.dump(measure(path, words[:-1], words[-1] == "--single"), sys.stdout)
        return
    rows = in_process(path, words, False) + in_process(path, words, True)
    if not words:
        write(rows)


def write(rows):
    with open(EXTDATA / "bench-linalg.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["dtype", "op", "count", "n", "xlaffi_ms", "jaxlib_ms", "ratio"])
        out.writerows([*row[:4], *(f"{number:.4g}" for number in row[4:])] for row in rows)
    found = {tuple(row[:4]): row for row in rows}
    heads = [f"{count:,} x {n}x{n}" if count > 1 else f"{n}x{n}" for count, n in SHAPES]
    text = f"| our time / jaxlib's | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}\n"
    for dtype in DTYPES:
        for op in OPS:
            cells = [found[dtype, op, count, n] for count, n in SHAPES]
            text += f"| {dtype} {op} | {' | '.join(f'{c[6]:.2f} ({c[4]:.3g} ms)' for c in cells)} |\n"
    text += f"| aim | {' | '.join(str(goal(n)) for _, n in SHAPES)} |\n\n"
    text += (
        f"Median ratio (and our median time) of {ROUNDS} rounds in turn, kernels alone, in one process; single matrices "
        f"on one thread; "
        f"jaxlib {jaxlib.__version__} on SciPy's LAPACK, ours on {lapack_name()}; {os.cpu_count()} cores; {datetime.date.today()}.\n"
    )
    print(text)
    (HERE / "results-linalg.md").write_text(text)


if __name__ == "__main__":
    main()
