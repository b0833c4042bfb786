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


def chip_with(scratch, name, changes):
    """A file of the chip in which the engine's constants have other values: {name: engine clocks}."""
    path = engines.ROOT / "crates" / "sim" / "chips" / f"{PART.chip}.toml"
    text = path.read_text()
    for constant, clocks in changes.items():
        text, count = re.subn(
            rf"^{constant} = \{{ value = [0-9.]+", f"{constant} = {{ value = {clocks:.6g}", text, flags=re.MULTILINE
        )
        if count != 1:
            raise RuntimeError(f"{path}: {count} constants called {constant}")
    changed = scratch / f"{PART.chip}-{name}.toml"
    changed.write_text(text)
    return changed


def quick(scratch):
    """The chip whose jobs take no time beside what is inferred for each step."""
    return chip_with(scratch, "quick", {"latency": 0})


def one_by_one(scratch):
    """The chip whose latency occupies the engine, so that jobs do not overlap in it."""
    constants = PART.constants()
    total = constants["latency"]["value"] + constants["ring-entry"]["value"]
    return chip_with(scratch, "one-by-one", {"latency": 0, "ring-entry": total})


def hangs_on_sha(row):
    """Whether an engine's row depends on what a block of SHA costs. Polled only: other ways to notice an end add the
    same to both ends. SHA-512 stays in software, and random bytes have a constant of their own."""
    name, _, algorithm = row.rpartition(" ")
    apart = "sha-512" in algorithm or "drbg" in algorithm
    return name in (PART.engine, PART.through) and "sha-" in algorithm and not apart


def sha_range(program, images, usual, scratch):
    """{name of an engine's SHA row: (cycles a byte at the least, at the most)}, by simulating both ends."""
    ends = []
    for name, clocks in [("least", LEAST), ("most", most(usual))]:
        chip = chip_with(scratch, name, dict.fromkeys(SHA_CONSTANTS, clocks))
        rows = simulated.measure(program, images, PART.image("O2"), chip)["rows"]
        ends.append({row: rows[row][0] for row in filter(hangs_on_sha, rows)})
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
    rows = [["algorithm", "published high", "simulated", "simulated against it", "blocks alone"]]
    for name, count in AES.items():
        blocks = count * round_cycles / BLOCK
        there, simulated_here = known[PART.engine, name, "high-speed"][0], usual[f"{PART.through} {name}"][0]
        against = "fitted" if name == names[0] else f"{simulated_here / there - 1:+.1%}"
        rows.append([name, f"{there:.2f}", f"{simulated_here:.2f}", against, f"{blocks:.2f}"])
    latency = constants["latency"]["value"] * per_clock() / MESSAGE
    text += (
        "\nThe same as totals, cycles a byte at 1 KiB. Two constants are fitted to these three figures: a round to\n"
        "what they differ by, the latency of a job to AES-128. That leaves one degree of freedom. The rest (driver,\n"
        "library, ring, descriptors, transfers) is simulated by running it.\n\n"
    )
    return (
        text
        + columns(rows, 1)
        + f"\nlatency of a job: {latency:.2f} cycles a byte of 1 KiB; a hash of 1 KiB is two jobs\n"
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
    """The sizes from which the engine is faster: with the latency that the published calls show, and without it."""
    text = engines.crossovers(PART, images, scratch, BY_SIZE)
    return text + engines.crossovers(PART, images, scratch, BY_SIZE, quick(scratch), " if a job had no latency")


def waterfall(images, scratch):
    """Where a call's cycles go: the engine's own work, the raw driver around it, and Mbed TLS around that."""
    constants = PART.constants()
    rows = [["messages in", "algorithm", "size", "blocks", "+ latency", "+ raw driver", "+ Mbed TLS call", "software"]]
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
            latency = constants["latency"]["value"] * per_clock()
            cells = [
                blocks,
                latency,
                raw - blocks - latency,
                call - raw if call else None,
                cycles.get(("mbedtls", algorithm, size)),
            ]
            rows.append([name, algorithm, f"{size} B", *("-" if cell is None else f"{cell:.0f}" for cell in cells)])
    if len(rows) == 1:
        return ""
    return "\nWhere a call's core cycles go (simulated, GCC -O2)\n\n" + columns(rows, 2)
