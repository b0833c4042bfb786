#!/usr/bin/env python3
"""Does it cost anything that Mbed TLS is driven by one crate that is generic over its functions?

Before, its sessions were files that each user included separately. Builds from before and after measure the same plan
in turns. Each side has several builds in which the linker put the functions in different orders, because code
addresses alone change figures. So builds are compared, not runs of one build. A cell's interval is of the ratio
after / before, from the builds' means in logarithms (Student's t), and holds for all cells together (Bonferroni).

Targets: no cell's interval lies wholly above +1 %; the median of all cells is within 0.2 %; on simulated boards every
figure is within 1 %.

`--build COMMIT` first makes the builds: before from that commit, after from this tree. That takes about half an hour.
Then leave the machine alone: the measurement takes about 11 minutes.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
from pathlib import Path

from lib import build, cpb, machine, simulated
from lib.result import Result, percent
from lib.spread import deviation, mean, median

SIDES = ["before", "after"]
BUILDS = 5
TURNS = 2
PROVIDERS = "mbedtls:c,mbedtls:accel,mbedtls-system"
PLAN = Path(__file__).parent / "plans" / "mbedtls_generics.toml"
BOARDS = ["imxrt1060-evk", "imxrt1170-evk"]
# memcpy is not part of Mbed TLS, and its figure changes by 6 % with the addresses of its code (bench/layout.py).
NOT_MBEDTLS = "memcpy"
SLOWER, MIDDLE, BOARD = 0.01, 0.002, 0.01
SURE = 0.95


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, help="with before/1 to before/5, after/1 to after/5, and firmware in both")
    parser.add_argument("--build", metavar="COMMIT", help="make the builds first")
    parser.add_argument("--turns", type=int, default=TURNS, help=f"runs of each build, {TURNS} if not named")
    parser.add_argument("--budget", default="25s", help="time of a run, 25s if not named")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    if arguments.build:
        make(folder, arguments.build)
        return
    watch = machine.Watch()
    found = measure(folder, arguments.turns, arguments.budget)
    report(compare(found), boards(folder), len(found["before"]), arguments.turns, watch)


def make(folder, commit):
    """Builds the programs and images of both sides."""
    tree = folder / "tree"
    subprocess.run(["git", "worktree", "add", "--force", "--detach", tree, commit], cwd=build.ROOT, check=True)
    for side, root in zip(SIDES, (tree, build.ROOT), strict=True):
        target = folder / f"target-{side}"
        environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
        (folder / side).mkdir(parents=True, exist_ok=True)
        for number in range(1, BUILDS + 1):
            # rust-lld: this number determines the order.
            order = f"link-arg=-Wl,--shuffle-sections=.text*={number}"
            command = ["cargo", "rustc", "--release", "--locked", "--package", "cpb", "--bin", "cpb", "--", "-C", order]
            subprocess.run(command, cwd=root, env=environment, check=True)
            shutil.copy(target / "release" / "cpb", folder / side / str(number))
        subprocess.run(["cargo", "xtask", "firmware", "--solo", *BOARDS], cwd=root, env=environment, check=True)
        shutil.copytree(target / "firmware", folder / side / "firmware", dirs_exist_ok=True)
    subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=build.ROOT, check=True)


def builds(folder, side):
    """The programs of a side, in order."""
    return sorted(path for path in (folder / side).iterdir() if path.name.isdigit())


def measure(folder, turns, budget):
    """Logarithms of every cell's figures: {side: [{cell: [figure of each turn]}]}, one dictionary per build."""
    found = {side: [{} for _ in builds(folder, side)] for side in SIDES}
    pairs = list(zip(*(builds(folder, side) for side in SIDES), strict=True))
    record = folder / "run.jsonl"
    for turn in range(turns):
        for number, pair in enumerate(pairs):
            both = list(zip(SIDES, pair, strict=True))
            # The sides take turns to go first.
            for side, program in both if (turn + number) % 2 == 0 else both[::-1]:
                for cell, figure in run(program, record, budget).items():
                    found[side][number].setdefault(cell, []).append(math.log(figure))
            print(f"turn {turn + 1} of {turns}, pair {number + 1} of {len(pairs)} done", flush=True)
    return found


def run(program, record, budget):
    """The figures of a build: cycles per operation, or nanoseconds if the core's clock is unknown."""
    record.unlink(missing_ok=True)
    command = [program, "run", "--quiet", "--json", "-o", record, "--plan", PLAN, "-p", PROVIDERS, "--budget", budget]
    done = subprocess.run(command, capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr.decode()}")
    cells = cpb.figures(json.loads(done.stdout))
    return {
        cell: cpb.value(figures["cycles_per_operation"] or figures["ns_per_operation"])
        for cell, figures in cells.items()
        if cell[0] != "null"
    }


