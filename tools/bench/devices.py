"""The peer of devices.R: JAX's own regression over devices, and its sums over local processes.

    devices.py devices DEVICES THREADS ROWS
    devices.py psum COORDINATOR PROCESSES NUMBER TURNS COUNT...     (counts: how many doubles the processes add up)

Prints the seconds of a linear regression and of three Newton steps of a logistic one, as plain expressions and with sums in
blocks of rows; or those of a call and of one of
TURNS sums in a program, for each of these counts.
"""

import os
import sys
import time

if sys.argv[1] == "devices":
    os.environ["NPROC"] = sys.argv[3]

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

jax.config.update("jax_enable_x64", True)
COLUMNS = 10
BLOCK = 2500


def least(call, rounds=5):
    """The least of several rounds, after one that compiles."""
    call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def regression(devices, threads, rows):
    jax.config.update("jax_num_cpu_devices", devices)
    mesh = jax.make_mesh((devices,), ("rows",))
    parts = PartitionSpec("rows")
    x = np.sin(np.arange(1, rows * COLUMNS + 1, dtype=float) ** 1.5).reshape(COLUMNS, rows).T
    y = (x[:, 0] + np.cos(np.arange(1, rows + 1)) > 0).astype(float)
    x, y = (jax.device_put(np.ascontiguousarray(data), NamedSharding(mesh, parts)) for data in (x, y))

    def linear_sums(x, y):
        return x.T @ x, x.T @ y

    def newton_sums(beta, x, y):
        p = jax.nn.sigmoid(x @ beta)
        return x.T @ (x * (p * (1 - p))[:, None]), x.T @ (y - p)

    def whole(f, x, y):
        return f(x, y)

    def in_blocks(f, x, y):
        blocks = [data.reshape(-1, BLOCK, *data.shape[1:]) for data in (x, y)]
        start = jax.tree.map(lambda s: jnp.zeros(s.shape), jax.eval_shape(f, *(b[0] for b in blocks)))
        add = lambda sums, block: (jax.tree.map(jnp.add, sums, f(*block)), None)
        return jax.lax.scan(add, start, blocks)[0]

    def timed(summed):
        def mapped(f):
            # What a scan carries has one type: the check of what differs from device to device would want a cast of `start`.
            return jax.jit(jax.shard_map(f, mesh=mesh, in_specs=parts, out_specs=PartitionSpec(), check_vma=False))

        def step(sums):
            return jnp.linalg.solve(*jax.lax.psum(sums, "rows"))

        @mapped
        def linear(x, y):
            return step(summed(linear_sums, x, y))

        @mapped
        def newton(x, y):
            turn = lambda i, beta: beta + step(summed(lambda *data: newton_sums(beta, *data), x, y))
            return jax.lax.fori_loop(0, 3, turn, jnp.zeros(COLUMNS))

        return [least(lambda: np.asarray(f(x, y))) for f in (linear, newton)]

    return timed(whole) + timed(in_blocks)


def sums(coordinator, processes, number, turns, *counts):
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
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
    for count in counts:
        x = jax.make_array_from_process_local_data(NamedSharding(mesh, rows), np.ones((1, count)))
        for _ in range(20):
            total(x).block_until_ready()
        calls = max(5, min(1000, round(1000 / (1 + count / 1e4))))

        def called():
            for _ in range(calls):
                total(x).block_until_ready()

        seconds += [least(called) / calls, least(lambda: many(x).block_until_ready()) / (turns + 1)]
    return seconds


if sys.argv[1] == "devices":
    seconds = regression(*map(int, sys.argv[2:]))
else:
    seconds = sums(sys.argv[2], *map(int, sys.argv[3:]))
print("measured", *seconds, flush=True)
