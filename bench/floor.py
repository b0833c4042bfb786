#!/usr/bin/env python3
"""What is the harness overhead: the cost of an operation of the null provider in the same loop?

Target: at most 3 ns per operation, measured in each run and shown.
"""

import subprocess

from lib import build, cpb, machine
from lib.result import Result, marked
from lib.spread import median, spread

RUNS = 10
TARGET_NS = 3.0
# The smallest run that can be requested in addition to the null provider, which is part of every run.
LITTLE = ["-p", "openssl", "-a", "aes-256-cbc", "--operation", "encrypt", "-s", "16"]


def main():
    build.cpb()
    watch = machine.Watch()
    record = build.scratch("records") / "floor.jsonl"
    floors, shown = [], []
    for _ in range(RUNS):
        summary, _ = cpb.run(record, *LITTLE, "--budget", "2s")
        floors.append(cpb.floor(summary))
        text = subprocess.run([build.cpb(), "show", record], capture_output=True, text=True)
        shown.append(any(line.startswith("floor ") for line in text.stdout.splitlines()))

    result = Result(
        "floor",
        "what does the harness itself cost: an operation of the null provider, through the same loop?",
        "bench/floor.py",
    )
    rows = [
        [number + 1, f"{ns:.3f}", "unknown" if cycles is None else f"{cycles:.3f}", marked(seen)]
        for number, ((ns, cycles), seen) in enumerate(zip(floors, shown, strict=True))
    ]
    result.table(["run of 2 s", ">ns", ">cycles", "shown in the table"], rows)
    times = [ns for ns, _ in floors]
    cycles = [cycles for _, cycles in floors if cycles is not None]
    in_cycles = f", {median(cycles):.2f} cycles (spread {spread(cycles):.1%})" if cycles else ""
    result.text(f"Median: {median(times):.2f} ns (spread {spread(times):.1%}){in_cycles}.")
    result.verdict(
        max(times) <= TARGET_NS and all(shown),
        f"at most {TARGET_NS} ns an operation in every run (largest: {max(times):.2f} ns), measured "
        "in each run and shown.",
    )
    result.write(watch)


if __name__ == "__main__":
    main()