def compare(found):
    """For each cell that every build measured: (cell, logarithm of after / before, half its interval's width)."""
    before, after = (found[side] for side in SIDES)
    everywhere = set.intersection(*(set(one) for one in before + after))
    wide = quantile(1 - (1 - SURE) / (2 * max(len(everywhere), 1)), len(before) + len(after) - 2)
    rows = []
    for cell in sorted(everywhere):
        old, new = ([mean(one[cell]) for one in side] for side in (before, after))
        rows.append((cell, mean(new) - mean(old), wide * pooled(old, new)))
    return rows


def pooled(old, new):
    """The standard error of the difference of two means whose values have the same scatter."""
    squares = sum((len(values) - 1) * deviation(values) ** 2 for values in (old, new))
    return math.sqrt(squares / (len(old) + len(new) - 2) * (1 / len(old) + 1 / len(new)))


def quantile(share, freedom):
    """A quantile of Student's t distribution, by bisection; the share is at least one half."""
    low, high = 0.0, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle, freedom) < share else (low, middle)
    return high


def below(value, freedom):
    """The share of Student's t distribution below a positive value, by Simpson's rule over the angle."""
    steps, end = 200, math.atan(value / math.sqrt(freedom))
    heights = [math.cos(end * step / steps) ** (freedom - 1) for step in range(steps + 1)]
    area = heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2])
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    return 0.5 + scale * area * end / (3 * steps)


def boards(folder):
    """For each figure of the simulated boards: (board, algorithm, after / before - 1, whether answers are equal)."""
    program = builds(folder, "before")[0]
    rows = []
    for board in BOARDS:
        old, new = (simulated.measure(program, folder / side / "firmware", f"{board}-O2-solo") for side in SIDES)
        for algorithm, (cycles, *_, answer) in old["rows"].items():
            if algorithm == NOT_MBEDTLS:
                continue
            other, *_, same = new["rows"][algorithm]
            rows.append((board, algorithm, other / cycles - 1, same == answer))
    return rows


def report(rows, simulated_rows, count, turns, watch):
    """Writes the result file."""
    result = Result("mbedtls_generics", __doc__.split("\n\n")[0], "bench/mbedtls_generics.py FOLDER")
    slower = [cell for cell, middle, half in rows if middle - half > math.log(1 + SLOWER)]
    surely = sum(middle + half < math.log(1 + SLOWER) for _, middle, half in rows)
    middle = math.expm1(median([middle for _, middle, _ in rows]))
    result.text(
        f"{len(rows)} cells, {count} builds a side, {turns} runs of each. After / before - 1 with an interval "
        f"that holds for all cells together; half its width is {percent(median([half for *_, half in rows]))} in the "
        f"middle. Of {surely} cells it lies wholly below +{percent(SLOWER, 0)}."
    )
    result.table(
        ["provider", ">cells", ">median", ">least", ">most", f">surely above +{percent(SLOWER, 0)}"],
        [
            [
                provider,
                len(own),
                *(percent(math.expm1(figure)) for figure in (median(own), min(own), max(own))),
                sum(cell[0] == provider for cell in slower),
            ]
            for provider in sorted({cell[0] for cell, *_ in rows})
            for own in [[middle for cell, middle, _ in rows if cell[0] == provider]]
        ],
    )
    result.table(
        ["provider", "workload", ">after / before - 1", ">interval"],
        [
            [
                *cell,
                percent(math.expm1(middle)),
                f"{percent(math.expm1(middle - half))} to {percent(math.expm1(middle + half))}",
            ]
            for cell, middle, half in rows
        ],
    )
    result.text("Simulated boards, cycles a byte:")
    result.table(
        ["board", ">algorithms", ">median", ">least", ">most", ">same answers"],
        [
            [board, len(own), *(percent(figure) for figure in (median(own), min(own), max(own))), same]
            for board in BOARDS
            for own in [[change for name, _, change, _ in simulated_rows if name == board]]
            for same in [sum(same for name, *_, same in simulated_rows if name == board)]
        ],
    )
    on_boards = all(same and abs(change) <= BOARD for *_, change, same in simulated_rows)
    result.verdict(
        not slower and abs(middle) <= MIDDLE and on_boards,
        f"{len(slower)} of {len(rows)} cells surely slower by more than {percent(SLOWER, 0)}; the median is "
        f"{percent(middle)} off (aim: {percent(MIDDLE, 1)}); simulated boards "
        f"{'all' if on_boards else 'not all'} within {percent(BOARD, 0)}.",
    )
    result.write(watch)


if __name__ == "__main__":
    main()
