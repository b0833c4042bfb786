#!/usr/bin/env python3
"""Which way of computing a figure from raw batches varies least between runs, and gives the same level on a busy
machine? This is the experiment behind METHOD's choices.

There are two parts. In the first, each figure is computed from the same records in many ways, so that differences
come from the ways and not from chance in a run. In the second, rounds of other shapes (batch, warm-up, batches,
sessions, reference chain) take turns with equal total time: evidence for the numbers in crates/cpb/src/schedule.rs.
"""

import itertools
import json
import random
import re
import subprocess

from lib import build, cpb, figures, machine
from lib.result import Result, percent
from lib.spread import lower_quartile, mean, median, quantile, slope, trimmed, variation

RUNS = 8
SECONDS = 10
ANY = float("inf")


def main():
    build.cpb()
    program = build.example("direct")
    watch = machine.Watch()
    calm = records("calm")
    shapes = Shapes(program, overhead(calm[0][1]))
    shapes.measure()
    with machine.hogs():
        busy = records("busy")
    result = Result(
        "methods",
        "which way of making a figure of raw batches repeats best from run to run, and reads the same on "
        "a busy machine?",
        "bench/methods.py",
    )
    compare_methods(result, calm, busy)
    result.text(agreement_with_cpb(build.scratch("records") / "calm-0.jsonl"))
    shapes.report(result)
    result.write(watch)


def records(name):
    """Runs of the default plan, but shorter: for each, the batches of its cells and its summary."""
    found = []
    for number in range(RUNS):
        path = build.scratch("records") / f"{name}-{number}.jsonl"
        summary, _ = cpb.run(path, "--budget", f"{SECONDS}s")
        found.append((figures.cells(path), summary))
        print(f"{name}: run {number + 1} of {RUNS} done", flush=True)
    return found


# ---- the same batches, computed in many ways

WALL, CYCLES = figures.nanoseconds, figures.cycles


def pooled(statistic, figure, agreement=ANY):
    """One statistic of all batches of all passes together."""

    def of(passes):
        batches = [batch for one in passes for batch in one if batch.disagreement <= agreement]
        values = [figure(batch) for batch in batches]
        values = [value for value in values if value is not None]
        return statistic(values) if values else None

    return of


def by_pass(location, figure, agreement=figures.AGREEMENT, crowded=False, within=lower_quartile, passes=None):
    """One value per pass, then a location over passes."""

    def of(all_passes):
        values = figures.passes(all_passes[:passes], figure, agreement, crowded, within)
        return location(values) if values else None

    return of


def own(values):
    """cpb's location."""
    return figures.located(values)[0]


BOLD = "**pass quartiles, cpb's location (0.6 %)**"
METHODS = {
    "wall: mean of all batches": pooled(mean, WALL),
    "wall: median of all": pooled(median, WALL),
    "wall: minimum": pooled(min, WALL),
    "wall: pass quartiles, cpb's location": by_pass(own, WALL, ANY, crowded=True),
    "cycles, nothing discarded: mean of all": pooled(mean, CYCLES),
    "cycles, nothing discarded: median of all": pooled(median, CYCLES),
    "cycles, nothing discarded: minimum": pooled(min, CYCLES),
    "cycles, 0.6 %: mean of all": pooled(mean, CYCLES, 0.006),
    "cycles, 0.6 %: median of all": pooled(median, CYCLES, 0.006),
    "cycles, 0.6 %: minimum": pooled(min, CYCLES, 0.006),
    "pass quartiles, mean of passes": by_pass(mean, CYCLES),
    "pass quartiles, median of passes": by_pass(median, CYCLES),
    "pass quartiles, trimmed mean of passes (20 %)": by_pass(trimmed, CYCLES),
    BOLD: by_pass(own, CYCLES),
    "pass medians, cpb's location": by_pass(own, CYCLES, within=median),
    "bold, crowded batches kept": by_pass(own, CYCLES, crowded=True),
    "bold, nothing discarded": by_pass(own, CYCLES, ANY, crowded=True),
    "bold, 1 %": by_pass(own, CYCLES, 0.01),
    "bold, 0.2 %": by_pass(own, CYCLES, 0.002),
    "bold, the first pass only": by_pass(own, CYCLES, passes=1),
    "bold, 3 passes": by_pass(own, CYCLES, passes=3),
    "bold, 10 passes": by_pass(own, CYCLES, passes=10),
}

SLOPES = {
    "wall: slope over sizes, minima": METHODS["wall: minimum"],
    "cycles: slope over sizes, cpb's location": METHODS[BOLD],
}


