"""Prints the symbols that a Mach-O library of 64 bits exports."""
import struct
import sys

LC_SYMTAB = 2
N_STAB, N_TYPE, N_SECT, N_EXT, N_PEXT = 0xE0, 0x0E, 0x0E, 0x01, 0x10

with open(sys.argv[1], "rb") as file:
    data = file.read()
magic, _, _, _, commands = struct.unpack_from("<5I", data)
if magic != 0xFEEDFACF:
    sys.exit("no Mach-O file of 64 bits")
at = 32
for _ in range(commands):
    command, size = struct.unpack_from("<2I", data, at)
    if command == LC_SYMTAB:
        symbols, count, names, _ = struct.unpack_from("<4I", data, at + 8)
        for i in range(count):
            name, kind = struct.unpack_from("<IB", data, symbols + 16 * i)
            if kind & N_EXT and not kind & (N_STAB | N_PEXT) and kind & N_TYPE == N_SECT:
                begin = names + name
                print(data[begin:data.index(b"\0", begin)].decode())
    at += size
