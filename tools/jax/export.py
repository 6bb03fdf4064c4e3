#!/usr/bin/env python3
"""Exports JAX's linear algebra as StableHLO, with JAX's own results beside it.

    export.py FOLDER            every function, dtype and batch
    export.py FOLDER --few      every function twice, the dtypes and batches taking turns
    export.py FOLDER --recorded the modules that the tests keep, without source locations; with programs
                                of other kinds than the linear algebra of the rest

FOLDER gets one NAME.mlir per program, as jax.export gives it, and arrays.tsv, a line per array:
program, what its results are compared as (see tests/testthat/helper-jax.R), argument or result,
dtype, shape, and the numbers in row-major order, real and imaginary parts of complex ones in turn.
Needs jax.
"""

import argparse
import pathlib

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
from jax import export

jax.config.update("jax_enable_x64", True)

DTYPES = dict(f32=np.float32, f64=np.float64, c64=np.complex64, c128=np.complex128)
QR = jax.lax.linalg.SvdAlgorithm.QR

# jax.export vouches for the stability of some targets only.
UNVOUCHED = [
    export.DisabledSafetyCheck.custom_call(f"lapack_{letter}{routine}_ffi")
    for letter in "sdcz"
    for routine in ("gesvd", "ormqr", "unmqr", "geqp3", "gtsv")
]


class Numbers:
    """Matrices of a dtype, reproducible, sizes being multiples of `unit`."""

    def __init__(self, dtype, batch, unit):
        self.rng = np.random.default_rng(1)
        self.dtype, self.batch, self.unit = DTYPES[dtype], batch, unit

    def eye(self, n):
        return np.eye(n * self.unit, dtype=self.dtype)

    def general(self, m, n, unit=None):
        a = self.rng.standard_normal((*self.batch, m * self.unit, n * (unit or self.unit)))
        if np.issubdtype(self.dtype, np.complexfloating):
            a = a + 1j * self.rng.standard_normal(a.shape)
        return a.astype(self.dtype)

    def regular(self, n):
        return self.general(n, n) + n * self.unit * self.eye(n)

    def hermitian(self, n):
        a = self.general(n, n)
        return a + np.conj(np.swapaxes(a, -1, -2))

    def positive(self, n):
        a = self.general(n, n)
        return a @ np.conj(np.swapaxes(a, -1, -2)) + n * self.unit * self.eye(n)

    def singular(self, n):
        a = self.general(n, n - 2)
        return a @ self.general(n - 2, n)

    def vector(self, n):
        return self.general(n, 1, unit=1)[..., 0]


def each(f):
    """`f` of matrices, on batches of them where the function itself takes none."""

    def batched(*args):
        g = f
        for _ in range(args[0].ndim - 2):
            g = jax.vmap(g)
        return g(*args)

    return batched


