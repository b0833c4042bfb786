#!/usr/bin/env python3
"""How do the libraries' own benchmarks compare with cpb?

Mbed TLS's own benchmark, linked with the same object code that cpb measures, makes the same calls on 1 KiB.
libgcrypt's bench-slope reports the cost of a byte: the slope over messages of 16 to 4112 bytes. cpb's provider
`libgcrypt` runs the same library, the system's, and the slope over its figures is computed in the same way.
"""

import os
import resource
import subprocess
import time

from lib import build, cpb, libgcrypt, machine, mbedtls
from lib.debian import source
from lib.result import Result
from lib.spread import median, median_interval, slope

PAIRS = 7
SIZE = 1024
# The sizes in bench/plans/peers.toml: every eighth of bench-slope's sizes.
SIZES = range(16, 4113, 512)
# Each workload without its length, its name in Mbed TLS's benchmark, and the arguments that select it there.
BENCHMARK = {
    "aes-256-cbc/encrypt/update/{}/in-place": "AES-CBC-256",
    "aes-256-ctr/encrypt/update/{}/in-place": "AES-CTR-256",
    "aes-256-gcm/encrypt/message/{}/in-place": "AES-GCM-256",
    "chacha20-poly1305/encrypt/message/{}/in-place": "ChaCha20-Poly1305",
    "sha-256/hash/message/{}": "SHA-256",
    "sha-512/hash/message/{}": "SHA-512",
}
ASKED = ["aes_cbc", "aes_ctr", "aes_gcm", "chachapoly", "sha256", "sha512"]
# The names in bench-slope; all are whole messages.
SLOPE = {
    "aes-256-cbc/encrypt/message/{}/in-place": "AES256 CBC enc",
    "aes-256-ctr/encrypt/message/{}/in-place": "AES256 CTR enc",
    "aes-256-gcm/encrypt/message/{}/in-place": "AES256 GCM enc",
    "chacha20-poly1305/encrypt/message/{}/in-place": "CHACHA20 POLY1305 enc",
    "sha-256/hash/message/{}": "SHA256",
    "sha-512/hash/message/{}": "SHA512",
}
SLOPES = [("cipher", "aes256"), ("cipher", "chacha20"), ("hash", "sha256"), ("hash", "sha512")]


def main():
    build.cpb()
    flags = cpb.options("mbedtls:c")
    programs = {f"mbedtls:{variant}": mbedtls.benchmark(variant, flags) for variant in ("c", "accel")}
    sloping, version = libgcrypt.bench_slope()
    watch = machine.Watch()
    benchmarked = {(provider, cell): [] for provider in programs for cell in BENCHMARK}
    sloped = {cell: [] for cell in SLOPE}
    for number in range(PAIRS):
        first = number % 2 == 0
        for key, pair in beside_benchmark(programs, first).items():
            benchmarked[key].append(pair)
        for cell, pair in beside_slope(sloping, first).items():
            sloped[cell].append(pair)
        print(f"pair {number + 1} of {PAIRS} done", flush=True)
    report(benchmarked, sloped, version, watch)


def in_turn(first, own, peer):
    """Runs both, directly one after the other."""
    if first:
        return own(), peer()
    theirs = peer()
    return own(), theirs


def measured(providers, *more):
    """cpb's summary of the plan with these providers."""
    plan = ["--plan", build.ROOT / "bench/plans/peers.toml", "-p", ",".join(providers)]
    record = build.scratch("records") / "peers.jsonl"
    summary, _ = cpb.run(record, *plan, "--cpu", str(machine.measuring_cpu()), *more)
    return summary


def beside_benchmark(programs, first):
    """Nanoseconds per byte: cpb's, the benchmark's, and the benchmark's relative to the CPU time that it got."""

    def peers():
        found = {}
        for provider, program in programs.items():
            for word in ASKED:
                text, share = printed([program, word])
                rates = mbedtls.rates(text)
                found |= {(provider, name): (ns, ns * share) for name, ns in rates.items()}
        return found

    own, theirs = in_turn(first, lambda: measured(programs, "-s", str(SIZE), "--budget", "12s"), peers)
    own = cpb.figures(own)
    return {
        (provider, cell): (
            cpb.value(own[provider, cell.format(SIZE)]["ns_per_operation"]) / SIZE,
            *theirs[provider, name],
        )
        for provider in programs
        for cell, name in BENCHMARK.items()
    }


