#!/usr/bin/env python3
"""Does the advice of a default run hold at the sizes that it did not measure?

A dense record of the machine (dense.toml, six minutes) is the reference. Its own error is included: two of its costs
differ if the 95 % interval of their ratio excludes 1. Ten default runs are compared with it. With `--before BINARY`,
there are also ten runs of an earlier cpb with its own default plan, which alternate with the others.

Targets: if a pair of providers crosses once and a run reports a crossover, its interval overlaps the dense one in at
least 90 of 100 cases; the regret of the advice, at each dense size of whole blocks, is at most 1 % at the 95th
percentile and 10 % at worst; there is advice at 95 % of the sizes. The regret is the additional cost of the worst
advised path compared with the best path.

The script also reports how far dense costs are off the straight line between sizes of the default plan, and how often
the interval of `cpb explain --size N` contains the dense time if a run did not measure that size.
"""

import itertools
import json
import math
import pathlib
import subprocess
import sys
import tomllib
from collections import defaultdict

from lib import build, cpb, machine
from lib.result import Result, percent
from lib.spread import median

RUNS = 10
BLOCK = 16


def main():
    before = pathlib.Path(sys.argv[2]) if sys.argv[1:2] == ["--before"] and len(sys.argv) == 3 else None
    if sys.argv[1:] and not before:
        sys.exit("usage: dense_truth.py [--before BINARY]")
    watch = machine.Watch()
    folder = build.scratch("records", "dense_truth")
    binaries = {"now": build.cpb(), **({"before": before} if before else {})}
    dense = folder / "dense.jsonl"
    records = defaultdict(list)
    for number in range(RUNS):
        if number == RUNS // 2:
            # In the middle, so that drift of the machine affects the runs before and after equally.
            cpb.run(dense, "--plan", pathlib.Path(__file__).parent / "plans" / "dense.toml")
        for name, binary in binaries.items():
            record = folder / f"{name}-{number}.jsonl"
            record.unlink(missing_ok=True)
            subprocess.run([binary, "run", "-q", "--json", "-o", record], check=True, stdout=subprocess.DEVNULL)
            records[name].append(record)
        print(f"run {number + 1} of {RUNS} done", flush=True)
    summary = cpb.show(dense)
    truth = costs(summary)
    scores = {name: score(truth, [explained(binaries[name], record) for record in records[name]]) for name in binaries}
    report(truth, scores, held(summary, records["now"]), watch)


def explained(binary, record, *options):
    """The explanation of a record by that cpb."""
    command = [binary, "explain", "--json", *options, record]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def costs(summary):
    """{task: {provider: {size: (cost, margin)}}}, in cycles if they are known; margins are shares."""
    found = defaultdict(lambda: defaultdict(dict))
    for (provider, workload), figures in cpb.figures(summary).items():
        estimate = figures["cycles_per_operation"] or figures["ns_per_operation"]
        interval = estimate["interval"]
        task, size = workload.rsplit("/", 1)
        if provider != "null" and interval:
            margin = (interval["high"] - interval["low"]) / 2 / estimate["value"]
            found[task][provider][int(size)] = (estimate["value"], margin)
    return found


def times(summary):
    """{task: {provider: {size: nanoseconds}}}."""
    found = defaultdict(lambda: defaultdict(dict))
    for (provider, workload), figures in cpb.figures(summary).items():
        task, size = workload.rsplit("/", 1)
        found[task][provider][int(size)] = figures["ns_per_operation"]["value"]
    return found


def hertz(summary):
    """The core's clock in a run; 1 if it is unknown."""
    return summary["clock"]["median"] if summary["clock"] else 1.0


