"""A chip's engine against software: published beside simulated, gains, and crossovers.

A published figure is of a whole call: the engine's blocks, its jobs, and the driver and library around them. The
simulator runs our driver, and its engine has constants, which are in the chip's file.
"""

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path

from lib import cpb
from lib.text import columns

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "records" / "imxrt-mbedtls.jsonl"
BUILDS = ["none", "high-speed"]
# Bytes of a published message.
MESSAGE = 1024
SIZES = [16, 32, 48, 64, 80, 96, 112, 128, 192, 256, 384, 512, 1024, 4096]
PLACES = {"dtcm": "DTCM", "ocram": "OCRAM, cached", "ocram-nc": "OCRAM, not cached"}


@dataclass(frozen=True)
class Part:
    """A chip with an engine, and the image whose messages are where the published ones were."""

    chip: str
    # The published table, and its name of the engine's rows.
    table: str
    engine: str
    # Where the published messages were.
    place: str
    words: str

    @property
    def through(self):
        """The provider that is Mbed TLS over the engine."""
        return f"mbedtls-{self.engine}"

    def image(self, level, place=None):
        """The name of the image that measures a fixed list."""
        place = self.place if place is None else place
        return f"{self.chip}-evk-{level}{'' if place == 'dtcm' else f'-buffers-{place}'}-solo"

    def description(self):
        """The chip's file."""
        return tomllib.loads((ROOT / "crates" / "sim" / "chips" / f"{self.chip}.toml").read_text())

    def constants(self):
        """The engine's constants: {name: {"value", "source"}}."""
        (device,) = (device for device in self.description()["device"] if device["kind"] == self.engine)
        return device["timing"]

    def core(self):
        """The core's clock in Hz."""
        return self.description()["clock"]["core"]["value"] * 1e6

    def published(self):
        """{(path, algorithm, build): (cycles a byte, KB/s)}; the path is software or the engine."""
        rows = {}
        for line in RECORD.read_text().splitlines():
            cell = json.loads(line).get("published")
            if cell and cell["table"] == self.table:
                path, level = cell["provider"].split(":")
                figures = {figure["quantity"]: float(figure["printed"]) for figure in cell["figures"]}
                rows[path, cell["algorithm"], level] = (
                    figures["cycles-per-byte"],
                    figures["kibibytes-per-second"],
                )
        return rows

    def rows(self, ours, levels, place=None):
        """{level: the rows of its image} of the images' results (lib/simulated.py)."""
        return {level: ours.get(self.image(level, place), {}).get("rows", {}) for level in levels}


def measured(rows):
    """Whether an image has rows of an engine."""
    return any(name.startswith("mbedtls-") for levels in rows.values() for name in levels)


def beside(part, images):
    """Published beside simulated, software and engine."""
    known, core = part.published(), part.core()
    head = ["algorithm", "path", "IAR none", "IAR high", *(f"GCC -{level}" for level in images)]
    head += ["KB/s, IAR high", "KB/s, -O2"]
    rows = [head]
    algorithms = sorted({algorithm for _, algorithm, _ in known})
    for algorithm in algorithms:
        ways = [("software", ""), (part.engine, f"{part.through} "), (None, f"{part.engine} ")]
        for path, prefix in ways:
            simulated = [figures.get(prefix + algorithm, [None])[0] for figures in images.values()]
            if not any(simulated):
                continue
            printed = [known.get((path, algorithm, build)) for build in BUILDS]
            usual = images.get("O2", {}).get(prefix + algorithm, [None])[0]
            rows.append(
                [
                    algorithm,
                    (prefix or "mbedtls").strip(),
                    *(f"{cell[0]:.2f}" if cell else "-" for cell in printed),
                    *(f"{cell:.2f}" if cell else "-" for cell in simulated),
                    f"{printed[1][1]:.0f}" if printed[1] else "-",
                    f"{core / usual / 1024:.0f}" if usual else "-",
                ]
            )
    name = part.engine.upper()
    return (
        f"\nThe {name} of the {part.table.upper()} and software, core cycles a byte at 1 KiB: published (IAR) beside\n"
        f"simulated (GCC). Messages are in {part.words}. {part.through} makes the calls of NXP's port;\n"
        f"{part.engine} is the driver alone. SHA-512 never reaches the engine.\n\n"
        + columns(rows, 2)
        + gains(part, known, images, algorithms)
    )


