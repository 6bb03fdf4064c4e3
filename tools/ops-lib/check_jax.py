#!/usr/bin/env python3
"""Runs the ops library under JAX: the same handlers as in R, in another host.

Usage: check_jax.py LIBRARY [sparse]   (the path that tools/ops-lib/build.sh prints; only the sparse handlers)
Needs jax, numpy and scipy. Exits with an error if any result is wrong.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
import scipy.sparse
from handlers import Library, captured, column_major

jax.config.update("jax_enable_x64", True)

# LAPACK's own threshold for its test ratios (LAPACK working note 41).
RATIO = 30.0


def lu(a, in_place=False):
    *batch, m, n = a.shape
    k = min(m, n)
    call = jax.ffi.ffi_call(
        "lu",
        (
            jax.ShapeDtypeStruct(a.shape, a.dtype),
            jax.ShapeDtypeStruct((*batch, k), jnp.int32),
        ),
        input_layouts=[column_major(a.ndim)],
        output_layouts=[column_major(a.ndim), tuple(range(a.ndim - 1))],
        input_output_aliases={0: 0} if in_place else None,
    )
    return call(a)


def residual_ratio(a, packed, pivots):
    m, n = a.shape
    k = min(m, n)
    lower = np.tril(packed[:, :k].astype(np.float64), -1) + np.eye(m, k)
    upper = np.triu(packed[:k, :].astype(np.float64))
    permuted = a.astype(np.float64)
    for i, p in enumerate(pivots - 1):
        permuted[[i, p]] = permuted[[p, i]]
    norm = np.abs(a).sum(axis=0).max() * max(m, n) * np.finfo(a.dtype).eps
    return np.abs(permuted - lower @ upper).sum(axis=0).max() / norm


def check_lu(rng):
    run = jax.jit(lu)
    in_place = jax.jit(lambda a: lu(a, in_place=True), donate_argnums=0)
    for dtype in (np.float32, np.float64):
        for shape in ((1, 1), (5, 5), (65, 33), (33, 65), (129, 129), (3, 8, 8), (2, 3, 7, 5)):
            a = rng.standard_normal(shape).astype(dtype)
            packed, pivots = map(np.asarray, run(a))
            assert packed.dtype == dtype and pivots.dtype == np.int32
            again = in_place(jnp.array(a))
            np.testing.assert_array_equal(packed, again[0])
            np.testing.assert_array_equal(pivots, again[1])
            matrices = a.reshape(-1, *shape[-2:])
            for one, factors, swaps in zip(
                matrices, packed.reshape(matrices.shape), pivots.reshape(len(matrices), -1)
            ):
                ratio = residual_ratio(one, factors, swaps)
                assert ratio < RATIO, (dtype, shape, ratio)
                if one.shape[0] == one.shape[1]:
                    expected, swapped = scipy.linalg.lu_factor(one)
                    tolerance = 1e3 * np.finfo(dtype).eps
                    np.testing.assert_array_equal(swaps - 1, swapped)
                    np.testing.assert_allclose(
                        factors, expected, rtol=tolerance, atol=tolerance * np.abs(one).max()
                    )
    for shape in ((0, 3), (3, 0), (0, 4, 4)):
        packed, _ = run(np.zeros(shape))
        assert packed.shape == shape

    bad = rng.standard_normal((3, 4, 4))
    bad[1, 2, 2] = np.nan
    packed, pivots = map(np.asarray, run(bad))
    assert np.isnan(packed[1]).all() and np.isfinite(packed[[0, 2]]).all()
    assert pivots[1].tolist() == [1, 2, 3, 4]


def check_lu_errors():
    try:
        jax.block_until_ready(jax.jit(lu)(np.zeros((2, 2), np.int32)))
    except Exception as error:
        assert "lu" in str(error) and "i32" in str(error), error
    else:
        raise AssertionError("lu accepted integers")


def check_threads(rng):
    run = jax.jit(lu)
    inputs = [rng.standard_normal((65, 65)) for _ in range(64)]
    sequential = [np.asarray(run(a)[0]) for a in inputs]
    with ThreadPoolExecutor(8) as pool:
        concurrent = list(pool.map(lambda a: np.asarray(run(a)[0]), inputs))
    for one, other in zip(sequential, concurrent):
        np.testing.assert_array_equal(one, other)


def both(target, results, *operands, aliases=None, **attributes):
    """What jaxlib's own handler and ours give for the same call: two lists of arrays.

    `results`: shape and dtype of each. Matrices are column-major in both.
    """

    def layout(shape, matrix):
        return column_major(len(shape)) if matrix else tuple(range(len(shape)))

    batch = max(a.ndim for a in operands) - 2
    kinds = [a.ndim >= batch + 2 for a in operands]
    answers = []
    for prefix in ("", "xlaffi_"):
        call = jax.ffi.ffi_call(
            f"{prefix}lapack_{target}_ffi",
            [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in results],
            input_layouts=[layout(a.shape, m) for a, m in zip(operands, kinds)],
            output_layouts=[layout(s, len(s) >= batch + 2) for s, _ in results],
            input_output_aliases=aliases if aliases is not None else {0: 0},
        )
        out = jax.jit(lambda *a, call=call: call(*a, **attributes))(*operands)
        answers.append([np.asarray(a) for a in out])
    return answers


def letter(text):
    return np.uint8(ord(text))


def close(theirs, ours, factor=1e3):
    assert theirs.dtype == ours.dtype and theirs.shape == ours.shape
    if theirs.dtype.kind == "i":
        np.testing.assert_array_equal(theirs, ours)
        return
    tolerance = factor * np.finfo(theirs.dtype).eps
    scale = max(1.0, np.abs(theirs).max(initial=0))
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * scale)


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def random_arrays(rng, dtype, batch):
    """A function that gives normally distributed arrays of a shape behind the batch's."""

    def random(*shape):
        a = rng.standard_normal((*batch, *shape))
        if np.dtype(dtype).kind == "c":
            a = a + 1j * rng.standard_normal(a.shape)
        return a.astype(dtype)

    return random


