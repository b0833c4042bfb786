#!/usr/bin/env python3
"""What does a queue gain? The CAAM of a simulated RT1170, serial against all at once, by size, depth and notice.

This is the driver-level test of a vendor's article ("Understanding Crypto Performance in Embedded Systems", part 2, on
embedded.com): many chunks of unique data, each with a descriptor of its own, one after the other or all
at once. Its figure says about four times at small sizes, and that by 1 KiB the raw performance dominates. Everything
here is simulated. `make imxrt` builds the images.
"""

import sys

from lib import build, caam, cpb, machine
from lib.result import Result

PLACE = "ocram-nc"
SIZES = [16, 64, 256, 1024, 4096, 16384]
DEPTHS = [1, 2, 4, 8, 16, 32, "ring"]
ONE_PASS = "aes-128-cbc-hmac-sha-1-etm"
TWO_PASSES = ["aes-128-cbc", "hmac-sha-1"]
CHUNKS = 32
# Of long messages, fewer fit into the board's memory.
CHUNKS_OF = {4096: 8, 16384: 2}
BUDGET = "30s"


class Cells:
    """Measured cells, and what was asked."""

    def __init__(self, image, scratch, chip=None):
        self.image, self.scratch, self.chip, self.runs = image, scratch, chip or caam.PART.chip, 0

    def run(self, provider, measures):
        """{(algorithm, operation, size, rest_of its id): (core cycles, median latency in flight in us)}."""
        self.runs += 1
        plan = self.scratch / f"plan-{self.runs}.toml"
        text = 'name = "queue"\nreason = "the driver-level test"\n'
        for measure in measures:
            text += "[[measure]]\n" + "".join(f"{name} = {toml(value)}\n" for name, value in measure.items())
        plan.write_text(text)
        target = f"{self.chip}-sim:{self.image}"
        record = self.scratch / f"record-{self.runs}.jsonl"
        summary, _ = cpb.run(record, "--plan", plan, "--target", target, "-p", provider, "--budget", BUDGET)
        found = {}
        for (name, workload), figures in cpb.figures(summary).items():
            if name == provider:
                algorithm, operation, _, size, *rest = workload.split("/")
                flight = figures.get("latency_in_flight") or figures["latency"].get("measured")
                latency = flight["p50_ns"] / 1e3 if flight else None
                words = rest_of(*(word for word in rest if not word.startswith("unique")))
                found[algorithm, operation, int(size), words] = cpb.value(figures["cycles_per_operation"]), latency
        return found


def toml(value):
    """A value as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {toml(item)}" for name, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def rest_of(*words):
    """The rest of a workload's id, in an order of its own."""
    return "/".join(sorted(filter(None, words)))


def way(depth, before=False, last=False):
    """A dispatch as a plan has it, and its part of the workload's id."""
    dispatch = {"depth": depth}
    dispatch |= {"build": "build-before"} if before else {}
    dispatch |= {"notice": "notice-last"} if last else {}
    words = [] if depth == 1 else [f"depth={depth}"]
    words += ["build-before"] if before else []
    words += ["notice-last"] if last else []
    return dispatch, rest_of(*words)


def chunks_of(size):
    """The number of chunks of unique data."""
    return CHUNKS_OF.get(size, CHUNKS)


def all_at_once(size=0):
    """As many jobs in flight as there are chunks, as a plan has it, and its part of the workload's id."""
    return way(chunks_of(size), True, True)


def main():
    images = build.target_directory() / "firmware"
    image = images / f"{caam.PART.image('O2', PLACE).removesuffix('-solo')}.elf"
    if not image.exists():
        sys.exit(f"all_at_once: {image} is missing; `make imxrt` builds it")
    watch = machine.Watch()
    scratch = build.scratch("all_at_once")
    cells, apart = Cells(image, scratch), Cells(image, scratch, caam.one_by_one(scratch))
    result = Result("all_at_once", __doc__.split("\n\n")[0].replace("\n", " "), "bench/all_at_once.py")
    curve(result, cells, apart)
    depths(result, cells)
    notices(result, cells)
    keys(result, cells)
    passes(result, cells)
    result.write(watch)