def beside_slope(program, first):
    """Nanoseconds per byte of libgcrypt: the slope over cpb's figures, and that of bench-slope."""

    def peer():
        found = {}
        for words in SLOPES:
            found |= libgcrypt.slopes(printed([program, "--csv", *words])[0])
        return found

    def own():
        return measured(["libgcrypt"], "--phase", "message", "--budget", "8s")

    summary, theirs = in_turn(first, own, peer)
    figures = cpb.figures(summary)

    def fitted(cell):
        costs = [figures["libgcrypt", cell.format(size)]["ns_per_operation"] for size in SIZES]
        return slope([(size, cpb.value(cost)) for size, cost in zip(SIZES, costs, strict=True)])

    return {cell: (fitted(cell), theirs[name]) for cell, name in SLOPE.items()}


def printed(command):
    """The output of a program on the CPU that cpb measures on, and the share of that CPU that it got."""
    pin = {machine.measuring_cpu()}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, preexec_fn=lambda: os.sched_setaffinity(0, pin)
    )
    took, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / took


def report(benchmarked, sloped, version, watch):
    """Writes the result file."""
    result = Result("peers", "what do the benchmarks that libraries bring say beside cpb?", "bench/peers.py")
    program, library = (
        mbedtls.version(folder) for folder in (source("mbedtls", mbedtls.SUITE), mbedtls.package_source())
    )
    result.text(
        f"{PAIRS} pairs, both on CPU {machine.measuring_cpu()}, taking turns to go first. Medians; intervals are of "
        "the median, 95 %.",
        "",
        f"Mbed TLS's benchmark (of {program}) over the object code of {library} that cpb links, the same calls on "
        f"{SIZE} bytes in place. It divides by the time on the clock, so what other programs take is its time. By the "
        "share of the CPU that it got it is nearer to cpb's figure, which is of undisturbed passes; what it lost to a "
        "thread beside it on the same core is in it still.",
    )
    rows = []
    for (provider, cell), triples in benchmarked.items():
        own, wall, cpu = (median([triple[place] for triple in triples]) for place in range(3))
        rows.append(
            [
                provider,
                cell.format(SIZE),
                f"{own:.3f}",
                f"{wall:.3f}",
                f"{cpu:.3f}",
                *ratio([own / wall for own, wall, _ in triples]),
                *ratio([own / cpu for own, _, cpu in triples]),
            ]
        )
    heads = ["provider", "workload", ">cpb, ns/byte", ">benchmark, ns/byte", ">by CPU time"]
    result.table([*heads, ">cpb / benchmark", ">95 %", ">cpb / benchmark by CPU time", ">95 %"], rows)
    result.text(
        f"bench-slope over the system's libgcrypt {version}, beside the slope over cpb's figures of the same library; "
        "whole messages in place, 16 to 4112 bytes, least squares both. bench-slope prints three digits.",
    )
    rows = []
    for cell, pairs in sloped.items():
        own, theirs = (median([pair[place] for pair in pairs]) for place in range(2))
        figures = [f"{own:.4f}", f"{theirs:.4f}"]
        rows.append([cell.replace("/{}", ""), *figures, *ratio([own / theirs for own, theirs in pairs])])
    heads = ["workload", ">cpb, ns/byte", ">bench-slope, ns/byte"]
    result.table([*heads, ">cpb / bench-slope", ">95 %"], rows)
    result.write(watch)


def ratio(values):
    """The median of some ratios and its interval, as cells."""
    low, high = median_interval(values)
    return [f"{median(values):.3f}", f"{low:.3f} to {high:.3f}"]


if __name__ == "__main__":
    main()
