"""Runs the handlers of examples/handlers.rs under a real XLA, and answers what came of it."""

import ctypes
import gc
import sys

import numpy as np

import jax
import jax.numpy as jnp
import ml_dtypes

jax.config.update("jax_enable_x64", True)
library = ctypes.CDLL(sys.argv[1])
library.handler_of.restype = ctypes.c_void_p
library.handler_of.argtypes = [ctypes.c_char_p]


def register(name):
    pointer = ctypes.cast(library.handler_of(name.encode()), ctypes.CFUNCTYPE(ctypes.c_void_p))
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(pointer), platform="cpu")


def failure(run):
    try:
        run()
    except Exception as error:
        return str(error).splitlines()[0]
    raise AssertionError("no error")


def check(what, got, want):
    if got != want:
        raise AssertionError(f"{what}:\n got  {got!r}\n want {want!r}")


# XLA asks for the version here: a refused handler raises.
for target in ("axpy", "fail", "tell", "doubled"):
    register(target)

for dtype in (jnp.float32, jnp.float64, jnp.complex64, jnp.complex128):
    x, y = jnp.arange(100000, dtype=dtype).reshape(100, 1000), jnp.ones((100, 1000), dtype)
    spec = jax.ShapeDtypeStruct(x.shape, dtype)
    for aliases in ({}, {1: 0}):
        call = jax.ffi.ffi_call("axpy", spec, input_output_aliases=aliases)
        got = jax.jit(lambda x, y: call(x, y, repeat=np.int32(3)))(x, y)
        np.testing.assert_array_equal(got, 3 * np.asarray(x) + np.asarray(y))
    np.testing.assert_array_equal(y, np.ones((100, 1000)), "an argument was written")
empty = jnp.ones((0, 3))
call = jax.ffi.ffi_call("axpy", jax.ShapeDtypeStruct((0, 3), empty.dtype))
check("empty", jax.jit(call)(empty, empty).shape, (0, 3))

x = jnp.ones(2, jnp.int32)
call = jax.ffi.ffi_call("axpy", jax.ShapeDtypeStruct((2,), jnp.int32))
want = "INVALID_ARGUMENT: axpy: argument `x` must be f32, f64, c64 or c128, got i32"
check("dtype", failure(lambda: call(x, x)), want)
want = "INVALID_ARGUMENT: axpy: expected 2 arguments (`x`, `y`), got 1"
check("count", failure(lambda: call(x)), want)
x = jnp.ones(2)
call = jax.ffi.ffi_call("axpy", jax.ShapeDtypeStruct((2,), x.dtype))
want = "INVALID_ARGUMENT: axpy: attribute `repeat` must be a scalar i32, got a scalar i64"
check("attribute", failure(lambda: call(x, x, repeat=np.int64(3))), want)

x = jnp.ones(2, jnp.float32)
fail = jax.ffi.ffi_call("fail", jax.ShapeDtypeStruct((2,), jnp.float32))
check("fine", fail(x, how="not").tolist(), [1, 1])
want = "INVALID_ARGUMENT: fail: argument `x` is not to be had"
check("error", failure(lambda: fail(x, how="error")), want)
want = "INTERNAL: fail: panicked: a panic in Rust"
check("panic", failure(lambda: fail(x, how="panic")), want)
check("fine again", fail(x, how="not").tolist(), [1, 1])

tell = jax.ffi.ffi_call("tell", jax.ShapeDtypeStruct((400,), jnp.uint8))
args = (jnp.array([True, False]), jnp.int8(-1), jnp.zeros((1, 0)), jnp.array([1.5], jnp.bfloat16))
attrs = dict(
    flag=True, text="é", ints=np.array([1, 2], np.int16), table={"a": np.float32(1)}, c=1.0
)
text = bytes(np.asarray(tell(*args, **attrs))).decode().strip()
head, threads = text.rsplit("threads=", 1)
want = (
    "pred[2][1, 0] i8[][255] f64[1, 0][] bf16[1][192, 63] c=a scalar f64 flag=a scalar pred "
    "ints=an array of i16 table=a dictionary text=a string device=0 "
)
check("told", head, want)
check("threads", int(threads) >= 1, True)

# Completed when its handler has long returned; a call of the result waits for it.
call = jax.ffi.ffi_call("doubled", jax.ShapeDtypeStruct((1000,), jnp.float64))
x = jnp.arange(1000.0)
np.testing.assert_array_equal(jax.jit(lambda x: call(call(x)) + 1)(x), 4 * np.arange(1000.0) + 1)
want = "INVALID_ARGUMENT: doubled: was told to fail"
check("later error", failure(lambda: call(x, fails=True).block_until_ready()), want)

# One function for all stages; the state is made with the program and goes with it.
sums = ctypes.cast(library.handler_of(b"sums"), ctypes.CFUNCTYPE(ctypes.c_void_p))
sums = jax.ffi.pycapsule(sums)
stages = {stage: sums for stage in ("instantiate", "initialize", "execute")}
jax.ffi.register_ffi_target("sums", stages, platform="cpu")
call = jax.ffi.ffi_call("sums", jax.ShapeDtypeStruct((3,), jnp.int64))
x = jnp.array([10], jnp.int64)
program = jax.jit(lambda x: call(x, steps=np.array([1, 2, 3]))).lower(x).compile()
check("states", library.states(), 1)
check("sums", [program(x).tolist() for _ in range(2)], [[11, 13, 16]] * 2)
check("states", library.states(), 1)
want = "INVALID_ARGUMENT: sums: there are no steps"
empty = jax.jit(lambda x: call(x, steps=np.array([], np.int64)))
check("no state", want in failure(lambda: empty(x)), True)
del program
jax.clear_caches()
gc.collect()
check("states", library.states(), 0)

library.unregister(b"fail")
want = (
    "FAILED_PRECONDITION: custom call target `fail` (platform host) was unregistered (it belonged "
    "to handlers); register it again before running programs that call it"
)
check("unregistered", failure(lambda: fail(x, how="not")), want)
# The table of element types against numpy, ml_dtypes and what jaxlib hands out by DLPack.
tensor_of = ctypes.pythonapi.PyCapsule_GetPointer
tensor_of.restype, tensor_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
compared = 0
for row in sys.argv[2:]:
    name, bits, size, code = row.split(" ")
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    check(name, dtype.itemsize, int(size))
    if name.lstrip("uint") in ("1", "2", "4"):
        continue  # jaxlib has no DLPack for integers below 8 bits
    capsule = jnp.zeros(3, dtype).__dlpack__()
    # `code` and `bits` come after a pointer and three 32-bit numbers.
    described = ctypes.string_at(tensor_of(capsule, b"dltensor") + 20, 2)
    check(f"DLPack's {name}", list(described), [int(code), int(bits)])
    compared += 1
check("types compared", compared, len(sys.argv) - 2 - 6)
print("jaxlib", jax.lib.__version__, "ok")
