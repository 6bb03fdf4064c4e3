"""Ops of one's own with a kernel for CUDA."""

import itertools
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from handlers import own_kernel
from ops import Tally


def own(target, *operands, results, aliases=None, **attributes):
    """A target of one's own, on arrays by rows; `results` are shapes and dtypes. The error, where there are none."""
    types = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in results]
    call = jax.ffi.ffi_call(target, types, input_output_aliases=aliases)
    try:
        return jax.block_until_ready(jax.jit(lambda *operands: call(*operands, **attributes))(*operands))
    except Exception as error:
        return [error] * len(types)


def part_own(ops):
    """Ops of one's own with a kernel: dtypes, batches, blocks, scratch memory, attributes, errors, elementwise."""
    root = pathlib.Path(__file__).resolve().parents[2]
    header = (root / "inst/include/xlaffi.h").read_text()
    rng = np.random.default_rng(8)

    def kernel(name, signature, body, **more):
        return own_kernel(ops.path, f"own.{name}", signature, body, header=header, **more)

    tally = Tally()

    def same(got, expected, what, tolerance=0.0):
        with tally.case(what):
            if isinstance(got, Exception):
                raise got
            got, expected = np.asarray(got), np.asarray(expected)
            assert got.shape == expected.shape and got.dtype == expected.dtype, (got.shape, got.dtype)
            wide = np.result_type(expected.dtype, np.float64) if expected.dtype.kind in "fc" else expected.dtype
            wide = np.float64 if expected.dtype == jnp.bfloat16 else wide
            off = ~np.isclose(got.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance)
            assert not off.any(), f"{off.sum()} of {off.size} elements, first at {np.argwhere(off)[:1].tolist()}"

    # A kernel for each dtype; more elements than threads of a block, and than blocks reach at once.
    names = {"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "ui8": "uint8", "ui16": "uint16", "ui32": "uint32",
             "ui64": "uint64", "f32": "float32", "f64": "float64"}
    times = kernel("times", "x: T[n], y: T[] -> z: T[n]", "z[i] = x[i] * *y;", dtypes=f"T={','.join(names)}")
    for dtype, n in itertools.product(names.values(), (1, 257, 70_001)):
        x = rng.integers(0, 10, n).astype(dtype)
        z = own(times, ops.put(x), ops.put(np.asarray(3, dtype)), results=[((n,), dtype)])
        same(z[0], x * np.asarray(3, dtype), f"times {dtype} {n}")
    x = rng.standard_normal(300_000_000 // 8).astype(np.float32)
    same(own(times, ops.put(x), ops.put(np.float32(2)), results=[(x.shape, x.dtype)])[0], 2 * x, "times, large")
    half = kernel("half", "x: f16[n], y: bf16[n] -> z: f16[n], w: bf16[n]",
                  "z[i] = xlaffi_to_f16(2 * xlaffi_from_f16(x[i])); w[i] = xlaffi_to_bf16(2 * xlaffi_from_bf16(y[i]));")
    x, y = rng.standard_normal(1000).astype(np.float16), jnp.asarray(rng.standard_normal(1000), jnp.bfloat16)
    z, w = own(half, ops.put(x), ops.put(y), results=[((1000,), np.float16), ((1000,), jnp.bfloat16)])
    same(z, 2 * x, "f16")
    same(w, np.asarray(y + y), "bf16")
    swap = kernel("swap", "x: T[n], p: pred[n] -> z: T[n]", "z[i].x = p[i] ? x[i].y : x[i].x; z[i].y = p[i] ? x[i].x : x[i].y;", dtypes="T=c64,c128")
    for dtype in (np.complex64, np.complex128):
        x, p = (rng.standard_normal(99) + 1j * rng.standard_normal(99)).astype(dtype), rng.random(99) < 0.5
        z = own(swap, ops.put(x), ops.put(p), results=[((99,), dtype)])[0]
        same(z, np.where(p, x.imag + 1j * x.real, x).astype(dtype), f"swap {dtype}")

    # Batches that broadcast, in one launch.
    affine = kernel("affine", "x: f64[..., n], w: f64[n], c: f64[...] -> y: f64[..., n]", "y[i] = x[i] * w[i] + *c;")
    for shape in ((7, 3, 5), (70_000, 3), (2, 1, 1)):
        x, w = rng.standard_normal(shape), rng.standard_normal(shape[-1])
        for c in (rng.standard_normal(shape[:-1]), rng.standard_normal(shape[-2:-1]), rng.standard_normal(())):
            y = own(affine, *(ops.put(a) for a in (x, w, c)), results=[(shape, np.float64)])[0]
            same(y, x * w + np.asarray(c)[..., None], f"affine {shape} {np.shape(c)}", 1e-14)

    # A block for each element of the batch, with shared memory of both kinds, and barriers.
    rms = kernel("rms", "x: T[..., n]; eps: f64 = 0 -> y: T[..., n]", """
        extern __shared__ char memory[];
        T *part = (T *) memory;
        T sum = 0;
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) sum += x[j] * x[j];
        part[threadIdx.x] = sum;
        __syncthreads();
        for (int left = blockDim.x / 2; left > 0; left /= 2) {
          if (threadIdx.x < left) part[threadIdx.x] += part[threadIdx.x + left];
          __syncthreads();
        }
        const T scale = 1 / sqrt(part[0] / n + (T) eps);
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) y[j] = x[j] * scale;""", grid="1", block="256", shared="8*256")
    for shape, dtype in itertools.product(((), (5,), (70_000,), (2, 3)), (np.float32, np.float64)):
        x = rng.standard_normal((*shape, 37)).astype(dtype)
        y = own(rms, ops.put(x), results=[(x.shape, dtype)], eps=np.float64(0.5))[0]
        expected = (x / np.sqrt(np.mean(x.astype(np.float64) ** 2, -1, keepdims=True) + 0.5)).astype(dtype)
        same(y, expected, f"rms {shape} {dtype}", 1e-5 if dtype == np.float32 else 1e-13)

    # Grids that follow from dimensions, scratch memory, attributes, arrays in place.
    transpose = kernel("transpose", "x: i32[m, n] -> y: i32[n, m]", """
        const int64_t column = blockIdx.x * blockDim.x + threadIdx.x;
        if (column < n) y[column * m + blockIdx.y] = x[blockIdx.y * n + column];""", grid="(n + 31)/32,m", block="32")
    x = rng.integers(0, 1000, (33, 70)).astype(np.int32)
    same(own(transpose, ops.put(x), results=[((70, 33), np.int32)])[0], x.T, "transpose")
    back = kernel("back", "x: f64[..., n] -> y: f64[..., n] ; old: f64[n]", """
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) old[j] = x[j];
        __syncthreads();
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) y[j] = old[n - 1 - j];""", grid="1", block="64")
    x = rng.standard_normal((70_000, 33))
    same(own(back, ops.put(x), results=[(x.shape, np.float64)])[0], x[:, ::-1], "scratch memory")
    taps = kernel("taps", "x: f64[n]; h: f64[p], mode: str = \"plain\" -> y: f64[n]", """
        y[i] = mode_length;
        for (int64_t j = 0; j < p && j <= i; j++) y[i] += h[j] * x[i - j];""")
    x, h = rng.standard_normal(500), np.array([1.0, -2.0, 0.5])
    same(own(taps, ops.put(x), results=[((500,), np.float64)], h=h)[0], 5 + np.convolve(x, h)[:500], "attributes", 1e-13)
    add = kernel("add", "x: f64[n], y: f64[n] -> x: f64[n]", "x[i] += y[i];")
    for aliases in (None, {0: 0}):
        given = ops.put(x)
        z = own(add, given, ops.put(x), results=[((500,), np.float64)], aliases=aliases)[0]
        same(z, 2 * x, f"in place {aliases}")
        same(given, x, "the operand stays")

    # Errors, and calls after them.
    roots = kernel("roots", "x: f64[..., n] -> y: f64[..., n]", """
        if (x[i] < 0) FAIL_WITH(XLAFFI_OUT_OF_RANGE, "x[%lld] is %g", i, x[i]);
        y[i] = sqrt(x[i]);""")
    x = np.ones((300, 1000))
    x[123, 456] = -2.5
    with tally.case("an error"):
        error = own(roots, ops.put(x), results=[(x.shape, x.dtype)])[0]
        assert "x[456] is -2.5 (element 124 of the batch of 300)" in str(error), error
    same(own(roots, ops.put(x**2), results=[(x.shape, np.float64)])[0], np.abs(x), "after an error")

    # What ffi_elementwise() makes of an expression.
    head, text = (root / "tools/gpu/elementwise.cu").read_text().split("\n", 1)
    support, body = text.split("// kernel\n")
    distance = kernel("distance", head.removeprefix("// "), body, support=support)
    for dtype in (np.float32, np.float64):
        x, y = rng.standard_normal((100, 1000)).astype(dtype), rng.standard_normal(100).astype(dtype)
        z = own(distance, ops.put(x), ops.put(y), results=[(x.shape, dtype)])[0]
        d = x.astype(np.float64) - y[:, None]
        expected = np.where(np.abs(d) < 1, d**2 / 2, np.abs(d) - 0.5) + np.exp(-np.minimum(x, 1)) + np.sign(y)[:, None]
        same(z, expected.astype(dtype), f"elementwise {dtype}", 1e-5 if dtype == np.float32 else 1e-13)
    tally.end()