def check_jaxlib_factors(rng, letter_of, dtype, batch):
    """getrf, geqrf, orgqr, gesdd, syevd, potrf and trsm against jaxlib's."""
    real = np.finfo(dtype).dtype
    is_complex = np.dtype(dtype).kind == "c"
    i32, random = np.int32, random_arrays(rng, dtype, batch)

    for m, n in ((5, 4), (4, 5), (33, 33), (1, 1)):
        k, x = min(m, n), random(m, n)
        shape = (*batch, m, n)
        for theirs, ours in zip(
            *both(f"{letter_of}getrf", [(shape, dtype), ((*batch, k), i32), (batch, i32)], x)
        ):
            close(theirs, ours)
        (packed, tau), own = both(f"{letter_of}geqrf", [(shape, dtype), ((*batch, k), dtype)], x)
        close(packed, own[0])
        close(tau, own[1])
        orgqr = f"{letter_of}{'un' if is_complex else 'or'}gqr"
        columns = packed[..., :k]
        close(*(out[0] for out in both(orgqr, [((*batch, m, k), dtype)], columns, tau)))

        for mode, cols, rows in (("A", m, n), ("S", k, k), ("N", m, n)):
            results = [
                (shape, dtype),
                ((*batch, k), real),
                ((*batch, m, cols), dtype),
                ((*batch, rows, n), dtype),
                (batch, i32),
            ]
            theirs, ours = both(f"{letter_of}gesdd", results, x, mode=letter(mode))
            close(theirs[1], ours[1])
            close(theirs[4], ours[4])
            if mode != "N":
                _, s, u, vt, _ = ours
                close((u[..., :k] * s[..., None, :]) @ vt[..., :k, :], x)
                close(adjoint(u) @ u, np.broadcast_to(np.eye(cols, dtype=dtype), (*batch, cols, cols)))

    n, x = 9, random(9, 9)
    square = (*batch, n, n)
    for mode in "VN":
        for uplo in "LU":
            results = [(square, dtype), ((*batch, n), real), (batch, i32)]
            theirs, ours = both(
                f"{letter_of}{'heevd' if is_complex else 'syevd'}",
                results, x, mode=letter(mode), uplo=letter(uplo),
            )
            close(theirs[1], ours[1])
            close(theirs[2], ours[2])
            if mode == "V":
                # The eigenvalues are distinct, so the vectors agree up to a factor.
                products = np.abs((np.conj(theirs[0]) * ours[0]).sum(-2))
                close(products, np.ones_like(products))
    definite = x @ adjoint(x) + n * np.eye(n, dtype=dtype)
    if batch and definite.size:
        definite[(0,) * len(batch)] *= -1
    for uplo in "LU":
        results = [(square, dtype), (batch, i32)]
        theirs, ours = both(f"{letter_of}potrf", results, definite, uplo=letter(uplo))
        close(theirs[1], ours[1])
        good = theirs[1] == 0
        close(theirs[0][good], ours[0][good])

    triangle, right = definite, random(n, n)[..., :4]
    for side, y in (("L", right), ("R", np.swapaxes(right, -1, -2))):
        for options in ("LNN", "UTU", "LCN"):
            uplo, trans, diag = map(letter, options)
            theirs, ours = both(
                f"{letter_of}trsm", [(y.shape, dtype)], triangle, y, aliases={1: 0},
                side=letter(side), uplo=uplo, trans_x=trans, diag=diag,
            )
            if options[2] == "N":  # with ones on the diagonal the solutions are huge
                close(theirs[0], ours[0])
            else:
                scale = np.abs(theirs[0]).max(initial=1)
                close(theirs[0] / scale, ours[0] / scale)


