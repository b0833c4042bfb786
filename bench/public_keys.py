#!/usr/bin/env python3
"""Which part of the range of the CAAM's public-key time agrees with the published gains?

What a product of two 32-bit words costs the engine is not published. NXP's accelerator for public keys has digits of
32, 64 or 128 bits in other parts: at one product of digits a clock, a product of words takes 1, 1/4 or 1/16 engine
clocks. A published comparison of the RT1170 (conclusion 2) says that RSA gains 3 to 5 times, and ECDSA and ECDHE nearly
7. Here the simulated RT1170 computes the same with each of the three, and its software is Mbed TLS by GCC.
`cargo xtask firmware imxrt1170-evk` builds the image.
"""

import sys

from lib import build, caam, cpb, machine
from lib.result import Result

# What is published: the least and the greatest gain. "Nearly 7" is read as 6.5 to 7.
CLAIMED = {
    "rsa-2048-pkcs1/sign": (3, 5),
    "rsa-2048-pkcs1/verify": (3, 5),
    "ecdsa-p256/sign": (6.5, 7),
    "ecdsa-p256/verify": (6.5, 7),
    "ecdh-p256/key-agreement": (6.5, 7),
}
CONSTANT = "word-product"
CLOCKS = [0.0625, 0.25, 1]
BUDGET = "5s"


def cycles(image, chip, provider, scratch):
    """{algorithm/operation: core cycles}."""
    algorithms = ",".join(dict.fromkeys(name.split("/")[0] for name in CLAIMED))
    operations = ",".join(dict.fromkeys(name.split("/")[1] for name in CLAIMED))
    target = f"{chip}-sim:{image}"
    summary, _ = cpb.run(
        scratch / "record.jsonl",
        *("--target", target, "-p", provider, "-a", algorithms, "--operation", operations, "--budget", BUDGET),
    )
    found = {}
    for (name, workload), figures in cpb.figures(summary).items():
        if name == provider:
            found["/".join(workload.split("/")[:2])] = cpb.value(figures["cycles_per_operation"])
    return found


def clocks_for(cycles_wanted, engine):
    """The engine clocks of a product with which an operation takes so many core cycles: it is linear in them."""
    low, high = engine[CLOCKS[0]], engine[CLOCKS[-1]]
    slope = (high - low) / (CLOCKS[-1] - CLOCKS[0])
    return CLOCKS[0] + (cycles_wanted - low) / slope


def main():
    image = build.target_directory() / "firmware" / f"{caam.PART.chip}-evk-O2.elf"
    if not image.exists():
        sys.exit(f"public_keys: {image} is missing; `cargo xtask firmware {caam.PART.chip}-evk` builds it")
    watch = machine.Watch()
    scratch = build.scratch("public_keys")
    software = cycles(image, caam.PART.chip, "mbedtls", scratch)
    by_clocks = {}
    for clocks in CLOCKS:
        chip = caam.chip_with(scratch, f"product-{clocks:g}", {CONSTANT: clocks})
        by_clocks[clocks] = cycles(image, chip, "caam", scratch)
    rows, consistent = [], {}
    for name, (least, most) in CLAIMED.items():
        engine = {clocks: found[name] for clocks, found in by_clocks.items()}
        gains = [f"{software[name] / engine[clocks]:.1f}x" for clocks in CLOCKS]
        ends = [clocks_for(software[name] / gain, engine) for gain in (most, least)]
        consistent[name] = ends
        claimed = f"{least}x to {most}x"
        rows.append([name, f"{software[name] / 1e6:.2f} M", *gains, claimed, f"{ends[0]:.2f} to {ends[1]:.2f}"])
    result = Result("public_keys", __doc__.split("\n\n")[0].replace("\n", " "), "bench/public_keys.py")
    result.text(
        "Everything is simulated. Gains are core cycles of Mbed TLS (GCC -O2) divided by those of the driver, at three "
        "costs of a product of 32-bit words in engine clocks. The last column is the cost with which the published "
        "gain would come out."
    )
    gains = [f">gain at {clocks:g}" for clocks in CLOCKS]
    result.table(["operation", ">software, cycles", *gains, ">published", ">clocks"], rows)
    least, most = min(low for low, _ in consistent.values()), max(high for _, high in consistent.values())
    common = max(low for low, _ in consistent.values()), min(high for _, high in consistent.values())
    agree = "one cost agrees with all" if common[0] <= common[1] else "no single cost agrees with all of them"
    within = CLOCKS[0] <= least and most <= CLOCKS[-1]
    result.text(
        f"The published gains need {least:.2f} to {most:.2f} clocks a product, which is "
        f"{'within' if within else 'not all within'} the range of {CLOCKS[0]:g} to {CLOCKS[-1]:g}; {agree}. They "
        "are of another compiler's software and of NXP's port, whose calls cost more than the driver's, so they narrow "
        "the range but do not fix the constant."
    )
    result.write(watch)


if __name__ == "__main__":
    main()
