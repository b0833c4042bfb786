"""The CAAM of the RT1170: what the published figures say about the engine.

Three published figures of AES differ by the rounds of the key's size and by nothing else. SHA-1 and SHA-256 print the
same figure, so what a block of SHA costs is not known: every figure that hangs on it is a range.
"""

import re

from lib import cpb, engines, simulated
from lib.engines import BUILDS, MESSAGE
from lib.text import columns

PART = engines.Part("imxrt1170", "rt1170", "caam", "ocram-nc", "non-cacheable OCRAM")
BLOCK = 16
AES = {"aes-128-cbc": 10, "aes-192-cbc": 12, "aes-256-cbc": 14}
SHA = ["sha-1", "sha-256"]
# Blocks of a published message with its padding.
SHA_BLOCKS = MESSAGE // 64 + 1
# The constants of a block of SHA, and the least that it can cost: 64 bytes at eight a clock.
SHA_CONSTANTS = ["sha1-block", "sha256-block"]
LEAST = 8
# What is compared by size: its operation, and the software.
BY_SIZE = {
    "aes-128-cbc": ("encrypt", "mbedtls"),
    "aes-256-cbc": ("encrypt", "mbedtls"),
    "aes-128-gcm": ("encrypt", "mbedtls"),
    "3des-cbc": ("encrypt", "mbedtls"),
    "sha-1": ("hash", "mbedtls"),
    "sha-256": ("hash", "mbedtls"),
    "hmac-sha-256": ("mac", "mbedtls"),
}


def per_clock():
    """Core cycles of an engine clock."""
    return PART.core() / 1e6 / PART.constants()["clock"]["value"]


def most(usual):
    """Engine clocks of a block of SHA if the published call cost nothing but our call and its blocks. A call that
    costs more than ours leaves less."""
    constants = PART.constants()
    clocks = []
    for algorithm, constant in zip(SHA, SHA_CONSTANTS, strict=True):
        ours = usual[f"{PART.through} {algorithm}"][0] * MESSAGE
        blocks = SHA_BLOCKS * constants[constant]["value"] * per_clock()
        published = PART.published()[PART.engine, algorithm, "high-speed"][0] * MESSAGE
        clocks.append((published - (ours - blocks)) / SHA_BLOCKS / per_clock())
    return min(clocks)


def chip_with(scratch, name, clocks):
    """A file of the chip in which a block of SHA costs so many engine clocks."""
    path = engines.ROOT / "crates" / "sim" / "chips" / f"{PART.chip}.toml"
    text, changes = re.subn(
        rf"^({'|'.join(SHA_CONSTANTS)}) = \{{ value = [0-9.]+",
        rf"\1 = {{ value = {clocks:.1f}",
        path.read_text(),
        flags=re.MULTILINE,
    )
    if changes != len(SHA_CONSTANTS):
        raise RuntimeError(f"{path}: {changes} constants of SHA")
    changed = scratch / f"{PART.chip}-{name}.toml"
    changed.write_text(text)
    return changed


def sha_range(program, images, usual, scratch):
    """{name of an engine's SHA row: (cycles a byte at the least, at the most)}, by simulating both ends."""
    ends = []
    for name, clocks in [("least", LEAST), ("most", most(usual))]:
        chip = chip_with(scratch, name, clocks)
        rows = simulated.measure(program, images, PART.image("O2"), chip)["rows"]
        ends.append({row: rows[row][0] for row in rows if row.startswith((PART.engine, PART.through)) and "sha" in row})
    return {row: (ends[0][row], ends[1][row]) for row in ends[0]}


def table(ours, levels, program, images, scratch):
    """Everything as text. `ours` are the images' results (lib/simulated.py)."""
    rows = PART.rows(ours, levels)
    if not engines.measured(rows):
        return ""
    usual = rows.get("O2") or next(iter(rows.values()))
    text = engines.beside(PART, rows) + by_key_size(usual)
    if rows.get("O2"):
        text += ranges(usual, sha_range(program, images, usual, scratch))
    return text + "\nConstants of the engine (crates/sim/chips/imxrt1170.toml)\n\n" + engines.listed(PART.constants())


