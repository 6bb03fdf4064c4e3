"""JAX's derivatives of the functions of test-hlo-rules.R, as CSV on standard output.

One line per array: case, what it is, its number, dtype, shape and the elements by rows. `primal`, `tangent` and
`cotangent` are what goes in, `value`, `jvp` and `vjp` what comes out.
"""

import sys

import jax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402

random = np.random.RandomState(7)


def real(*shape):
    return random.uniform(-1.5, 1.5, shape)


def positive(*shape):
    return random.uniform(0.3, 2.5, shape)


def unit(*shape):
    return random.uniform(-0.8, 0.8, shape)


def cplx(*shape):
    return real(*shape) + 1j * real(*shape)


def whole(*shape):
    """Few different numbers, so that some are equal."""
    return random.randint(0, 3, shape).astype(float)


@jax.custom_jvp
def kepler(m, e):
    def turn(_, x):
        return x - (x - e * jnp.sin(x) - m) / (1 - e * jnp.cos(x))

    x = lax.fori_loop(0, 60, turn, m + e * jnp.sin(m))
    return jnp.sin(x), jnp.cos(x)


@kepler.defjvp
def kepler_jvp(primals, tangents):
    m, e = primals
    s, c = kepler(m, e)
    change = (tangents[0] + s * tangents[1]) / (1 - e * c)
    return (s, c), (c * change, -s * change)


def loop(x, y):
    return lax.fori_loop(0, 5, lambda i, z: jnp.sin(z) * y + i, x)


def rosenbrock(x):
    return jnp.sum((1 - x[:-1]) ** 2) + 100 * jnp.sum((x[1:] - x[:-1] ** 2) ** 2)


def network(w, v, x):
    return jnp.sum(jnp.tanh(x @ w) @ v)


def triangular(left, lower, unit_diagonal, transpose):
    def solve(a, b):
        return lax.linalg.triangular_solve(
            a, b, left_side=left, lower=lower, unit_diagonal=unit_diagonal,
            transpose_a=transpose != "none", conjugate_a=transpose == "adjoint",
        )

    return solve


