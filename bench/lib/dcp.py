"""The DCP of the RT1060 against software: published, simulated, and what the published figures say about the engine.

A published figure is of a whole call: the engine's blocks, its packets, and the driver and library around them. The
simulator runs our driver, and its engine has constants (crates/sim/chips/imxrt1060.toml). One difference of published
figures has nothing but the engine in it: SHA-1 does 16 rounds more a block than SHA-256, by the same driver.
"""

import json
import tomllib
from pathlib import Path

from lib import cpb
from lib.text import columns

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "records" / "imxrt-mbedtls.jsonl"
CHIP = ROOT / "crates" / "sim" / "chips" / "imxrt1060.toml"
BUILDS = ["none", "high-speed"]
# Bytes of a published message, and its blocks. A hash has one more, for its padding.
MESSAGE = 1024
AES_BLOCKS, SHA_BLOCKS = MESSAGE // 16, MESSAGE // 64 + 1
# AES-128-ECB on an RT1062 at 600 MHz with the DCP, one call of another library for each block of 16 bytes: core
# cycles a block.
ONE_BLOCK = 652
SIZES = [16, 32, 48, 64, 80, 96, 112, 128, 192, 256, 384, 512, 1024, 4096]
PLACES = {"dtcm": "DTCM", "ocram": "OCRAM, cached", "ocram-nc": "OCRAM, not cached"}
PAIRS = [
    ("aes-128-cbc", "mbedtls", "mbedtls-dcp"),
    ("aes-128-cbc", "mbedtls", "dcp"),
    ("sha-1", "mbedtls", "mbedtls-dcp"),
    ("sha-1", "mbedtls", "dcp"),
    ("sha-256", "mbedtls", "mbedtls-dcp"),
    ("sha-256", "mbedtls", "dcp"),
    ("memcpy", "memcpy", "dcp"),
]


def published():
    """{(path, algorithm, build): (cycles a byte, KB/s)} of the RT1060; the path is software or dcp."""
    rows = {}
    for line in RECORD.read_text().splitlines():
        cell = json.loads(line).get("published")
        if cell and cell["table"] == "rt1060":
            path, level = cell["provider"].split(":")
            figures = {figure["quantity"]: float(figure["printed"]) for figure in cell["figures"]}
            rows[path, cell["algorithm"], level] = (
                figures["cycles-per-byte"],
                figures["kibibytes-per-second"],
            )
    return rows


class Engine:
    """The engine's constants in core cycles."""

    def __init__(self):
        chip = tomllib.loads(CHIP.read_text())
        (device,) = (device for device in chip["device"] if device["kind"] == "dcp")
        self.core = chip["clock"]["core"]["value"] * 1e6
        per_clock = chip["clock"]["core"]["value"] / device["timing"]["clock"]["value"]
        self.blocks = {
            "aes-128-cbc": AES_BLOCKS * device["timing"]["aes-block"]["value"] * per_clock,
            "sha-1": SHA_BLOCKS * device["timing"]["sha1-block"]["value"] * per_clock,
            "sha-256": SHA_BLOCKS * device["timing"]["sha256-block"]["value"] * per_clock,
        }
        self.aes_block = self.blocks["aes-128-cbc"] / AES_BLOCKS
        self.sources = {name: constant["source"] for name, constant in device["timing"].items()}


def rate(cycles_per_byte, engine):
    return engine.core / cycles_per_byte / 1024


def table(ours, levels):
    """Everything as text. `ours` are the images' results (lib/simulated.py)."""
    images = {level: ours.get(f"imxrt1060-evk-{level}-solo", {}).get("rows", {}) for level in levels}
    if not any("mbedtls-dcp sha-1" in rows for rows in images.values()):
        return ""
    return beside(images) + engine_terms(images)


def beside(images):
    """Published beside simulated, software and engine."""
    engine, known = Engine(), published()
    head = ["algorithm", "path", "IAR none", "IAR high", *(f"GCC -{level}" for level in images)]
    head += ["KB/s, IAR high", "KB/s, -O2"]
    rows = [head]
    algorithms = sorted({algorithm for _, algorithm, _ in known})
    for algorithm in algorithms:
        for path, prefix in [("software", ""), ("dcp", "mbedtls-dcp "), (None, "dcp ")]:
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
                    f"{rate(usual, engine):.0f}" if usual else "-",
                ]
            )
    return (
        "\nThe DCP of the RT1060 and software, core cycles a byte at 1 KiB: published (IAR) beside simulated (GCC).\n"
        "mbedtls-dcp makes the calls of NXP's port; dcp is the driver alone. SHA-512 never reaches the engine.\n\n"
        + columns(rows, 2)
        + gains(known, images, algorithms)
    )


