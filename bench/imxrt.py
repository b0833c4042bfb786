#!/usr/bin/env python3
"""How far is the simulator's Mbed TLS, built by GCC, from the published figures of the same library on
the same chips, built by IAR? And what does it cost to read messages from memory behind the bus?

`make imxrt` builds the images and runs this. Everything printed is simulated, but for the published
figures: another compiler's code, shown beside ours and never fitted to. With `--check` the figures must
be those of bench/results/imxrt.json, if that was made by the same compiler; by another, two runs must be
equal.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lib import build, flash, machine, placement
from lib.result import Result
from lib.text import columns

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "records" / "imxrt-mbedtls.jsonl"
GOLDEN = ROOT / "bench" / "results" / "imxrt.json"
LEVELS = ["O0", "O1", "O2", "O3", "Os"]
CHIPS = {"rt1060": "imxrt1060", "rt1170": "imxrt1170"}
# Where the two boards of the published table differ: messages in non-cacheable memory behind the bus.
BEHIND = "-buffers-ocram-nc"
# A row's timed stretch: 16 messages; and the cycles that rounding and the clock's own cost leave open.
BYTES = 16 * 1024
SLACK = 250
# What stays open where the C code is the same: the loop that calls it lies elsewhere, which fetches feel.
LAYOUT = 0.002
# The memory's own bound; the documents have no figure of it.
BOUND = "memcpy"
FIGURE = re.compile(r"^(\S+)/\w+/message/1024: ([0-9.]+) ticks/byte, output (\w+)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=Path, default=None)
    parser.add_argument("--cpb", type=Path, default=None)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--levels", nargs="+", choices=LEVELS, default=LEVELS, metavar="LEVEL")
    arguments = parser.parse_args()
    began = time.monotonic()
    watch = machine.Watch()
    program = arguments.cpb or build.cpb()
    images = arguments.images or build.target_directory() / "firmware"
    ours = simulate(program, images, arguments.levels)
    print(table(published(), ours), end="")
    print(placement.table(published(), ours, LEVELS) + flash.table(), end="")
    print(f"\n{time.monotonic() - began:.0f} s, {len(ours)} images")
    if arguments.check:
        sys.exit(check(ours, lambda name: one(program, images, name)))
    write(published(), ours, watch)


def published():
    """Cycles per byte by (chip, algorithm, IAR's optimisation) of the software rows."""
    rows = {}
    for line in RECORD.read_text().splitlines():
        cell = json.loads(line).get("published")
        if cell and cell["provider"].startswith("software:"):
            for figure in cell["figures"]:
                if figure["quantity"] == "cycles-per-byte":
                    key = (CHIPS[cell["table"]], cell["algorithm"], cell["provider"].split(":")[1])
                    rows[key] = float(figure["printed"])
    return rows


def simulate(program, images, levels):
    """What each image measures: {name: {"compiler", "sizes", "cycles", "rows"}}; of a row the cycles a
    byte, COUNTS a byte, and the answer's checksum."""
    names = [f"{chip}-evk-{level}{place}-solo" for chip in CHIPS.values() for level in levels
             for place in ("", BEHIND)]
    present = [name for name in names if (images / f"{name}.elf").exists()]
    if not present:
        sys.exit(f"imxrt: no images in {images}; `make imxrt` builds them")
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(present, pool.map(lambda name: one(program, images, name), present)))