def check_jaxlib_reductions(rng, letter_of, dtype, batch):
    """ormqr, geqp3, sytrd, gehrd and gtsv against jaxlib's."""
    real = np.finfo(dtype).dtype
    is_complex = np.dtype(dtype).kind == "c"
    i32, random = np.int32, random_arrays(rng, dtype, batch)

    def compare(name, results, *operands, **rest):
        for theirs, ours in zip(*both(f"{letter_of}{name}", results, *operands, **rest)):
            close(theirs, ours)

    for m, n in ((6, 4), (4, 6), (1, 1)):
        k, x = min(m, n), random(m, n)
        jpvt = np.zeros((*batch, n), i32)
        jpvt[..., -1] = 1
        results = [(x.shape, dtype), (jpvt.shape, i32), ((*batch, k), dtype)]
        compare("geqp3", results, x, jpvt, aliases={0: 0, 1: 1})
    (packed, tau), _ = both(
        f"{letter_of}geqrf", [((*batch, 6, 4), dtype), ((*batch, 4), dtype)], random(6, 4)
    )
    for left, c in ((True, random(6, 3)), (False, random(3, 6))):
        for transpose in (True, False):
            name = "unmqr" if is_complex else "ormqr"
            options = dict(left=left, transpose=transpose)
            compare(name, [(c.shape, dtype)], packed, tau, c, aliases={2: 0}, **options)
    for n in (7, 2, 1):
        x = random(n, n)
        x = x + adjoint(x)
        vectors = [((*batch, n), real), ((*batch, n - 1), real), ((*batch, n - 1), dtype)]
        for uplo in "LU":
            name = "hetrd" if is_complex else "sytrd"
            compare(name, [(x.shape, dtype), *vectors, (batch, i32)], x, uplo=letter(uplo))
        results = [(x.shape, dtype), ((*batch, n - 1), dtype), (batch, i32)]
        compare("gehrd", results, x, low=np.int32(1), high=np.int32(n))
        dl, d, du, b = random(n), random(n) + 3, random(n), random(n, 2)
        results = [*[(d.shape, dtype)] * 3, (b.shape, dtype), (batch, i32)]
        compare("gtsv", results, dl, d, du, b, aliases={i: i for i in range(4)})


