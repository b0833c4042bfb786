#!/usr/bin/env python3
"""How much do the figures of a Cortex-M7 change when only the addresses of the same code change?

rustc orders functions by names that depend on the folder in which it builds. Here it is made to choose other names,
several times; the C code stays the same. Everything is simulated: a core whose caches play no part (code in ITCM,
data in DTCM), so that the changes come from the branch predictor's hits and the fetches.
"""

import os
import subprocess
from pathlib import Path

from lib import build, machine, simulated
from lib.result import Result, percent

LAYOUTS = 24
BOARD = "imxrt1060-evk"
NAME = f"{BOARD}-O2-solo"


def main():
    program = build.cpb()
    watch = machine.Watch()
    found = [layout(program, number) for number in range(LAYOUTS)]
    images = {each["image"] for each in found}
    result = Result("layout", __doc__.split("\n\n")[0], "bench/layout.py")
    result.text(f"{len(images)} images that differ, {found[0]['compiler']}, {NAME}; simulated cycles a byte at 1 KiB.")
    result.table(
        ["algorithm", ">least", ">most", ">most / least - 1", ">layouts of the commonest figure"],
        [
            (
                algorithm,
                f"{min(figures):.2f}",
                f"{max(figures):.2f}",
                percent(max(figures) / min(figures) - 1),
                max(map(figures.count, figures)),
            )
            for algorithm in found[0]["rows"]
            for figures in [[each["rows"][algorithm][0] for each in found]]
        ],
    )
    result.write(watch)


def layout(program, number):
    """The figures of the board if functions are named according to `number`."""
    scratch = build.scratch("layout")
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(scratch),
        "CARGO_TARGET_THUMBV7EM_NONE_EABIHF_RUSTFLAGS": f"-C metadata=layout-{number}",
    }
    subprocess.run(
        ["cargo", "xtask", "firmware", "--solo", BOARD],
        cwd=build.ROOT,
        env=environment,
        check=True,
        capture_output=True,
    )
    return simulated.measure(program, Path(scratch) / "firmware", NAME)


if __name__ == "__main__":
    main()