def series(runs, method):
    """A method's figure of each cell in each run; cells without a figure in some run are left out."""
    found = {}
    for cell in runs[0]:
        values = [method(cells[cell]) for cells in runs if cell in cells]
        if len(values) == len(runs) and all(values):
            found[cell] = values
    return found


def slopes(runs, method):
    """The slope over message sizes of each provider and operation in each run."""
    groups = {}
    for (provider, workload), values in series(runs, method).items():
        algorithm, operation, phase, size, *rest = workload.split("/")
        groups.setdefault((provider, algorithm, operation, phase, *rest), []).append((int(size), values))
    return {
        group: [slope([(size, values[run]) for size, values in sizes]) for run in range(len(runs))]
        for group, sizes in groups.items()
        if len(sizes) >= 3
    }


def compare_methods(result, calm, busy):
    """Writes the table of methods."""
    sets = [[cells for cells, _ in runs] for runs in (calm, busy)]
    rows = []
    for name, method, of in itertools.chain(
        ((name, method, series) for name, method in METHODS.items()),
        ((name, method, slopes) for name, method in SLOPES.items()),
    ):
        still, moved = (of(runs, method) for runs in sets)
        levels = [mean(moved[cell]) / mean(still[cell]) for cell in still if cell in moved]
        level = f"{median(levels):.4f}" if levels else ""
        rows.append([name, *scatter(still.values()), *scatter(moved.values()), level])
    result.text(
        f"Standard deviation from run to run, as a share, over all cells of the default plan (or all "
        f"slopes over its sizes): median, nine tenths, worst. {RUNS} runs of {SECONDS} s as the machine "
        f"is, {RUNS} with a program on each CPU that never sleeps. *Level*: busy divided by calm, median "
        "over cells; 1 is right."
    )
    heads = [f">{state}: {what}" for state in ("calm", "busy") for what in ("median", "9/10", "worst")]
    result.table(["method", *heads, ">level"], rows)
    shares = [", ".join(percent(crowded(summary), 0) for _, summary in runs) for runs in (calm, busy)]
    result.text(
        "A *crowded* batch is one beside which the burst took longer against the reference chain than on a "
        "core alone: another thread ran on the same core, and the chain by itself does not show it. Share "
        f"of batches, run by run: calm {shares[0]}; busy {shares[1]}."
    )


def crowded(summary):
    """The share of batches that had to share their core."""
    return summary["noise"]["crowded"] / summary["noise"]["batches"]


def scatter(all_values):
    """The median, the 90th percentile and the maximum of the variations between runs."""
    found = [variation(values) for values in all_values]
    if not found:
        return [""] * 3
    return [percent(share, 3) for share in (median(found), quantile(found, 0.9), max(found))]


def agreement_with_cpb(path):
    """A sentence on how closely this script's arithmetic agrees with cpb's."""
    method = METHODS[BOLD]
    reported = cpb.figures(cpb.show(path))
    furthest = 0
    for cell, passes in figures.cells(path).items():
        value = cpb.value(reported.get(cell, {}).get("cycles_per_operation"))
        if value is not None:
            furthest = max(furthest, abs(method(passes) / value - 1))
    return (
        "The row in bold is what cpb reports, computed here once more: the furthest of its cells is "
        f"{furthest:.1e} away."
    )


# ---- rounds of other shapes


def product_shape():
    """The shape of a round in the product: (warm-up, batch, batches, sessions, reference) in µs."""
    schedule = (build.ROOT / "crates/cpb/src/schedule.rs").read_text()
    clock = (build.ROOT / "crates/runner/src/time.rs").read_text()

    def number(text, pattern):
        return int(re.search(pattern, text).group(1).replace("_", ""))

    return (
        number(schedule, r"warmup: Duration::from_micros\(([\d_]+)\)"),
        number(schedule, r"batch: Duration::from_micros\(([\d_]+)\)"),
        number(schedule, r"BATCHES: u16 = (\d+)"),
        1,
        number(clock, r"REFERENCE: Ticks = Ticks\(([\d_]+)\)") // 1000,
    )


def variants(shape):
    """Shapes that differ from the product's in one parameter."""
    warmup, batch, batches, sessions, reference = shape
    found = {"as in the product": shape}
    for value in (0, 100, 300, 1600):
        found[f"warm-up {value} µs"] = (value, batch, batches, sessions, reference)
    for value in (50, 100, 500):
        found[f"batch {value} µs"] = (warmup, value, batches, sessions, reference)
    for value in (1, 8, 16):
        found[f"{value} batches a pass"] = (warmup, batch, value, sessions, reference)
    for value in (2, 20):
        found[f"reference {value} µs"] = (warmup, batch, batches, sessions, value)
    found["8 batches in 2 sessions"] = (warmup, batch, 8, 2, reference)
    return found


