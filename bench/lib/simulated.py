"""The images that measure a fixed list by themselves, in the simulator."""

import hashlib
import json
import re
import subprocess
import sys

# A row's timed stretch: 16 messages; and the cycles that rounding and the clock's own cost leave open.
BYTES = 16 * 1024
SLACK = 250
FIGURE = re.compile(r"^(\S+)/\w+/message/1024: ([0-9.]+) ticks/byte, output (\w+)")
# Registers loaded and stored, and what of that went over the bus.
COUNTS = ["loads_since", "stores_since", "bus_reads_since", "bus_writes_since"]


def measure(program, images, name):
    """What the image called `name` in the folder `images` measures: its hash, "compiler", "sizes", "cycles",
    "rows"; a row is its cycles a byte, COUNTS a byte, and the answer's checksum."""
    chip = name.split("-")[0]
    run = subprocess.run(
        [program, "sim", images / f"{name}.elf", "--chip", chip, "--json"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    if run.returncode != 0:
        sys.exit(f"{name}: {run.stderr or run.stdout[-2000:]}")
    report = json.loads(run.stdout)
    lines = report["output"].splitlines()
    rows = {}
    for found in filter(None, map(FIGURE.match, lines)):
        figure = float(found[2])
        rows[found[1]] = [figure, *accesses(report["markers"], figure), found[3]]
    return {
        "image": hashlib.sha256((images / f"{name}.bin").read_bytes()).hexdigest(),
        "compiler": re.search(r"GCC [0-9.]+", lines[0])[0],
        "sizes": re.search(r"\.text.*?\.bss \d+", lines[0])[0],
        "cycles": report["cycles"],
        "rows": rows,
    }


def accesses(markers, figure):
    """COUNTS a byte in the timed stretch that has this figure."""
    for marker in markers:
        if abs(marker["cycles_since"] - figure * BYTES) < SLACK:
            return [round(marker[what] / BYTES, 2) for what in COUNTS]
    return [None] * len(COUNTS)