def held(summary, records):
    """The number of estimates at sizes that a run did not measure, and the number of those that contain the dense
    time, at the run's clock."""
    dense, clock = times(summary), hertz(summary)
    sizes = sorted({size for task in dense.values() for path in task.values() for size in path})
    all_of_them = inside = 0
    for record in records:
        slower = clock / hertz(cpb.show(record))
        for size in sizes:
            for task in explained(build.cpb(), record, "--size", str(size))["tasks"]:
                paths = dense.get(task_name(task["subject"]), {})
                for path in task["paths"]:
                    asked, actual = path["asked"], paths.get(path["provider"], {}).get(size)
                    if asked and asked["between"] and actual:
                        interval = asked["time_ns"]["interval"]
                        all_of_them += 1
                        inside += interval["low"] <= actual * slower <= interval["high"]
    return all_of_them, inside


def off_the_line(truth):
    """How far dense costs are off the line through the default plan's sizes, as shares: (whole blocks, partial
    ones)."""
    plan = tomllib.loads((build.ROOT / "plans" / "default.toml").read_text())
    planned = sorted({size for measure in plan["measure"] for size in measure["sizes"]})
    found = ([], [])
    for path in (path for task in truth.values() for path in task.values()):
        for low, high in itertools.pairwise(planned):
            if low not in path or high not in path:
                continue
            for size in (size for size in path if low < size < high):
                share = (size - low) / (high - low)
                line = path[low][0] * (1 - share) + path[high][0] * share
                found[bool(size % BLOCK)].append(path[size][0] / line - 1)
    return found


def side(one, other):
    """-1 if the first certainly costs less, 1 if the second does, else 0."""
    difference = math.log(one[0] / other[0])
    if abs(difference) <= math.hypot(one[1], other[1]):
        return 0
    return -1 if difference < 0 else 1


def crossings(one, other, whole=True):
    """The crossovers of two paths' dense costs: [(low, high)] between sizes at which different paths win."""
    sizes = sorted(size for size in one if size in other and not (whole and size % BLOCK))
    decided = [(size, side(one[size], other[size])) for size in sizes]
    decided = [(size, winner) for size, winner in decided if winner]
    return [(a, b) for (a, first), (b, second) in itertools.pairwise(decided) if first != second]


def claimed(contest):
    """The intervals of a contest's crossovers."""
    if not isinstance(contest, dict):
        return []
    found = contest.get("crosses", [])
    return [(one["low"] or 0.0, one["high"] or math.inf) for one in found]


def edge(border):
    """The size at which the advice changes, as reported by this cpb or an earlier one."""
    return border["bytes"] if isinstance(border, dict) else border


def advised(advice, size):
    """The paths that are advised at a size; empty if the advice itself says that the best path is unknown."""
    borders = [one["to"] for one in advice if isinstance(one["to"], dict)]
    if any(border.get("open") and border["low"] < size < border["high"] for border in borders):
        return []
    for one in advice:
        low, high = edge(one["from"]), edge(one["to"])
        above = one["least"] <= size if low is None else low <= size
        below = size <= one["largest"] if high is None else size < high
        if above and below:
            return one["take"]
    return []


def task_name(subject):
    """The task of an explanation, as a workload without its size."""
    return subject["measured"].rsplit("/", 1)[0] if "measured" in subject else None


def score(truth, explanations):
    """How often crossovers overlap, how wide their intervals are, and what the advice loses."""
    found = {"once": 0, "met": 0, "said": 0, "widths": [], "regrets": [], "partial": [], "none": 0, "asked": 0}
    found["ranges"] = []
    for explanation in explanations:
        for task in explanation["tasks"]:
            dense = truth.get(task_name(task["subject"]))
            if not dense:
                continue
            for pair in (task["pairs"].get("Ok") or []) if isinstance(task["pairs"], dict) else []:
                meet(found, dense, pair)
            found["ranges"].append(len(task["advice"]))
            regret(found, dense, task["advice"])
    return found


def meet(found, dense, pair):
    """Compares one pair of a run with the dense record."""
    one, other = dense.get(pair["first"]), dense.get(pair["second"])
    if not one or not other:
        return
    actual = crossings(one, other)
    if len(actual) != 1:
        return
    [(low, high)] = actual
    intervals = claimed(pair["contest"])
    found["once"] += 1
    found["said"] += bool(intervals)
    found["met"] += any(a <= high and low <= b for a, b in intervals)
    found["widths"] += [b / a for a, b in intervals if a > 0 and b < math.inf]


