"""The peer of devices.R: JAX's own sums over local processes.

    devices.py COORDINATOR PROCESSES NUMBER TURNS COUNT...     (counts: how many doubles the processes add up)

Prints the seconds of a call and of one of TURNS sums in a program, for each of these counts.
"""

import sys
import time

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_cpu_collectives_implementation", "gloo")


def least(call, rounds=5):
    """The least of several rounds, after one that compiles."""
    call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    coordinator, processes, number, turns = sys.argv[1], *map(int, sys.argv[2:5])
    jax.distributed.initialize(coordinator, processes, number)
    mesh = jax.make_mesh((processes,), ("rows",))
    rows = PartitionSpec("rows")

    def mapped(f):
        return jax.jit(jax.shard_map(f, mesh=mesh, in_specs=rows, out_specs=PartitionSpec()))

    def psum(x):
        return jax.lax.psum(x, "rows")

    total = mapped(psum)
    many = mapped(lambda x: jax.lax.fori_loop(0, turns, lambda i, y: psum(x * y) / 2, psum(x)))
    seconds = []
    for count in map(int, sys.argv[5:]):
        x = jax.make_array_from_process_local_data(NamedSharding(mesh, rows), np.ones((1, count)))
        for _ in range(20):
            total(x).block_until_ready()
        calls = max(5, min(1000, round(1000 / (1 + count / 1e4))))

        def called():
            for _ in range(calls):
                total(x).block_until_ready()

        seconds += [least(called) / calls, least(lambda: many(x).block_until_ready()) / (turns + 1)]
    print("measured", *seconds, flush=True)


main()
