#!/usr/bin/env python3
"""Times of the kernels for LU and eigenvalues, and thousands of cycles of their phases, by CuPy on a GPU.

    tools/gpu/phases.py [--texts]

They are compiled from crates/cuda/src/kernels with clocks between the phases of the first block, and without. --texts only
looks whether the places for the clocks are still there, which needs no GPU.
"""

import pathlib
import sys
from concurrent.futures import ThreadPoolExecutor

KERNELS = pathlib.Path(__file__).parents[2] / "src/rust/crates/cuda/src/kernels"
TYPES = {"f32": "f32, float", "f64": "f64, double"}
MOST = 226 << 10  # bytes of shared memory
CLOCK = """
__device__ long long phases[16], last_clock;
#define CLOCK(i) if (threadIdx.x == 0 && threadIdx.y == 0 && blockIdx.x == 0) { \\
  long long now = clock64(); phases[i] += now - last_clock; last_clock = now; }
"""
# Where a phase ends: the text, and whether the clock comes behind it.
LU = {
    "begin": ("    T *a = all + b * m * n;\n", True),
    "scan": ("    int zero = 0;\n    // What is not finite", False),
    "factor": ("  // A thread's own row, to its place", False),
    "move": ("  LOOP (int c = (int)threadIdx.y * EXCHANGES", False),
    "exchange": ("  LOOP (int c = thread; c < right", False),
    "solve": ("  EACH_COLUMN(c, right)", False),
    "update": ("  return zero;\n}\n\n// Shared memory", False),
}
EIGH = {
    "begin": ("    R *values = all_values + b * n", False),
    "scan": ("    int power = power_in(most), failed = NOT_FINITE;\n", True),
    "load": ("      reduce<N>(", False),
    "reduce": ("      Tridiagonal<R> t = {", False),
    "leaves": ("    prepare(t, parts);\n", False),
    "prepare": ("    EACH_COLUMN(i, parts) if (threadIdx.x == 0) deflate(", False),
    "deflate": ("    rotate(t, parts);\n", False),
    "rotate": ("    found &= roots(", False),
    "roots": ("    exact_weights(t, parts, lanes);\n", False),
    "weights": ("    vectors_of_roots(t, parts);\n", False),
    "vectors": ("    finish(t, parts);\n", False),
    "product": ("    R *other = t.q;\n", False),
    "back": ("        EACH_OF(i, n) values[i] = ", False),
}


def read(*files):
    return "".join((KERNELS / file).read_text() for file in files)


def with_clocks(text, places):
    for number, (phase, (place, behind)) in enumerate(places.items()):
        if text.count(place) != 1:
            sys.exit(f"phases.py: the place for the clock of {phase} is there {text.count(place)} times")
        clock = f"  __syncthreads(); CLOCK({number})\n"
        text = text.replace(place, place + clock if behind else clock + place)
    return CLOCK + text


def lu_text(kind, clocks):
    text = read("lu.cu")
    return f"#define ELEMENT {TYPES[kind]}\n" + read("types.cu", "arithmetic.cu", "blocks.cu") + (with_clocks(text, LU) if clocks else text)


def eigh_text(kind, order, clocks):
    text = read("eigh_reduce.cu", "eigh_merge.cu", "eigh_secular.cu", "eigh_leaf.cu", "eigh.cu")
    text = read("types.cu", "arithmetic.cu", "blocks.cu") + (with_clocks(text, EIGH) if clocks else text)
    return f"{text}EIGH_KERNEL({order}, {TYPES[kind]})\n"


def order_of(n):
    return next(order for order in (64, 128, 256) if n <= order)


