#!/usr/bin/env python3
"""Makes elements.ptx and blocks.ptx, which the driver compiles where there is no NVRTC.

    tools/cuda/ptx.py LIBNVRTC

LIBNVRTC is the path of a libnvrtc.so.12 of CUDA 12.0, the oldest that the package supports: a driver
reads the PTX of its own version and of older ones (pip install 'nvidia-cuda-nvrtc-cu12==12.0.*').
No GPU is needed. compute_60 is the oldest architecture that has all that the kernels use.
"""

import ctypes
import pathlib
import re
import sys
import zlib

# As in kernels.rs.
PROGRAMS = {
    "elements": ["types.cu", "linalg.cu", "kepler.cu"],
    "blocks": ["types.cu", "arithmetic.cu", "blocks.cu", "q.cu", "qr.cu", "jacobi.cu"],
}
KERNELS = pathlib.Path(__file__).parents[2] / "src/rust/crates/cuda/src/kernels"


def compile_program(nvrtc, name, files):
    def check(status):
        if status:
            size = ctypes.c_size_t()
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, log)
            sys.exit(f"NVRTC answered {status}: {log.value.decode()}")

    source = b"".join((KERNELS / file).read_bytes() for file in files)
    program = ctypes.c_void_p()
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"xlaffi.cu", 0, None, None))
    options = (ctypes.c_char_p * 1)(b"--gpu-architecture=compute_60")
    check(nvrtc.nvrtcCompileProgram(program, 1, options))
    size = ctypes.c_size_t()
    check(nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)))
    ptx = ctypes.create_string_buffer(size.value)
    check(nvrtc.nvrtcGetPTX(program, ptx))
    # Without indentation and the compiler's remarks, which nobody reads in the shared object.
    lines = [re.sub(rb"\s*//.*", b"", line).strip() for line in ptx.value.splitlines()]
    text = b"\n".join(re.sub(rb"\s+", b" ", line) for line in lines if line) + b"\n"
    out = KERNELS / "generated" / f"{name}.ptx"
    # A test compares this with the sources.
    mark = f"// of sources with the checksum {zlib.crc32(source):08x}\n".encode()
    out.write_bytes(mark + text)
    print(f"{out}: {len(text)} bytes")


def main(path):
    nvrtc = ctypes.CDLL(path)
    for name, files in PROGRAMS.items():
        compile_program(nvrtc, name, files)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
