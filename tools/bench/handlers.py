"""What the Python benchmarks share: handlers of a library as targets of JAX."""

import ctypes

import jax


def capsule(pointer):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(pointer, None, None)


class Ours:
    """The ops library, by its path (the one that tools/ops-lib/build.sh prints)."""

    def __init__(self, path):
        self.find = ctypes.CDLL(path).xlaffi_handler
        self.find.restype = ctypes.c_void_p
        self.find.argtypes = [ctypes.c_char_p, ctypes.c_char_p]

    def register(self, target):
        """Registers a target as `xlaffi_<target>`, which it returns."""
        pointer = self.find(target.encode(), b"host")
        assert pointer, f"the library has no {target}"
        name = f"xlaffi_{target}"
        jax.ffi.register_ffi_target(name, capsule(pointer), platform="cpu")
        return name


def register_peer(library, symbol):
    """Registers a handler that a library exports, under its own name."""
    handler = ctypes.cast(getattr(ctypes.CDLL(library), symbol), ctypes.c_void_p)
    jax.ffi.register_ffi_target(symbol, capsule(handler.value), platform="cpu")
    return symbol
