#!/usr/bin/env python3
"""Writes inst/AUTHORS: the crates that the tarball carries, their authors and licences."""

import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = ROOT / "inst" / "AUTHORS"
HEAD = """\
The Rust code of this package is built with the crates below, which the source
package carries in src/rust/vendor.tar.xz, each with its own licence files.
They are the work of their authors. Their code is unchanged; their tests and
development files are left out.
(Written by tools/authors.py from Cargo.lock.)
"""


def crates():
    """The crates from a registry that Cargo.lock names, by name and version."""
    manifest = ROOT / "src" / "rust" / "Cargo.toml"
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--manifest-path", manifest]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    packages = [p for p in metadata["packages"] if p["source"]]
    return sorted(packages, key=lambda p: (p["name"], p["version"]))


def entry(package):
    """One crate: who made it, or where it is developed if it names no one."""
    authors = ", ".join(a.split(" <")[0] for a in package["authors"])
    origin = package["repository"] or f"https://crates.io/crates/{package['name']}"
    return "\n".join(
        [
            f"{package['name']} {package['version']}",
            f"  Authors: {authors or f'the contributors of {origin}'}",
            f"  Licence: {package['license'] or package['license_file']}",
            f"  Source:  {origin}",
        ]
    )


if __name__ == "__main__":
    FILE.write_text("\n".join([HEAD] + [entry(p) + "\n" for p in crates()]), encoding="utf-8")
