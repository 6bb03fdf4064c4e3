"""The models of ode.R by diffrax, if it is installed: milliseconds for the value and for value and gradient.

Arguments: name of the model, and the repetitions. Prints two numbers and the gradient.
"""

import sys
import time

import diffrax
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def lotka(t, y, p):
    return jnp.array([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])


def robertson(t, y, p):
    slow, back, fast = p[0] * y[0], p[1] * y[1] * y[2], p[2] * y[1] ** 2
    return jnp.array([back - slow, slow - back - fast, fast])


def solved(f, solver, y, times, p, rtol, atol, first):
    return diffrax.diffeqsolve(
        diffrax.ODETerm(f), solver, times[0], times[-1], first, y, p, saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=diffrax.PIDController(rtol=rtol, atol=atol), max_steps=4096,
    ).ys


def lotka_loss(p):
    y = solved(lotka, diffrax.Dopri5(), jnp.array([10.0, 5.0]), jnp.linspace(0.0, 20.0, 21), p, 1e-8, 1e-8, None)
    return jnp.sum(y**2)


def robertson_loss(p):
    times = jnp.concatenate([jnp.zeros(1), 10.0 ** jnp.arange(-1.0, 7.0)])
    y = solved(robertson, diffrax.Kvaerno5(), jnp.array([1.0, 0.0, 0.0]), times, p, 1e-8, 1e-10, 1e-5)
    return jnp.sum(jnp.log(y[1:]))


loss, p = {
    "lotka": (lotka_loss, jnp.array([1.1, 0.4, 0.1, 0.4])),
    "robertson": (robertson_loss, jnp.array([0.04, 1e4, 3e7])),
}[sys.argv[1]]
repeat = int(sys.argv[2])


def milliseconds(f):
    jax.block_until_ready(f(p))
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        jax.block_until_ready(f(p))
        best = min(best, time.perf_counter() - start)
    return 1e3 * best


value = milliseconds(jax.jit(loss))
both = jax.jit(jax.value_and_grad(loss))
print(value, milliseconds(both), *both(p)[1])
