"""The ops library under JAX: its handlers as targets, for the checks and the benchmarks."""

import ctypes
import os
import sys
import tempfile

import jax


def capsule(pointer):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(pointer, None, None)


class Library:
    """The ops library, by its path (the one that tools/ops-lib/build.sh prints)."""

    def __init__(self, path):
        self.handler = ctypes.CDLL(path).xlaffi_handler
        self.handler.restype = ctypes.c_void_p
        self.handler.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
        self.factor_length = ctypes.CDLL(path).xlaffi_sparse_factor_length
        self.factor_length.restype = ctypes.c_int64
        self.factor_length.argtypes = [ctypes.c_int64] + 2 * [ctypes.POINTER(ctypes.c_int32)]

    def find(self, target, platform="cpu"):
        """A target's handler, ready for JAX, or None."""
        names = [None if name is None else name.encode() for name in (target, platform)]
        pointer = self.handler(*names)
        return None if pointer is None else capsule(pointer)

    def sparse_factor_length(self, n, colptr, rowind):
        """How many elements `sparse_cholesky` gives for a symmetric pattern, NumPy arrays of int32."""
        pointers = (x.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)) for x in (colptr, rowind))
        return self.factor_length(n, *pointers)

    def register(self, target, prefix="", platform="cpu"):
        """Registers a target under its name after `prefix`, which it returns."""
        handler = self.find(target, platform)
        assert handler, f"the library has no {target}"
        name = f"{prefix}{target}"
        jax.ffi.register_ffi_target(name, handler, platform="CUDA" if platform == "cuda" else platform)
        return name


def register_peer(library, symbol):
    """Registers a handler that another library exports, under its own name."""
    handler = ctypes.cast(getattr(ctypes.CDLL(library), symbol), ctypes.c_void_p)
    jax.ffi.register_ffi_target(symbol, capsule(handler.value), platform="cpu")
    return symbol


def column_major(rank):
    """JAX's order (major to minor) of a batch of column-major matrices."""
    return (*range(rank - 2), rank - 1, rank - 2)


def captured(action):
    """What `action` writes to the process's standard output, also from native code."""
    sys.stdout.flush()
    with tempfile.TemporaryFile() as file:
        kept = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            action()
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        return file.read().decode()


def own_kernel(path, name, signature, body, dtypes="", support="", header="", index="i", over="", grid="", block="", shared=""):
    """Registers an op of one's own with this kernel for CUDA as a target; see `xlaffi_kernel` in crates/ops-lib."""
    make = ctypes.CDLL(path).xlaffi_kernel
    make.restype = ctypes.c_void_p
    make.argtypes = [ctypes.c_char_p] * 3 + [ctypes.POINTER(ctypes.c_char_p)]
    parts = [body, support, header, index, over, grid, block, shared]
    pointer = make(name.encode(), signature.encode(), dtypes.encode(), (ctypes.c_char_p * 8)(*(part.encode() for part in parts)))
    assert pointer, f"{name}: no kernel"
    jax.ffi.register_ffi_target(name, capsule(pointer), platform="CUDA")
    return name
