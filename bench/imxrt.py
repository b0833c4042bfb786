#!/usr/bin/env python3
"""How far is the simulator's Mbed TLS, built by GCC, from the published figures of the same library on the same
chips, built by IAR? And what does it cost to read messages from memory behind the bus?

`make imxrt` builds the images and runs this script. Everything printed is simulated, except the published figures.
Those come from another compiler's code; they are shown next to ours, and the simulator is never fitted to them.
`--check` compares the figures with bench/results/imxrt.json. For the same image they must be identical. For the same
compiler with a different code layout they must be about the same. For another compiler, two runs must be equal.
"""

import argparse
import json
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lib import build, caam, dcp, machine, placement, simulated
from lib.result import Result
from lib.text import columns

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "records" / "imxrt-mbedtls.jsonl"
GOLDEN = ROOT / "bench" / "results" / "imxrt.json"
LEVELS = ["O0", "O1", "O2", "O3", "Os"]
CHIPS = {"rt1060": "imxrt1060", "rt1170": "imxrt1170"}
# The two boards of the published table differ in this: messages are in non-cacheable memory behind the bus.
BEHIND = "-buffers-ocram-nc"
# The allowed difference between figures if the C code is the same but its addresses differ, as in every folder that
# the repository is built in. Measured by bench/layout.py: 6 % for memcpy and far less for the rest.
LAYOUT = 0.1
# The memory's own limit, for which the documents have no figure.
BOUND = "memcpy"


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
    print(placement.table(published(), ours, LEVELS), end="")
    scratch = build.scratch("imxrt")
    engine = dcp.table(ours, arguments.levels)
    if not arguments.check:
        engine += dcp.crossovers(images, scratch)
    engine += caam.table(ours, arguments.levels, program, images, scratch)
    if not arguments.check:
        engine += caam.waterfall(images, scratch) + caam.crossovers(images, scratch)
    print(engine, end="")
    print(f"\n{time.monotonic() - began:.0f} s, {len(ours)} images")
    if arguments.check:
        sys.exit(check(ours, lambda name: simulated.measure(program, images, name)))
    write(published(), ours, engine, watch)


def published():
    """Cycles per byte by (chip, algorithm, IAR's optimisation), from the software rows."""
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
    """The results of each image: {name: {"image", "compiler", "sizes", "cycles", "rows"}}, see lib/simulated.py."""
    names = [f"{chip}-evk-{level}{place}-solo" for chip in CHIPS.values() for level in levels for place in ("", BEHIND)]
    present = [name for name in names if (images / f"{name}.elf").exists()]
    if not present:
        sys.exit(f"imxrt: no images in {images}; `make imxrt` builds them")
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(present, pool.map(lambda name: simulated.measure(program, images, name), present), strict=True))


def lines_of(published, ours):
    """Rows of the table: chip, algorithm, IAR's two figures, ours by level, those behind the bus, and loads and
    stores per byte at -O2."""
    for chip in CHIPS.values():
        for algorithm in [*sorted({a for c, a, _ in published if c == chip}), BOUND]:
            none, high = (published.get((chip, algorithm, o)) for o in ("none", "high-speed"))
            here = {
                place: [
                    ours.get(f"{chip}-evk-{level}{place}-solo", {}).get("rows", {}).get(algorithm, [None])[0]
                    for level in LEVELS
                ]
                for place in ("", BEHIND)
            }
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
        rows.append(
            [
                chip,
                algorithm,
                number(none),
                number(high),
                *map(number, plain),
                number(ratio),
                f"+{added:.2f}" if added is not None else "-",
                *map(number, moved),
            ]
        )
    compilers = sorted({image["compiler"] for image in ours.values()})
    return (
        "Simulated cycles per byte at 1 KiB beside published ones (Mbed TLS; IAR 9.10, GCC as below)\n\n"
        + columns(rows, 2)
        + f"\n{', '.join(compilers)}\n"
    )


def check(ours, again):
    """Prints the differences from the stored figures. Returns 1 if there are any, else 0."""
    kept = json.loads(GOLDEN.read_text())
    wrong, ways = [], Counter()
    for name, image in ours.items():
        found, how = compare(name, image, kept.get(name, {}), again)
        wrong += found
        ways[how] += 1
    for what in wrong:
        print(f"imxrt: {what}")
    print(f"beside {GOLDEN.name}: " + ", ".join(f"{count} of {how}" for how, count in ways.items()))
    return 1 if wrong else 0


SAME_IMAGE, SAME_COMPILER = "the same image", "the same compiler, where code lies elsewhere"
OTHER_COMPILER = "another compiler, run twice"


def compare(name, image, known, again):
    """The differences between an image's results and the stored ones, and how the two were compared."""
    if known.get("image") == image["image"]:
        return differences(name, image, known, 0), SAME_IMAGE
    if known.get("compiler") == image["compiler"]:
        return differences(name, image, known, LAYOUT), SAME_COMPILER
    return differences(name, again(name), image, 0), OTHER_COMPILER


def differences(name, image, known, margin):
    """The stored rows for which the image has another answer, or cycles that differ by more than the margin."""
    for row, (cycles, *_, answer) in known["rows"].items():
        found = image["rows"].get(row)
        if found is None or found[-1] != answer or abs(found[0] / cycles - 1) > margin:
            yield f"{name}, {row}: {found}, kept is {known['rows'][row]}"


def write(published, ours, engine, watch):
    GOLDEN.write_text(json.dumps(ours, indent=1, sort_keys=True) + "\n")
    result = Result("imxrt", __doc__.split("\n\n")[0].replace("\n", " "), "make imxrt")
    head = ["chip", "algorithm", ">IAR none", ">IAR high"] + [f">GCC -{level}" for level in LEVELS]
    head += [">behind the bus, GCC -O2", ">loads a byte, -O2", ">stores a byte, -O2"]
    result.table(
        head,
        [
            [
                chip,
                algorithm,
                number(none),
                number(high),
                *map(number, plain),
                number(behind[LEVELS.index("O2")]),
                *map(number, moved),
            ]
            for chip, algorithm, none, high, plain, behind, moved in lines_of(published, ours)
        ],
    )
    fits = placement.table(published, ours, LEVELS)
    result.text("```", fits.strip(), engine.strip("\n"), "```")
    result.write(watch)


if __name__ == "__main__":
    main()