def one(program, images, name):
    chip = name.split("-")[0]
    run = subprocess.run([program, "sim", images / f"{name}.elf", "--chip", chip, "--json"],
                         capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if run.returncode != 0:
        sys.exit(f"imxrt: {name}: {run.stderr or run.stdout[-2000:]}")
    report = json.loads(run.stdout)
    lines = report["output"].splitlines()
    rows = {}
    for found in filter(None, map(FIGURE.match, lines)):
        figure = float(found[2])
        rows[found[1]] = [figure, *accesses(report["markers"], figure), found[3]]
    return {
        "compiler": re.search(r"GCC [0-9.]+", lines[0])[0],
        "sizes": re.search(r"\.text.*?\.bss \d+", lines[0])[0],
        "cycles": report["cycles"],
        "rows": rows,
    }


# Registers loaded and stored, and what of that went over the bus.
COUNTS = ["loads_since", "stores_since", "bus_reads_since", "bus_writes_since"]


def accesses(markers, figure):
    """COUNTS a byte in the timed stretch that has this figure."""
    for marker in markers:
        if abs(marker["cycles_since"] - figure * BYTES) < SLACK:
            return [round(marker[what] / BYTES, 2) for what in COUNTS]
    return [None] * len(COUNTS)


def lines_of(published, ours):
    """Rows of the table: chip, algorithm, IAR's two figures, ours by level, behind the bus, and loads
    and stores a byte of -O2."""
    for chip in CHIPS.values():
        for algorithm in [*sorted({a for c, a, _ in published if c == chip}), BOUND]:
            none, high = (published.get((chip, algorithm, o)) for o in ("none", "high-speed"))
            here = {place: [ours.get(f"{chip}-evk-{level}{place}-solo", {}).get("rows", {})
                            .get(algorithm, [None])[0] for level in LEVELS]
                    for place in ("", BEHIND)}
            usual = ours.get(f"{chip}-evk-O2-solo", {}).get("rows", {}).get(algorithm, [None] * 3)
            yield chip, algorithm, none, high, here[""], here[BEHIND], usual[1:3]


def number(value):
    return f"{value:.2f}" if value is not None else "-"


def table(published, ours):
    """The table as text."""
    head = ["chip", "algorithm", "IAR none", "IAR high"] + [f"GCC -{level}" for level in LEVELS]
    head += ["-O2 / IAR high", "behind the bus, -O2", "loads/B", "stores/B"]
    rows = [head]
    for chip, algorithm, none, high, plain, behind, moved in lines_of(published, ours):
        place = LEVELS.index("O2")
        ratio = plain[place] and high and plain[place] / high
        added = behind[place] and plain[place] and behind[place] - plain[place]
        rows.append([chip, algorithm, number(none), number(high), *map(number, plain),
                     number(ratio), f"+{added:.2f}" if added is not None else "-",
                     *map(number, moved)])
    compilers = sorted({image["compiler"] for image in ours.values()})
    return ("Simulated cycles per byte at 1 KiB beside published ones (Mbed TLS; IAR 9.10, GCC as below)\n\n"
            + columns(rows, 2) + f"\n{', '.join(compilers)}\n")


def check(ours, again):
    """Whether the figures are those that were kept; by another compiler, whether they repeat."""
    kept = json.loads(GOLDEN.read_text())
    same = [name for name in ours if kept.get(name, {}).get("compiler") == ours[name]["compiler"]]
    wrong = [f"{name}, {row}: {ours[name]['rows'].get(row)}, kept is {figures}"
             for name in same for row, figures in kept[name]["rows"].items()
             if not alike(ours[name]["rows"].get(row), figures)]
    wrong += [f"{name}: two runs differ" for name in ours
              if name not in same and again(name) != ours[name]]
    for what in wrong:
        print(f"imxrt: {what}")
    print(f"{len(same)} images compared with {GOLDEN.name}, {len(ours) - len(same)} run twice")
    return 1 if wrong else 0


def alike(row, kept):
    """The same answer, in as many cycles."""
    return row is not None and row[-1] == kept[-1] and abs(row[0] / kept[0] - 1) <= LAYOUT


def write(published, ours, watch):
    GOLDEN.write_text(json.dumps(ours, indent=1, sort_keys=True) + "\n")
    result = Result("imxrt", __doc__.split("\n\n")[0].replace("\n", " "), "make imxrt")
    head = ["chip", "algorithm", ">IAR none", ">IAR high"] + [f">GCC -{level}" for level in LEVELS]
    head += [">behind the bus, GCC -O2", ">loads a byte, -O2", ">stores a byte, -O2"]
    result.table(head, [
        [chip, algorithm, number(none), number(high), *map(number, plain),
         number(behind[LEVELS.index("O2")]), *map(number, moved)]
        for chip, algorithm, none, high, plain, behind, moved in lines_of(published, ours)
    ])
    fits = placement.table(published, ours, LEVELS) + flash.table()
    result.text("```", fits.strip(), "```")
    result.write(watch)


if __name__ == "__main__":
    main()
