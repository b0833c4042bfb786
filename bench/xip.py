#!/usr/bin/env python3
"""What would flash cost i.MX RT1170 under conditions that AN13198 does not have: another clock of the flash, no
read-ahead, two contexts of OTFAD in turn, and code that runs in it?

`make xip` builds the firmware and runs this script. What the note does not tell is a range, from the fastest to the
slowest assumption: see CASES. Where a figure is a range, so is what follows from it.
"""

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lib import build, flash, machine
from lib.result import Result

ROOT = Path(__file__).resolve().parent.parent
PLAN = ROOT / "plans" / "xip-what-if.toml"
CORE_MHZ, FLASH_MHZ = 996, 99
# What was fitted to AN13198 at 99 MHz, in clocks of the flash and in core cycles.
IN_CLOCKS = ("flash-first", "flash-window", "otfad-window")
IN_CYCLES = ("flash-buffered", "otfad-buffered")
# An AES-128 key has eleven round keys: one a clock of the bus, if they are made anew with each change of the context.
ROUND_KEYS = 11
# By the clock that an image asks for: its MHz, and the dummies assumed. The image has six.
CLOCKS = {"60": (60, 4, 6), "133": (133, 6, 8), "166": (166, 8, 10)}
DUMMIES = 6
READS = {
    "lines, linear": "memory-read/32-bit/linear/16384/flash/cache-invalidated",
    "lines, ping-pong": "memory-read/32-bit/ping-pong/16384/flash/cache-invalidated",
    "32-bit, uncached, linear": "memory-read/32-bit/linear/4096/flash/cache-disabled",
    "32-bit, uncached, ping-pong": "memory-read/32-bit/ping-pong/4096/flash/cache-disabled",
    "8-bit, uncached, linear": "memory-read/8-bit/linear/4096/flash/cache-disabled",
    "8-bit, uncached, ping-pong": "memory-read/8-bit/ping-pong/4096/flash/cache-disabled",
}
SIZES = (64, 1024, 16384)
CODE = {
    f"{name}, {size} B": (f"{workload}/{size}", size)
    for name, workload in (("SHA-256", "sha-256/hash/message"), ("AES-128-CBC", "aes-128-cbc/encrypt/message"))
    for size in SIZES
}
# The provider, and how its workloads end.
STATES = {"warm": ("mbedtls", ""), "cold": ("mbedtls-cold", "/build-before")}


def clock_case(option):
    """The fastest and the slowest that another clock may be. What was fitted at 99 MHz is a number of the flash's
    clocks, or a time that does not depend on its clock; the dummies are assumed."""
    mhz, fewest, most = CLOCKS[option]
    ratio = mhz / FLASH_MHZ
    fitted = flash.timing()

    def end(choose, dummies):
        changes = {name: choose(fitted[name], fitted[name] * ratio) for name in IN_CLOCKS}
        changes |= {name: choose(fitted[name], fitted[name] / ratio) for name in IN_CYCLES}
        return changes | {"flash-first": changes["flash-first"] + dummies - DUMMIES}

    return end(min, fewest), end(max, most)


# What is run: the image's clock, the changes to the chip at the fastest and the slowest end, what is assumed.
CASES = {
    "99 MHz": ("100", ({},), "AN13198's own conditions"),
    "60 MHz": ("60", clock_case("60"), "4 to 6 dummies"),
    "133 MHz": ("133", clock_case("133"), "6 to 8 dummies; the limit of the board's flash"),
    "166 MHz": ("166", clock_case("166"), "8 to 10 dummies; beyond the limit of the board's flash (IS25WP128)"),
    "no read-ahead": (
        "100",
        ({"flash-ahead": 8}, {"flash-ahead": 0}),
        "99 MHz; a read keeps its beat of 8 bytes, or not",
    ),
    "two contexts": (
        "100",
        ({}, {"otfad-context": ROUND_KEYS}),
        f"99 MHz, a context for each buffer; a change is free, or takes {ROUND_KEYS} clocks of the bus",
    ),
}
PLAIN, OTFAD = "plain", "OTFAD"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=Path, default=build.target_directory() / "firmware")
    parser.add_argument("--cpb", type=Path)
    parser.add_argument("--budget", default="10s", help="for each run")
    arguments = parser.parse_args()
    watch = machine.Watch()
    program = arguments.cpb or build.cpb()
    images = {option: image_of(arguments.images, option) for option in ("100", *CLOCKS)}
    folder = build.scratch("xip")
    jobs = []
    for name, (option, ends, _) in CASES.items():
        splits = [second_buffer(images[option])] if name == "two contexts" else []
        file = folder / f"{name.replace(' ', '-')}.bin"
        encrypted = flash.encrypt(program, images[option], file, splits)
        for number, changes in enumerate(ends):
            chip = flash.chip(folder / f"{file.stem}-{number}.toml", changes)
            jobs += [(name, PLAIN, number, images[option], chip), (name, OTFAD, number, encrypted, chip)]
    itcm = arguments.images / "imxrt1170-evk-O2.elf"
    jobs.append(("ITCM", PLAIN, 0, itcm, flash.CHIP))

    def run(job):
        name, path, number, image, chip = job
        record = folder / f"{name.replace(' ', '-')}-{path}-{number}.jsonl"
        providers = "null,mbedtls" if name == "ITCM" else "null,memory,mbedtls,mbedtls-cold"
        return flash.cycles(program, image, record, PLAN, providers, arguments.budget, chip)

    found = {}
    with ThreadPoolExecutor(2) as pool:
        for job, cycles in zip(jobs, pool.map(run, jobs), strict=True):
            found.setdefault(job[:2], []).append(cycles)
    write(found, watch)


