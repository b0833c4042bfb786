#!/usr/bin/env python3
"""Selects goldens from the jobs that a guest's driver gave to the model.

Usage: select.py short|long RECORD... > NAME.jsonl

`short` or `long` is the pointers' size, 32 or 64 bits. A RECORD is what `record = "FILE"` below `[engine]` in a guest's
file leaves: a line of JSON for each job, with what it read and wrote. Of the jobs whose descriptors have the same
commands, keys and pointers aside, and the same status, the one that moves the fewest bytes is selected. Jobs that fetch
random numbers are left out, because their results cannot be repeated.
"""

import json
import sys
from pathlib import Path

# Kinds of commands, bits 31 to 27.
KEY, LOAD, FIFO_LOAD, STORE, FIFO_STORE, OPERATION = 0x00, 0x02, 0x04, 0x0A, 0x0C, 0x10
JOB, SEQ_IN_PTR, SEQ_OUT_PTR = 0x16, 0x1E, 0x1F
SEQ_FIFO_LOAD, SEQ_FIFO_STORE, MOVE = 0x05, 0x0D, 0x0F
# The mask of the length of what may follow a command as immediate data, and of other lengths.
IMMEDIATES = {KEY: 0x3FF, LOAD: 0xFF, FIFO_LOAD: 0xFFFF, STORE: 0xFF}
LENGTHS = {SEQ_FIFO_LOAD: 0xFFFF, SEQ_FIFO_STORE: 0xFFFF, MOVE: 0xFF}
POINTERS = {KEY, LOAD, FIFO_LOAD, STORE, FIFO_STORE, SEQ_IN_PTR, SEQ_OUT_PTR}
IMMEDIATE, EXTENDED = 1 << 23, 1 << 22
RANDOM = 0x50 << 16


def words(data):
    return [int.from_bytes(bytes.fromhex(data[at : at + 8]), "little") for at in range(0, len(data), 8)]


def commands(descriptor, pointer):
    """The commands of a descriptor, without what follows them. What is decoded wrongly is selected once too often."""
    start = descriptor[0] >> 16 & 0x3F
    if descriptor[0] >> 27 == JOB and descriptor[0] & 1 << 12:
        start = 1 + pointer
    found = [descriptor[0] & 0xFF00FF80]
    at = max(start, 1)
    while at < len(descriptor):
        word = descriptor[at]
        kind = word >> 27
        at += 1
        if kind in IMMEDIATES and word & IMMEDIATE:
            mask = IMMEDIATES[kind]
            at += ((word & mask) + 3) // 4
            word &= ~mask
        elif kind in POINTERS:
            at += pointer + bool(word & EXTENDED)
            word &= ~0xFFFF
        elif kind == OPERATION and word >> 20 & 0xF0 == 0x20 and word >> 24 & 7 == 0:
            # A split key is derived: its room follows.
            at += 64 // 4
            word &= ~0xFFF
        word &= ~LENGTHS.get(kind, 0)
        found.append(word)
    return tuple(found)


def main():
    size, *paths = sys.argv[1:]
    pointer = {"short": 1, "long": 2}[size]
    best = {}
    for path in paths:
        for line in Path(path).read_text().splitlines(keepends=True):
            job = json.loads(line)
            reads = [words(data) for _, data in job["reads"][1:]]
            # The header is read before the descriptor, and a shared descriptor is read at once or likewise.
            descriptors = [read for read in reads[:4] if len(read) > 1 and read[0] >> 28 == 0xB]
            key = tuple(commands(descriptor, pointer) for descriptor in descriptors)
            fetches = any(word >> 27 == OPERATION and word & 0xFF << 16 == RANDOM for found in key for word in found)
            if fetches or not key:
                continue
            # Its status is the last word of its entry in the output ring.
            key += (job["writes"][-1][1][-8:],)
            if key not in best or len(line) < len(best[key]):
                best[key] = line
    sys.stdout.writelines(best.values())


if __name__ == "__main__":
    main()