def regret(found, dense, advice):
    """Compares the advice of a run for one task with the dense record."""
    sizes = sorted({size for path in dense.values() for size in path})
    for size in sizes:
        here = {name: path[size][0] for name, path in dense.items() if size in path}
        take = [name for name in advised(advice, size) if name in here]
        worst = max((here[name] for name in take), default=None)
        lost = None if worst is None else worst / min(here.values()) - 1
        if size % BLOCK:
            found["partial"] += [lost] if lost is not None else []
            continue
        found["asked"] += 1
        found["none"] += lost is None
        found["regrets"] += [lost] if lost is not None else []


def quantile(values, share):
    """The value that a share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else float("nan")


def report(truth, scores, estimates, watch):
    """Writes the result file."""
    paths = len({name for task in truth.values() for name in task})
    cells = sum(len(sizes) for task in truth.values() for sizes in task.values())
    result = Result(
        "dense_truth",
        "does the advice of a default run hold at the sizes that it did not measure?",
        "bench/dense_truth.py [--before BINARY]",
    )
    result.text(
        f"{RUNS} default runs against a dense record of {cells} cells: {len(truth)} operations, {paths} providers, "
        "sizes of whole blocks and others. `before`: an earlier cpb with its own default plan, interleaved."
    )
    names = list(scores)
    rows = [
        ["pairs that cross once", *(f"{one['once']}" for one in scores.values())],
        ["... a run reports a crossover", *(percent(one["said"] / one["once"], 1) for one in scores.values())],
        [
            "... and its interval meets the dense one",
            *(percent(one["met"] / one["said"], 1) for one in scores.values()),
        ],
        ["median width of the intervals, high / low", *(f"{median(one['widths']):.2f}" for one in scores.values())],
        ["regret at whole blocks: median", *(percent(quantile(one["regrets"], 0.5)) for one in scores.values())],
        ["... 90th percentile", *(percent(quantile(one["regrets"], 0.9)) for one in scores.values())],
        ["... 95th percentile", *(percent(quantile(one["regrets"], 0.95)) for one in scores.values())],
        ["... worst", *(percent(max(one["regrets"])) for one in scores.values())],
        ["advice at so many sizes", *(percent(1 - one["none"] / one["asked"], 1) for one in scores.values())],
        [
            "regret with a partial block: 95th percentile",
            *(percent(quantile(one["partial"], 0.95)) for one in scores.values()),
        ],
        ["... worst", *(percent(max(one["partial"])) for one in scores.values())],
        [
            "ranges of advice an operation, mean",
            *(f"{sum(one['ranges']) / len(one['ranges']):.1f}" for one in scores.values()),
        ],
    ]
    result.table(["", *(f">{name}" for name in names)], rows)
    whole, partial = off_the_line(truth)
    result.text(
        f"Between the sizes of the default plan dense costs lie {percent(-min(whole), 0)} below to "
        f"{percent(max(whole), 0)} above the straight line through their neighbours at whole blocks "
        f"({len(whole)} cells), and up to {percent(max(partial), 0)} above it with a partial block "
        f"({len(partial)} cells)."
    )
    asked, inside = estimates
    result.text(
        f"`cpb explain --size N`, where a run did not measure N: the interval holds the dense time in "
        f"{percent(inside / asked, 1)} of {asked} cases."
    )
    now = scores["now"]
    coverage = now["met"] / now["said"]
    loss, worst = quantile(now["regrets"], 0.95), max(now["regrets"])
    known = 1 - now["none"] / now["asked"]
    result.verdict(
        coverage >= 0.9 and loss <= 0.01 and worst <= 0.1 and known >= 0.95,
        f"crossovers meet in {percent(coverage, 1)} (aim 90 %); regret {percent(loss)} at the 95th percentile (1 %), "
        f"{percent(worst)} at worst (10 %); advice at {percent(known, 1)} of sizes (95 %).",
    )
    result.write(watch)


if __name__ == "__main__":
    main()