# Name, function, arguments, and what its results are compared as.
FUNCTIONS = [
    ("qr", jnp.linalg.qr, lambda x: [x.general(6, 4)], "values"),
    ("qr_wide", jnp.linalg.qr, lambda x: [x.general(3, 5)], "values"),
    ("qr_complete", lambda a: jnp.linalg.qr(a, mode="complete"), lambda x: [x.general(6, 4)], "values"),
    ("qr_r", lambda a: jnp.linalg.qr(a, mode="r"), lambda x: [x.general(6, 4)], "values"),
    ("qr_pivoting", each(lambda a: jsl.qr(a, pivoting=True)), lambda x: [x.general(6, 4)], "values"),
    ("qr_multiply", each(lambda a, c: jsl.qr_multiply(a, c)), lambda x: [x.general(6, 4), x.general(3, 6)], "values"),
    ("householder", jax.lax.linalg.householder_product, lambda x: [x.general(6, 3) / 4, x.vector(3)], "values"),
    ("lu", each(jsl.lu), lambda x: [x.general(5, 5)], "values"),
    ("lu_tall", jax.lax.linalg.lu, lambda x: [x.general(6, 4)], "values"),
    ("lu_solve", lambda a, b: jsl.lu_solve(jsl.lu_factor(a), b), lambda x: [x.regular(5), x.general(5, 2)], "values"),
    ("svd", lambda a: jnp.linalg.svd(a, full_matrices=False), lambda x: [x.general(6, 4)], "svd"),
    ("svd_full", jnp.linalg.svd, lambda x: [x.general(4, 6)], "svd"),
    ("svd_values", jnp.linalg.svdvals, lambda x: [x.general(6, 4)], "values"),
    ("svd_qr", lambda a: jax.lax.linalg.svd(a, full_matrices=False, algorithm=QR), lambda x: [x.general(6, 4)], "svd"),
    ("eigh", lambda a: tuple(jnp.linalg.eigh(a)), lambda x: [x.hermitian(5)], "eigh"),
    ("eigh_upper", lambda a: tuple(jnp.linalg.eigh(a, UPLO="U")), lambda x: [x.hermitian(5)], "eigh"),
    ("eigvalsh", jnp.linalg.eigvalsh, lambda x: [x.hermitian(5)], "values"),
    ("cholesky", jnp.linalg.cholesky, lambda x: [x.positive(5)], "values"),
    ("cho_solve", lambda a, b: jsl.cho_solve(jsl.cho_factor(a), b), lambda x: [x.positive(5), x.general(5, 2)], "values"),
    ("solve", jnp.linalg.solve, lambda x: [x.regular(5), x.general(5, 2)], "values"),
    ("inv", jnp.linalg.inv, lambda x: [x.regular(5)], "values"),
    ("det", jnp.linalg.det, lambda x: [x.regular(5)], "values"),
    ("slogdet", lambda a: tuple(jnp.linalg.slogdet(a)), lambda x: [x.regular(5)], "values"),
    ("lstsq", each(jnp.linalg.lstsq), lambda x: [x.general(6, 4), x.general(6, 2)], "values"),
    ("pinv", jnp.linalg.pinv, lambda x: [x.general(6, 4)], "values"),
    ("matrix_rank", jnp.linalg.matrix_rank, lambda x: [x.singular(5)], "values"),
    ("cond", jnp.linalg.cond, lambda x: [x.regular(5)], "values"),
    ("expm", jsl.expm, lambda x: [x.general(4, 4) / 2], "values"),
    ("sqrtm", each(jsl.sqrtm), lambda x: [x.regular(4)], "values"),
    ("eig", lambda a: tuple(jnp.linalg.eig(a)), lambda x: [x.general(5, 5)], "eig"),
    ("eigvals", jnp.linalg.eigvals, lambda x: [x.general(5, 5)], "values"),
    ("schur", each(jsl.schur), lambda x: [x.general(5, 5)], "schur"),
    ("schur_complex", each(lambda a: jsl.schur(a, output="complex")), lambda x: [x.general(5, 5)], "schur"),
    ("hessenberg", lambda a: jsl.hessenberg(a, calc_q=True), lambda x: [x.general(5, 5)], "values"),
    ("tridiagonal", lambda a: jax.lax.linalg.tridiagonal(a), lambda x: [x.hermitian(5)], "values"),
    (
        "triangular_solve",
        lambda a, b: jax.lax.linalg.triangular_solve(a, b, left_side=True, lower=True),
        lambda x: [x.regular(5), x.general(5, 3)],
        "values",
    ),
    (
        "triangular_solve_right",
        lambda a, b: jax.lax.linalg.triangular_solve(a, b, transpose_a=True, conjugate_a=True),
        lambda x: [x.regular(5), x.general(3, 5)],
        "values",
    ),
    (
        "tridiagonal_solve",
        jax.lax.linalg.tridiagonal_solve,
        lambda x: [x.vector(5), x.vector(5) + 4, x.vector(5), x.general(5, 2)],
        "values",
    ),
]

# What --recorded writes: small programs, together with every kind of operand.
RECORDED = [
    ("qr", "f32", ()), ("lu", "c64", ()), ("svd", "f64", (2,)), ("eigh", "c128", ()),
    ("cholesky", "f32", (2,)), ("eig", "f64", ()), ("schur", "c64", ()), ("solve", "f64", ()),
    ("tridiagonal_solve", "f64", (2,)), ("hessenberg", "c128", ()),
]


