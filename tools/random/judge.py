"""What must hold of results: every function notes complaints, by matrix, in a Verdict."""

import numpy as np
from matrices import adjoint, eps, eye, norm, subnormal, wide

# Errors are counted in max(m, n) eps ‖A‖; LAPACK's own tests allow 30 in a norm that is no larger.
ALLOWED = 30.0


class Verdict:
    """Complaints about a batch: name of the rule, the matrices that break it, how far."""

    def __init__(self, batch, skip):
        self.batch = batch
        # Matrices with NaN or an infinity have rules of their own.
        self.spoiled = skip
        self.good = ~skip
        self.complaints = []

    def require(self, rule, holds, figure=None, where=None):
        where = self.good if where is None else where
        bad = where & ~np.broadcast_to(holds, self.batch)
        for at in np.argwhere(bad):
            at = tuple(int(i) for i in at)
            value = None if figure is None else float(np.broadcast_to(figure, self.batch)[at])
            self.complaints.append((rule, at, value))

    def small(self, rule, difference, scale, n, dtype, allowed=ALLOWED, where=None):
        """Each matrix of `difference` is below `allowed` n eps `scale`."""
        unit = max(n, 1) * (eps(dtype) * scale + subnormal(dtype))
        ratio = norm(difference) / unit
        self.require(rule, ratio <= allowed, ratio, where)

    def equal(self, rule, product, a, n, scale=None, allowed=ALLOWED, where=None):
        self.small(rule, product - wide(a), norm(a) if scale is None else scale, n, a.dtype, allowed, where)

    def orthonormal(self, rule, q, dtype, where=None):
        columns = q.shape[-1]
        gram = adjoint(wide(q)) @ wide(q)
        self.small(rule, gram - eye(gram, columns), np.longdouble(1), max(q.shape[-2:]), dtype, where=where)

    def all_nan(self, rule, *results):
        """Matrices that were spoiled have NaN in all of their results."""
        lead = len(self.batch)
        for i, a in enumerate(results):
            axes = tuple(range(lead, a.ndim))
            self.require(f"{rule} {i}", np.isnan(a).all(axes) if a.size else True, where=self.spoiled)

    def as_finite_as(self, results, peers):
        """Where jaxlib's results are numbers, so are ours; gives back where ours are."""
        lead = len(self.batch)

        def finite(arrays):
            found = np.ones(self.batch, bool)
            for a in arrays:
                if a.dtype.kind in "fc":
                    found &= np.isfinite(a).all(tuple(range(lead, a.ndim)))
            return found

        ours = finite(results)
        self.require("finite where jaxlib is", ours | ~finite(peers))
        self.good = self.good & ours


def descending(s):
    return (np.diff(s, axis=-1) <= 0).all(-1) & (s >= 0).all(-1)


def ascending(w):
    return (np.diff(w, axis=-1) >= 0).all(-1)


def spoiled(a, allowed=None):
    """Which matrices have NaN or an infinity at a place that is read."""
    bad = ~np.isfinite(a)
    if allowed is not None:
        bad = bad & allowed
    return bad.any((-1, -2))


def first_bad_minor(a, dtype):
    """Cholesky's steps in wide numbers: order of the first minor that is not positive definite (0 for
    none), and whether rounding may have decided it."""
    a = np.array(a)
    n = a.shape[-1]
    batch = a.shape[:-2]
    info = np.zeros(batch, int)
    close = np.zeros(batch, bool)
    top = np.abs(a).max((-1, -2), initial=0)
    for j in range(n):
        pivot = a[..., j, j].real
        # With elements of very different sizes the diagonal itself says what rounding is.
        near = np.abs(pivot) <= 1e-4 * top + 1e4 * n * subnormal(dtype)
        close |= (info == 0) & near
        info = np.where((info == 0) & ~(pivot > 0), j + 1, info)
        safe = np.where(pivot > 0, pivot, 1)
        column = a[..., j + 1 :, j]
        update = column[..., :, None] * np.conj(column)[..., None, :] / safe[..., None, None]
        a[..., j + 1 :, j + 1 :] = a[..., j + 1 :, j + 1 :] - update
    return info, close
