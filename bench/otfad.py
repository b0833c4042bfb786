#!/usr/bin/env python3
"""What does decrypting flash on the fly cost a reader on i.MX RT1170, and how far is the simulator from the table that
NXP published (AN13198, figure 4)?

`make otfad` builds the firmware and runs this script. The same image is measured as it is and encrypted by `cpb otfad`.
The constants of the flash were fitted to the 8-bit cells only; 16 and 32 bits, bursts, and lines of the cache read by
them are predictions. `--check` compares the figures with bench/results/otfad.json.
"""

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lib import build, flash, machine
from lib.result import Result
from lib.spread import median

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "records" / "otfad-flexspi.jsonl"
GOLDEN = ROOT / "bench" / "results" / "otfad.json"
PLAN = ROOT / "plans" / "an13198.toml"
IMAGE = "imxrt1170-evk-O2"
# The core, and what the wires carry: quad SDR moves half a byte a clock.
CORE_MHZ, FLASH_MHZ = 996, 99
WIRE = FLASH_MHZ / 2
FLASH_CYCLE = CORE_MHZ / FLASH_MHZ
PATHS = {"flexspi": "plain", "flexspi:otfad": "OTFAD"}
WIDTHS = {"8-bit": "8-bit", "16-bit": "16-bit", "32-bit": "32-bit", "burst 8": "widest"}
CACHES = {"disabled": "/cache-disabled", "invalidated": "/cache-invalidated", "filled": ""}
# The copy of the document is cut at its right edge, and these cells lost more than digits behind the point.
EXCLUDED = {
    ("flexspi", "ping-pong", "16-bit", "filled", 16384),
    ("flexspi:otfad", "ping-pong", "16-bit", "filled", 16384),
}
MEAN, WITHIN, LEAST, BEYOND = 0.015, 0.03, 70, 0.08
# How far figures may move if the same code lies elsewhere, as in every folder that the repository is built in: some
# cycles of an operation, which count most in the shortest ones.
LAYOUT = 0.03
# Where a stream begins a new window, and how many windows 4 and 16 KiB have beyond the first.
WINDOW = 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=Path, default=build.target_directory() / "firmware")
    parser.add_argument("--cpb", type=Path)
    parser.add_argument("--budget", default="10s", help="for each of the two runs")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    watch = machine.Watch()
    program = arguments.cpb or build.cpb()
    image = arguments.images / f"{IMAGE}.elf"
    if not image.exists():
        sys.exit(f"otfad: there is no {image}; `make otfad` builds it")
    ours = measure(program, image, arguments.budget)
    cells = [cell | {"simulated": ours[key(cell)]} for cell in published()]
    if arguments.check:
        sys.exit(check(cells))
    GOLDEN.write_text(json.dumps({name(cell): cell["simulated"] for cell in cells}, indent=1) + "\n")
    write(cells, ours, watch)


def key(cell):
    return cell["path"], cell["pattern"], cell["width"], cell["cache"], cell["bytes"]


def name(cell):
    return " ".join(str(part) for part in key(cell))


def published():
    """The cells of figure 4 that hold a figure."""
    for line in RECORD.read_text().splitlines():
        cell = json.loads(line).get("published")
        if not cell:
            continue
        kind, width, cache = cell["operation"].split(", ")
        figure = cell["figures"][0]
        if figure.get("flag", {}).get("kind") == "blank":
            continue
        yield {
            "path": cell["provider"],
            "pattern": "ping-pong" if kind.startswith("pingpong") else "linear",
            "width": width,
            "cache": cache.split()[-1],
            "bytes": cell["bytes"],
            "published": float(figure["printed"].rstrip(":")),
        }


def measure(program, image, budget):
    """MB/s by cell, of the plain and the encrypted image, without the harness's own cycles."""
    folder = build.scratch("otfad")
    images = {"flexspi": image, "flexspi:otfad": flash.encrypt(program, image, folder / "encrypted.bin")}

    def run(path):
        record = folder / f"{PATHS[path]}.jsonl"
        return flash.cycles(program, images[path], record, PLAN, "null,memory", budget)

    with ThreadPoolExecutor(2) as pool:
        runs = dict(zip(images, pool.map(run, images), strict=True))
    return {(path, *cell): rate for path, run in runs.items() for cell, rate in rates(run).items()}


def rates(run):
    """MB/s by cell, without the harness's floor, which a run measures once."""
    found = {}
    floor = flash.floor(run)
    for (provider, workload), each in run.items():
        if provider != "memory":
            continue
        _, width, pattern, size, _, *cache = workload.split("/")
        width = {ours: theirs for theirs, ours in WIDTHS.items()}[width]
        cache = cache[0].removeprefix("cache-") if cache else "filled"
        # Two buffers have twice the size of one.
        buffers = 2 if pattern == "ping-pong" else 1
        size = int(size) // buffers
        found[pattern, width, cache, size] = buffers * size * CORE_MHZ / (each - floor)
    return found


def bound(cell):
    """What bounds a cell: the cache, the command of each access, the passage of each access, or the wires."""
    if cell["cache"] == "filled":
        return "cache"
    if cell["pattern"] == "ping-pong":
        return "command"
    return "passage" if cell["cache"] == "disabled" and cell["width"] in ("8-bit", "16-bit") else "wires"


def error(cell):
    return cell["simulated"] / cell["published"] - 1


