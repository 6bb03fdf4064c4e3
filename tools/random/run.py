#!/usr/bin/env python3
"""Random programs: every op on random small matrices under JAX, judged by what must hold, beside
jaxlib's own handlers.

Usage: run.py LIBRARY [--count N] [--seed S] [--ops a,b] [--only SEED,PROGRAM]

LIBRARY is the path that tools/ops-lib/build.sh prints. A case is one matrix (or one vector of Kepler's
points). Each program has an op, a dtype, sizes, a batch, attributes, aliases, and layouts; it runs on
several sets of matrices: of all scales and kinds, with NaN and infinities in some and junk where
nothing is read. Besides the rules of each op in factors.py and spectra.py: operands stay as they were,
a matrix gives the same bits anywhere in a batch and alone, and results are numbers where jaxlib's are.
Ends with cases and failures per op, and status 1 if there are any of the latter; every failure's line
names the `--only` that repeats its program.
"""

import argparse
import collections
import sys
import time

import jax
import numpy as np

jax.config.update("jax_enable_x64", True)

import factors  # noqa: E402
import spectra  # noqa: E402
from handlers import Library  # noqa: E402
from judge import Verdict  # noqa: E402
from matrices import BATCHES, real  # noqa: E402
from programs import PREFIX, Picked, program  # noqa: E402

OPS = [*factors.OPS, *spectra.OPS]
DRAWS = 40


def register(library):
    """All of ours under a prefix; jaxlib's made ready."""
    from jaxlib import lapack

    lapack.prepare_lapack_call("getrf_ffi", np.dtype(np.float64))
    for target in {op.target(dtype) for op in OPS for dtype in op.dtypes}:
        library.register(target, PREFIX)


def floats_finite(ins):
    return all(np.isfinite(a).all() for a in ins if a.dtype.kind in "fc")


def bits(arrays, lead, count):
    """Each matrix of each result as bytes."""
    flat = [np.ascontiguousarray(a.reshape(count, -1)) for a in arrays]
    return [b"".join(a[i].tobytes() for a in flat) for i in range(count)]


class Program:
    """One random program and the sets of matrices that go through it."""

    def __init__(self, seed, number, ops):
        self.rng = rng = np.random.default_rng([seed, number])
        self.op = op = ops[rng.integers(len(ops))]
        dtype = op.dtypes[rng.integers(len(op.dtypes))]
        self.p = Picked(op.choose(rng, dtype), dtype=dtype)
        self.batch = BATCHES[rng.integers(len(BATCHES))]
        alias, transposed = bool(rng.integers(2)) and op.can_alias(self.p), bool(rng.integers(2))
        self.with_peer = op.peer_target(dtype) is not None
        self.run = program(op, self.p, self.batch, alias, transposed, self.with_peer)
        self.alone = None
        if self.batch and rng.random() < 0.3:
            self.alone = program(op, self.p, (), alias, not transposed, False)
        self.count = int(np.prod(self.batch))
        self.failures = []
        self.about = f"{op.target(dtype)} {dict(self.p, dtype=np.dtype(dtype).name)} batch {self.batch} alias {alias}"

    def fail(self, draw, rule, at, figure):
        self.failures.append(f"{rule} at {at} of set {draw} ({figure}): {self.about}")

    def wanted(self, outs):
        wanted = getattr(self.op, "wanted", None)
        return wanted(self.p, outs) if wanted else outs

    def judge(self, draw, ins):
        op, p = self.op, self.p
        outs, theirs, same = self.run(ins, op.harmless(p, ins) if self.with_peer else [])
        if not same:
            self.fail(draw, "operands were written", (), None)
        with np.errstate(all="ignore"):
            verdict = Verdict(self.batch, op.nan(p, ins))
            if self.with_peer and op.finite_beside_peer and (op.lapack or op.peer):
                clean = op.wanted if hasattr(op, "wanted") and op.lapack else None
                peers = clean(p, theirs) if clean else theirs
                verdict.as_finite_as(self.wanted(outs), peers)
            op.check(verdict, p, ins, outs)
        for complaint in verdict.complaints:
            self.fail(draw, *complaint)
        return outs

    def same_bits(self, draw, ins, outs):
        """The same alone, and in another place of the batch."""
        lead, count = len(self.batch), self.count
        own = bits(self.wanted(outs), lead, count)
        order = self.rng.permutation(count)
        moved = [a.reshape(count, *a.shape[lead:])[order].reshape(a.shape) for a in ins]
        peer_ins = self.op.harmless(self.p, moved) if self.with_peer else []
        again = bits(self.wanted(self.run(moved, peer_ins)[0]), lead, count)
        for place, matrix in enumerate(order):
            if own[matrix] != again[place]:
                self.fail(draw, "other bits elsewhere in the batch", int(matrix), int(place))
        if self.alone:
            i = int(self.rng.integers(count))
            single = [a.reshape(count, *a.shape[lead:])[i] for a in ins]
            if bits(self.wanted(self.alone(single, [])[0]), 0, 1)[0] != own[i]:
                self.fail(draw, "other bits alone", i, None)

    def go(self):
        for draw in range(DRAWS):
            ins = self.op.operands(self.rng, self.p, self.batch)
            outs = self.judge(draw, ins)
            if self.count and draw < 3:
                self.same_bits(draw, ins, outs)
        return self.count * DRAWS


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ops", default="")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    register(Library(args.library))
    chosen = set(filter(None, args.ops.split(",")))
    ops = [op for op in OPS if not chosen or (op.name or type(op).__name__.lower()) in chosen]

    cases, failed, start = collections.Counter(), collections.Counter(), time.time()
    numbers = [int(args.only.split(",")[1])] if args.only else range(10**9)
    seed = int(args.only.split(",")[0]) if args.only else args.seed
    programs = 0
    for number in numbers:
        if sum(cases.values()) >= args.count:
            break
        one = Program(seed, number, ops)
        name = type(one.op).__name__
        try:
            cases[name] += one.go()
        except Exception as error:  # a program that does not run is a failure like others
            one.failures.append(f"{type(error).__name__}: {error}: {one.about}")
        programs += 1
        failed[name] += len(one.failures)
        for line in one.failures[: None if args.only else 3]:
            print(f"FAILED --only {seed},{number}{' --ops ' + args.ops if args.ops else ''}: {line}", flush=True)
        if programs % 50 == 0:
            # Compiled programs are kept for ever otherwise.
            jax.clear_caches()
        if programs % 500 == 0:
            print(f"... {sum(cases.values())} cases, {sum(failed.values())} failures, {time.time() - start:.0f} s", flush=True)
    for name in sorted(cases):
        print(f"{name:14} {cases[name]:9} cases {failed[name]:5} failures")
    total = f"{sum(cases.values())} cases in {programs} programs, {sum(failed.values())} failures"
    print(f"{total}, seed {seed}, {time.time() - start:.0f} s")
    return 1 if sum(failed.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