def image_of(folder, option):
    clock = "" if option == "100" else f"-flash-clock-{option}"
    image = folder / f"imxrt1170-evk-O2-code-flash{clock}.elf"
    if not image.exists():
        sys.exit(f"xip: there is no {image}; `make xip` builds it")
    return image


def second_buffer(image):
    """The address of the second of the two buffers that are read."""
    shown = subprocess.run(["arm-none-eabi-objdump", "-h", image], check=True, capture_output=True, text=True).stdout
    fields = next(line.split() for line in shown.splitlines() if ".read_buffers" in line)
    size, address = int(fields[2], 16), int(fields[3], 16)
    return address + size // 2


def rate(run, workload):
    """MB/s of a read, without the harness."""
    size = int(workload.split("/")[3])
    return size * CORE_MHZ / (run["memory", workload] - flash.floor(run))


def per_byte(run, provider, workload, size):
    """Cycles a byte of code, without the harness."""
    return (run[provider, workload] - flash.floor(run)) / size


def span(values, form):
    """Values from the least to the largest, or one if they print alike."""
    texts = [form(value) for value in (min(values), max(values))]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)


def share(value):
    return f"{value:+.1%}".replace("-0.0%", "+0.0%")


def costs(plain, decrypted):
    """What OTFAD adds to the time, at each end."""
    return [slow / fast - 1 for fast, slow in zip(plain, decrypted, strict=True)]


def write(found, watch):
    result = Result("xip", __doc__.split("\n\n")[0].replace("\n", " "), "make xip")
    reads, code = [], []
    stream_costs, turn_costs, cold_costs, warm_costs = [], [], [], []
    for name in CASES:
        plain, decrypted = found[name, PLAIN], found[name, OTFAD]
        for way, workload in READS.items():
            if name == "two contexts" and "ping-pong" not in way:
                continue
            rates = [[rate(run, workload) for run in runs] for runs in (plain, decrypted)]
            times = [[1 / value for value in values] for values in rates]
            extra = costs(*times)
            if name == "two contexts":
                turn_costs += extra
            elif way == "lines, linear" and name != "no read-ahead":
                stream_costs += extra
            rows = [span(values, lambda value: f"{value:.2f}") for values in rates]
            reads.append([name, way, *rows, span(extra, share)])
        if name == "two contexts":
            continue
        for what, (workload, size) in CODE.items():
            row = [name, what]
            for state, (provider, end) in STATES.items():
                figures = [
                    [per_byte(run, provider, workload + end, size) for run in runs] for runs in (plain, decrypted)
                ]
                extra = costs(*figures)
                (warm_costs if state == "warm" else cold_costs).extend(extra)
                row += [span(values, lambda value: f"{value:.1f}") for values in figures] + [span(extra, share)]
            itcm = per_byte(found["ITCM", PLAIN][0], "mbedtls", workload, size)
            code.append([*row[:2], f"{itcm:.1f}", *row[2:]])
    result.text(
        f"**Answer (simulated):** OTFAD adds {span(stream_costs, share)} to the time of a stream of lines, at most "
        f"{max(cold_costs):.1%} to code that runs from flash with cold caches, at most {max(turn_costs):.1%} to reads "
        f"in two contexts in turn, and {max(warm_costs):.1%} to code that the caches hold."
    )
    result.text("Simulated. What is assumed:", "")
    result.body += [f"- {name}: {assumed}." for name, (_, _, assumed) in CASES.items()]
    result.body.append(
        "- Another clock than 99 MHz: what was fitted to AN13198 is a number of the flash's clocks, or a time that "
        "does not depend on its clock."
    )
    result.text("**Reads of flash, MB/s:**")
    result.table(["case", "read", ">plain", ">OTFAD", ">OTFAD adds to the time"], reads)
    result.text(
        "**Code in flash, cycles a byte** (Mbed TLS 2.28, GCC -O2; tables and data in DTCM). Warm: the caches hold "
        "what fits, from earlier operations. Cold: both were emptied before each operation."
    )
    heads = ["case", "operation", ">ITCM", ">warm, plain", ">warm, OTFAD", ">added"]
    result.table([*heads, ">cold, plain", ">cold, OTFAD", ">added"], code)
    result.write(watch)


if __name__ == "__main__":
    main()
