#!/usr/bin/env python3
"""Does the paired ratio of a short run detect a slowdown of 1 % that is planted in executed code, and does it detect
nothing if nothing is planted?

The runner crates/runner/examples/planted.rs wraps OpenSSL and adds to each operation a chain of dependent
instructions worth 1 % of it. A separate loop verifies that the chain really adds 1 %.

Targets: detected in at least 95 of 100 runs with the planted slowdown, and in at most 5 of 100 without.
"""

import os
import subprocess

from lib import build, cpb, machine
from lib.result import Result, marked, percent
from lib.spread import median, quantile

RUNS = 100
LONG_SECONDS = 10
SIZES = [1024, 16384]
SEEN, FALSE = 95, 5
KINDS = {"slower": "1 % planted", "same": "nothing planted"}


def main():
    build.cpb()
    runner = build.example("planted")
    watch = machine.Watch()
    plants = calibrate(runner)
    turns = ",".join(f"{size}:{plants[size][0]}" for size in SIZES)
    print(f"planted: {plants}", flush=True)
    ratios = {(kind, size): [] for kind in KINDS for size in SIZES}
    for number in range(RUNS):
        # The order alternates from run to run.
        for kind in list(KINDS)[:: 1 if number % 2 else -1]:
            for size, ratio in paired(runner, turns, kind, "1s").items():
                ratios[kind, size].append(ratio)
        if number % 10 == 9:
            print(f"run {number + 1} of {RUNS} done", flush=True)
    long = paired(runner, turns, "slower", f"{LONG_SECONDS}s")
    report(plants, ratios, long, watch)


def calibrate(runner):
    """Iterations of the chain by size, and the share that they add according to the runner's own loop, ± margin."""
    workloads = [f"{cpb.AES}/{size}" for size in SIZES]
    command = [runner, "--cpus", str(machine.measuring_cpu()), "--calibrate", *workloads]
    return parse(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def parse(text):
    """Parses the output of `planted --calibrate`: size:turns added margin."""
    plants = {}
    for line in text.splitlines():
        turns, added, margin = line.split()
        size, turns = turns.split(":")
        plants[int(size)] = int(turns), float(added), float(margin)
    return plants


def paired(runner, turns, kind, budget):
    """The paired ratio of the wrapped provider to the bare wrapper, by size, in a separate run."""
    environment = {**os.environ, "PLANTED": kind, "PLANTED_TURNS": turns}
    plan = build.ROOT / "bench/plans/planted.toml"
    record = build.scratch("records") / "sensitivity.jsonl"
    arguments = ["--plan", plan, "--runner", runner, "--budget", budget]
    summary, _ = cpb.run(record, *arguments, environment=environment)
    return {
        int(comparison["workload"].split("/")[3]): gain["ratio"]
        for comparison in summary["comparisons"]
        for gain in comparison["gains"]
        if gain["masked"] == f"planted:{kind}"
    }


def excludes_one(ratio):
    """Whether the interval that reports show (95 %) excludes 1."""
    interval = ratio["interval"]
    return interval is not None and not interval["low"] <= 1 <= interval["high"]


def report(plants, ratios, long, watch):
    """Writes the result file."""
    result = Result(
        "sensitivity",
        "is a planted slowdown of 1 % seen by the paired ratio of a run of 1 s, and nothing where nothing is planted?",
        "bench/sensitivity.py",
    )
    result.text(
        f"AES-256-CBC encryption by OpenSSL in a wrapper; {RUNS} runs of each kind, 1 s each, taking "
        "turns. A verdict (*slower*, *faster*) takes a 99 % interval that leaves 1 out; beside it, how "
        "often the 95 % interval that reports show does.",
    )
    rows, met = [], []
    for (kind, size), found in ratios.items():
        wrong = "faster" if kind == "slower" else None
        seen = [ratio["verdict"] in ("slower", "faster") and ratio["verdict"] != wrong for ratio in found]
        shown = [excludes_one(ratio) for ratio in found]
        values = [ratio["value"] for ratio in found]
        enough = len(found) == RUNS
        met.append(enough and (sum(seen) >= SEEN if kind == "slower" else sum(seen) <= FALSE))
        in_cycles = sum(ratio["metric"] == "cycles" for ratio in found)
        rows.append(
            [
                KINDS[kind],
                f"{size} B",
                f"{sum(seen)} of {len(found)}",
                f"{sum(shown)} of {len(found)}",
                f"{median(values):.5f}",
                f"{quantile(values, 0.05):.5f} to {quantile(values, 0.95):.5f}",
                f"{median([ratio['passes'] for ratio in found]):.0f}",
                f"{in_cycles}",
                marked(met[-1]),
            ]
        )
    result.table(
        [
            "runs with",
            "size",
            ">verdict (99 %)",
            ">95 % interval",
            ">median ratio",
            ">5 % to 95 % of runs",
            ">passes",
            ">in cycles",
            ">target met",
        ],
        rows,
    )
    result.text(
        "What the plant really adds, by a loop of its own (the runner's `--calibrate`: wall-clock time, "
        f"neighbouring loops of 200 µs, 5 s), and by one run of cpb of {LONG_SECONDS} s:"
    )
    rows, true = [], []
    for size, (turns, added, margin) in plants.items():
        true.append(abs(added - 0.01) <= 0.001)
        interval = long[size]["interval"]
        half = (interval["high"] - interval["low"]) / 2
        rows.append(
            [
                f"{size} B",
                turns,
                f"{percent(added, 3)} ± {percent(margin, 3)}",
                f"{percent(long[size]['value'] - 1, 3)} ± {percent(half, 3)}",
                marked(true[-1]),
            ]
        )
    result.table(["size", ">multiplications", ">own loop", ">cpb", ">1 % ± 0.1 %"], rows)
    result.verdict(
        all(met) and all(true),
        f"seen in at least {SEEN} of {RUNS} runs with the plant, in at most {FALSE} without.",
    )
    result.write(watch)


if __name__ == "__main__":
    main()