def gains(part, known, images, algorithms):
    """How many times as fast the engine is."""
    head = ["algorithm", "published none", "published high", "ours, -O2", "ours, published software high"]
    rows = [head]
    for algorithm in algorithms:
        ratio = [known["software", algorithm, b][0] / known[part.engine, algorithm, b][0] for b in BUILDS]
        usual = images.get("O2", {})
        if f"{part.through} {algorithm}" not in usual:
            continue
        hardware, software = usual[f"{part.through} {algorithm}"][0], usual[algorithm][0]
        mixed = known["software", algorithm, "high-speed"][0] / hardware
        rows.append([algorithm, *(f"{r:.1f}x" for r in ratio), f"{software / hardware:.1f}x", f"{mixed:.1f}x"])
    return (
        f"\nGain of {part.through} over software. GCC's software is faster than IAR's, which lowers our gain and says\n"
        "nothing about the engine; the last column divides the published software by our engine.\n\n" + columns(rows, 1)
    )


def crossovers(part, images, scratch, algorithms, chip=None, words=""):
    """From which size on the engine is faster, by the place of the messages, with the fixed costs. `algorithms` are
    given with their operation and the software that they are compared with; `chip` is another file of the chip."""
    name = part.engine.upper()
    text = f"\nCrossovers, {name} against software{words}, simulated, GCC -O2 (every size given was measured)\n\n"
    rows = [["messages in", "algorithm", "paths", "software", "engine", "engine faster"]]
    for place, name in PLACES.items():
        image = images / f"{part.image('O2', place).removesuffix('-solo')}.elf"
        if not image.exists():
            continue
        cycles = by_size(part, image, scratch / f"{part.engine}-{place}.jsonl", algorithms, chip)
        for algorithm, (_, software) in algorithms.items():
            for hardware in [part.through, part.engine]:
                if (hardware, algorithm, SIZES[-1]) in cycles:
                    found = pair(cycles, algorithm, software, hardware)
                    rows.append([name, algorithm, f"{software}, {hardware}", *found])
    if len(rows) == 1:
        return ""
    text += columns(rows, 3)
    return text + "software, engine: core cycles of a message of 16 B, and of each further byte to 4 KiB\n"


def by_size(part, image, record, algorithms, chip=None):
    """{(provider, algorithm, size): core cycles}."""
    providers = {part.engine, part.through, *(software for _, software in algorithms.values())}
    summary, _ = cpb.run(
        record,
        *("--target", f"{chip or part.chip}-sim:{image}", "-p", ",".join(sorted(providers))),
        *("-a", ",".join(algorithms), "--operation", ",".join(sorted({o for o, _ in algorithms.values()}))),
        *("-s", ",".join(map(str, SIZES)), "--budget", "20s"),
    )
    found = {}
    for (provider, workload), figures in cpb.figures(summary).items():
        algorithm, _, _, size = workload.split("/")[:4]
        found[provider, algorithm, int(size)] = cpb.value(figures["cycles_per_operation"])
    return found


def pair(cycles, algorithm, software, hardware):
    """Software's and engine's costs in words, and where the engine is faster."""
    costs = [{size: cycles.get((p, algorithm, size)) for size in SIZES} for p in (software, hardware)]
    if not all(value for cost in costs for value in cost.values()):
        return ["-", "-", "-"]
    said = [f"{cost[16]:.0f} + {(cost[4096] - cost[16]) / 4080:.2f}" for cost in costs]
    faster = [costs[1][size] < costs[0][size] for size in SIZES]
    if all(faster):
        where = "from 16 B, the smallest"
    elif not any(faster):
        where = "at none of these sizes"
    else:
        first = faster.index(True)
        where = f"between {SIZES[first - 1]} and {SIZES[first]} B" if all(faster[first:]) else "takes turns"
    return [*said, where]


def listed(constants):
    """The constants of an engine with their sources."""
    return columns([[name, constant["source"]] for name, constant in constants.items()], 2)
