"""Kepler's equation for 2 million points: our `kepler`, a plain Newton loop in C++, and pure JAX.

    kepler.py LIBRARY     (the path that tools/ops-lib/build.sh prints)

All are programs on XLA CPU, run in turn; so is a copy of the arrays, which nothing can beat. Once
on one thread, once on all. Writes results-kepler.md. Needs jax and a C++ compiler.
"""

import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "ops-lib"))
POINTS, WARM, ROUNDS = 2_000_000, 6, 15
NAMES = {"xlaffi": "xlaffi (Rust)", "cpp": "Newton loop in C++", "jax": "pure JAX", "copy": "copy of the arrays"}


def pure_jax(jnp, m, e):
    """Markley's starter (1995), then Halley's method, as often as the type needs."""
    m = m - 2 * jnp.pi * jnp.round(m / (2 * jnp.pi))
    a, w = jnp.abs(m), 1 - e
    alpha = (3 * jnp.pi**2 + 1.6 * jnp.pi * (jnp.pi - a) / (1 + e)) / (jnp.pi**2 - 6)
    d = 3 * w + alpha * e
    q = 2 * alpha * d * w - a * a
    r = 3 * alpha * d * (d - w) * a + a**3
    z = jnp.cbrt(r + jnp.sqrt(q**3 + r * r)) ** 2
    x = (2 * r * z / (z * z + z * q + q * q) + a) / d
    for _ in range(2 if m.dtype == jnp.float64 else 1):
        s, c = e * jnp.sin(x), e * jnp.cos(x)
        f = x - s - a
        x = x - f / (1 - c - 0.5 * f * s / (1 - c))
    return jnp.sign(m) * jnp.sin(x), jnp.cos(x)


def measure(path, peer):
    """Nanoseconds per point, in the process that runs it: {dtype: {who: [times]}}."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from handlers import Library, register_peer

    jax.config.update("jax_enable_x64", True)
    ours = Library(path).register("kepler", "xlaffi_")
    random = np.random.default_rng(1)
    mean, ecc = random.uniform(0, 2 * np.pi, POINTS), random.uniform(0, 0.9, POINTS)
    result = {}
    for dtype in ("float64", "float32"):
        m, e = jnp.asarray(mean, dtype), jnp.asarray(ecc, dtype)
        spec = jax.ShapeDtypeStruct(m.shape, m.dtype)
        ways = {
            "xlaffi": jax.ffi.ffi_call(ours, [spec, spec]),
            "cpp": jax.ffi.ffi_call(register_peer(peer, f"cpp_kepler_{dtype}"), [spec, spec]),
            "jax": lambda m, e: pure_jax(jnp, m, e),
            "copy": lambda m, e: (-m, -e),
        }
        ways = {who: jax.jit(way).lower(m, e).compile() for who, way in ways.items()}
        times = {who: [] for who in ways}
        answers = {}
        # The first rounds fill the C library's store of memory: they time page faults.
        for _ in range(WARM + ROUNDS):
            for who, way in ways.items():
                start = time.perf_counter()
                answers[who] = jax.block_until_ready(way(m, e))
                times[who].append((time.perf_counter() - start) / POINTS * 1e9)
        for who in ("cpp", "jax"):
            for found, theirs in zip(answers["xlaffi"], answers[who]):
                off = float(jnp.max(jnp.abs(found - theirs)))
                assert off < 1000 * jnp.finfo(dtype).eps, f"{who} differs by {off} in {dtype}"
        result[dtype] = {who: t[WARM:] for who, t in times.items()}
    return result


def in_process(path, peer, cores):
    environment = os.environ | {
        # XLA's threads, and the C library keeps freed memory; 32 MiB is the most that it accepts.
        "NPROC": str(cores),
        "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
        "MALLOC_TRIM_THRESHOLD_": str(1 << 34),
        "MALLOC_TOP_PAD_": str(1 << 28),
        "JAX_PLATFORMS": "cpu",
    }
    command = [sys.executable, __file__, path, peer]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def main():
    import jaxlib

    if len(sys.argv) == 3:
        json.dump(measure(*sys.argv[1:]), sys.stdout)
        return
    with tempfile.TemporaryDirectory() as folder:
        peer = os.path.join(folder, "kepler.so")
        include = os.path.join(os.path.dirname(jaxlib.__file__), "include")
        command = ["c++", "-std=c++17", "-O3", "-march=native", "-w", "-shared", "-fPIC"]
        subprocess.run(command + ["-I", include, str(HERE / "kepler.cc"), "-o", peer], check=True)
        rows = []
        for cores in sorted({1, os.cpu_count()}):
            for dtype, times in in_process(sys.argv[1], peer, cores).items():
                ns = {who: statistics.median(t) for who, t in times.items()}
                cells = [f"{t:.1f}" if who == "xlaffi" else f"{t:.1f} ({t / ns['xlaffi']:.1f} x)" for who, t in ns.items()]
                rows.append(f"| {dtype}, {cores} thread{'s' * (cores > 1)} | {' | '.join(cells)} |\n")
    text = (
        f"| ns per point | {' | '.join(NAMES.values())} |\n|---|---|---|---|---|\n{''.join(rows)}\n"
        f"2 million points, e < 0.9; jaxlib {jaxlib.__version__}, {os.cpu_count()} cores; medians of {ROUNDS} "
        f"rounds in turn, programs on XLA CPU; {datetime.date.today()}. The C++ loop has one thread.\n"
    )
    print(text)
    (HERE / "results-kepler.md").write_text(text)


if __name__ == "__main__":
    main()
