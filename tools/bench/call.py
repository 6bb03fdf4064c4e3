"""What one call of a handler costs, XLA's part included: our `lu` beside the same handler in C++.

    call.py LIBRARY     (the path that tools/ops-lib/build.sh prints)

A program of 1,000 calls, each on the 1x1 result of the one before, is run by both in turn.
Writes results-call.md. Needs jax and a C++ compiler.
"""

import datetime
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import jax
import jax.numpy as jnp
import jaxlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "ops-lib"))
from handlers import Library, register_peer

jax.config.update("jax_enable_x64", True)
CALLS, RUNS, ROUNDS = 1000, 20, 15


def cpp(folder):
    library = os.path.join(folder, "lu.so")
    include = os.path.join(os.path.dirname(jaxlib.__file__), "include")
    command = ["c++", "-std=c++17", "-O3", "-w", "-shared", "-fPIC", "-I", include]
    subprocess.run(command + [str(HERE / "lu.cc"), "-o", library, "-llapack"], check=True)
    return register_peer(library, "cpp_lu")


def chain(target):
    specs = [jax.ShapeDtypeStruct((1, 1), jnp.float64), jax.ShapeDtypeStruct((1,), jnp.int32)]

    def program(x):
        for _ in range(CALLS):
            x, _ = jax.ffi.ffi_call(target, specs)(x)
        return x

    return jax.jit(program).lower(specs[0]).compile()


def main():
    with tempfile.TemporaryDirectory() as folder:
        programs = {"xlaffi": chain(Library(sys.argv[1]).register("lu", "xlaffi_")), "C++": chain(cpp(folder))}
        x = jnp.ones((1, 1))
        times = {name: [] for name in programs}
        for _ in range(ROUNDS):
            for name, run in programs.items():
                run(x).block_until_ready()
                start = time.perf_counter()
                for _ in range(RUNS):
                    run(x).block_until_ready()
                times[name].append((time.perf_counter() - start) / RUNS / CALLS * 1e9)
    ns = {name: statistics.median(t) for name, t in times.items()}
    text = (
        "| one call of `lu`, 1x1 f64 | xlaffi (Rust) | C++ with XLA's header |\n|---|---|---|\n"
        f"| XLA's part included | {ns['xlaffi']:.0f} ns | {ns['C++']:.0f} ns ({ns['C++'] / ns['xlaffi']:.2f} x) |\n\n"
        f"jaxlib {jaxlib.__version__}, {os.cpu_count()} cores; medians of {ROUNDS} rounds in turn, "
        f"{CALLS} chained calls a program; {datetime.date.today()}.\n"
    )
    print(text)
    (HERE / "results-call.md").write_text(text)


if __name__ == "__main__":
    main()
