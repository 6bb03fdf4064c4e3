"""Values, gradients and second derivatives by jax.shard_map on 4 x 2 CPU devices, for test-shard-map.R.

python jax-shard-map.py > jax-shard-map.csv (with jax and jaxlib 0.10.2)
"""
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

jax.config.update("jax_enable_x64", True)
mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(4, 2), ("a", "b"))
both = ("a", "b")


def gathered(x, w):
    g = lax.all_gather(jnp.sin(x * w), "b", axis=1, tiled=True)
    return lax.psum(jnp.sum(g ** 2 * jnp.tile(x, (1, 2))), both)


def scattered(x, w):
    part = lax.psum_scatter(jnp.exp(x) * w, "a", scatter_dimension=1)
    return lax.pmean(jnp.sum(part ** 2) * jnp.sum(x), both)


def sent(x, w):
    y = lax.ppermute(x * w, "a", [(0, 1), (1, 3), (3, 0)])
    return lax.psum(jnp.sum(y ** 2 * jnp.cos(x)), both)


def exchanged(x, w):
    y = lax.all_to_all(x, "a", split_axis=1, concat_axis=0, tiled=True)
    return lax.psum(jnp.sum(y ** 3) * jnp.sum(w * x), both)


def normalised(x, w):
    s = jnp.exp(x - lax.psum(jnp.sum(x), "a"))
    return lax.psum(jnp.sum(w * s / lax.psum(jnp.sum(s), both)), both)


def placed(x, w):
    i = lax.axis_index("b") * 4 + lax.axis_index("a")
    return lax.psum(jnp.sum(jnp.sin(x * (i + 1.0)) * w), both)


x = np.sin(np.arange(1.0, 65.0)).reshape(4, 16).T
w = np.array([0.5, 1.0, 1.5, 2.0])
v = np.cos(np.arange(1.0, 65.0)).reshape(4, 16).T
for f in (gathered, scattered, sent, exchanged, normalised, placed):
    g = jax.shard_map(f, mesh=mesh, in_specs=(P(both), P()), out_specs=P(), check_vma=False)
    gradient = jax.grad(g, argnums=(0, 1))
    along = jax.jvp(lambda x: gradient(x, w), (x,), (v,))[1]
    numbers = [g(x, w), *gradient(x, w), *along]
    # By columns, as R counts
    print(f.__name__, *(f"{n:.17g}" for part in numbers for n in np.ravel(np.asarray(part), order="F")), sep=",")
