# The custom calls that jax.vmap makes of jax.ffi.ffi_call, one line each: types and layouts.
import re

import jax
import numpy as np

jax.config.update("jax_enable_x64", True)
F64 = np.float64


def call(method, axes, shapes, layouts):
    def f(x, y):
        results = [jax.ShapeDtypeStruct((2, 3), F64), jax.ShapeDtypeStruct((4,), np.int32)]
        matrix_first = [(1, 0), None] if layouts else None
        return jax.ffi.ffi_call(
            "some_target", results, vmap_method=method,
            input_layouts=matrix_first, output_layouts=matrix_first,
        )(x, y)

    for axis in axes:
        f = jax.vmap(f, in_axes=axis)
    text = jax.jit(f).lower(*[jax.ShapeDtypeStruct(s, F64) for s in shapes]).as_text()
    line = next(line for line in text.splitlines() if "custom_call" in line)
    line = re.sub(r"dense<(\d+)>", r"dense<[\1]>", line)
    layouts = re.search(r"operand_layouts = .*result_layouts = \[.*?index>\]", line)
    return line.split(" : (")[-1] + " " + layouts.group(0)


for method in ["sequential", "expand_dims", "broadcast_all"]:
    for layouts in [False, True]:
        print(call(method, [(0, None)], [(7, 2, 3), (5,)], layouts))
        print(call(method, [(None, 0)], [(2, 3), (7, 5)], layouts))
        print(call(method, [(1, 1)], [(2, 7, 3), (5, 7)], layouts))
        print(call(method, [(0, None), (0, 0)], [(6, 7, 2, 3), (6, 5)], layouts))
