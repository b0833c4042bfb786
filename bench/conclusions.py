#!/usr/bin/env python3
"""Do the five conclusions of the published comparison of Mbed TLS, DCP and CAAM hold in simulation, and why?

The comparison (i.MX RT1060 and RT1170, IAR; its tables are in records/imxrt-mbedtls.jsonl) ends with five conclusions.
This script measures each on simulated boards, builds the images that it needs, and says with figures whether ours
agree. Software is Mbed TLS by GCC, which is faster than IAR's build, so gains are printed against both.
"""

import subprocess

from lib import build, caam, cpb, dcp, machine
from lib.result import Result

CIPHERS = ["3des-cbc", "des-cbc", "aes-128-cbc", "aes-192-cbc", "aes-256-cbc"]
HASHES = ["sha-1", "sha-256"]
SOFTWARE_ONLY = "sha-512"
LEVELS = {"O0": "none", "O2": "high-speed"}
KIB, TEN_KIB = 1024, 10240
# "Nearly": within a quarter of the number that is printed.
NEARLY = 0.25
CLAIMED = {
    "3des-cbc": 10,
    "des-cbc": 10,
    "aes-128-cbc": 7,
    "aes-192-cbc": 7,
    "aes-256-cbc": 7,
    "sha-1": 2,
    "sha-256": 2,
}


def main():
    watch = machine.Watch()
    scratch = build.scratch("conclusions")
    here = {(part.engine, level): cycles(part, level, scratch) for part in (caam.PART, dcp.PART) for level in LEVELS}
    supported = {part.engine: algorithms_of(part, scratch) for part in (caam.PART, dcp.PART)}
    result = Result("conclusions", __doc__.split("\n\n")[0].replace("\n", " "), "bench/conclusions.py")
    first(result, here)
    second(result, here)
    third(result, here)
    fourth(result, here)
    fifth(result, here, supported)
    result.write(watch)


def image(part, level):
    """An image with messages where the published ones were."""
    place = [] if part.place == "dtcm" else ["--buffers", part.place]
    command = ["cargo", "xtask", "firmware", "--opt", level, *place, f"{part.chip}-evk"]
    subprocess.run(command, cwd=build.ROOT, check=True, capture_output=True)
    name = part.image(level).removesuffix("-solo")
    return build.target_directory() / "firmware" / f"{name}.elf"


def cycles(part, level, scratch):
    """{(provider, algorithm, size): core cycles a byte}."""
    summary, _ = cpb.run(
        scratch / f"{part.engine}-{level}.jsonl",
        *("--target", f"{part.chip}-sim:{image(part, level)}", "-p", f"mbedtls,{part.through}"),
        *("-a", ",".join([*CIPHERS, *HASHES, SOFTWARE_ONLY]), "--operation", "encrypt,hash"),
        *("-s", f"{KIB},{TEN_KIB}", "--budget", "15s"),
    )
    found = {}
    for (provider, workload), figures in cpb.figures(summary).items():
        algorithm, _, _, size = workload.split("/")[:4]
        found[provider, algorithm, int(size)] = cpb.value(figures["cycles_per_byte"])
    return found


def algorithms_of(part, scratch):
    """The algorithms for which the raw driver has right answers."""
    target = f"{part.chip}-sim:{image(part, 'O2')}"
    command = [build.cpb(), "check", "--target", target, "-p", part.engine]
    checked = subprocess.run(command, capture_output=True, text=True, check=True, cwd=scratch)
    found, name = set(), None
    for line in checked.stdout.splitlines():
        words = line.split()
        # A long name has a line of its own.
        if len(words) == 1:
            (name,) = words
        elif len(words) in (2, 3) and words[-2] in ("encrypt", "decrypt", "hash", "mac") and words[-1].isdigit():
            found.add(words[0] if len(words) == 3 else name)
    return sorted(found)


def gain(here, level, algorithm, size=KIB):
    """Software's cycles divided by the CAAM's."""
    cells = here[caam.PART.engine, level]
    software, hardware = cells.get(("mbedtls", algorithm, size)), cells.get((caam.PART.through, algorithm, size))
    return software / hardware if software and hardware else None


def published_gain(algorithm):
    """The published gain of the CAAM at high speed."""
    known = caam.PART.published()
    cells = [known.get((path, algorithm, "high-speed")) for path in ("software", caam.PART.engine)]
    return cells[0][0] / cells[1][0] if all(cells) else None


def times(value):
    return f"{value:.1f}x" if value else "-"


def say(result, number, claim, agrees, words):
    """One conclusion with its verdict."""
    result.text(f"**{number}. {claim}** {'Agrees' if agrees else 'Does not agree'}: {words}")