class Case:
    """A kernel on a batch: as crates/cuda has its arguments and its shared memory."""

    def __init__(self, kind, count, n):
        self.kind, self.count, self.n = kind, count, n
        rng = np.random.default_rng(1)
        x = rng.standard_normal((count, n, n)).astype({"f32": np.float32, "f64": np.float64}[kind])
        self.a = cp.asarray(x + x.transpose(0, 2, 1))
        self.size = x.dtype.itemsize

    def lu(self):
        n, place = self.n, self.a.copy()
        pivots = cp.zeros((self.count, n), np.int32)
        stride, most = (n + 7) // 8 * 8 + 4, 32
        fits = lambda width: ((most + n + stride) * width + most) * self.size + 12 * width <= MOST
        width = next(width for width in (32, 16, 8) if fits(width))
        shared = ((most + n + stride) * width + most) * self.size + 12 * width
        arguments = (place, pivots, np.int64(0), *(np.int64(x) for x in (self.count, n, n, width)))
        return f"lu_{self.kind}", min(16, -(-n // 16)), shared, arguments, lambda: cp.copyto(place, self.a)

    def eigh(self):
        n, size = self.n, self.size
        most, warps = (MOST // 2 - 2048, 8) if n <= 64 else (MOST, 16)
        stride, rows = n | 1, n * (12 * size + 32)
        columns = min(n, (most - rows) // (stride * size))
        left = most - rows - columns * stride * size
        near = min(3, left // (n * n * size)) if columns == n else 0
        far = ((n - columns) * stride + (3 - near) * n * n) * size
        far = -(-far // 16) * 16
        results = cp.zeros_like(self.a), cp.zeros((self.count, n), self.a.dtype)
        scratch = cp.zeros(max(1, far * self.count), np.uint8)
        sizes = (np.int64(x) for x in (far, self.count, n, stride, columns, near, 1))
        arguments = (self.a, *results, np.int64(0), scratch, *sizes)
        shared = rows + columns * stride * size + near * n * n * size
        return f"eigh_{order_of(n)}_{self.kind}", warps, shared, arguments, lambda: None


def launched(module, case, op):
    name, warps, shared, arguments, prepare = getattr(case, op)()
    kernel = module.get_function(name)
    kernel.max_dynamic_shared_size_bytes = MOST
    prepare()
    start, end = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    kernel((case.count,), (32, warps), arguments, shared_mem=shared)
    end.record()
    end.synchronize()
    return cp.cuda.get_elapsed_time(start, end) * 1e3


def told(modules, case, op):
    key = (op, case.kind) if op == "lu" else (op, case.kind, order_of(case.n))
    times = sorted(launched(modules[(*key, False)], case, op) for _ in range(7))
    clocked = modules[(*key, True)]
    launched(clocked, case, op)
    phases = cp.ndarray((16,), np.int64, clocked.get_global("phases"))
    phases[:] = 0
    launched(clocked, case, op)
    places = LU if op == "lu" else EIGH
    cycles = ", ".join(f"{name} {int(x) // 1000}" for name, x in list(zip(places, phases.get()))[1:])
    print(f"{op} {case.kind} {case.count} x {case.n}: {times[3]:.1f} us; {cycles}", flush=True)


def main():
    texts = {("lu", kind, clocks): lu_text(kind, clocks) for kind in TYPES for clocks in (False, True)}
    texts |= {("eigh", kind, order, clocks): eigh_text(kind, order, clocks) for kind in TYPES for order in (64, 128, 256) for clocks in (False, True)}
    if "--texts" in sys.argv:
        return

    def made(item):
        module = cp.RawModule(code=item[1], options=("--std=c++17",))
        module.compile()
        return item[0], module

    with ThreadPoolExecutor(16) as pool:
        modules = dict(pool.map(made, texts.items()))
    for kind in TYPES:
        for count, n in [(1, 64), (200, 64), (5_000, 64), (1, 128), (20, 128), (500, 128), (1, 256), (20, 256), (300, 256)]:
            told(modules, Case(kind, count, n), "lu")
        for count, n in [(200, 33), (1, 64), (200, 64), (20, 96), (20, 128), (500, 128), (20, 256), (300, 256)]:
            told(modules, Case(kind, count, n), "eigh")


if __name__ == "__main__":
    if "--texts" not in sys.argv:
        import cupy as cp
        import numpy as np
    main()
