"""Prints the programs among cargo's messages (JSON) that are tests: crate, test and file."""
import json
import os
import sys

programs = []
for line in sys.stdin:
    message = json.loads(line)
    if message["reason"] == "compiler-artifact" and message["profile"]["test"] and message["executable"]:
        crate = os.path.basename(os.path.dirname(message["manifest_path"]))
        name = "units" if "lib" in message["target"]["kind"] else message["target"]["name"]
        programs.append((crate, name, message["executable"]))
for program in sorted(programs):
    print(*program, sep="\t")
