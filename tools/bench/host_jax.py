"""The peer of host.R: JAX in Python, in the same cases. Asked by name over a pipe, it runs a batch.

    host_jax.py ASK ANSWER      (two named pipes)

Arrays are column-major, as R has them.
"""

import sys
import time

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np

jax.config.update("jax_enable_x64", True)


def cases():
    plus = jax.jit(lambda a, b: a + b)
    small = np.asfortranarray([[1.0, 3.0], [2.0, 4.0]])
    large = np.asfortranarray(np.random.default_rng(1).normal(size=(2000, 2000)))
    vectors = {size: jnp.asarray(np.random.default_rng(1).normal(size=size)) for size in (1_000_000, 4_000_000)}
    device_small, device_large = jnp.asarray(small, jnp.float32), jnp.asarray(large)

    def upload(x, dtype):
        return jnp.asarray(x, dtype).block_until_ready()

    def sums(a):
        total = a
        for _ in range(20):
            total = plus(total, a).block_until_ready()

    def read(x):
        # A copy in column-major order: np.asarray would be a view of XLA's memory.
        return np.array(x, dtype=np.float64, order="F")

    return {
        "2x2 f32: upload": lambda: upload(small, jnp.float32),
        "2x2 f32: execute and wait": lambda: plus(device_small, device_small).block_until_ready(),
        "2x2 f32: read back": lambda: read(device_small),
        "2x2 f32: two uploads, execute, read back": lambda: read(
            plus(jnp.asarray(small, jnp.float32), jnp.asarray(small, jnp.float32))
        ),
        "2000x2000 f64: upload": lambda: upload(large, jnp.float64),
        "2000x2000 f64: read back": lambda: read(device_large),
    } | {f"{size} f64: 20 sums, each of the one before": lambda a=a: sums(a) for size, a in vectors.items()}


def batch(case, seconds=0.02):
    """Microseconds per call over about `seconds`."""
    case()
    calls, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        case()
        calls += 1
    return (time.perf_counter() - start) / calls * 1e6


def main():
    known = cases()
    with open(sys.argv[1]) as ask, open(sys.argv[2], "w") as answer:
        print(f"jax {jax.__version__}, jaxlib {jaxlib.__version__}", file=answer, flush=True)
        for line in ask:
            name = line.strip()
            print(batch(known[name], 0.5 if "sums" in name else 0.02), file=answer, flush=True)


if __name__ == "__main__":
    main()
