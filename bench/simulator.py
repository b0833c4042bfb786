#!/usr/bin/env python3
"""How fast is the simulator: simulated cycles per second on one core, with caches and scoreboard enabled?

Target: at least 40 million. The programs are the firmware's fixed list of workloads on both chips.
"""

import json
import os
import resource
import subprocess
import sys

from lib import build, machine
from lib.result import Result
from lib.spread import median

RUNS = 5
TARGET = 40e6
IMAGES = ["imxrt1060-evk-O2-solo", "imxrt1170-evk-O2-solo", "imxrt1170-evk-O2-buffers-ocram-nc-solo"]


def main():
    folder = build.target_directory() / "firmware"
    present = [name for name in IMAGES if (folder / f"{name}.elf").exists()]
    if not present:
        sys.exit(f"simulator: no images in {folder}; `make imxrt` builds them")
    program = build.cpb()
    watch = machine.Watch()
    rows, rates = [], []
    for name in present:
        runs = [one(program, folder / f"{name}.elf") for _ in range(RUNS)]
        report = runs[0][0]
        seconds = median([seconds for _, seconds in runs])
        rate = report["cycles"] / seconds
        rates.append(rate)
        rows.append(
            [
                name,
                report["cycles"],
                report["instructions"],
                f"{seconds:.2f}",
                f"{rate / 1e6:.1f}",
                f"{report['core_mhz'] * 1e6 / rate:.1f}",
            ]
        )
    result = Result("simulator", __doc__.split("\n\n")[0].replace("\n", " "), "bench/simulator.py")
    result.table(
        [">program", ">cycles", ">instructions", ">CPU s", ">million cycles a second", ">times as slow as the chip"],
        rows,
    )
    words = f"{min(rates) / 1e6:.1f} million cycles a second at least (target: 40)"
    result.verdict(min(rates) >= TARGET, words)
    result.write(watch)


def one(program, image):
    """The account of a run, and its CPU seconds, which do not depend on other programs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(
        [program, "sim", image, "--chip", os.path.basename(image).split("-")[0], "--json"],
        capture_output=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(output.stdout), after.ru_utime - before.ru_utime


if __name__ == "__main__":
    main()