def overhead(summary):
    """Microseconds that a round takes in addition to warm-up, batches and references: processes, checks."""
    warmup, batch, batches, _, reference = product_shape()
    rounds = sum(figures["processes"] for figures in cpb.figures(summary).values())
    alone = warmup + batches * (batch + reference) + reference
    return max(summary["run"]["seconds"] * 1e6 / rounds - alone, 0)


class Shapes:
    """The experiment with rounds of other shapes."""

    CELLS = [
        f"{what}/{size}"
        for what in ("aes-256-cbc/encrypt/message", "aes-256-gcm/encrypt/message", "sha-256/hash/message")
        for size in (16, 1024, 16384)
    ]
    # Passes of the product's shape in a run. Other shapes get as many as fit in the same time.
    PASSES = 15

    def __init__(self, program, overhead):
        self.program = program
        self.overhead = overhead
        self.shapes = variants(product_shape())
        self.found = {}

    def passes(self, shape):
        """How many passes of a shape fit in the time of a run."""
        return max(1, round(self.PASSES * self.cost(product_shape()) / self.cost(shape)))

    def cost(self, shape):
        """Microseconds of a round."""
        warmup, batch, batches, sessions, reference = shape
        return self.overhead + sessions * (warmup + reference) + batches * (batch + reference)

    def measure(self):
        """All runs, with shapes and cells in random order in each process, and one process per pass."""
        chance = random.Random(1)
        for number in range(RUNS):
            run = {}
            for number_of_pass in range(max(self.passes(shape) for shape in self.shapes.values())):
                due = {n: s for n, s in self.shapes.items() if number_of_pass < self.passes(s)}
                rounds = list(itertools.product(due.items(), self.CELLS))
                chance.shuffle(rounds)
                for (name, workload), line in zip(
                    [(name, workload) for (name, _), workload in rounds],
                    self.process([(workload, shape) for (_, shape), workload in rounds]),
                    strict=True,
                ):
                    batches = figures.batches(line, line["cost"])
                    run.setdefault((name, workload), []).append(batches)
            for key, passes in run.items():
                self.found.setdefault(key, []).append(passes)
            print(f"shapes: run {number + 1} of {RUNS} done", flush=True)

    def process(self, rounds):
        """Rounds in one process, in this order."""
        texts = [f"{workload}={','.join(map(str, shape))}" for workload, shape in rounds]
        command = [self.program, "--cpus", str(machine.measuring_cpu()), "openssl", *texts]
        output = subprocess.run(command, check=True, capture_output=True).stdout
        return [json.loads(line) for line in output.splitlines()]

    def report(self, result):
        """Writes the table of shapes."""
        method = METHODS[BOLD]
        base = {cell: self.series("as in the product", cell, method) for cell in self.CELLS}
        rows = []
        for name, shape in self.shapes.items():
            values = {cell: self.series(name, cell, method) for cell in self.CELLS}
            known = {cell: found for cell, found in values.items() if found and base[cell]}
            if not known:
                continue
            level = {cell: mean(found) / mean(base[cell]) - 1 for cell, found in known.items()}
            furthest = max(level, key=lambda cell: abs(level[cell]))
            batches = [b for cell in self.CELLS for run in self.found[name, cell] for p in run for b in p]
            lost = sum(batch.disagreement > figures.AGREEMENT for batch in batches) / len(batches)
            rows.append(
                [
                    name,
                    self.passes(shape),
                    *scatter(known.values()),
                    percent(lost, 1),
                    f"{percent(level[furthest])} ({furthest.replace('/message', '')})",
                ]
            )
        result.text(
            f"Rounds of other shapes, OpenSSL, {len(self.CELLS)} cells, {RUNS} runs, each shape given as "
            f"many passes as fit in the time of {self.PASSES} of the product's ({self.overhead:.0f} µs a "
            "round for processes and checks counted in). *Furthest*: the cell whose level differs most "
            "from the product's shape."
        )
        result.text(f"The product's shape: {describe(product_shape())}.")
        heads = ["shape", ">passes", ">median", ">9/10", ">worst", ">discarded", ">furthest"]
        result.table(heads, rows)

    def series(self, name, cell, method):
        """A cell's figure in each run; empty if one is missing."""
        values = [method(passes) for passes in self.found[name, cell]]
        return values if all(values) else []


def describe(shape):
    """A description of a shape."""
    warmup, batch, batches, sessions, reference = shape
    return (
        f"{warmup} µs of warm-up, {batches} batches of {batch} µs in {sessions} session, a reference of "
        f"{reference} µs around each"
    )


if __name__ == "__main__":
    main()
