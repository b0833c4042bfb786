#!/usr/bin/env python3
"""Does cpb read memory as fast as an independent program, and does the rate grow with the width of a load?

The peer is stress-ng's memrate, from Debian: volatile loads of 8 to 64 bits, sixteen per iteration, whose values it
discards. It reports a mean over all of its time, disturbances included, so the best of its runs counts. cpb discards
disturbed batches, so the median of its runs counts. Runs of both alternate.

Target: 64-bit loads at 256 KiB at least 0.9 of the peer's rate. In the nearest cache, twice the width gives 1.8 to
2.2 times the rate, up to 64 bits.
"""

import itertools
import os
import re
import subprocess

from lib import build, cpb, debian, machine
from lib.result import Result
from lib.spread import median

RUNS = 5
NEAREST, BESIDE = 16 << 10, 256 << 10
SIZES = [NEAREST, BESIDE, 4 << 20]
WIDTHS = [8, 16, 32, 64]
AT_LEAST = 0.9
DOUBLED = 1.8, 2.2
PEER = "stress-ng"
# Libraries that it is linked with and that few machines have.
LIBRARIES = ["libipsec-mb1", "libjudydebian1", "libsctp1"]
MIB = 1 << 20


def workload(width, size, pattern="linear"):
    """The id of a read."""
    return f"memory-read/{width}/{pattern}/{size}"


def ours(record):
    """Rates by workload in bytes a second, from a short run."""
    plan = build.ROOT / "plans" / "memory-read.toml"
    sizes = ",".join(str(size) for size in SIZES)
    summary, _ = cpb.run(record, "--plan", plan, "-s", sizes, "--budget", "10s")
    found = cpb.figures(summary)
    executor = summary["run"]["providers"]["memory"]["executor"]
    return {
        what: figures["bytes_per_second"]["value"] for (who, what), figures in found.items() if who == "memory"
    }, executor


def rates(text):
    """The rates of reads that memrate prints: {width: bytes a second}. Its MB are MiB."""
    found = re.findall(r"([0-9.]+) read(\d+) MB per sec", text)
    return {int(width): float(rate) * MIB for rate, width in found}


def theirs():
    """One run of the peer, on the CPU that cpb measures on."""
    root, _ = debian.package(PEER)
    folders = [debian.package(name)[0] for name in LIBRARIES]
    paths = ":".join(str(path) for folder in folders for path in folder.glob("usr/lib/*-linux-gnu*"))
    command = ["taskset", "-c", str(machine.measuring_cpu()), root / "usr/bin/stress-ng"]
    command += ["--memrate", "1", "--memrate-bytes", str(BESIDE), "-t", "5", "--metrics"]
    environment = {**os.environ, "LD_LIBRARY_PATH": paths}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return rates(done.stdout + done.stderr)


def gigabytes(rate):
    """The rate in GB/s; empty if it was not measured."""
    return "-" if rate is None else f"{rate / 1e9:.1f}"


def main():
    build.cpb()
    _, version = debian.package(PEER)
    watch = machine.Watch()
    record = build.scratch("records") / "memory_read.jsonl"
    own, peer, executor = {}, {}, ""
    for _ in range(RUNS):
        found, executor = ours(record)
        for what, rate in found.items():
            own.setdefault(what, []).append(rate)
        for width, rate in theirs().items():
            peer.setdefault(width, []).append(rate)
    own = {what: median(values) for what, values in own.items()}
    peer = {width: max(values) for width, values in peer.items()}

    result = Result(
        "memory_read",
        "does cpb read memory as fast as an independent program, and does the rate grow with the width of a load?",
        "bench/memory_read.py",
    )
    result.text(f"GB/s (decimal); cpb: median of {RUNS} runs; {PEER} {version}: best of {RUNS}. {executor}.")
    rows = []
    for width in [*(f"{bits}-bit" for bits in WIDTHS), "widest"]:
        bits = int(width.removesuffix("-bit")) if width.endswith("bit") else None
        at = [own.get(workload(width, size)) for size in SIZES]
        turns = [own.get(workload(width, size, "ping-pong")) for size in SIZES]
        beside, mine = peer.get(bits), own.get(workload(width, BESIDE))
        ratio = f"{mine / beside:.2f}" if beside and mine else "-"
        rows.append([width, *map(gigabytes, at), *map(gigabytes, turns), gigabytes(beside), ratio])
    names = [f"{size >> 10} KiB" for size in SIZES]
    heads = [f">{name}" for name in names] + [f">ping-pong {name}" for name in names]
    result.table(["load", *heads, f">{PEER} {BESIDE >> 10} KiB", ">ratio"], rows)

    nearest = [own[workload(f"{width}-bit", NEAREST)] for width in WIDTHS]
    steps = [wide / narrow for narrow, wide in itertools.pairwise(nearest)]
    result.text("Twice the width at 16 KiB: " + ", ".join(f"{step:.2f}" for step in steps) + " times the rate.")
    ratio = own[workload("64-bit", BESIDE)] / peer[64]
    low, high = DOUBLED
    result.verdict(
        ratio >= AT_LEAST and all(low <= step <= high for step in steps),
        f"64-bit loads at {BESIDE >> 10} KiB at least {AT_LEAST} of {PEER}'s rate ({ratio:.2f}); in the nearest cache "
        f"twice the width is {low} to {high} times the rate.",
    )
    result.write(watch)


if __name__ == "__main__":
    main()
