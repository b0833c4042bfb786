#!/usr/bin/env python3
"""How large does a page of 200 workloads get, and how long does Chromium take to open it?

Target: under 2 MiB, open in under 1 s. `make setup` installs Chromium and what drives it.
"""

import json
import subprocess

from lib import build, cpb, machine
from lib.result import Result
from lib.spread import median

TIMES = 9
MOST_BYTES = 2 << 20
MOST_MS = 1000
BROWSER = build.ROOT / "crates" / "cpb" / "tests" / "browser"
# What any page takes.
EMPTY = "<!DOCTYPE html><html lang=en><title>Empty</title><p>Nothing.</p></html>"


def opened(page):
    """Milliseconds until a page was loaded, and until it was painted after that, each time."""
    command = ["node", BROWSER / "open.mjs", page, str(TIMES)]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def main():
    build.cpb()
    watch = machine.Watch()
    folder = build.scratch("report")
    record, page, empty = (folder / name for name in ("large.jsonl", "large.html", "empty.html"))
    summary, _ = cpb.run(record, "--plan", build.ROOT / "bench" / "plans" / "report.toml")
    subprocess.run([build.cpb(), "report", record, "-o", page], check=True, capture_output=True)
    empty.write_text(EMPTY)
    size = page.stat().st_size
    times = {path: opened(path) for path in (empty, page)}

    workloads = {workload for _, workload in cpb.figures(summary)}
    result = Result(
        "report",
        "how large does a page of 200 workloads get, and how long does Chromium take to open it?",
        "bench/report.py",
    )
    rows = [
        [words, f"{path.stat().st_size / 1024:.0f}"]
        + [f"{median([run[part] for run in times[path]]):.0f}" for part in ("loaded", "painted")]
        + [f"{max(run['painted'] for run in times[path]):.0f}"]
        for words, path in (("an empty page", empty), ("cpb report", page))
    ]
    heads = ["page", ">KiB", ">loaded, ms", ">painted, ms", ">at most, ms"]
    result.table(heads, rows)
    result.text(
        f"{len(cpb.figures(summary))} cells with figures, {len(workloads)} workloads with the "
        f"harness's own; medians of {TIMES} fresh browsers each, from the start of the navigation."
    )
    worst = max(run["painted"] for run in times[page])
    result.verdict(
        size < MOST_BYTES and worst < MOST_MS,
        f"under 2 MiB ({size / MOST_BYTES:.0%} of it) and open in under 1 s ({worst:.0f} ms at most).",
    )
    result.write(watch)


if __name__ == "__main__":
    main()
