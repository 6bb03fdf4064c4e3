"""Writes the tables that crates' declarations are compared with, from the C headers themselves.

    tools/c-headers.py [pjrt|ffi]

The wheels that carry the headers (tensorflow-cpu: 270 MB) are downloaded to a temporary folder. All
that a header declares is in its table, so a crate may declare more without a new one.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

CRATES = pathlib.Path(__file__).parent.parent / "src/rust/crates"
PJRT = ["pjrt_c_api.h"] + [
    f"pjrt_c_api_{name}_extension.h"
    for name in ("ffi", "layouts", "memory_descriptions", "phase_compile", "stream")
]
# The wheel, its folder of headers, the headers, the prefix of their names, and where the table goes.
TABLES = {
    "pjrt": ("tensorflow-cpu==2.21.0", "tensorflow/include", [f"xla/pjrt/c/{h}" for h in PJRT], "PJRT", "pjrt-api"),
    "ffi": ("jaxlib==0.10.2", "jaxlib/include", ["xla/ffi/api/c_api.h"], "XLA_FFI", "xla-ffi"),
}


def members(body):
    """The names of a struct's members; those of an unnamed union count as the struct's own."""
    body = re.sub(r"\bunion\s*\{([^{}]*)\}\s*;", r"\1", body)
    for member in filter(None, map(str.strip, body.split(";"))):
        name = (
            re.fullmatch(r"_\w+_API_STRUCT_FIELD\((\w+)\)", member)
            or re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", member)
            or re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)?$", member)
        )
        yield name.group(1)


def bodies(text, opening):
    """What stands in the braces that follow each match of `opening`, and the match."""
    for match in re.finditer(opening + r"\s*\{", text):
        depth, at = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        yield match, text[match.end() : at - 1]


def questions(text, prefix):
    """The lines of the table: a label, and the expressions whose values follow it."""
    yield from ((name, [name]) for name in (f"{prefix}_API_MAJOR", f"{prefix}_API_MINOR"))
    for _, body in bodies(text, r"\benum(?:\s+\w+)?"):
        names = re.findall(r"(\w+)\s*(?:=[^,(]*(?:\([^)]*\))?)?(?:,|$)", body.strip())
        yield from ((name, [name]) for name in names if not name.endswith("_STRUCT_SIZE"))
    with_size = set(re.findall(r"_DEFINE_STRUCT_TRAITS\((\w+),|\b(\w+)_STRUCT_SIZE\s*=", text))
    with_size = {name for names in with_size for name in names}
    for match, body in bodies(text, r"\bstruct\s+(\w+)"):
        struct = match.group(1)
        size = f"sizeof({struct})"
        yield struct, [size, f"{struct}_STRUCT_SIZE" if struct in with_size else size]
        for member in members(body):
            yield f"  {member}", [f"offsetof({struct}, {member})", f"sizeof((({struct}*)0)->{member})"]


def line_of_c(label, expressions):
    values = "".join(f", (size_t)({expression})" for expression in expressions)
    return f'  printf("{label}{" %zu" * len(expressions)}\\n"{values});\n'


def write(wheel, include, headers, prefix, crate):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*pip, "--dest", folder, wheel], check=True)
        with zipfile.ZipFile(*folder.glob("*.whl")) as files:
            for header in headers:
                files.extract(f"{include}/{header}", folder)
        text = "".join((folder / include / header).read_text() for header in headers)
        text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
        text = re.sub(r"^\s*#(?:\\\n|[^\n])*", "", text, flags=re.MULTILINE)
        asked = list(questions(text, prefix))
        program = "#include <stdio.h>\n" + "".join(f'#include "{header}"\n' for header in headers)
        program += "int main(void) {\n"
        program += "".join(line_of_c(*question) for question in asked)
        program += "  return 0;\n}\n"
        (folder / "table.c").write_text(program)
        build = ["cc", "-I", folder / include, folder / "table.c", "-o", folder / "table"]
        subprocess.run(build, check=True)
        run = subprocess.run([folder / "table"], check=True, capture_output=True, text=True)
    names = "".join(f"#   {header}\n" for header in headers)
    head = f"""\
# What these headers of {wheel} declare, on a machine of 64 bits:
{names}\
# Lines: constant value | struct size STRUCT_SIZE, then for each member: name offset size
# Made by tools/c-headers.py, not to be edited.
"""
    table = CRATES / crate / "tests/header.txt"
    table.write_text(head + run.stdout)
    print(f"{table}: {len(asked)} lines")


for name in sys.argv[1:] or TABLES:
    write(*TABLES[name])