def special():
    """As `programs` gives them, with what is exported in place of the arguments' shapes, the platforms,
    and arguments that only the exported program takes.
    """
    nan = np.array([1, np.nan, 3, 4], np.float32)
    other = np.array([np.nan, 2, 5, 1], np.float32)
    yield (
        "maximum-f32",
        lambda x, y: (jnp.max(x), jnp.min(x), jnp.maximum(x, y), jnp.minimum(x, y), jnp.clip(x, 2, 3)),
        [nan, other], "values", None, None, [],
    )
    numbers = Numbers("f64", (), 1)
    yield (
        "platforms-f64",
        lambda a, b: (jnp.linalg.cholesky(a), jnp.linalg.solve(a, b)),
        [numbers.positive(3), numbers.general(3, 2)], "values", None, ("cpu", "cuda"), [np.int64(0)],
    )
    n, m = export.symbolic_shape("n, m", constraints=["n >= m"])
    yield (
        "symbolic-f64",
        lambda a, b: (jnp.linalg.qr(a)[1], a.T @ b / a.shape[0], jnp.reshape(a, (-1,)), jnp.zeros(a.shape[::-1], a.dtype)),
        [numbers.general(5, 3), numbers.vector(5)], "values", [(n, m), (n,)], None, [],
    )


def dtype_of(array):
    names = {"float": "f", "complex": "c", "int": "i", "uint": "ui"}
    name = array.dtype.name
    kind = name.rstrip("0123456789")
    return "pred" if name == "bool" else names[kind] + name[len(kind):]


def numbers(array):
    flat = np.ravel(array)
    if np.iscomplexobj(flat):
        flat = np.stack([flat.real, flat.imag], -1).ravel()
    digits = np.finfo(flat.dtype).precision + 3 if flat.dtype.kind == "f" else 1
    return " ".join(f"{v:.{digits}g}" if flat.dtype.kind == "f" else str(int(v)) for v in flat)


def without_locations(text):
    """The same module without the source locations, which name local files."""
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir

    with mlir.make_ir_context():
        return ir.Module.parse(text).operation.get_asm(enable_debug_info=False)


def programs(wanted, unit):
    """Name, function, arguments and comparison of each wanted program; a matrix that is alone is
    larger by the factor `unit`.
    """
    for i, (name, function, arguments, comparison) in enumerate(FUNCTIONS):
        for j, dtype in enumerate(DTYPES):
            for k, batch in enumerate([(), (2,)]):
                turn = ((j - i) % 4, (k - i // 4) % 2) in [(0, 0), (1, 1)]
                if wanted(name, dtype, batch, turn):
                    title = f"{name}-{dtype}" + ("-batch" if batch else "")
                    numbers = Numbers(dtype, batch, 1 if batch else unit)
                    yield title, function, arguments(numbers), comparison


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    some = parser.add_mutually_exclusive_group()
    some.add_argument("--few", action="store_true")
    some.add_argument("--recorded", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)

    def wanted(name, dtype, batch, turn):
        if options.recorded:
            return (name, dtype, batch) in RECORDED
        return turn or not options.few

    def special_ones():
        return special() if options.recorded else ()

    lines = ["\t".join(["program", "comparison", "role", "dtype", "shape", "numbers"])]
    plain = ((*program, None, None, []) for program in programs(wanted, 1 if options.recorded else 5))
    for title, function, arguments, comparison, shapes, platforms, first in (*plain, *special_ones()):
        jitted = jax.jit(function)
        shapes = shapes or [a.shape for a in arguments]
        specs = [jax.ShapeDtypeStruct(shape, a.dtype) for shape, a in zip(shapes, arguments)]
        module = export.export(jitted, platforms=platforms, disabled_checks=UNVOUCHED)(*specs).mlir_module()
        if options.recorded:
            module = without_locations(module)
        (options.folder / f"{title}.mlir").write_text(module)
        results = jax.tree.leaves(jitted(*arguments))
        for role, arrays in (("argument", first + arguments), ("result", results)):
            for array in map(np.asarray, arrays):
                shape = "x".join(map(str, array.shape))
                lines.append("\t".join([title, comparison, role, dtype_of(array), shape, numbers(array)]))
    (options.folder / "arrays.tsv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
