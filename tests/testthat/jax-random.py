"""Keys and random numbers of jax.random, as CSV on standard output: what, number of the case, elements.

Floating-point numbers are written as Python writes them in hexadecimal, which is exact, and ui64 as the signed integers
of the same bits, which is how R reads them.
"""

import jax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

SEEDS = [0, 42, -5, 2**40 + 7]


def show(what, case, x):
    x = np.asarray(x)
    x = (x.view(np.int64) if x.dtype == np.uint64 else x).ravel().tolist()
    print(f"{what},{case},{' '.join(v.hex() if isinstance(v, float) else str(v) for v in x)}")


print("what,case,elements")
for case, seed in enumerate(SEEDS, 1):
    key = jax.random.key(seed)
    show("key", case, jax.random.key_data(key))
    show("split", case, jax.random.key_data(jax.random.split(key, 3)))
    show("split matrix", case, jax.random.key_data(jax.random.split(key, (2, 2))))
    show("fold_in", case, jax.random.key_data(jax.random.fold_in(key, 2**32 - 3)))
    for width in (8, 16, 32, 64):
        show(f"ui{width}", case, jax.random.bits(key, (2, 3), f"uint{width}"))
    for dtype in ("float32", "float64"):
        name = dtype.replace("float", "f")
        show(f"uniform {name}", case, jax.random.uniform(key, (2, 20), jnp.dtype(dtype)))
        show(f"normal {name}", case, jax.random.normal(key, (2, 20), jnp.dtype(dtype)))
