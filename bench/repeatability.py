#!/usr/bin/env python3
"""How far apart are the figures of the same cell in ten runs of the default plan, compared with those of `openssl
speed`? With --loaded, a program on each CPU never sleeps meanwhile.

Targets: for AES-256-CBC encryption of 16 B and 16 KiB, the largest reported cycles per byte are at most 0.3 % above
the smallest on an otherwise idle machine, and 1 % on a loaded one. Also a twentieth of the spread of `openssl speed
-elapsed`; on a loaded machine, a tenth of the spread of its better mode.
"""

import contextlib
import sys

from lib import build, cpb, machine, openssl
from lib.result import Result, marked, percent
from lib.spread import median, spread

RUNS = 10
SIZES = [16, 16384]
WHAT = "aes-256-cbc/encrypt"


def main():
    loaded = sys.argv[1:] == ["--loaded"]
    if sys.argv[1:] and not loaded:
        sys.exit("usage: repeatability.py [--loaded]")
    name = "repeatability-loaded" if loaded else "repeatability"
    command, app = build.cpb(), openssl.app()
    print(f"{command}: {RUNS} runs of 20 s, with openssl speed between them", flush=True)
    watch = machine.Watch()
    with machine.hogs() if loaded else contextlib.nullcontext():
        summaries, speeds = measure(app, build.scratch("records", name))
    report(name, loaded, summaries, speeds, watch)


def measure(app, folder):
    """Ten runs of cpb; after each, one of `openssl speed` for each size and mode."""
    summaries, speeds = [], {}
    for number in range(RUNS):
        summaries.append(cpb.run(folder / f"{number}.jsonl")[0])
        for size in SIZES:
            for elapsed in (True, False):
                rate = openssl.speed(app, WHAT, size, elapsed)
                speeds.setdefault((size, elapsed), []).append(rate)
        print(f"run {number + 1} of {RUNS} done", flush=True)
    return summaries, speeds


def report(name, loaded, summaries, speeds, watch):
    """Writes the result file."""
    limit, factor = (0.01, 10) if loaded else (0.003, 20)
    all_figures = [cpb.figures(summary) for summary in summaries]
    state = "with a program on each CPU that never sleeps" if loaded else "machine left alone"
    result = Result(
        name,
        f"how far apart are the same cell's figures in {RUNS} runs of the default plan ({state})?",
        f"bench/repeatability.py{' --loaded' if loaded else ''}",
    )

    rows, met = [], []
    for size in SIZES:
        elapsed, user = spread(speeds[size, True]), spread(speeds[size, False])
        peer = min(elapsed, user) if loaded else elapsed
        cell = ("openssl", f"{WHAT}/message/{size}")
        in_cycles, in_ns = spreads(all_figures, cell)
        known = in_cycles is not None
        met += [known and in_cycles <= limit, known and in_cycles * factor <= peer]
        middle = median(values(all_figures, cell, "cycles_per_byte")) if known else float("nan")
        rows.append(
            [
                f"{size} B",
                f"{middle:.4f}",
                percent(in_cycles, 3) if known else "clock unknown",
                scatter(all_figures, cell),
                percent(in_ns),
                percent(elapsed),
                percent(user),
                f"{peer / in_cycles:.0f}×" if in_cycles else "",
                marked(met[-2]),
                marked(met[-1]),
            ]
        )
    result.text(
        f"{WHAT} by OpenSSL; spread is largest / smallest - 1 of {RUNS} runs; "
        "passes, each a new process, differ by one standard deviation in cycles, the median of the runs:"
    )
    result.table(
        [
            "size",
            ">cycles/byte",
            ">**cpb, cycles**",
            ">passes differ by",
            ">cpb, wall ns",
            ">speed -elapsed",
            ">speed, user time",
            ">speed / cpb",
            f">≤ {percent(limit, 1)}",
            f">≤ 1/{factor}",
        ],
        rows,
    )
    others(result, all_figures)
    everything(result, all_figures)
    promises(result, all_figures)
    costs(result, summaries)
    result.verdict(
        all(met),
        f"a spread of the reported cycles per byte of at most {percent(limit, 1)}, and at most "
        f"1/{factor} of `openssl speed`'s ({'its better mode' if loaded else '-elapsed'}).",
    )
    result.write(watch)


