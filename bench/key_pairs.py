#!/usr/bin/env python3
"""Does cpb measure the same level as `openssl speed` for key-pair operations?

Both use the same library from the same source with the same options, on the same CPU, in pairs that take turns to go
first. For key agreement, `openssl speed` times an agreement with a peer whose key is already parsed.

Target: RSA-2048 and ECDSA P-256 (sign, verify) and X25519, operations per second within 3 %.
"""

from lib import build, cpb, figures, machine, openssl
from lib.result import Result, marked, percent
from lib.spread import mean, median, median_interval

PAIRS = 5
TARGET = 0.03
# The name of an algorithm in `openssl speed`, and the operations that its rates belong to, in its order.
PEERS = {
    "rsa2048": ["rsa-2048-pkcs1/sign/message/32", "rsa-2048-pkcs1/verify/message/32"],
    "ecdsap256": ["ecdsa-p256/sign/message/32", "ecdsa-p256/verify/message/32"],
    "ecdhp256": ["ecdh-p256/key-agreement/update/65"],
    "ecdhx25519": ["x25519/key-agreement/update/32"],
    "ed25519": ["ed25519/sign/message/32", "ed25519/verify/message/32"],
    "ML-KEM-768": [f"ml-kem-768/{what}/message/0" for what in ("generate-key", "encapsulate", "decapsulate")],
    "ML-DSA-65": [
        "ml-dsa-65/generate-key/message/0",
        "ml-dsa-65/sign/message/32",
        "ml-dsa-65/verify/message/32",
    ],
}
GATED = ("rsa2048", "ecdsap256", "ecdhx25519")


def main():
    build.cpb()
    app, cpu = openssl.app(), machine.measuring_cpu()
    watch = machine.Watch()
    record = build.scratch("records") / "key_pairs.jsonl"
    pairs = {cell: [] for cells in PEERS.values() for cell in cells}
    for number in range(PAIRS):
        for peer, cells in PEERS.items():
            for cell, values in pair(app, cpu, record, peer, cells, number % 2 == 0).items():
                pairs[cell].append(values)
        print(f"pair {number + 1} of {PAIRS} done", flush=True)
    report(app, pairs, watch)


def pair(app, cpu, record, peer, cells, first):
    """Operations per second by cpb, over all its batches, and by `openssl speed` in wall-clock and in user time."""

    def peers():
        return [openssl.operations(app, peer, elapsed, cpu) for elapsed in (True, False)]

    before = None if first else peers()
    parts = [cell.split("/") for cell in cells]
    only = ["-a", parts[0][0], "--operation", ",".join(part[1] for part in parts)]
    only += ["--phase", parts[0][2], "--budget", f"{len(cells)}s", "--cpu", str(cpu)]
    summary, _ = cpb.run(record, "-p", "openssl", *only)
    found, batches = cpb.figures(summary), figures.cells(record)
    wall, user = before or peers()
    return {
        cell: (
            1e9 / cpb.value(found["openssl", cell]["ns_per_operation"]),
            1e9 / mean([batch.ns for one in batches["openssl", cell] for batch in one]),
            wall[place],
            user[place],
        )
        for place, cell in enumerate(cells)
    }


def report(app, pairs, watch):
    """Writes the result file."""
    result = Result(
        "key_pairs",
        "does cpb read the same level as `openssl speed` for what is done with key pairs?",
        "bench/key_pairs.py",
    )
    name, compiler = openssl.version(app)
    result.text(
        f"{PAIRS} pairs of 1 s an operation each, both on CPU {machine.measuring_cpu()}, taking turns to go "
        "first; operations per second (`openssl speed -seconds 1`, with `-elapsed`, and without: user time, "
        "which other programs do not lengthen). cpb's figure is of undisturbed batches: those for which the core was "
        "shared with a thread that no program here owns are discarded. `openssl speed` has them in its mean. The last "
        "column has them on both sides: every batch that cpb took, and `-elapsed`.",
        "",
        f"Peer: {name}; {compiler}",
    )
    rows, met = [], True
    gated = {cell for peer in GATED for cell in PEERS[peer]}
    for cell, values in pairs.items():
        by_user = [own / user for own, _, _, user in values]
        alike = [of_all / wall for _, of_all, wall, _ in values]
        middle, (low, high) = median(by_user), median_interval(by_user)
        within = abs(middle - 1) <= TARGET
        met = met and (within or cell not in gated)
        rows.append(
            [
                cell,
                f"{median([own for own, *_ in values]):.0f}",
                f"{median([user for *_, user in values]):.0f}",
                f"{middle:.4f}",
                f"{low:.4f} to {high:.4f}",
                marked(within),
                f"{median([own / wall for own, _, wall, _ in values]):.4f}",
                f"{median(alike):.4f}",
                "{:.4f} to {:.4f}".format(*median_interval(alike)),
            ]
        )
    result.table(
        [
            "workload",
            ">cpb, ops/s",
            ">speed, ops/s of user time",
            ">cpb / speed",
            ">95 % interval",
            f">within {percent(TARGET, 0)}",
            ">cpb / speed -elapsed",
            ">all batches / speed -elapsed",
            ">95 % interval",
        ],
        rows,
    )
    result.verdict(met, f"RSA-2048, ECDSA P-256 and X25519 within {percent(TARGET, 0)} of `openssl speed`.")
    result.write(watch)


if __name__ == "__main__":
    main()
