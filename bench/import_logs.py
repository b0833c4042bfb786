#!/usr/bin/env python3
"""How many logs a second does `cpb import` read, and how much memory does a hostile file take?

The logs are sbc-bench's in $CPB_SAMPLES, repeated until there are 1,000. Target: over 100 a second. The hostile files
have 1 GiB each: one line, empty lines, rows of a table, a list that is never closed. Target: each is refused with
exit status 2, in under 256 MiB.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import time

from lib import build, machine
from lib.result import Result

LOGS = 1_000
LEAST_RATE = 100
HOSTILE = 1 << 30
MOST_MIB = 256
REFUSED = 2


def spent(command):
    """Exit status, wall-clock seconds and peak memory in MiB of a command whose output is discarded."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    return os.waitstatus_to_exitcode(status), time.monotonic() - start, usage.ru_maxrss / 1024


def hostile(path, head, unit):
    """A file of 1 GiB: `head`, then `unit` repeated to the end."""
    block = unit * ((1 << 20) // len(unit))
    with path.open("wb") as file:
        file.write(head)
        while file.tell() < HOSTILE:
            file.write(block)


def main():
    samples = os.environ.get("CPB_SAMPLES")
    if not samples:
        sys.exit("import_logs.py: CPB_SAMPLES names no folder with logs of sbc-bench")
    program = build.cpb()
    watch = machine.Watch()
    folder = build.scratch("import")
    logs, records = folder / "logs", folder / "records"
    for one in (logs, records):
        shutil.rmtree(one, ignore_errors=True)
        one.mkdir()
    real = sorted(pathlib.Path(samples, "sbc-bench").glob("*.txt"))
    for number in range(LOGS):
        shutil.copyfile(real[number % len(real)], logs / f"{number}.txt")
    size = sum(log.stat().st_size for log in logs.iterdir())
    status, seconds, memory = spent([program, "import", *logs.iterdir(), "-o", records])
    if status != 0 or len(list(records.iterdir())) != LOGS:
        raise RuntimeError(f"import ended with {status}")
    result = Result(
        "import_logs",
        "how many logs a second does `cpb import` read, and how much memory does a hostile file take?",
        "CPB_SAMPLES=FOLDER bench/import_logs.py",
    )
    result.text(
        f"{LOGS:,} logs of sbc-bench ({len(real)} of them different, {size / 1e6:.0f} MB) to as many records in "
        f"{seconds:.2f} s, {memory:.0f} MiB."
    )
    kinds = {
        "one line": (b"", b"x"),
        "empty lines": (b"", b"\n"),
        "rows": (b"type 16 bytes\n", b"aes-128-cbc 1.00k\n"),
        "progress": (b"", b"Doing a for 3s on 16 size blocks: 1 a's in 3.00s\n"),
        "clocks": (b"sbc-bench v1\n", b"Cpufreq OPP: 1 Measured: 1/1/1\n"),
        "an open list": (b'{"benchmarks": [', b"{},"),
        "brackets": (b'{"benchmarks": [], "x": ', b"["),
        "NULs": (b"", b"\0"),
    }
    rows, worst = [], 0
    for words, (head, unit) in kinds.items():
        path = folder / "hostile"
        hostile(path, head, unit)
        status, took, most = spent([program, "import", path, "-o", folder / "none.jsonl"])
        rows.append([words, status, f"{took:.1f}", f"{most:.0f}"])
        worst = max(worst, most if status == REFUSED else float("inf"))
        path.unlink()
    result.text("Files of 1 GiB:")
    result.table(["what", ">exit status", ">seconds", ">MiB"], rows)
    result.verdict(LOGS / seconds > LEAST_RATE, f"over {LEAST_RATE} logs a second ({LOGS / seconds:.0f}).")
    result.verdict(worst < MOST_MIB, f"a hostile file is refused in under {MOST_MIB} MiB ({worst:.0f}).")
    result.write(watch)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