def curve(result, cells, apart):
    """The vendor's curve: serial, and all at once. `apart` are the cells of an engine whose jobs do not overlap."""
    measures = [
        {"algorithms": [ONE_PASS], "sizes": [size], "unique": chunks_of(size), "dispatch": dispatch}
        for size in SIZES
        for dispatch in ("serial", all_at_once(size)[0])
    ]
    found, slower = cells.run("caam", measures), apart.run("caam", measures)
    for operation in ("encrypt", "decrypt"):
        rows, gains = [], {}
        for size in SIZES:
            ways = ["", all_at_once(size)[1]]
            serial, deep = (found.get((ONE_PASS, operation, size, rest)) for rest in ways)
            least = [slower.get((ONE_PASS, operation, size, rest)) for rest in ways]
            if serial and deep and all(least):
                gains[size] = (least[0][0] / least[1][0], serial[0] / deep[0])
            gain = "{:.2f} to {:.2f}".format(*gains[size]) if size in gains else "does not fit"
            cost = [rate(size, cell) for cell in (serial, deep)]
            rows.append([f"{size}", f"{chunks_of(size)}", *cost, gain, *(latency(cell) for cell in (serial, deep))])
        result.text(f"{ONE_PASS}, {operation}, unique data, polled, messages in non-cacheable OCRAM:")
        head = [
            ">bytes",
            ">at once",
            ">serial, MB/s",
            ">at once, MB/s",
            ">gain",
            ">latency, us",
            ">latency in the queue, us",
        ]
        result.table(head, rows)
        if operation == "encrypt" and 16 in gains and 1024 in gains:
            small, kib = ("{:.1f} to {:.1f}".format(*gains[size]) for size in (16, 1024))
            result.text(
                f"All at once gains {small} times at 16 B and {kib} times at 1 KiB; the article has about 4 times at "
                "small sizes and says that by 1 KiB the raw performance dominates. The range is what is not known of "
                "the engine: published calls show a latency of 11 us a job. If the engine goes on with the next job "
                "meanwhile, as the columns in MB/s assume, a queue hides it; if not, only the driver's work overlaps. "
                "The article's figure lies between the two, and a board would tell."
            )


def rate(size, cell):
    """Megabytes a second."""
    return f"{size * caam.PART.core() / cell[0] / 1e6:.1f}" if cell else "-"


def latency(cell):
    return f"{cell[1]:.1f}" if cell and cell[1] is not None else "-"


def depths(result, cells):
    """What depth is enough, and what it costs in latency."""
    sizes = [16, 256, 1024]
    for before, last, words in [
        (False, False, "built in the loop, each noticed"),
        (True, True, "built before, the last noticed"),
    ]:
        ways = {depth: way(depth, before, last) for depth in DEPTHS}
        measures = [
            {"algorithms": ["aes-128-cbc"], "operations": ["encrypt"], "sizes": sizes, "unique": CHUNKS, "dispatch": d}
            for d, _ in ways.values()
        ]
        found = cells.run("caam", measures)
        rows, enough = [], {}
        for depth, (_, rest) in ways.items():
            here = [found.get(("aes-128-cbc", "encrypt", size, rest)) for size in sizes]
            flat = [text for cell in here for text in (f"{cell[0]:.0f}" if cell else "-", latency(cell))]
            rows.append([str(depth), *flat])
        for size in sizes:
            costs = {d: found.get(("aes-128-cbc", "encrypt", size, rest)) for d, (_, rest) in ways.items()}
            best = min((cell[0] for cell in costs.values() if cell), default=None)
            enough[size] = next((d for d, cell in costs.items() if cell and cell[0] <= 1.02 * best), None)
        result.text(
            f"AES-128-CBC by depth, {words}: core cycles of a job, and the median of its latency in microseconds."
        )
        head = [">depth", *(text for size in sizes for text in (f">{size} B", ">us"))]
        result.table(head, rows)
        depths_in_words = ", ".join(f"{depth} at {size} B" for size, depth in enough.items())
        result.text(
            "Enough for 98 % of the best rate of these depths, if jobs overlap in their latency: depth "
            f"{depths_in_words}."
        )


