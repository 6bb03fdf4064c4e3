"""JAX's derivatives of the functions of test-rules-linalg-jax.R, in the form of jax-derivatives.py.

Signs and phases of the factors are the implementation's choice, so squares and products are compared.
"""

import importlib.util
import pathlib
import sys

folder = pathlib.Path(__file__).parent
spec = importlib.util.spec_from_file_location("derivatives", folder / "jax-derivatives.py")
derivatives = importlib.util.module_from_spec(spec)
spec.loader.exec_module(derivatives)

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402

real, cplx = derivatives.real, derivatives.cplx


def size(z):
    return jnp.real(z * jnp.conj(z))


def adjoint(x):
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def hermitian(half):
    """The matrix of which a function that reads one triangle sees that triangle."""
    strict = half - half * jnp.eye(half.shape[-1])
    return strict + adjoint(strict) + jnp.real(half * jnp.eye(half.shape[-1]))


def qr(x):
    q, r = jnp.linalg.qr(x)
    return size(q), size(r)


def lu(x):
    packed, _, _ = lax.linalg.lu(x)
    k = min(x.shape[-2:])
    lower = jnp.tril(packed[..., :, :k], -1) + jnp.eye(x.shape[-2], k)
    return lower, jnp.triu(packed[..., :k, :])


def svd(x):
    u, d, vh = jnp.linalg.svd(x, full_matrices=False)
    return d, size(u), size(adjoint(vh)), u @ vh


def eigh(x):
    w, v = jnp.linalg.eigh(hermitian(jnp.tril(x)), symmetrize_input=False)
    return w, size(v)


def chol(x):
    return adjoint(jnp.linalg.cholesky(hermitian(jnp.triu(x)), symmetrize_input=False))


def along(f):
    """How f changes, as a function of the place and of the direction."""
    return lambda x, t: jax.jvp(f, (x,), (t,))[1]


def definite(x):
    return x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(x.shape[-1])


def cases():
    yield "qr", qr, [real(2, 4, 3)]
    yield "qr complex", qr, [cplx(4, 3)]
    yield "qr twice", along(qr), [real(3, 2), real(3, 2)]
    yield "lu", lu, [real(2, 4, 3)]
    yield "lu wide", lu, [real(3, 5)]
    yield "lu complex", lu, [cplx(3, 3)]
    yield "lu twice", along(lu), [real(3, 3), real(3, 3)]
    yield "svd", svd, [real(2, 4, 3)]
    yield "svd wide", svd, [real(2, 4)]
    yield "svd complex", svd, [cplx(4, 3)]
    yield "svd twice", along(svd), [real(3, 2), real(3, 2)]
    yield "eigh", eigh, [definite(real(2, 3, 3))]
    yield "eigh complex", eigh, [definite(cplx(3, 3))]
    yield "eigh twice", along(eigh), [definite(real(3, 3)), real(3, 3)]
    yield "chol", chol, [definite(real(2, 3, 3))]
    yield "chol complex", chol, [definite(cplx(3, 3))]
    yield "chol twice", along(chol), [definite(real(3, 3)), real(3, 3)]
    yield "solve", jnp.linalg.solve, [definite(real(2, 3, 3)), real(2, 3, 2)]
    yield "solve complex", jnp.linalg.solve, [definite(cplx(3, 3)), cplx(3, 2)]
    yield "solve twice", along(lambda x: jnp.linalg.solve(x, x.T @ x)), [definite(real(3, 3)), real(3, 3)]
    yield "inverse", jnp.linalg.inv, [definite(real(3, 3))]


if __name__ == "__main__":
    derivatives.cases = cases
    sys.exit(derivatives.main())
