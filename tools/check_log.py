#!/usr/bin/env python3
"""Prints what in an R CMD check log must be mended, a line each; nothing where it is clean.

Allowed notes: that the package is new, that something could not be looked up offline, and that the
installed package is large, as long as its folders are not larger than SIZES_MB has them.
"""

import re
import sys

# What folders may have. `libs`: the shared object is Rust's standard library, a host, a plugin, handlers
# for four dtypes and three vector units (half of it), sparse matrices, what calls and checks ops of the user's own, on
# CUDA too, and what joins devices and processes. Read docs/decisions/65-size-and-dependencies.md before you raise it.
# `doc`: the vignettes, with pictures; `R`: byte code of 4,400 functions.
SIZES_MB = {"libs": 12.5, "doc": 2.0, "R": 4.6}

# Lines that a note may consist of, by the name of the check.
ALLOWED = {
    "CRAN incoming feasibility": (
        r"Maintainer: .*",
        r"New submission",
        r"(Warning|Warning in .*): .*",
        r"cannot open URL .*|URL .*: status was .*",
        r"NB: need Internet access .*|NOTE",
        # A URL that could not be looked up, but none that was looked up and is wrong.
        r"Found the following \(possibly\) invalid URLs:",
        r"URL: .*|From: .*|Status: Error|Message: .*|Could not resolve host: .*",
    ),
    "for future file timestamps": (r"unable to verify current time",),
    "package dependencies": (
        r"Warning: unable to access index .*|cannot open URL .*|NOTE",
        r"Packages? which this enhances but not available for checking:.*",
        r"'anvl', 'pjrt', 'stablehlo'",
    ),
    "installed package size": (
        r"installed size is +[0-9.]+Mb",
        r"sub-directories of 1Mb or more:",
        r"(libs|doc|R) +[0-9.]+Mb",
    ),
}


def sections(text):
    """Each check: its name, its outcome, and the lines below it."""
    parts = re.split(r"^\* ", text, flags=re.MULTILINE)
    for part in parts:
        head, _, body = part.partition("\n")
        match = re.match(r"checking (.*?) \.\.\. ?(?:\[.*?\] ?)?(OK|NOTE|WARNING|ERROR|FAILED)?", head)
        if match:
            outcome = match[2]
            if outcome is None:
                last = re.findall(r"^ ?(NOTE|WARNING|ERROR|OK)$", body, flags=re.MULTILINE)
                outcome = last[-1] if last else "OK"
            yield match[1], outcome, body


def complaint(name, outcome, body):
    """What is wrong with a check, or None."""
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    if outcome == "OK":
        return None
    if outcome == "NOTE":
        patterns = ALLOWED.get(name, ())
        rest = [x for x in lines if not any(re.fullmatch(p, x) for p in patterns)]
        for folder, size in re.findall(r"^ *(libs|doc|R) +([0-9.]+)Mb$", body, flags=re.MULTILINE):
            if float(size) > SIZES_MB[folder]:
                rest.append(f"{folder} {size}Mb, of which {SIZES_MB[folder]}Mb are allowed")
        if patterns and not rest:
            return None
        lines = rest
    return f"{outcome} in {name}: {' | '.join(lines)}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    for section in sections(text):
        wrong = complaint(*section)
        if wrong:
            print(wrong)
    if not re.search(r"^\* DONE", text, flags=re.MULTILINE):
        print("the check did not come to its end")


if __name__ == "__main__":
    main()
