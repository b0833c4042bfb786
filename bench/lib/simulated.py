"""Runs images that measure a fixed list without a host, in the simulator."""

import hashlib
import json
import re
import subprocess
import sys

# The size of a row's timed section, 16 messages; and the cycles that rounding and the clock's own cost leave
# uncertain.
BYTES = 16 * 1024
SLACK = 250
FIGURE = re.compile(r"^((?:\S+ )?\S+)/\w+/message/1024: ([0-9.]+) ticks/byte, output (\w+)")
# Loads and stores of registers, and how many of them went over the bus.
COUNTS = ["loads_since", "stores_since", "bus_reads_since", "bus_writes_since"]


def measure(program, images, name, chip=None):
    """The results of the image `name` in the folder `images`: its hash, "compiler", "sizes", "cycles", "rows". A row
    is its cycles per byte, COUNTS per byte, and the answer's checksum. `chip` is another chip's name or file."""
    chip = chip or name.split("-")[0]
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
    """COUNTS per byte in the timed section that has this figure."""
    for marker in markers:
        if abs(marker["cycles_since"] - figure * BYTES) < SLACK:
            return [round(marker[what] / BYTES, 2) for what in COUNTS]
    return [None] * len(COUNTS)
