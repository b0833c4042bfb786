"""The cost of reading messages from memory behind the bus: published, fitted, and simulated.

The two boards of records/imxrt-mbedtls.jsonl run one library. On the RT1170 the messages are in non-cacheable OCRAM,
on the RT1060 in DTCM. So the difference between a row's cycles per byte on the two boards is the cost of its
accesses. The number of accesses depends on the compiler. IAR's code reads messages byte by byte, as the source does,
and so does GCC's at -O0, whose accesses the simulator counts. With these counts two constants account for all rows: a
read, which is fitted; and a write, which is a beat of the bus and not fitted.
"""

import tomllib
from pathlib import Path

from lib.text import columns

CHIPS = Path(__file__).resolve().parents[2] / "crates" / "sim" / "chips"
# The chip whose messages are behind the bus, and the chip whose messages are not.
BEHIND, NEAR = "imxrt1170", "imxrt1060"
BUILDS = ["none", "high-speed"]


class Bus:
    """A chip's constants in core cycles."""

    def __init__(self):
        chip = tomllib.loads((CHIPS / f"{BEHIND}.toml").read_text())
        self.clock = chip["clock"]["core"]["value"] / chip["clock"]["bus"]["value"]
        self.read = chip["timing"]["bus-read"]["value"] * self.clock
        self.write = chip["timing"]["bus-beat"]["value"] * self.clock


def effects(published):
    """{algorithm: [cycles per byte at none, at high-speed]} that the RT1170's memory costs."""
    both = {a for c, a, _ in published if c == BEHIND} & {a for c, a, _ in published if c == NEAR}
    return {
        algorithm: [published[BEHIND, algorithm, build] - published[NEAR, algorithm, build] for build in BUILDS]
        for algorithm in sorted(both)
    }


def fitted(effects, counts, bus, without=None):
    """Cycles of a read by least squares over all rows but one, with writes as beats."""
    pairs = [
        (counts[a][0], effect - counts[a][1] * bus.write)
        for a, both in effects.items()
        if a != without and a in counts
        for effect in both
    ]
    return sum(n * rest for n, rest in pairs) / sum(n * n for n, _ in pairs)


def rows(published, ours, levels):
    """Per algorithm: (algorithm, published pair, bytewise counts, the read fitted without it, the prediction from
    that read, {level: (simulated effect, counts)})."""
    bus, measured = Bus(), effects(published)
    simulated = {a: {level: effect(ours, a, level) for level in levels} for a in measured}
    counts = {a: simulated[a]["O0"][1] for a in measured if simulated[a].get("O0")}
    for algorithm, pair in measured.items():
        if algorithm not in counts:
            continue
        reads, writes = counts[algorithm]
        read = fitted(measured, counts, bus, algorithm)
        yield (algorithm, pair, counts[algorithm], read, reads * read + writes * bus.write, simulated[algorithm])


def effect(ours, algorithm, level):
    """(cycles per byte that the memory behind the bus costs, (reads, writes per byte there))."""
    near, behind = (
        ours.get(f"{BEHIND}-evk-{level}{place}-solo", {}).get("rows", {}).get(algorithm)
        for place in ("", "-buffers-ocram-nc")
    )
    if not near or not behind or behind[3] is None:
        return None
    return behind[0] - near[0], tuple(behind[3:5])


def table(published, ours, levels):
    """The complete table as text."""
    bus, measured = Bus(), effects(published)
    lines = list(rows(published, ours, levels))
    if len(lines) < 3:
        return ""
    counts = {line[0]: line[2] for line in lines}
    read = fitted(measured, counts, bus)
    cells = 2 * len(lines)
    body = [
        ["algorithm", "IAR none", "IAR high", "reads/B", "writes/B", "read, without", "predicted", "error"]
        + [f"GCC -{level}" for level in levels]
        + ["reads/B -O2", "writes/B -O2"]
    ]
    for algorithm, pair, (reads, writes), alone, predicted, simulated in lines:
        error = 100 * (predicted / (sum(pair) / 2) - 1)
        usual = simulated.get("O2")
        body.append(
            [
                algorithm,
                *(f"+{value:.2f}" for value in pair),
                f"{reads:.2f}",
                f"{writes:.2f}",
                f"{alone:.2f}",
                f"+{predicted:.2f}",
                f"{error:+.1f}%",
            ]
            + [f"+{simulated[level][0]:.2f}" if simulated[level] else "-" for level in levels]
            + ([f"{value:.2f}" for value in usual[1]] if usual else ["-", "-"])
        )
    return (
        "\nCycles per byte that messages in non-cacheable OCRAM cost (RT1170 less RT1060), and the same "
        "predicted\nby a read fitted to the other rows; reads and writes a byte behind the bus as -O0, "
        "which is bytewise, has them\n\n"
        + columns(body, 1)
        + f"\nfit to all rows: a read {read:.2f} core cycles ({read / bus.clock:.2f} bus clocks; the chip's "
        f"file has {bus.read:.2f}), {cells} figures less 1 constant: {cells - 1} degrees of freedom; a write "
        f"is a beat, {bus.write:.2f}, not fitted\n"
    )