def cases():
    for name, arguments in {
        "sqrt": [positive(4)], "rsqrt": [positive(4)], "exp": [real(4)], "expm1": [real(4)], "log": [positive(4)],
        "log1p": [positive(4)], "sin": [real(4)], "cos": [real(4)], "tan": [real(4)], "tanh": [real(4)],
        "sinh": [real(4)], "cosh": [real(4)], "asin": [unit(4)], "acos": [unit(4)], "atan": [real(4)],
        "logistic": [real(4)], "abs": [real(4)], "sign": [real(4)], "floor": [real(4)],
    }.items():
        yield name, getattr(lax, name), arguments
    for name in ("exp", "log", "sin", "cos", "tanh", "sqrt", "abs", "neg", "rsqrt", "logistic", "expm1", "log1p"):
        yield name + " complex", getattr(lax, name), [cplx(4)]
    yield "add", lambda x, y: x + y, [real(3), real(3)]
    yield "sub", lambda x, y: x - y, [real(3), real(3)]
    yield "mul", lambda x, y: x * y, [real(3), real(3)]
    yield "mul complex", lambda x, y: x * y, [cplx(3), cplx(3)]
    yield "div", lambda x, y: x / y, [real(3), positive(3)]
    yield "div complex", lambda x, y: x / y, [cplx(3), cplx(3)]
    yield "pow", lambda x, y: x**y, [positive(3), real(3)]
    yield "pow at zero", lambda x, y: x**y, [np.array([0.0, 0.0, 2.0]), np.array([2.0, 1.5, 0.0])]
    yield "pow whole", lambda x: x**3 + x**2, [real(3)]
    yield "max", lax.max, [whole(9), whole(9)]
    yield "min", lax.min, [whole(9), whole(9)]
    yield "atan2", lax.atan2, [real(4), real(4)]
    yield "rem", lax.rem, [real(4) * 5, positive(4)]
    yield "select", lambda x, y: jnp.where(x > y, x * 2, y * y), [real(5), real(5)]
    yield "real imag", lambda z: lax.real(z) * lax.imag(z), [cplx(3)]
    yield "complex conj", lambda x, y: lax.conj(lax.complex(x, y)) * 2j, [real(3), real(3)]
    yield "convert", lambda x: x.astype(jnp.complex128) * (1 + 2j), [real(3)]
    yield "scalar", lambda x, s: x * s + s, [real(2, 3), real()]
    yield "broadcast", lambda x: lax.broadcast_in_dim(x, (4, 3, 2), (1, 2)), [real(1, 2)]
    yield "broadcast vector", lambda x: lax.broadcast_in_dim(x, (2, 3), (1,)), [real(3)]
    yield "reshape", lambda x: jnp.sin(x.reshape(3, 2)), [real(2, 3)]
    yield "transpose", lambda x: x.transpose(2, 0, 1) * 2, [real(2, 3, 4)]
    yield "rev", lambda x: lax.rev(x, (1,)), [real(2, 3)]
    yield "slice", lambda x: lax.slice(x, (1, 0), (4, 5), (1, 2)), [real(5, 6)]
    yield "pad", lambda x, v: lax.pad(x, v, ((1, 2, 1), (-1, 0, 2))), [real(2, 3), real()]
    yield "concatenate", lambda x, y: jnp.concatenate([x, y * 2, x], 1), [real(2, 1), real(2, 2)]
    yield "dynamic slice", lambda x: lax.dynamic_slice(x, (1, 2), (2, 2)), [real(4, 3)]
    yield "dynamic update", lambda x, u: lax.dynamic_update_slice(x, u, (1, 2)), [real(4, 3), real(2, 2)]
    yield "sum", lambda x: jnp.sum(x, (0, 2)), [real(2, 3, 4)]
    yield "sum all", lambda x: jnp.sum(x * x), [real(2, 3)]
    yield "max over", lambda x: jnp.max(x, 1), [whole(4, 5)]
    yield "min over", lambda x: jnp.min(x), [whole(4, 5)]
    yield "matmul", jnp.matmul, [real(3, 2), real(2, 4)]
    yield "matmul complex", jnp.matmul, [cplx(3, 2), cplx(2, 4)]
    yield "matmul batch", jnp.matmul, [real(2, 3, 2), real(2, 2, 4)]
    dimensions = (((3, 0), (2, 3)), ((1,), (0,)))
    yield "dot", lambda x, y: lax.dot_general(x, y, dimensions), [real(2, 3, 4, 5), real(3, 6, 5, 2)]
    for left in (True, False):
        for lower in (True, False):
            for transpose in ("none", "transpose", "adjoint"):
                same = lower == left
                name = f"triangular {int(left)}{int(lower)}{int(same)} {transpose}"
                a = cplx(2, 3, 3) + 3 * np.eye(3) if transpose == "adjoint" else real(3, 3) + 3 * np.eye(3)
                b = cplx(2, 3, 3) if transpose == "adjoint" else real(3, 2)
                if not left:
                    b = np.swapaxes(b, -1, -2)
                yield name, triangular(left, lower, same, transpose), [a, b]
    yield "kepler", kepler, [real(5) * 3, random.uniform(0, 0.9, 5)]
    yield "kepler second", jax.grad(lambda m, e: jnp.sum(kepler(m, e)[0] ** 2), (0, 1)), [
        real(5) * 3, random.uniform(0, 0.9, 5),
    ]
    yield "kepler hard", kepler, [np.array([1e-3, 1e-8, 3.0]), np.array([0.999, 1 - 1e-6, 0.99999])]
    yield "rosenbrock gradient", jax.grad(rosenbrock), [real(4)]
    yield "hessian", jax.hessian(rosenbrock), [real(3)]
    yield "network", network, [real(3, 4), real(4), real(5, 3)]
    yield "network gradient", jax.grad(network, 1), [real(3, 4), real(4), real(5, 3)]
    yield "jvp of jvp", lambda x, t: jax.jvp(lambda x: jnp.sin(x) * x, (x,), (t,))[1], [real(3), real(3)]
    yield "grad complex", jax.grad(lambda z: jnp.sum(jnp.abs(z * z + 1))), [cplx(3)]
    yield "vjp of vjp", lambda z, w: jax.vjp(lambda z: jnp.exp(z) * z, z)[1](w)[0], [cplx(3), cplx(3)]
    yield "loop", loop, [real(3), real(3)]


def show(case, what, arrays):
    for number, x in enumerate(jax.tree.leaves(arrays), 1):
        x = np.asarray(x)
        flat = x.ravel()
        parts = np.stack([flat.real, flat.imag], 1).ravel() if np.iscomplexobj(x) else flat
        dtype = "c128" if np.iscomplexobj(x) else "f64"
        shape = "x".join(map(str, x.shape))
        print(f"{case},{what},{number},{dtype},{shape},{' '.join(repr(float(v)) for v in parts)}")


def like(x):
    return jax.tree.map(lambda x: cplx(*x.shape) if np.iscomplexobj(x) else real(*x.shape), x)


def main():
    print("case,what,number,dtype,shape,elements")
    for case, f, arguments in cases():
        tangents = like(arguments)
        value, change = jax.jvp(f, tuple(map(jnp.asarray, arguments)), tuple(tangents))
        cotangents = like(value)
        show(case, "primal", arguments)
        show(case, "tangent", tangents)
        show(case, "cotangent", cotangents)
        show(case, "value", value)
        show(case, "jvp", change)
        back = [] if case in ("loop", "hessian") else jax.vjp(f, *map(jnp.asarray, arguments))[1](cotangents)
        show(case, "vjp", back)


if __name__ == "__main__":
    sys.exit(main())
