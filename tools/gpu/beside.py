"""Our handlers of jaxlib's targets beside jaxlib's own."""

import itertools

import jax
import numpy as np
from ops import DTYPES, Tally, adjoint, call, check_eigh, check_lu, check_svd, matrices, real


def part_jaxlib(ops):
    """Our handlers of jaxlib's targets beside jaxlib's own, on the same operands."""
    rng, tally = np.random.default_rng(5), Tally()

    def close(ours, theirs, dtype):
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        assert np.allclose(ours, theirs, rtol=0, atol=3e3 * np.finfo(dtype).eps * (1 + np.abs(theirs).max(initial=0))), np.abs(ours - theirs).max()

    def both(what, target, results, *operands, check, **more):
        """Ours, where `check` finds nothing wrong with them beside theirs."""
        found = None
        with tally.case(f"{target} {what}"):
            found, theirs = (jax.jit(lambda *o, p=p: call(p + target, results, *o, **more))(*operands) for p in ("xlaffi.", ""))
            check(found, theirs)
        return found

    for dtype, (batch, m, n) in itertools.product(DTYPES, [((), 5, 5), ((3,), 8, 8), ((2,), 40, 30), ((2,), 150, 150)]):
        k, r = min(m, n), real(dtype)
        what = f"{np.dtype(dtype).name} {(*batch, m, n)}"
        a = ops.put(matrices(rng, (*batch, m, n), dtype))
        info, values, square = (batch, np.int32), ((*batch, k), r), (a.shape, dtype)

        def first(ours, theirs, dtype=dtype):
            close(ours[0], theirs[0], dtype)

        def lu_too(ours, theirs, dtype=dtype, a=a):
            if np.iscomplexobj(dtype(0)):
                # LAPACK's pivot is that of the largest sum of parts, cuBLAS's that of the largest number.
                return check_lu(a, *ours[:2], "")
            close(ours[0], theirs[0], dtype)
            assert np.array_equal(ours[1], theirs[1])

        def singular(ours, theirs, turn, a=a, r=r):
            close(ours[1], theirs[1], r)
            check_svd(a, ours[2], ours[1], turn(np.asarray(ours[3])), "")

        both(what, "cusolver_getrf_ffi", [square, ((*batch, k), np.int32), info], a, vectors=(2,), check=lu_too)
        packed = both(what, "cusolver_geqrf_ffi", [square, ((*batch, k), dtype)], a, vectors=(2,), check=first)
        if packed:
            both(what, "cusolver_orgqr_ffi", [square], *packed, vectors=(1,), check=first)
        for left, transpose in itertools.product((True, False), repeat=2):
            c = ops.put(matrices(rng, (*batch, m, 3) if left else (*batch, 3, m), dtype))
            if packed:
                both(what, "cusolver_ormqr_ffi", [(c.shape, dtype)], *packed, c, vectors=(1,), left=left, transpose=transpose, check=first)
        both(what, "cusolver_gesvd_ffi", [square, values, ((*batch, m, n), dtype), ((*batch, n, n), dtype), info], a, vectors=(2,),
             full_matrices=False, compute_uv=True, transposed=False, check=lambda o, t, f=singular: f(o, t, lambda v: v))
        for target in ("cusolver_gesvdj_ffi", "cusolver_gesvdp_ffi"):
            both(what, target, [square, values, ((*batch, m, k), dtype), ((*batch, n, k), dtype), info], a, vectors=(2,),
                 full_matrices=False, compute_uv=True, check=lambda o, t, f=singular: f(o, t, adjoint))
        if m != n:
            continue
        host = np.asarray(a)
        host = (host @ adjoint(host) + np.eye(n)).astype(dtype)
        a = ops.put(host)
        both(what, "cusolver_potrf_ffi", [square, info], a, lower=True, check=lambda o, t, d=dtype: close(np.tril(o[0]), np.tril(t[0]), d))

        def eigenvalues(ours, theirs, a=a, r=r):
            close(ours[1], theirs[1], r)
            check_eigh(a, ours[0], ours[1], "")

        for algorithm in range(3):
            both(f"{what}, {algorithm}", "cusolver_syevd_ffi", [square, values, info], a, vectors=(2,), lower=True,
                 algorithm=np.uint8(algorithm), check=eigenvalues)
        beside = (*batch, n - 1)
        both(what, "cusolver_sytrd_ffi", [square, values, (beside, r), (beside, dtype), info], a, vectors=(2, 3, 4), lower=True,
             check=lambda o, t, d=dtype: close(np.abs(o[2]), np.abs(t[2]), d))
        both(what, "cusolver_geev_ffi", [square, ((*batch, n), np.result_type(dtype, 1j)), square, square, info], a, vectors=(2,), left=False,
             right=True, check=lambda o, t, r=r: close(np.sort(np.abs(o[1])), np.sort(np.abs(t[1])), r))
    both("", "cu_lu_pivots_to_permutation", [((2, 5), np.int32)], ops.put(np.array([[2, 2, 3], [1, 1, 2]], np.int32)), vectors=(0, 1),
         check=lambda o, t: np.testing.assert_array_equal(o[0], t[0]))
    tally.end()