def by_key_size(usual):
    """The rounds of AES, which the published figures of three keys determine."""
    known, constants = PART.published(), PART.constants()
    round_cycles = constants["aes-round"]["value"] * per_clock()
    head = ["", "cycles a round", "simulated against it"]
    rows = [head]
    names = list(AES)
    rounds = AES[names[-1]] - AES[names[0]]
    here = (usual[f"{PART.through} {names[-1]}"][0] - usual[f"{PART.through} {names[0]}"][0]) * BLOCK / rounds
    for build in BUILDS:
        first, last = (known[PART.engine, name, build][0] for name in (names[0], names[-1]))
        there = (last - first) * BLOCK / rounds
        rows.append([f"published, IAR {build}", f"{there:.2f}", f"{here / there - 1:+.1%}"])
    rows.append(["simulated", f"{here:.2f}", ""])
    text = "\nAES by key size, core cycles a round of a block, from AES-256 less AES-128 at 1 KiB\n\n" + columns(
        rows, 1
    )
    rows = [["algorithm", "published high", "blocks", "rest, published", "simulated", "rest, simulated"]]
    for name, count in AES.items():
        blocks = count * round_cycles / BLOCK
        there, simulated_here = known[PART.engine, name, "high-speed"][0], usual[f"{PART.through} {name}"][0]
        cells = [there, blocks, there - blocks, simulated_here, simulated_here - blocks]
        rows.append([name, *(f"{cell:.2f}" for cell in cells)])
    return (
        text
        + "\nThe same as totals, cycles a byte at 1 KiB. The rest is driver, library, ring, descriptors and transfers\n"
        "(all simulated by running them), and is not fitted.\n\n" + columns(rows, 1)
    )


def ranges(usual, found):
    """SHA's figures as ranges."""
    rows = [["row", "published high", "at the least", "as assumed", "at the most"]]
    for row, (least, greatest) in sorted(found.items()):
        name, algorithm = row.split(" ")
        known = PART.published().get((PART.engine, algorithm, "high-speed")) if name == PART.through else None
        there = f"{known[0]:.2f}" if known else "-"
        rows.append([row, there, f"{least:.2f}", f"{usual[row][0]:.2f}", f"{greatest:.2f}"])
    return (
        "\nSHA, cycles a byte at 1 KiB, GCC -O2. What a block costs is not public: SHA-1 and SHA-256 print one\n"
        f"figure. At the least it is {LEAST} engine clocks (64 bytes, eight a clock), at the most {most(usual):.0f},\n"
        "which leaves the published call nothing beside ours.\n\n" + columns(rows, 1)
    )


def crossovers(images, scratch):
    """The sizes from which the engine is faster."""
    return engines.crossovers(PART, images, scratch, BY_SIZE)


def waterfall(images, scratch):
    """Where a call's cycles go: the engine's own work, the raw driver around it, and Mbed TLS around that."""
    constants = PART.constants()
    rows = [["messages in", "algorithm", "size", "engine's blocks", "+ raw driver", "+ Mbed TLS call", "software"]]
    for place, name in engines.PLACES.items():
        image = images / f"{PART.image('O2', place).removesuffix('-solo')}.elf"
        if not image.exists():
            continue
        summary, _ = cpb.run(
            scratch / f"waterfall-{place}.jsonl",
            *("--target", f"{PART.chip}-sim:{image}", "-p", "mbedtls,mbedtls-caam,caam"),
            *("-a", ",".join(AES), "--operation", "encrypt", "-s", "16,256,1K,10K", "--budget", "15s"),
        )
        cycles = {}
        for (provider, workload), figures in cpb.figures(summary).items():
            algorithm, _, _, size = workload.split("/")[:4]
            cycles[provider, algorithm, int(size)] = cpb.value(figures["cycles_per_operation"])
        for algorithm, size in sorted(
            {(a, s) for p, a, s in cycles if p == PART.engine}, key=lambda key: (key[0], key[1])
        ):
            blocks = AES[algorithm] * constants["aes-round"]["value"] * per_clock() * size / BLOCK
            raw, call = (cycles.get((p, algorithm, size)) for p in (PART.engine, PART.through))
            cells = [blocks, raw - blocks, call - raw if call else None, cycles.get(("mbedtls", algorithm, size))]
            rows.append([name, algorithm, f"{size} B", *("-" if cell is None else f"{cell:.0f}" for cell in cells)])
    if len(rows) == 1:
        return ""
    return "\nWhere a call's core cycles go (simulated, GCC -O2)\n\n" + columns(rows, 2)
