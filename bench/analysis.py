#!/usr/bin/env python3
"""How long does it take to read and explain a large record, and how much memory does it need?

The rounds of a measured record are repeated with other message lengths until there are 10,000 cells of 200 samples.
Target: `cpb explain` in under 5 s and 500 MiB.
"""

import json
import os
import subprocess
import time

from lib import build, cpb, machine
from lib.result import Result

PROVIDERS = ("openssl", "openssl:nocrypto", "mbedtls:accel", "mbedtls:c")
ALGORITHMS = ("aes-128-cbc", "aes-256-cbc", "aes-128-ctr", "aes-256-ctr")
SIZES = tuple(16 << step for step in range(0, 16, 2))
CELLS = 10_000
SAMPLES = 200
MOST_SECONDS = 5.0
MOST_MIB = 500


def enlarge(small, large):
    """Writes the rounds of `small` with as many message lengths as necessary. Returns the numbers of cells and
    samples."""
    lines = small.read_text().splitlines()
    rounds, others = {}, []
    for line in lines:
        read = json.loads(line).get("round")
        if read and read["provider"] != "null":
            rounds.setdefault((read["provider"], read["workload"]), []).append((line, len(read["samples"][0])))
        elif not read:
            others.append(line)
    kinds = sorted({(provider, workload.rsplit("/", 1)[0]) for provider, workload in rounds})
    step = max(SIZES) // (CELLS // len(kinds))
    cells = samples = 0
    with large.open("w") as file:
        file.write(others[0] + "\n")
        for provider, kind in kinds:
            for bytes_ in range(16, 16 + step // 16 * 16 * -(-CELLS // len(kinds)), step // 16 * 16):
                like = f"{kind}/{max(size for size in SIZES if size <= bytes_)}"
                taken = 0
                for line, count in rounds[provider, like]:
                    if taken >= SAMPLES:
                        break
                    file.write(line.replace(f'"{like}"', f'"{kind}/{bytes_}"', 1) + "\n")
                    taken += count
                cells += 1
                samples += taken
        file.write(others[-1] + "\n")
    return cells, samples


def spent(command):
    """Wall-clock seconds and peak memory in MiB of a command whose output is discarded."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - start
    if status != 0:
        raise RuntimeError(f"{command} ended with {status}")
    return seconds, usage.ru_maxrss / 1024


def main():
    program = build.cpb()
    watch = machine.Watch()
    folder = build.scratch("analysis")
    small, large = folder / "small.jsonl", folder / "large.jsonl"
    sizes = ",".join(map(str, SIZES))
    cpb.run(
        small,
        *("-p", ",".join(PROVIDERS), "-a", ",".join(ALGORITHMS), "-s", sizes),
        *("--operation", "encrypt", "--phase", "message,update", "--budget", "150s"),
    )
    cells, samples = enlarge(small, large)

    commands = {
        "explain": ["explain", large],
        "show": ["show", large],
        "compare": ["compare", large, large],
        "report": ["report", large, "-o", folder / "large.html"],
    }
    # The first read of the file fills the page cache.
    spent([program, "show", large])
    found = {word: spent([program, *arguments]) for word, arguments in commands.items()}
    result = Result(
        "analysis",
        "how long does it take to read a large record and explain it, and how much memory?",
        "bench/analysis.py",
    )
    rows = [[f"`cpb {word}`", f"{took:.1f}", f"{memory:.0f}"] for word, (took, memory) in found.items()]
    result.table(["command", ">seconds", ">MiB"], rows)
    result.text(
        f"{cells:,} cells, {samples / cells:.0f} samples each, a file of {large.stat().st_size / 1e6:.0f} MB; "
        "`compare` reads it twice."
    )
    seconds, memory = found["explain"]
    result.verdict(
        seconds < MOST_SECONDS and memory < MOST_MIB,
        f"`cpb explain` under {MOST_SECONDS:.0f} s ({seconds:.1f}) and {MOST_MIB} MiB ({memory:.0f}).",
    )
    result.write(watch)
    large.unlink()


if __name__ == "__main__":
    main()