def gains(known, images, algorithms):
    """How many times as fast the engine is."""
    head = ["algorithm", "published none", "published high", "ours, -O2", "ours, published software high"]
    rows = [head]
    for algorithm in algorithms:
        ratio = [known["software", algorithm, b][0] / known["dcp", algorithm, b][0] for b in BUILDS]
        usual = images.get("O2", {})
        if f"mbedtls-dcp {algorithm}" not in usual:
            continue
        hardware, software = usual[f"mbedtls-dcp {algorithm}"][0], usual[algorithm][0]
        mixed = known["software", algorithm, "high-speed"][0] / hardware
        rows.append([algorithm, *(f"{r:.1f}x" for r in ratio), f"{software / hardware:.1f}x", f"{mixed:.1f}x"])
    return (
        "\nGain of mbedtls-dcp over software. GCC's software is faster than IAR's, which lowers our gain and says\n"
        "nothing about the engine; the last column divides the published software by our engine.\n\n" + columns(rows, 1)
    )


def engine_terms(images):
    """What the published figures determine of the engine, and what they do not."""
    engine, known = Engine(), published()
    cycles = {
        build: {a: known["dcp", a, build][0] * MESSAGE for a in ("sha-1", "sha-256", "aes-128-cbc")} for build in BUILDS
    }
    usual = images.get("O2") or next(iter(images.values()))
    ours = {a: usual[f"mbedtls-dcp {a}"][0] * MESSAGE for a in ("sha-1", "sha-256", "aes-128-cbc")}
    text = "\nThe engine's term: SHA-1 less SHA-256, core cycles for 1 KiB (no constant is fitted to it)\n\n"
    rows = [["", "cycles", "simulated against it"]]
    here = ours["sha-1"] - ours["sha-256"]
    for build in BUILDS:
        there = cycles[build]["sha-1"] - cycles[build]["sha-256"]
        rows.append([f"published, IAR {build}", f"{there:.0f}", f"{here / there - 1:+.1%}"])
    rows.append(["simulated", f"{here:.0f}", ""])
    text += columns(rows, 1)

    one_kib = cycles["high-speed"]["aes-128-cbc"]
    low, high = (one_kib - ONE_BLOCK) / AES_BLOCKS, one_kib / AES_BLOCKS
    single = usual.get("mbedtls-dcp aes-128-ecb", [float("nan")])[0] * 16
    text += (
        "\nAES, core cycles a block: two published figures for two unknowns, by two drivers\n\n"
        f"  at most   {high:.1f}  if a call cost nothing but its blocks\n"
        f"  at least  {low:.1f}  if a call of 1 KiB cost {ONE_BLOCK} cycles more, as a whole call for one block does\n"
        "                   in another library\n"
        f"  the chip's file has {engine.aes_block:.1f}, fitted to the middle: 2 figures, 2 unknowns, no degree of\n"
        "  freedom. So the total at 1 KiB validates nothing; without either figure the other is undetermined.\n"
        f"  one call for one block: simulated, by mbedtls-dcp, {single:.0f} cycles; published, by the other library,"
        f" {ONE_BLOCK}\n"
    )

    text += "\nA call without its blocks, core cycles at 1 KiB (not fitted: our driver is run, theirs was measured)\n\n"
    rows = [["algorithm", "published none", "published high", "simulated, -O2"]]
    for algorithm, blocks in engine.blocks.items():
        rest = [cycles[build][algorithm] - blocks for build in BUILDS]
        rows.append([algorithm, *(f"{r:.0f}" for r in rest), f"{ours[algorithm] - blocks:.0f}"])
    text += columns(rows, 1)
    text += "\nConstants of the engine (crates/sim/chips/imxrt1060.toml)\n\n"
    text += columns([[name, source] for name, source in engine.sources.items()], 2)
    return text


def crossovers(images, scratch):
    """From which size on the engine is faster, by the place of the messages, with the fixed costs."""
    text = "\nCrossovers, DCP against software, simulated, GCC -O2 (every size given was measured)\n\n"
    rows = [["messages in", "algorithm", "paths", "software", "engine", "engine faster"]]
    for place, name in PLACES.items():
        suffix = "" if place == "dtcm" else f"-buffers-{place}"
        image = images / f"imxrt1060-evk-O2{suffix}.elf"
        if not image.exists():
            continue
        cycles = by_size(image, scratch / f"dcp-{place}.jsonl")
        for algorithm, software, hardware in PAIRS:
            rows.append([name, algorithm, f"{software}, {hardware}", *pair(cycles, algorithm, software, hardware)])
    if len(rows) == 1:
        return ""
    text += columns(rows, 3)
    return text + "software, engine: core cycles of a message of 16 B, and of each further byte to 4 KiB\n"


def by_size(image, record):
    """{(provider, algorithm, size): core cycles}."""
    summary, _ = cpb.run(
        record,
        *("--target", f"imxrt1060-sim:{image}", "-p", "mbedtls,mbedtls-dcp,dcp,memcpy"),
        *("-a", "aes-128-cbc,sha-1,sha-256,memcpy", "--operation", "encrypt,hash,copy"),
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
