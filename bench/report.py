#!/usr/bin/env python3
"""How large is a page of 200 workloads, and how long does Chromium take to open it?

Target, with five providers: under 2 MiB, open in under 1 s. For comparison there is a page of all providers on this
machine; with every library these are three times as many. `make setup` installs Chromium and its driver.
"""

import json
import subprocess

from lib import build, cpb, machine
from lib.result import Result
from lib.spread import median

TIMES = 9
MOST_BYTES = 2 << 20
MOST_MS = 1000
FIVE = ["openssl", "openssl:nocrypto", "openssl:scalar", "mbedtls:accel", "mbedtls:c"]
BROWSER = build.ROOT / "crates" / "cpb" / "tests" / "browser"
# The cost of opening any page.
EMPTY = "<!DOCTYPE html><html lang=en><title>Empty</title><p>Nothing.</p></html>"


def opened(page):
    """Milliseconds until a page was loaded, and from then until it was painted, for each repetition."""
    command = ["node", BROWSER / "open.mjs", page, str(TIMES)]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def page_of(name, *options):
    """A report on a run of the plan: the path of the page, and what was measured."""
    folder = build.scratch("report")
    record, page = folder / f"{name}.jsonl", folder / f"{name}.html"
    summary, _ = cpb.run(record, "--plan", build.ROOT / "bench" / "plans" / "report.toml", *options)
    subprocess.run([build.cpb(), "report", record, "-o", page], check=True, capture_output=True)
    return page, cpb.figures(summary)


def main():
    build.cpb()
    watch = machine.Watch()
    page, cells = page_of("five", "--provider", ",".join(FIVE))
    whole, all_cells = page_of("all")
    empty = build.scratch("report") / "empty.html"
    empty.write_text(EMPTY)
    times = {path: opened(path) for path in (empty, page, whole)}

    workloads = {workload for _, workload in cells}
    result = Result(
        "report",
        "how large does a page of 200 workloads get, and how long does Chromium take to open it?",
        "bench/report.py",
    )
    rows = [
        [words, count, f"{path.stat().st_size / 1024:.0f}"]
        + [f"{median([run[part] for run in times[path]]):.0f}" for part in ("loaded", "painted")]
        + [f"{max(run['painted'] for run in times[path]):.0f}"]
        for words, count, path in (
            ("an empty page", 0, empty),
            ("five providers", len(cells), page),
            (f"all {len({provider for provider, _ in all_cells})} that are here", len(all_cells), whole),
        )
    ]
    heads = ["page", ">cells with figures", ">KiB", ">loaded, ms", ">painted, ms", ">at most, ms"]
    result.table(heads, rows)
    result.text(
        f"{len(workloads)} workloads with the harness's own; {', '.join(FIVE)}; medians of {TIMES} fresh "
        "browsers each, from the start of the navigation."
    )
    size, worst = page.stat().st_size, max(run["painted"] for run in times[page])
    result.verdict(
        size < MOST_BYTES and worst < MOST_MS,
        f"under 2 MiB ({size / MOST_BYTES:.0%} of it) and open in under 1 s ({worst:.0f} ms at most).",
    )
    result.write(watch)


if __name__ == "__main__":
    main()
