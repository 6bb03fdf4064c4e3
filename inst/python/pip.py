"""Runs a command, pip, and prints what it prints; while it downloads a file, also lines of how far that is:
a tab, the bytes that are there, the bytes in all, and the file's name, with tabs between them.

    pip.py COMMAND...

pip shows its own bar on terminals only. It says the size of a file before it begins, and writes it to its temporary
folder, which is one of ours here.
"""
import os
import re
import subprocess
import sys
import tempfile
import threading

BEGUN = re.compile(r"\s*Downloading (\S+) \(([0-9.]+) (bytes|kB|MB|GB)\)")
UNITS = {"bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}


def size_of(name, folder):
    for place, _, files in os.walk(folder):
        if name in files:
            try:
                return os.path.getsize(os.path.join(place, name))
            except OSError:  # moved meanwhile
                return 0
    return 0


def run(command, folder):
    env = dict(os.environ, TMPDIR=folder, PYTHONUNBUFFERED="1")
    pip = subprocess.Popen(
        command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace",
    )
    current = []
    ended = threading.Event()

    def tell():
        while not ended.wait(0.2):
            for name, total in current[-1:]:
                done = size_of(name, folder)
                if done:
                    print("", done, int(total), name, sep="\t", flush=True)

    teller = threading.Thread(target=tell)
    teller.start()
    for line in pip.stdout:
        begun = BEGUN.match(line)
        if begun:
            current.append((os.path.basename(begun[1]), float(begun[2]) * UNITS[begun[3]]))
        print(line, end="", flush=True)
    ended.set()
    teller.join()
    return pip.wait()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        status = run(sys.argv[1:], folder)
    sys.exit(status)
