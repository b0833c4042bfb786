"""The DCP of the RT1060: what the published figures say about the engine.

One difference of published figures has nothing but the engine in it: SHA-1 does 16 rounds more a block than SHA-256,
by the same driver.
"""

from lib import engines
from lib.engines import MESSAGE
from lib.text import columns

PART = engines.Part("imxrt1060", "rt1060", "dcp", "dtcm", "DTCM")
# The blocks of a published message. A hash has one more, for its padding.
AES_BLOCKS, SHA_BLOCKS = MESSAGE // 16, MESSAGE // 64 + 1
# AES-128-ECB on an RT1062 at 600 MHz with the DCP, one call of another library for each block of 16 bytes: core
# cycles a block.
ONE_BLOCK = 652
# What is compared by size: its operation, and the software.
BY_SIZE = {
    "aes-128-cbc": ("encrypt", "mbedtls"),
    "sha-1": ("hash", "mbedtls"),
    "sha-256": ("hash", "mbedtls"),
    "memcpy": ("copy", "memcpy"),
}


class Engine:
    """The engine's constants in core cycles."""

    def __init__(self):
        constants = PART.constants()
        per_clock = PART.core() / 1e6 / constants["clock"]["value"]
        self.blocks = {
            "aes-128-cbc": AES_BLOCKS * constants["aes-block"]["value"] * per_clock,
            "sha-1": SHA_BLOCKS * constants["sha1-block"]["value"] * per_clock,
            "sha-256": SHA_BLOCKS * constants["sha256-block"]["value"] * per_clock,
        }
        self.aes_block = self.blocks["aes-128-cbc"] / AES_BLOCKS


def table(ours, levels):
    """Everything as text. `ours` are the images' results (lib/simulated.py)."""
    images = PART.rows(ours, levels)
    if not engines.measured(images):
        return ""
    return engines.beside(PART, images) + engine_terms(images)


def crossovers(images, scratch):
    """The sizes from which the engine is faster."""
    return engines.crossovers(PART, images, scratch, BY_SIZE)


def engine_terms(images):
    """What the published figures determine of the engine, and what they do not."""
    engine, known = Engine(), PART.published()
    cycles = {
        build: {a: known["dcp", a, build][0] * MESSAGE for a in ("sha-1", "sha-256", "aes-128-cbc")}
        for build in engines.BUILDS
    }
    usual = images.get("O2") or next(iter(images.values()))
    ours = {a: usual[f"mbedtls-dcp {a}"][0] * MESSAGE for a in ("sha-1", "sha-256", "aes-128-cbc")}
    text = "\nThe engine's term: SHA-1 less SHA-256, core cycles for 1 KiB (no constant is fitted to it)\n\n"
    rows = [["", "cycles", "simulated against it"]]
    here = ours["sha-1"] - ours["sha-256"]
    for build in engines.BUILDS:
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
        rest = [cycles[build][algorithm] - blocks for build in engines.BUILDS]
        rows.append([algorithm, *(f"{r:.0f}" for r in rest), f"{ours[algorithm] - blocks:.0f}"])
    text += columns(rows, 1)
    text += "\nConstants of the engine (crates/sim/chips/imxrt1060.toml)\n\n"
    text += engines.listed(PART.constants())
    return text