def check(cells):
    kept = json.loads(GOLDEN.read_text())
    wrong = [
        f"{name(cell)}: {cell['simulated']:.3f}, kept is {kept[name(cell)]:.3f}"
        for cell in cells
        if abs(cell["simulated"] / kept[name(cell)] - 1) > LAYOUT
    ]
    wrong += [f"{name(cell)}: {error(cell):+.1%} from the published figure" for cell in counted(cells) if too_far(cell)]
    for what in wrong:
        print(f"otfad: {what}")
    print(f"beside {GOLDEN.name}: {len(cells)} cells, {len(wrong)} differ")
    return 1 if wrong else 0


def counted(cells):
    return [cell for cell in cells if key(cell) not in EXCLUDED]


def too_far(cell):
    return abs(error(cell)) > BEYOND + LAYOUT


def write(cells, ours, watch):
    result = Result("otfad", __doc__.split("\n\n")[0].replace("\n", " "), "make otfad")
    result.text(answer(ours))
    rows = []
    for cell in cells:
        share = f"{cell['simulated'] / WIRE:.0%}" if cell["cache"] != "filled" else "-"
        rows.append(
            [
                PATHS[cell["path"]],
                cell["pattern"],
                cell["width"],
                cell["cache"],
                f"{cell['bytes'] // 1024} KiB",
                f"{cell['published']:g}",
                f"{cell['simulated']:.2f}",
                "excluded" if key(cell) in EXCLUDED else f"{error(cell):+.1%}",
                bound(cell),
                share,
            ]
        )
    head = ["flash", "order", "load", "D-cache", ">buffer", ">MB/s, published", ">MB/s, simulated", ">error"]
    result.table([*head, "bound by", f">share of {WIRE} MB/s"], rows)
    good = counted(cells)
    errors = []
    for what in ("wires", "command", "passage", "cache"):
        some = [abs(error(cell)) for cell in good if bound(cell) == what]
        predicted = [abs(error(cell)) for cell in good if bound(cell) == what and cell["width"] != "8-bit"]
        errors.append(
            [
                what,
                len(some),
                f"{mean(some):.2%}",
                f"{max(some):.1%}",
                f"{mean(predicted):.2%}",
                f"{max(predicted):.1%}",
            ]
        )
    head = ["bound by", ">cells", ">mean error", ">largest", ">mean, without the 8-bit cells", ">largest"]
    result.table(head, errors)
    result.text(*fitted(cells))
    everything = [abs(error(cell)) for cell in good]
    within = sum(one <= WITHIN for one in everything)
    result.verdict(mean(everything) <= MEAN, f"mean error {mean(everything):.2%} (at most {MEAN:.1%})")
    result.verdict(within >= LEAST, f"{within} of {len(good)} cells within {WITHIN:.0%} (at least {LEAST})")
    result.verdict(max(everything) <= BEYOND, f"largest error {max(everything):.1%} (at most {BEYOND:.0%})")
    result.write(watch)


def mean(values):
    return sum(values) / len(values) if values else 0.0


def answer(ours):
    """What OTFAD costs, in a line, from the simulated cells."""
    costs = {"lines": [], "narrow": [], "jumps": [], "hits": []}
    for (path, pattern, width, cache, size), rate in ours.items():
        if path != "flexspi:otfad":
            continue
        plain = ours["flexspi", pattern, width, cache, size]
        if cache == "filled":
            case = "hits"
        elif pattern == "ping-pong":
            case = "jumps"
        else:
            case = "narrow" if cache == "disabled" and width in ("8-bit", "16-bit") else "lines"
        costs[case].append(plain / rate - 1)
    lines, narrow, jumps, hits = (median(some) for some in costs.values())
    return (
        f"**Answer (simulated):** OTFAD costs {lines:.1%} when a stream of reads is bound by the wires, "
        f"{abs(jumps):.1%} when every access is a new command, and {abs(hits):.1%} when the data is in the cache. "
        f"Uncached reads of bytes and halfwords take {abs(narrow):.1%} {'less' if narrow < 0 else 'more'} time, "
        "as published."
    )


def fitted(cells):
    """The constants that the published 8-bit cells imply, beside the chip's file: what was fitted, and to how many
    figures."""
    timing = flash.timing()
    command = timing["flash-command"]
    lines = ["Constants, fitted to the published 8-bit cells alone:", ""]
    for path, words in PATHS.items():
        prefix = "flash" if path == "flexspi" else "otfad"

        def of(pattern, cache, path=path):
            some = [
                c for c in cells if (c["path"], c["pattern"], c["cache"], c["width"]) == (path, pattern, cache, "8-bit")
            ]
            return {cell["bytes"]: cell["published"] for cell in some}

        passage = [CORE_MHZ / rate - 1 for rate in of("linear", "disabled").values()]
        windows = []
        for size, rate in of("linear", "invalidated").items():
            clocks = size * CORE_MHZ / rate / FLASH_CYCLE
            first = timing["flash-first"] + command
            windows.append((clocks - first - 2 * size) / (size / WINDOW - 1))
        commands = [(CORE_MHZ / rate - 1) / FLASH_CYCLE - 16 - command for rate in of("ping-pong", "disabled").values()]
        for what, values, unit in (
            (f"{prefix}-buffered", passage, "core cycles beyond the issue of the load"),
            (f"{prefix}-window", windows, "flash clocks a window of 1,024 bytes"),
            ("flash-first", commands, f"flash clocks before the first byte, beside {command:g} of the command"),
        ):
            implied = ", ".join(f"{value:.1f}" for value in values)
            lines.append(
                f"- {words}: {what} {timing[what]['value']:g} {unit}; the {len(values)} figures imply {implied}; "
                f"{len(values) - 1} degrees of freedom"
            )
    return lines


if __name__ == "__main__":
    main()