def values(all_figures, cell, field):
    """One figure of a cell in all runs that have it."""
    found = [cpb.value(figures[cell][field]) for figures in all_figures if cell in figures]
    return [value for value in found if value is not None]


def spreads(all_figures, cell):
    """Spread of a cell in cycles (None if a run does not know them) and in wall-clock time."""
    cycles = values(all_figures, cell, "cycles_per_operation")
    in_ns = spread(values(all_figures, cell, "ns_per_operation"))
    return (spread(cycles) if len(cycles) == len(all_figures) else None), in_ns


def scatter(all_figures, cell):
    """How far the passes of a run are apart, in cycles."""
    found = [figures[cell]["cycles_per_operation"] for figures in all_figures if cell in figures]
    found = [one["between"] for one in found if one and one["between"] is not None]
    return percent(median(found)) if found else "unknown"


def others(result, all_figures):
    """The same workload with the other providers."""
    rows = []
    for size in SIZES:
        workload = f"{WHAT}/message/{size}"
        for cell in all_figures[0]:
            if cell[1] == workload and cell[0] not in ("openssl", "null"):
                in_cycles, in_ns = spreads(all_figures, cell)
                shown = "clock unknown" if in_cycles is None else percent(in_cycles, 3)
                rows.append([cell[0], f"{size} B", shown, scatter(all_figures, cell), percent(in_ns)])
    result.text("The same by the other providers:")
    result.table(["provider", "size", ">cpb, cycles", ">passes differ by", ">cpb, wall ns"], rows)


def everything(result, all_figures):
    """All cells of the plan."""
    found = {cell: spreads(all_figures, cell) for cell in all_figures[0]}
    known = {cell: both[0] for cell, both in found.items() if both[0] is not None}
    worst = sorted(known, key=known.get, reverse=True)[:5]
    if known:
        result.text(
            f"All {len(found)} cells of the plan: median spread {percent(median(known.values()), 3)} in "
            f"cycles, {percent(median(both[1] for both in found.values()))} in wall ns. The worst:"
        )
        rows = [[cell[0], cell[1], percent(known[cell]), percent(found[cell][1])] for cell in worst]
        result.table(["provider", "workload", ">cpb, cycles", ">cpb, wall ns"], rows)


def promises(result, all_figures):
    """How often a run's interval contains the figures of the other runs."""
    kept, outside = 0, {}
    for cell in all_figures[0]:
        estimates = [figures[cell]["cycles_per_operation"] for figures in all_figures if cell in figures]
        estimates = [one for one in estimates if one and one["interval"]]
        for number, one in enumerate(estimates):
            rest = [other["value"] for place, other in enumerate(estimates) if place != number]
            inside = rest and one["interval"]["low"] <= median(rest) <= one["interval"]["high"]
            kept += bool(inside)
            outside[cell] = outside.get(cell, 0) + (not inside)
    total = kept + sum(outside.values())
    if total:
        worst = max(outside, key=outside.get)
        result.text(
            f"A run's 95 % interval in cycles contains the median of the other runs in "
            f"{percent(kept / total, 1)} of {total} cases (worst cell: {worst[0]} {worst[1]}, outside in "
            f"{outside[worst]} of {len(all_figures)} runs)."
        )


def costs(result, summaries):
    """What was discarded, and what the figures cost."""
    shares = [cpb.discarded(summary) for summary in summaries]
    passes = [summary["run"]["passes"] for summary in summaries]
    seconds = median(cpb.seconds_per_cell(summary) for summary in summaries)
    result.text(
        f"Discarded batches: {percent(median(shares), 1)} (from {percent(min(shares), 1)} to "
        f"{percent(max(shares), 1)} by run). Passes: {min(passes)} to {max(passes)}. Time: cpb took "
        f"{seconds:.2f} s per cell and run, all in; `openssl speed` 1 s per size and mode, so cpb had "
        f"1/{1 / seconds:.1f} of its time."
    )


if __name__ == "__main__":
    main()
