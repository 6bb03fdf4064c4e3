#!/usr/bin/env python3
"""Exports programs of JAX for 2, 4 and 8 devices as StableHLO, with JAX's own results beside it.

    devices.py FOLDER            every program, for each number of devices, for Shardy and for the partitioner before it
    devices.py FOLDER --few      every program, for 4 devices and Shardy
    devices.py FOLDER --recorded the modules that the tests keep, without source locations

FOLDER gets one NAME-DEVICES.mlir per program (gspmd_NAME for the older partitioner), as jax.export gives it, and arrays.tsv as export.py writes it: arguments
and results are whole there. Needs jax.
"""

import argparse
import os
import pathlib

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from export import dtype_of, numbers, without_locations

COUNTS = (2, 4, 8)
# What the tests keep.
RECORDED = [
    "sum-2", "matmul-4", "matmul-8", "regression-4", "shard_map-4", "permute-8", "whole-2", "donate-2", "order-4",
    "propagated-4", "gspmd_matmul-4", "gspmd_shard_map-4",
]


def mesh_of(count, columns=1):
    return Mesh(np.array(jax.devices()[:count]).reshape(count // columns, columns), ("rows", "columns"))


def general(*shape):
    return np.random.default_rng(1).standard_normal(shape)


def programs(count):
    """Name, function, arguments, their shardings, those of the results (None: not said), and donated arguments."""
    rows = mesh_of(count)
    # The last two axes are one on 2 devices.
    both = mesh_of(count, 2 if count > 2 else 1)

    def place(mesh, *axes):
        return NamedSharding(mesh, P(*axes))

    yield "sum", lambda x: jnp.sum(x), [general(16, 3)], [place(rows, "rows")], None, ()
    yield "whole", lambda x, y: x @ y, [general(8, 4), general(4, 3)], [place(rows), place(rows, None, None)], place(rows), ()
    yield (
        "matmul", lambda x, y: x @ y, [general(16, 8), general(8, 4)],
        [place(both, "rows", "columns"), place(both, "columns", None)], place(both, "rows", None), (),
    )
    yield (
        "propagated", lambda x: (x + 1, x.T, jnp.sum(x, 1)), [general(16, 8)], [place(both, "rows", "columns")], None, (),
    )

    def regression(x, y):
        beta = jnp.linalg.solve(x.T @ x, x.T @ y)
        return beta, y - x @ beta

    yield (
        "regression", regression, [general(32, 3), general(32)], [place(rows, "rows"), place(rows, "rows")],
        (place(rows), place(rows, "rows")), (),
    )

    def mean(x):
        def body(part):
            return jax.lax.pmean(part.sum(0), "rows"), part - jax.lax.axis_index("rows")

        return jax.shard_map(body, mesh=rows, in_specs=P("rows"), out_specs=(P(), P("rows")))(x)

    yield "shard_map", mean, [general(16, 3)], [place(rows, "rows")], None, ()

    def permute(x):
        def body(part):
            there = jax.lax.ppermute(part, "rows", [(i, (i + 1) % count) for i in range(count)])
            everything = jax.lax.all_gather(part, "rows", tiled=True)
            scattered = jax.lax.psum_scatter(everything, "rows", tiled=True)
            return there, scattered, jax.lax.all_to_all(everything, "rows", 0, 0, tiled=True)

        return jax.shard_map(body, mesh=rows, in_specs=P("rows"), out_specs=P("rows"))(x)

    yield "permute", permute, [general(2 * count, 2)], [place(rows, "rows")], None, ()
    yield "donate", lambda x: x * 2, [general(16)], [place(rows, "rows")], place(rows, "rows"), (0,)
    # Devices that are not in their own order.
    turned = Mesh(np.array(jax.devices()[:count][::-1]).reshape(count // 2, 2), ("rows", "columns"))
    yield (
        "order", lambda x, y: (x - y, x.T), [general(8, 8), general(8, 8)],
        [place(turned, "rows", "columns"), place(turned, "columns", None)], (place(turned, "columns"), place(turned, "rows")), (),
    )

    def loop(x):
        return jax.lax.fori_loop(0, 5, lambda i, x: x @ x.T @ x / 100, x)

    yield "loop", loop, [general(16, 4)], [place(rows, "rows")], place(rows, "rows"), ()
    yield "gradient", jax.grad(lambda x: jnp.sum(jnp.tanh(x) ** 2)), [general(16, 4)], [place(rows, "rows")], None, ()
    yield "sort", lambda x: jnp.sort(x, 0), [general(16, 4)], [place(both, "rows", "columns")], None, ()
    yield "cumsum", lambda x: jnp.cumsum(x), [general(64)], [place(rows, "rows")], place(rows, "rows"), ()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    some = parser.add_mutually_exclusive_group()
    some.add_argument("--few", action="store_true")
    some.add_argument("--recorded", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    lines = ["\t".join(["program", "comparison", "role", "dtype", "shape", "numbers"])]
    for prefix in ("", "gspmd_"):
        jax.config.update("jax_use_shardy_partitioner", not prefix)
        for count in COUNTS:
            for name, function, arguments, shardings, results, donated in programs(count):
                title = f"{prefix}{name}-{count}"
                if (options.recorded and title not in RECORDED) or (options.few and (count != 4 or prefix)):
                    continue
                out = {} if results is None else dict(out_shardings=results)
                jitted = jax.jit(function, in_shardings=tuple(shardings), donate_argnums=donated, **out)
                specs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arguments]
                module = export.export(jitted)(*specs).mlir_module()
                if options.recorded:
                    module = without_locations(module)
                (options.folder / f"{title}.mlir").write_text(module)
                found = jax.tree.leaves(jitted(*arguments))
                for role, arrays in (("argument", arguments), ("result", found)):
                    for array in map(np.asarray, arrays):
                        shape = "x".join(map(str, array.shape))
                        lines.append("\t".join([title, "values", role, dtype_of(array), shape, numbers(array)]))
    (options.folder / "arrays.tsv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
