"""What an op is to run.py, and the XLA program that calls it beside jaxlib's."""

import sys
from pathlib import Path

import jax
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "ops-lib"))
from handlers import column_major  # noqa: E402

I32 = np.int32
DTYPES = (np.float32, np.float64, np.complex64, np.complex128)
LETTERS = {np.float32: "s", np.float64: "d", np.complex64: "c", np.complex128: "z"}
PREFIX = "xlaffi_"


def letter(text):
    return np.uint8(ord(text))


class Picked(dict):
    """What was chosen for one program: its dtype, sizes and attributes, by name."""

    __getattr__ = dict.__getitem__


class Op:
    """One op. `choose` draws sizes and attributes, `operands` arrays for a batch, `check` judges."""

    name = None  # the class's name in lower case
    complex_name = None  # of LAPACK's routine
    lapack = False  # jaxlib's name, operands and results; jaxlib's own runs beside it
    peer = None  # jaxlib's routine that has to be as finite, with its info as a further result
    aliases = {0: 0}
    dtypes = DTYPES
    finite_beside_peer = True

    def attributes(self, p):
        return {}

    def nan(self, p, ins):
        """Which matrices have to become NaN."""
        return np.zeros(ins[0].shape[: ins[0].ndim - (1 if self.vectors(p) or ins[0].ndim < 2 else 2)], bool)

    def can_alias(self, p):
        """Whether the operands of `aliases` have the shapes of their results."""
        return True

    def vectors(self, p):
        """Whether the first operand has vectors, not matrices."""
        return False

    def routine(self, dtype):
        own = self.name or type(self).__name__.lower()
        return self.complex_name if self.complex_name and np.dtype(dtype).kind == "c" else own

    def target(self, dtype):
        if self.lapack:
            return f"lapack_{LETTERS[dtype]}{self.routine(dtype)}_ffi"
        return self.name or type(self).__name__.lower()

    def peer_target(self, dtype):
        if self.lapack:
            return self.target(dtype)
        return self.peer and f"lapack_{LETTERS[dtype]}{self.peer}_ffi"

    def peer_results(self, p, batch):
        results = self.results(p, batch)
        return results if self.lapack else [*results, (batch, I32)]

    def peer_attributes(self, p):
        return self.attributes(p)

    def harmless(self, p, ins):
        """Operands for jaxlib's handler: nothing that is not finite where it reads."""
        return [np.where(np.isfinite(a), a, 1).astype(a.dtype) if a.dtype.kind in "fc" else a for a in ins]


def call(target, prefix, op, p, batch, operands, results, attributes, alias):
    lead = len(batch)

    def layout(shape):
        return column_major(len(shape)) if len(shape) >= lead + 2 else tuple(range(len(shape)))

    return jax.ffi.ffi_call(
        prefix + target,
        [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in results],
        input_layouts=[layout(a.shape) for a in operands],
        output_layouts=[layout(shape) for shape, _ in results],
        input_output_aliases=op.aliases if alias else {},
    )(*operands, **attributes)


def program(op, p, batch, alias, transposed, with_peer):
    """A compiled function of our operands and jaxlib's, which gives both's results."""

    def turned(arrays):
        # Operands that the program itself makes have other layouts than arguments.
        return [a.swapaxes(-1, -2) if transposed and a.ndim >= len(batch) + 2 else a for a in arrays]

    def run(ins, peer_ins):
        ours = call(
            op.target(p.dtype), PREFIX, op, p, batch, turned(ins), op.results(p, batch), op.attributes(p), alias
        )
        if not with_peer:
            return ours, []
        theirs = call(
            op.peer_target(p.dtype), "", op, p, batch, turned(peer_ins), op.peer_results(p, batch),
            op.peer_attributes(p), op.lapack,
        )
        return ours, theirs

    compiled = jax.jit(run)

    def of(ins, peer_ins):
        given = [turned([np.ascontiguousarray(np.asarray(a)) for a in arrays]) for arrays in (ins, peer_ins)]
        given = [[np.ascontiguousarray(a) for a in arrays] for arrays in given]
        kept = [a.tobytes() for a in given[0]]
        ours, theirs = compiled(*given)
        ours, theirs = [np.asarray(a) for a in ours], [np.asarray(a) for a in theirs]
        same = all(a.tobytes() == b for a, b in zip(given[0], kept))
        return ours, theirs, same

    return of
