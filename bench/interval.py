#!/usr/bin/env python3
"""How long does it take until an interval has a given width: for cpb or `openssl speed`, on the default plan's cells?

For each OpenSSL cell, this is the time after which half of the 95 % interval is 1 % and 0.3 % of the figure. For cpb
it comes from subsampling the passes of default runs. For `openssl speed -elapsed` it comes from the standard
deviation of repeated runs of 1 s, extrapolated with 1/sqrt(runs) and Student's t.

Targets: the default plan takes 20 s ± 3 s; a warm `cpb list` takes less than 100 ms.
"""

import math
import random
import subprocess
import time

from lib import build, cpb, figures, machine, openssl
from lib.result import Result, marked
from lib.spread import deviation, median, runs_for

RUNS = 3
SPEED_RUNS = 6
WIDTHS = [0.01, 0.003]
DRAWS = 15
PLAN_SECONDS, PLAN_TOLERANCE = 20, 3
LIST_SECONDS = 0.1


def main():
    build.cpb()
    app = openssl.app()
    watch = machine.Watch()
    records, took = [], []
    speeds = {}
    for number in range(RUNS):
        record = build.scratch("records") / f"interval-{number}.jsonl"
        summary, seconds = cpb.run(record)
        records.append((record, summary["run"]["seconds"]))
        took.append(seconds)
        cells = [cell for cell in cpb.figures(summary) if cell[0] == "openssl"]
        for _ in range(SPEED_RUNS // RUNS):
            for _, workload in cells:
                algorithm, operation, _, size, *_ = workload.split("/")
                rate = openssl.speed(app, f"{algorithm}/{operation}", int(size))
                speeds.setdefault(workload, []).append(rate)
        print(f"run {number + 1} of {RUNS} done", flush=True)
    report(records, took, speeds, listing(), watch)


def listing(count=20):
    """Seconds that `cpb list` takes with a warm page cache."""
    found = []
    for _ in range(count + 1):
        start = time.monotonic()
        subprocess.run([build.cpb(), "list"], check=True, capture_output=True)
        found.append(time.monotonic() - start)
    return found[1:]


def passes_for(values, width, chance):
    """How many passes make the half-width of cpb's interval `width`: subsampled if the record has enough of them,
    otherwise extrapolated with the inverse square root. At least 3."""
    count = 3
    while count <= len(values):
        drawn = [figures.located(chance.sample(values, count))[1] for _ in range(DRAWS)]
        if median(drawn) <= width:
            return count
        count = max(count + 1, int(count * 1.2))
    _, margin = figures.located(values)
    return max(3, math.ceil(len(values) * (margin / width) ** 2))


def needed(records, figure):
    """Seconds that cpb needs for each OpenSSL cell and each width: {(workload, width): [seconds]}."""
    chance = random.Random(1)
    found = {}
    for record, seconds in records:
        cells = figures.cells(record)
        # The total cost of one round: starting processes, checking answers, filling memory.
        one = seconds / sum(len(passes) for passes in cells.values())
        for (provider, workload), batches in cells.items():
            if provider != "openssl":
                continue
            values = figures.passes(batches, figure)
            for width in WIDTHS:
                count = passes_for(values, width, chance) if len(values) >= 3 else float("inf")
                found.setdefault((workload, width), []).append(count * one)
    return found


def shown(seconds):
    """Seconds in a short form."""
    if seconds == float("inf"):
        return "never"
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.3g} s"


def report(records, took, speeds, lists, watch):
    """Writes the result file."""
    result = Result(
        "interval",
        "how long until an interval of a given width: cpb or `openssl speed`, on the default plan's OpenSSL cells?",
        "bench/interval.py",
    )
    result.text(
        f"Time until half of the 95 % interval is that share of the figure. cpb: subsampled from the "
        f"passes of {RUNS} default runs, all costs in, at least 3 passes (beyond the passes of a run: "
        f"taken on by 1/sqrt). `openssl speed -elapsed -seconds 1`: {SPEED_RUNS} runs, taken on by "
        "1/sqrt and Student's t, at least 2 runs. `openssl speed` times updates, cpb whole messages."
    )
    in_cycles, in_ns = needed(records, figures.cycles), needed(records, figures.nanoseconds)
    rows, gains = [], {width: [] for width in WIDTHS}
    for workload, values in speeds.items():
        logs = [math.log(value) for value in values]
        row = [workload]
        for width in WIDTHS:
            peer = runs_for(deviation(logs), width)
            own = median(in_cycles[workload, width])
            gains[width].append(peer / own)
            wall = median(in_ns[workload, width])
            row += [shown(own), shown(wall), shown(peer), f"{peer / own:.3g}×"]
        rows.append(row)
    heads = [f">±{width:.1%}: {what}" for width in WIDTHS for what in ("cycles", "wall", "speed", "gain")]
    result.table(["workload", *heads], rows)
    for width in WIDTHS:
        less = sum(gain > 1 for gain in gains[width])
        result.text(
            f"±{width:.1%}: cpb in cycles needs less time in {less} of {len(rows)} cells, at the median "
            f"1/{median(gains[width]):.3g} of it."
        )
    in_time = all(abs(seconds - PLAN_SECONDS) <= PLAN_TOLERANCE for seconds in took)
    quick = median(lists) < LIST_SECONDS
    result.table(
        ["command", ">time", ">target", "met"],
        [
            [
                "`cpb run`, default plan",
                ", ".join(f"{seconds:.1f} s" for seconds in took),
                f"{PLAN_SECONDS} s ± {PLAN_TOLERANCE} s",
                marked(in_time),
            ],
            [
                "`cpb list`, warm, median of 20",
                f"{median(lists) * 1000:.0f} ms (worst {max(lists) * 1000:.0f} ms)",
                f"< {LIST_SECONDS * 1000:.0f} ms",
                marked(quick),
            ],
        ],
    )
    result.verdict(in_time and quick, "the default plan's time and `cpb list`'s.")
    result.write(watch)


if __name__ == "__main__":
    main()