def first(result, here):
    gains = {a: gain(here, "O2", a) for a in [*CIPHERS, *HASHES]}
    low, high = min(gains, key=gains.get), max(gains, key=gains.get)
    published = {a: published_gain(a) for a in ("aes-128-cbc", *HASHES)}
    words = (
        f"at 1 KiB the CAAM gains from {times(gains[low])} ({low}) to {times(gains[high])} ({high}); published: "
        f"{', '.join(f'{a} {times(g)}' for a, g in published.items())}. A call costs the same whatever it computes, so "
        "the gain grows with what software needs for a byte."
    )
    say(result, 1, "The gain depends on the algorithm.", gains[high] > 1.5 * gains[low], words)


def second(result, here):
    rows, right = [], []
    known = caam.PART.published()
    for algorithm, claimed in CLAIMED.items():
        ours = gain(here, "O2", algorithm)
        software = known.get(("software", algorithm, "high-speed"))
        hardware = here["caam", "O2"].get((caam.PART.through, algorithm, KIB))
        mixed = software[0] / hardware if software and hardware else None
        nearly = [abs(value / claimed - 1) <= NEARLY for value in (ours, mixed) if value]
        right.append(any(nearly))
        rows.append(
            [
                algorithm,
                f"{claimed}x",
                times(published_gain(algorithm)),
                times(ours),
                times(mixed),
                "yes" if right[-1] else "no",
            ]
        )
    rows.append(["RSA, ECDSA, ECDHE", "3x to 7x", "-", "a range: `bench/public_keys.py`", "-", "-"])
    words = (
        "below. GCC's AES and SHA are faster than IAR's, which lowers our gain and says nothing about the engine; the "
        "column before the last divides the published software by our engine. For DES no software figure is published. "
        "What a block of SHA costs the engine is a range (`make imxrt`), so SHA's gains are as assumed there."
    )
    claim = "3DES and DES gain nearly 10 times, AES nearly 7, SHA nearly 2; public keys 3 to 7."
    say(result, 2, claim, all(right), words)
    head = ["algorithm", ">claimed", ">published table", ">ours", ">published software, our engine", "within a quarter"]
    result.table(head, rows)


def third(result, here):
    rows, right = [], []
    for algorithm in [*CIPHERS, *HASHES]:
        short, long = (gain(here, "O2", algorithm, size) for size in (KIB, TEN_KIB))
        right.append(bool(short and long and long > short))
        rows.append([algorithm, times(short), times(long)])
    words = "below. The fixed cost of a call is spread over ten times as many bytes."
    say(result, 3, "10 KB gain more than 1 KB.", all(right), words)
    result.table(["algorithm", ">1 KiB", ">10 KiB"], rows)


def fourth(result, here):
    rows, right = [], []
    known = caam.PART.published()
    for path, provider in (("software", "mbedtls"), ("caam", caam.PART.through)):
        for algorithm in ("aes-128-cbc", *HASHES):
            ours = [here["caam", level][provider, algorithm, KIB] for level in LEVELS]
            theirs = [known[path, algorithm, build_name][0] for build_name in LEVELS.values()]
            # Less than 2 % is no effect that matters.
            right.append(ours[0] > 1.02 * ours[1])
            rows.append([algorithm, provider, *(times(one / other) for one, other in (theirs, ours))])
    words = (
        "below, as the cycles without optimisation divided by those with it. Only the C code has the level; our driver "
        "is Rust and always optimised: in the engine's mode ours shows the library's part alone, and less of it."
    )
    say(result, 4, "Optimisation matters in both modes.", all(right), words)
    result.table(["algorithm", "path", ">published, IAR none / high", ">ours, -O0 / -O2"], rows)


def fifth(result, here, supported):
    rows, ratios = [], []
    for algorithm in ("aes-128-cbc", *HASHES):
        rates = []
        for part in (dcp.PART, caam.PART):
            ours = part.core() / here[part.engine, "O2"][part.through, algorithm, KIB] / 1024
            rates += [part.published()[part.engine, algorithm, "high-speed"][1], ours]
        ratios.append(rates[3] / rates[1])
        rows.append(
            [
                algorithm,
                *(f"{value:.0f}" for value in (rates[0], rates[2], rates[1], rates[3])),
                times(rates[3] / rates[1]),
            ]
        )
    more = [a for a in supported["caam"] if a not in supported["dcp"]]
    words = (
        f"the driver of the CAAM has right answers for {len(supported['caam'])} algorithms, that of the DCP for "
        f"{len(supported['dcp'])} (the CAAM adds {', '.join(more)}); at 1 KiB its rates are below. Its core runs at "
        "996 MHz and the DCP's at 600 MHz, but a call through its rings and descriptors costs more."
    )
    agrees = len(supported["caam"]) > len(supported["dcp"]) and max(ratios) < 1.5
    say(result, 5, "The CAAM has more algorithms than the DCP and is not much faster.", agrees, words)
    head = ["algorithm", ">published DCP, KB/s", ">published CAAM", ">ours, DCP", ">ours, CAAM", ">CAAM / DCP, ours"]
    result.table(head, rows)


if __name__ == "__main__":
    main()