def check_jaxlib_eigen(rng, letter_of, dtype, batch):
    """gesvd, geev and gees beside jaxlib's: the same values, vectors, forms and infos."""
    real, wide = np.finfo(dtype).dtype, np.result_type(dtype, np.complex64)
    is_complex = np.dtype(dtype).kind == "c"
    i32, random = np.int32, random_arrays(rng, dtype, batch)

    def eigenvalues(parts):
        return parts[0] if is_complex else parts[0] + 1j * parts[1]

    for mode, m, n in (("A", 6, 4), ("S", 4, 6), ("S", 1, 1), ("N", 6, 4)):
        k, x = min(m, n), random(m, n)
        cols, rows = (k, k) if mode == "S" else (m, n)
        results = [
            (x.shape, dtype),
            ((*batch, k), real),
            ((*batch, m, cols), dtype),
            ((*batch, rows, n), dtype),
            (batch, i32),
        ]
        theirs, ours = both(f"{letter_of}gesvd", results, x, mode=letter(mode))
        for at in (1, 4) if mode == "N" else (1, 2, 3, 4):
            close(theirs[at], ours[at])

    parts = [((*batch, 9), dtype)] * (1 if is_complex else 2)
    p = len(parts)
    x = random(9, 9)
    if x.size:
        x[(-1,) * len(batch)][3, 4] = np.nan
    square = ((*batch, 9, 9), dtype)
    for left, right in ("VV", "NV", "NN"):
        results = [*parts, *[((*batch, 9, 9), wide)] * 2, (batch, i32)]
        theirs, ours = both(
            f"{letter_of}geev", results, x, aliases={},
            compute_left=letter(left), compute_right=letter(right),
        )
        assert (theirs[-1] == ours[-1]).all(), (theirs[-1], ours[-1])
        good = ours[-1] == 0
        close(eigenvalues(theirs)[good], eigenvalues(ours)[good])
        for at, wanted in ((p, left), (p + 1, right)):
            if wanted == "V":
                # A vector is free up to a factor of size 1.
                products = np.abs((np.conj(theirs[at][good]) * ours[at][good]).sum(-2))
                close(np.ones_like(products), products)
                assert np.isnan(ours[at][~good]).all()
    for mode in "VN":
        results = [square, square, *parts, (batch, i32), (batch, i32)]
        theirs, ours = both(f"{letter_of}gees", results, x, mode=letter(mode), sort=letter("N"))
        for at in (-1, -2):
            close(theirs[at], ours[at])
        # The columns of Z are free up to a factor of size 1, and with them the rows and columns of T.
        for at in range(2 if mode == "N" else 0, len(results) - 2):
            size = np.abs if at < 2 else np.asarray
            close(size(theirs[at][good]), size(ours[at][good]))


def check_jaxlib(rng, library):
    """Every target of jaxlib's that we have, beside jaxlib's own in one process."""
    names = [t for t in jax_targets() if library.find(t) is not None]
    for name in names:
        library.register(name, "xlaffi_")
    dtypes = dict(s=np.float32, d=np.float64, c=np.complex64, z=np.complex128)
    for letter_of, dtype in dtypes.items():
        # Each call is a compilation, so one dtype stands for all in how batches are treated.
        for batch in ((), (0,), (2, 3)) if letter_of == "d" else ((2, 3),):
            check_jaxlib_factors(rng, letter_of, dtype, batch)
            check_jaxlib_reductions(rng, letter_of, dtype, batch)
            check_jaxlib_eigen(rng, letter_of, dtype, batch)
    return names


def jax_targets():
    """jaxlib's LAPACK targets, made ready to be called."""
    from jaxlib import lapack

    lapack.prepare_lapack_call("getrf_ffi", np.dtype(np.float64))
    names = (name for name, *_ in lapack.registrations()["cpu"])
    return sorted(n for n in names if n.startswith("lapack_") and n.endswith("_ffi"))


