#!/usr/bin/env python3
"""Does cpb measure the same level as `openssl speed`, if both time the same thing?

Both time steps of an endless stream, 16 KiB, in place, with the same library from the same source with the same
options, on the same CPU. They run in many short pairs, because the core's clock drifts.

Target: AES-256-CBC encryption, wall-clock time per byte, ratio within 2 %.
"""

from lib import build, cpb, figures, machine, openssl
from lib.result import Result, marked, percent
from lib.spread import mean, median, median_interval

PAIRS = 12
SIZE = 16384
TARGET = 0.02
# Each workload of bench/plans/level.toml, and how similar it is to the loop of `openssl speed`.
CELLS = {
    "aes-256-cbc/encrypt/update/16384/in-place": "same calls",
    "aes-256-cbc/decrypt/update/16384/in-place": "same calls",
    "aes-256-ctr/encrypt/update/16384/in-place": "same calls",
    "chacha20-poly1305/encrypt/update/16384/in-place": "same calls",
    "sha-256/hash/message/16384": "speed makes a context for each message",
}
GATED = "aes-256-cbc/encrypt/update/16384/in-place"


def main():
    build.cpb()
    app, cpu = openssl.app(), machine.measuring_cpu()
    watch = machine.Watch()
    record = build.scratch("records") / "level.jsonl"
    plan = ["--plan", build.ROOT / "bench/plans/level.toml", "-p", "openssl", "--cpu", str(cpu)]
    pairs = {cell: [] for cell in CELLS}
    for number in range(PAIRS):
        for cell in CELLS:
            pairs[cell].append(pair(app, cpu, record, plan, cell, number % 2 == 0))
        print(f"pair {number + 1} of {PAIRS} done", flush=True)
    report(app, pairs, watch)


def pair(app, cpu, record, plan, cell, first):
    """Nanoseconds per byte by cpb's figure, by the plain mean of its batches, and by `openssl speed` in wall-clock
    and in user time, measured directly one after the other."""
    algorithm, operation, phase, *_ = cell.split("/")

    def peers():
        what = f"{algorithm}/{operation}"
        return [openssl.speed(app, what, SIZE, elapsed, cpu) for elapsed in (True, False)]

    before = None if first else peers()
    only = ["-a", algorithm, "--operation", operation, "--phase", phase, "--budget", "1s"]
    summary, _ = cpb.run(record, *plan, *only)
    own = cpb.value(cpb.figures(summary)["openssl", cell]["ns_per_operation"]) / SIZE
    batches = [batch.ns for one in figures.cells(record)["openssl", cell] for batch in one]
    return own, mean(batches) / SIZE, *(before or peers())


def report(app, pairs, watch):
    """Writes the result file."""
    result = Result(
        "level",
        "does cpb read the same level as `openssl speed`, where both time the same thing?",
        "bench/level.py",
    )
    name, compiler = openssl.version(app)
    own = openssl.compiler_line(cpb.options("openssl"))
    result.text(
        f"{PAIRS} pairs of 1 s each, both on CPU {machine.measuring_cpu()}, taking turns to go first; "
        f"wall-clock time (`openssl speed -elapsed -seconds 1 -bytes {SIZE}`).",
        "",
        f"Peer: {name}; {compiler}",
        "",
        f"cpb's libcrypto: {own}",
        "",
        f"These compiler lines are {'the same' if own == compiler else '**not the same**'}.",
        "",
        "cpb's figure leans towards undisturbed passes; `openssl speed` divides all its time by all its "
        "operations, and while other programs run, that is their time, too. So two more ratios are "
        "beside it: the plain mean of all batches in cpb's record to the same, and cpb's figure to "
        "`openssl speed` without `-elapsed`, which counts user time.",
    )
    rows, met = [], False
    for cell, values in pairs.items():
        ratios = [own / wall for own, _, wall, _ in values]
        middle, (low, high) = median(ratios), median_interval(ratios)
        within = abs(middle - 1) <= TARGET
        met = within if cell == GATED else met
        rows.append(
            [
                cell,
                CELLS[cell],
                f"{median([own for own, *_ in values]):.4f}",
                f"{median([wall for _, _, wall, _ in values]):.4f}",
                f"{middle:.4f}",
                f"{low:.4f} to {high:.4f}",
                marked(within),
                f"{median([plain / wall for _, plain, wall, _ in values]):.4f}",
                f"{median([own / user for own, _, _, user in values]):.4f}",
            ]
        )
    result.table(
        [
            "workload",
            "loop of speed",
            ">cpb, ns/byte",
            ">speed, ns/byte",
            ">cpb / speed",
            ">95 % interval",
            f">within {percent(TARGET, 0)}",
            ">mean of batches / speed",
            ">cpb / speed, user time",
        ],
        rows,
    )
    result.verdict(met, f"{GATED} within {percent(TARGET, 0)} of `openssl speed`.")
    result.write(watch)


if __name__ == "__main__":
    main()
