"""Products of tall matrices on XLA CPU: our handler beside XLA's own products, in one JAX process, in turn.

    tall.py LIBRARY     (the path that tools/ops-lib/build.sh prints)

The operands lie by rows, as those of R's matrices do in programs. Each product is computed on one core and on all of
them, in processes of their own. Writes results-tall.md here. Needs jax.
"""

import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SHAPES = [(2_000_000, 10), (500_000, 32), (100_000, 128), (20_000, 10)]
ROUNDS, ROUND_SECONDS = 11, 0.05


def products():
    import jax

    def dot(x, y):
        return jax.lax.dot_general(x, y, (((0,), (0,)), ((), ())), precision="highest")

    def ours(*products):
        shapes = [jax.ShapeDtypeStruct((x.shape[1], y.shape[1]), x.dtype) for x, y, *_ in products]
        return jax.ffi.ffi_call("xlaffi_crossprod", shapes)(*sum(products, ()))

    def weighted(x, w):
        return dot(x, x * w[:, None])

    return {
        "crossprod(x)": (lambda x, y, w: [dot(x, x)], lambda x, y, w: ours((x, x))),
        "crossprod(x, y)": (lambda x, y, w: [dot(x, y)], lambda x, y, w: ours((x, y))),
        "crossprod(x, x * w)": (lambda x, y, w: [weighted(x, w)], lambda x, y, w: ours((x, x, w))),
        "crossprod(x, x * w), crossprod(x, y)": (
            lambda x, y, w: [weighted(x, w), dot(x, y)],
            lambda x, y, w: ours((x, x, w), (x, y)),
        ),
    }


def seconds(run, args, repeats):
    import jax

    start = time.perf_counter()
    for _ in range(repeats):
        jax.block_until_ready(run(*args))
    return (time.perf_counter() - start) / repeats


def measure(library, cores):
    """Milliseconds of XLA's products and of ours, by dtype, shape and product."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    sys.path.append(str(HERE.parent / "ops-lib"))
    import jax
    import jax.numpy as jnp
    import numpy as np
    from handlers import Library

    jax.config.update("jax_enable_x64", True)
    Library(library).register("crossprod", prefix="xlaffi_")
    random = np.random.default_rng(1)
    found = []
    for dtype in (jnp.float64, jnp.float32):
        for n, p in SHAPES:
            args = [jnp.asarray(random.standard_normal(size), dtype) for size in ((n, p), (n, 1), n)]
            for name, ways in products().items():
                ways = [jax.jit(way).lower(*args).compile() for way in ways]
                theirs, own = (way(*args) for way in ways)
                for z, same in zip(own, theirs, strict=True):
                    off = jnp.abs(z - same).max() / jnp.abs(same).max()
                    assert off < 1e3 * jnp.finfo(dtype).eps, f"{name} {n} x {p}: {off}"
                repeats = max(1, round(ROUND_SECONDS / seconds(ways[0], args, 2)))
                times = [[], []]
                for _ in range(ROUNDS):
                    for kept, way in zip(times, ways):
                        kept.append(seconds(way, args, repeats))
                medians = [1e3 * statistics.median(kept) for kept in times]
                found.append([f"{jnp.dtype(dtype).name} {n:,} x {p}", name, *medians])
    return found


def main(library):
    import jaxlib

    every = len(os.sched_getaffinity(0))
    runs = []
    for cores in dict.fromkeys((1, every)):
        command = [sys.executable, __file__, library, str(cores)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        runs.append((cores, json.loads(done.stdout.splitlines()[-1])))
    heads = [f"{whose}, {cores} core{'s' * (cores > 1)}" for cores, _ in runs for whose in ("XLA", "ours")]
    lines = [f"| x | product | {' | '.join(heads)} |", "|---" * (2 + len(heads)) + "|"]
    for rows in zip(*(found for _, found in runs)):
        cells = [f"{theirs:.3g} | {own:.3g} ({own / theirs:.2f} x)" for _, _, theirs, own in rows]
        lines.append(f"| {rows[0][0]} | `{rows[0][1]}` | {' | '.join(cells)} |")
    lines += [
        "",
        f"Milliseconds, `y` one column; jaxlib {jaxlib.__version__}; medians of {ROUNDS} rounds in turn; "
        f"{datetime.date.today()}.",
    ]
    (HERE / "results-tall.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
    else:
        main(sys.argv[1])