def check_sparse(rng, library):
    """The handlers of sparse matrices beside SciPy: each is a plain target, whose pattern are attributes."""
    names = ("cholesky", "solve", "inverse", "inverse_derivative", "matmul", "sampled_product")
    for name in names:
        library.register(f"sparse_{name}")
    side, k = 7, 3
    n = side * side
    line = scipy.sparse.diags([-1.0, -1.0], [-1, 1], (side, side))
    grid = (scipy.sparse.kronsum(line, line) + 5 * scipy.sparse.identity(n)).tocsc()
    lower = scipy.sparse.tril(grid).tocsc()
    lower.sort_indices()
    pattern = dict(colptr=lower.indptr.astype(np.int32), rowind=lower.indices.astype(np.int32))
    symmetric = dict(n=np.int64(n), **pattern)
    length = library.sparse_factor_length(n, *pattern.values())

    def whole(values):
        a = np.zeros((n, n))
        columns = np.repeat(np.arange(n), np.diff(pattern["colptr"]))
        a[pattern["rowind"], columns] = a[columns, pattern["rowind"]] = values
        return a

    def entries(a):
        columns = np.repeat(np.arange(n), np.diff(pattern["colptr"]))
        return a[..., pattern["rowind"], columns]

    for dtype in (np.float32, np.float64):
        shape = jax.ShapeDtypeStruct
        # The last matrix of the batch is not positive definite.
        values = np.stack([lower.data * 1.1, lower.data, -lower.data]).astype(dtype)
        b = rng.standard_normal((3, n, k)).astype(dtype)
        matrices = column_major(3)

        @jax.jit
        def run(values, b):
            factor, info = jax.ffi.ffi_call(
                "sparse_cholesky", (shape((3, length), dtype), shape((3,), np.int32))
            )(values, **symmetric)
            x = jax.ffi.ffi_call(
                "sparse_solve", shape(b.shape, dtype), input_layouts=[(0, 1), matrices],
                output_layouts=matrices,
            )(factor, b, **symmetric)
            inverse = jax.ffi.ffi_call("sparse_inverse", shape(values.shape, dtype))(factor, **symmetric)
            change = jax.ffi.ffi_call("sparse_inverse_derivative", shape(values.shape, dtype))(
                values, values, **symmetric
            )
            return info, x, inverse, change

        info, x, inverse, change = map(np.asarray, run(values, b))
        assert (info[:2] == 0).all() and info[2] > 0, info
        assert all(np.isnan(part[2]).all() for part in (x, inverse, change))
        for at in range(2):
            a = whole(values[at].astype(np.float64))
            known = np.linalg.inv(a)
            close(np.linalg.solve(a, b[at]).astype(dtype), x[at])
            close(entries(known).astype(dtype), inverse[at])
            # In the direction of the matrix itself the inverse changes by minus itself.
            close(-entries(known).astype(dtype), change[at])

        wide = scipy.sparse.random(5, 8, 0.4, "csc", dtype, random_state=1)
        wide.sort_indices()
        columns = dict(
            nrow=np.int64(5), ncol=np.int64(8), colptr=wide.indptr.astype(np.int32),
            rowind=wide.indices.astype(np.int32),
        )
        two = column_major(2)
        y, u = (rng.standard_normal((rows, k)).astype(dtype) for rows in (8, 5))

        @jax.jit
        def products(values, y, u):
            product = jax.ffi.ffi_call(
                "sparse_matmul", shape((5, k), dtype), input_layouts=[(0,), two], output_layouts=two
            )(values, y, **columns)
            sampled = jax.ffi.ffi_call(
                "sparse_sampled_product", shape(values.shape, dtype), input_layouts=[two, two]
            )(u, y, **columns)
            return product, sampled

        product, sampled = map(np.asarray, products(wide.data, y, u))
        close(wide @ y, product)
        at = wide.tocoo()
        close((u @ y.T)[at.row, at.col], sampled)


def check_print():
    def program(x):
        jax.ffi.ffi_call("print_tensor", (), has_side_effect=True)(
            x, print_header="my matrix", print_footer="----"
        )
        jax.ffi.ffi_call("print_tensor", (), has_side_effect=True)(
            2.5 * x, print_header="", max_rows=np.int32(1)
        )
        return x

    x = np.array([[1, 3, 5], [2, 4, 6]], np.float32)
    text = captured(lambda: jax.block_until_ready(jax.jit(program)(x)))
    first = "my matrix\n 1 3 5\n 2 4 6\n----\n"
    second = (
        "  2.5000  7.5000 12.5000\n"
        " ... [output was truncated, set max_rows = -1 to see all]\n"
        "[ f32{2,3} ]\n"
    )
    assert first in text and second in text, text
    assert len(text) == len(first) + len(second), text
    for dtype in ("bool", "int8", "uint64", "float16", "bfloat16", "complex64", "complex128"):
        y = jnp.ones((2,), dtype)
        show = jax.jit(lambda v: jax.ffi.ffi_call("print_tensor", (), has_side_effect=True)(v))
        text = captured(lambda: (jax.block_until_ready(show(y)), jax.effects_barrier()))
        assert text.startswith("PJRTBuffer\n 1") and text.endswith("{2} ]\n"), text


def main():
    library = Library(sys.argv[1])
    if sys.argv[2:] == ["sparse"]:
        check_sparse(np.random.default_rng(1), library)
        print(f"ops library: sparse handlers are right under JAX {jax.__version__}")
        return
    for target, platform in (("nothing", "Host"), ("lu", "moon"), (None, None)):
        assert library.find(target, platform) is None
    for target in ("lu", "print_tensor"):
        library.register(target)
    rng = np.random.default_rng(1)
    check_lu(rng)
    check_lu_errors()
    check_threads(rng)
    check_sparse(rng, library)
    check_print()
    count = len(check_jaxlib(rng, library))
    print(f"ops library: all right under JAX {jax.__version__}, {count} of jaxlib's targets")


if __name__ == "__main__":
    main()
