#!/usr/bin/env python3
"""How fast is the simulator: simulated cycles per second on one core, with caches and scoreboard enabled?

Target: at least 40 million. The programs are the firmware's fixed list of workloads on both chips. With
`--before REVISION` that revision's simulator is built too, and runs the images of its own firmware in turn with
today's: the last column says how fast today's is beside it, with the chip's engines idle.
"""

import argparse
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", metavar="REVISION")
    before = parser.parse_args().before
    tree = Before(before) if before else None
    folder = tree.images() if tree else build.target_directory() / "firmware"
    present = [name for name in IMAGES if (folder / f"{name}.elf").exists()]
    if not present:
        sys.exit(f"simulator: no images in {folder}; `make imxrt` builds them")
    program, older = build.cpb(), tree and tree.cpb()
    watch = machine.Watch()
    rows, rates, beside = [], [], []
    for name in present:
        image = folder / f"{name}.elf"
        runs, others = [], []
        for _ in range(RUNS):
            runs.append(one(program, image))
            if older:
                others.append(one(older, image))
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
        if older:
            (then, _), now = others[0], report
            same = (then["cycles"], then["instructions"]) == (now["cycles"], now["instructions"])
            ratio = median([old / new for (_, new), (_, old) in zip(runs, others, strict=True)])
            beside.append(ratio)
            rows[-1].append(f"{ratio:.2f}" + ("" if same else ", other cycles"))
    command = "bench/simulator.py" + (f" --before {before}" if before else "")
    result = Result("simulator", __doc__.split("\n\n")[0].replace("\n", " "), command)
    head = [">program", ">cycles", ">instructions", ">CPU s", ">million cycles a second", ">times as slow as the chip"]
    result.table([*head, *([f">speed beside {before}'s"] if before else [])], rows)
    words = f"{min(rates) / 1e6:.1f} million cycles a second at least (target: 40)"
    result.verdict(min(rates) >= TARGET, words)
    if beside:
        words = f"{min(beside):.2f} to {max(beside):.2f} times as fast as at {before} (pairs of runs, median)"
        result.verdict(min(beside) >= 0.9, words)
    result.write(watch)


class Before:
    """An earlier revision, checked out and built beside this one."""

    def __init__(self, revision):
        self.folder = build.scratch("before") / revision
        if not self.folder.exists():
            subprocess.run(["git", "worktree", "add", "--detach", self.folder, revision], cwd=build.ROOT, check=True)
        self.environment = {name: value for name, value in os.environ.items() if name != "CARGO_TARGET_DIR"}

    def _cargo(self, *arguments):
        subprocess.run(["cargo", *arguments], cwd=self.folder, check=True, env=self.environment)

    def cpb(self):
        self._cargo("build", "--quiet", "--release", "--locked", "--package", "cpb", "--bin", "cpb")
        return self.folder / "target" / "release" / "cpb"

    def images(self):
        for options in (["imxrt1060-evk", "imxrt1170-evk"], ["--buffers", "ocram-nc", "imxrt1170-evk"]):
            self._cargo("xtask", "firmware", "--solo", *options)
        return self.folder / "target" / "firmware"


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
