"""Exports a real JAX program as StableHLO, with JAX's own result beside it.

The program fits the Michaelis-Menten model rate = vmax * conc / (km + conc) to
the "treated" half of R's data set Puromycin (Treloar 1974; Bates & Watts 1988)
by 20 Gauss-Newton steps with derivatives from jax.jacfwd, in f64.

    python tools/demo/export_jax.py      (needs jax; writes inst/extdata/puromycin*)
"""

import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir

jax.config.update("jax_enable_x64", True)

CONC = [0.02, 0.02, 0.06, 0.06, 0.11, 0.11, 0.22, 0.22, 0.56, 0.56, 1.10, 1.10]
RATE = [76, 47, 97, 107, 123, 139, 159, 152, 191, 201, 207, 200]
START = [200.0, 0.05]


def rate(theta, conc):
    vmax, km = theta
    return vmax * conc / (km + conc)


def fit(conc, observed, start):
    """Coefficients (vmax, km), their covariance, and the residual sum of squares."""

    def normal_inverse(jacobian):
        (a, b), (_, d) = jacobian.T @ jacobian
        return jnp.array([[d, -b], [-b, a]]) / (a * d - b * b)

    def step(_, theta):
        jacobian = jax.jacfwd(rate)(theta, conc)
        residual = observed - rate(theta, conc)
        return theta + normal_inverse(jacobian) @ (jacobian.T @ residual)

    theta = jax.lax.fori_loop(0, 20, step, start)
    rss = jnp.sum((observed - rate(theta, conc)) ** 2)
    sigma2 = rss / (conc.size - start.size)
    return theta, sigma2 * normal_inverse(jax.jacfwd(rate)(theta, conc)), rss


def without_locations(text):
    """The same module without the source locations, which name local files."""
    with mlir.make_ir_context():
        return ir.Module.parse(text).operation.get_asm(enable_debug_info=False)


def main():
    out = pathlib.Path(__file__).resolve().parents[2] / "inst" / "extdata"
    args = [np.array(v, dtype=np.float64) for v in (CONC, RATE, START)]
    specs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in args]
    exported = export.export(jax.jit(fit))(*specs)
    (out / "puromycin.mlir").write_text(without_locations(exported.mlir_module()))

    theta, cov, rss = jax.jit(fit)(*args)
    names = ["vmax", "km", "var_vmax", "cov", "cov", "var_km", "rss"]
    values = np.concatenate([np.ravel(theta), np.ravel(cov), np.ravel(rss)])
    lines = ["quantity,value"] + [f"{n},{v:.17g}" for n, v in zip(names, values)]
    (out / "puromycin-jax.csv").write_text("\n".join(lines) + "\n")
    print(f"jax {jax.__version__}: " + ", ".join(lines[1:3] + lines[-1:]))


if __name__ == "__main__":
    main()
