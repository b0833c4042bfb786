#!/usr/bin/env python3
"""Which address determines the speed of a cell whose passes lie on two levels?

The cell is AES-256-GCM of Mbed TLS, 1 KiB. It is measured first as usual, where the kernel places stack, heap and
libraries of each process at random. Then all of them are fixed (`setarch -R`), and only the stack is moved, in steps
of 16 bytes, by an environment variable, which the kernel places above it. If the level depends on the stack's place
within a cache line, the stack is the cause.
"""

import collections
import subprocess

from lib import build, figures, machine
from lib.result import Result, percent
from lib.spread import median, quantile

PROVIDER, WORKLOAD = "mbedtls:accel", ["-a", "aes-256-gcm", "--operation", "encrypt", "-s", "1K"]
LINE, STEP, MOVED = 64, 16, 512
SECONDS = "1.5s"


def main():
    watch = machine.Watch()
    folder = build.scratch("records", "levels")
    usual = measured(folder / "usual.jsonl", [], "6s")
    rows, places = [], collections.defaultdict(list)
    # An empty variable also moves the stack, so the steps are counted from there.
    for moved in range(0, MOVED, STEP):
        values = measured(folder / "fixed.jsonl", ["setarch", "-R", "env", f"PAD={'x' * moved}"], SECONDS)
        places[moved % LINE].append(median(values))
        print(f"moved by {moved} of {MOVED} bytes: {median(values):.0f} cycles", flush=True)
    for place, medians in sorted(places.items()):
        rows.append([f"{place} B", len(medians), f"{min(medians):.0f}", f"{max(medians):.0f}"])
    result = Result(
        "levels",
        "which address draws the speed of a cell whose passes lie on two levels?",
        "bench/levels.py",
    )
    result.text(
        f"{PROVIDER} AES-256-GCM encrypt 1 KiB, cycles an operation. Addresses at random, {len(usual)} processes: "
        f"10 % take at most {quantile(usual, 0.1):.0f}, half {quantile(usual, 0.5):.0f}, "
        f"90 % {quantile(usual, 0.9):.0f}. Addresses fixed, the stack moved within a cache line of {LINE} bytes "
        "(each place reached by several moves; medians of processes):"
    )
    result.table(["stack moved by", ">moves", ">least", ">most"], rows)
    within = max(max(medians) / min(medians) - 1 for medians in places.values())
    levels = [median(medians) for medians in places.values()]
    between = max(levels) / min(levels) - 1
    result.text(
        f"Moves to the same place within a line are at most {percent(within, 1)} apart, places {percent(between, 1)}."
    )
    result.write(watch)


def measured(record, prefix, budget):
    """Cycles of each pass, and so of each process."""
    record.unlink(missing_ok=True)
    command = [*prefix, build.cpb(), "run", "-q", "-p", PROVIDER, *WORKLOAD, "--budget", budget, "-o", record]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (batches,) = [of_cell for (provider, _), of_cell in figures.cells(record).items() if provider == PROVIDER]
    return figures.passes(batches, figures.cycles)


if __name__ == "__main__":
    main()
