"""What all cores do: our handlers beside jaxlib's for large matrices, the same beside one core for batches, and
4 x 4 matrices beside x + 1.

    cores.py LIBRARY [FILTER...]     (the path that tools/ops-lib/build.sh prints)

Filters, cases and the LAPACK of ours are those of linalg.py. Every peer has a process of its own, and they take turns:
a library's idle threads wait for work in a loop, on the cores that the other needs. When nothing is filtered,
writes results-cores.md here. Needs jax.
"""

import datetime
import json
import os
import subprocess
import sys

import jax
import jaxlib

import linalg

LARGE = [512, 1000, 2000]
BATCHES = [(count, n) for count, n in linalg.SHAPES if count > 1]
TURNS, CALLS = 3, 5
# What the project aims at: the ratio to jaxlib's time, the part of a linear speed-up, the multiple of x + 1.
GOAL_LARGE, GOAL_SPEEDUP, GOAL_TINY = 1.0, 0.9, 2.0


def least(run, args):
    once = min(linalg.seconds(run, args, 1) for _ in range(2))
    repeats = round(linalg.ROUND_SECONDS / once)
    if repeats < 1:
        return once
    return min(linalg.seconds(run, args, repeats) for _ in range(CALLS))


def measure(path, whose, large, words):
    """Seconds of each case: of ours, of jaxlib's, or of x + 1."""
    linalg.prepare(path)
    times = {}
    for dtype in linalg.DTYPES:
        for op in linalg.OPS if whose != "plus" else ["plus"]:
            for count, n in [(1, n) for n in LARGE] if large else BATCHES:
                name = f"{dtype} {op} {n}x{n}"
                if not all(word in name.split() for word in words) and whose != "plus":
                    continue
                args = linalg.matrices(count, n, dtype)
                if whose == "plus":
                    way = lambda x, _: x + 1  # noqa: E731
                else:
                    way = getattr(linalg.Kernels("xlaffi_" if whose == "ours" else "", dtype), op)
                times[name] = least(jax.jit(way).lower(*args).compile(), args)
    return times


def in_process(path, whose, words, large=False, **environment):
    command = [sys.executable, __file__, "--measure", path, whose, json.dumps(large), *words]
    done = subprocess.run(command, env=linalg.environment() | environment, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def in_turn(*peers):
    """The least time of each case, of each peer."""
    best = [{} for _ in peers]
    for _ in range(TURNS):
        for found, peer in zip(best, peers):
            for name, time in peer().items():
                found[name] = min(time, found.get(name, time))
    return best


def tables(path, words):
    cores = os.cpu_count()
    text = f"| {cores} cores | ours, ms | jaxlib, ms | ratio | goal |\n|---|---|---|---|---|\n"
    ours, theirs = in_turn(*(lambda whose=whose: in_process(path, whose, words, large=True) for whose in ("ours", "theirs")))
    for name, time in ours.items():
        text += f"| {name} | {time * 1e3:.4g} | {theirs[name] * 1e3:.4g} | {time / theirs[name]:.2f} | {GOAL_LARGE} |\n"
    text += "\n| batches | 1 core, ms | all, ms | of a linear speed-up | goal | of x + 1 | goal |\n|---|---|---|---|---|---|---|\n"
    one, every, plus = in_turn(
        lambda: in_process(path, "ours", words, NPROC="1", OPENBLAS_NUM_THREADS="1"),
        lambda: in_process(path, "ours", words),
        lambda: in_process(path, "plus", words),
    )
    for name, time in every.items():
        dtype, _, size = name.split()
        tiny = f"{time / plus[f'{dtype} plus {size}']:.3g} | {GOAL_TINY}" if size == "4x4" else " | "
        speedup = one[name] / time / cores
        text += f"| {name} | {one[name] * 1e3:.4g} | {time * 1e3:.4g} | {speedup:.2f} | {GOAL_SPEEDUP} | {tiny} |\n"
    return text


def main():
    if sys.argv[1] == "--measure":
        path, whose, large, *words = sys.argv[2:]
        json.dump(measure(path, whose, json.loads(large), words), sys.stdout)
        return
    path, *words = sys.argv[1:]
    text = tables(path, words) + (
        f"\nThe least of {TURNS} processes in turn; kernels alone; jaxlib {jaxlib.__version__} on SciPy's LAPACK, ours on "
        f"{linalg.lapack_name()}; {datetime.date.today()}.\n"
    )
    print(text)
    if not words:
        (linalg.HERE / "results-cores.md").write_text(text)


if __name__ == "__main__":
    main()