def notices(result, cells):
    """Polling, interrupts and coalesced interrupts, each and last."""
    rows = []
    for provider in ("caam", "caam-interrupts", "caam-coalesced"):
        ways = [way(16, before, last) for before in (False, True) for last in (False, True)]
        measures = [
            {"algorithms": ["aes-128-cbc"], "operations": ["encrypt"], "sizes": [256], "unique": CHUNKS, "dispatch": d}
            for d, _ in ways
        ]
        found = cells.run(provider, measures)
        here = [found.get(("aes-128-cbc", "encrypt", 256, rest)) for _, rest in ways]
        rows.append([provider, *(f"{cell[0]:.0f}" if cell else "-" for cell in here)])
    result.text("AES-128-CBC, 256 B, 16 in flight: core cycles of a job by the way in which its end is noticed.")
    head = ["provider", ">in the loop, each", ">in the loop, last", ">before, each", ">before, last"]
    result.table(head, rows)


def keys(result, cells):
    """One key, and a key for each message."""
    rows = []
    for algorithm in ("aes-128-cbc", "hmac-sha-1", ONE_PASS):
        measures = [
            {"algorithms": [algorithm], "sizes": [256], "unique": CHUNKS, "keys": keys, "dispatch": dispatch}
            for keys in ("reused", "key-per-message")
            for dispatch in ("serial", all_at_once()[0])
        ]
        found = cells.run("caam", measures)
        operation = "mac" if algorithm.startswith("hmac") else "encrypt"
        here = {rest: cell for (_, o, _, rest), cell in found.items() if o == operation}
        own, deep = "key-per-message", all_at_once()[1]
        names = ["", own, deep, rest_of(own, *deep.split("/"))]
        rows.append([algorithm, *(f"{here[name][0]:.0f}" if name in here else "-" for name in names)])
    result.text("256 B, core cycles of a job: one key for all messages, and one for each.")
    result.table(
        ["algorithm", ">serial, one key", ">serial, own keys", ">at once, one key", ">at once, own keys"], rows
    )


def passes(result, cells):
    """Cipher and MAC in one pass against two jobs."""
    measures = [
        {"algorithms": [name], "sizes": SIZES, "dispatch": dispatch}
        for name in [ONE_PASS, *TWO_PASSES]
        for dispatch in ("serial", {"depth": 16, "build": "build-before", "notice": "notice-last"})
    ]
    found = cells.run("caam", measures)
    for rest, words in [("", "serial"), (way(16, True, True)[1], "16 in flight, built before")]:
        rows = []
        for size in SIZES:
            row = [f"{size}"]
            for operation in ("encrypt", "decrypt"):
                one = found.get((ONE_PASS, operation, size, rest))
                two = [
                    found.get((TWO_PASSES[0], operation, size, rest)),
                    found.get((TWO_PASSES[1], "mac", size, rest)),
                ]
                total = sum(cell[0] for cell in two) if all(two) else None
                row += [f"{one[0]:.0f}" if one else "-", f"{total:.0f}" if total else "-"]
                row += [f"{total / one[0]:.2f}" if one and total else "-"]
            rows.append(row)
        result.text(f"AES-128-CBC and HMAC-SHA-1, {words}: core cycles in one pass, and as two jobs, each measured.")
        head = [">bytes", ">encrypt, one pass", ">two", ">gain", ">decrypt, one pass", ">two", ">gain"]
        result.table(head, rows)


if __name__ == "__main__":
    main()
