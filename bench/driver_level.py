#!/usr/bin/env python3
"""What does a full queue gain at the driver level, and is one message at a time as fast as in the kernel's own test?

The first figure is of the plan driver-level in a guest of the lab, by cpb's module inside the kernel: the rate at
several depths divided by the same driver's rate with one message in flight. A vendor's article ("Understanding Crypto
Performance in Embedded Systems", part 2, on embedded.com) has about four times at small sizes. The guest is emulated:
only ratios within one driver mean something.

The second compares one message at a time with `tcrypt mode=600 num_mb=1`, the kernel's own benchmark, on the same
driver: each pair is one guest that measures both. A slow loop of ours would make the gain look larger.

Targets: all at once at least 2.5 times as fast as one at a time at 16 bytes; one at a time at least 0.9 of tcrypt by
the median of the pairs.
"""

import argparse
import json
import re
import subprocess
from pathlib import Path

from lib import build, machine
from lib.result import Result
from lib.spread import median

GUEST = "x86_64-6.1"
DRIVER = "virtio_crypto_aes_cbc"
ENGINE = f"kernel:{DRIVER}"
PROVIDERS = f"{ENGINE},kernel:cbc-aes-aesni,kernel:null,af_alg:{DRIVER}"
BUDGET = "240s"
# For the cells of the verdict alone.
GAIN_BUDGET = "120s"
STEPS = {
    "build": "until its request is built",
    "dispatch": "until it is sent",
    "completion": "until its completion is noticed",
}
LEAST_GAIN = 2.5
LEAST_SHARE = 0.9
SIZE = 16
# More than tcrypt takes to the line that counts: before it comes another cipher with three keys and several sizes. The
# script sleeps until each line: one that polled took most of the only CPU from tcrypt.
TCRYPT_SECONDS = 90


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--pairs", type=int, default=5, help="guests that run both, tcrypt and cpb [default: 5]")
    parser.add_argument("--cpb", type=Path, help="use this cpb instead of building one")
    arguments = parser.parse_args()
    program = arguments.cpb or build.cpb()
    watch = machine.Watch()
    result = Result("driver_level", __doc__.split("\n\n")[0].replace("\n", " "), "bench/driver_level.py")
    queue(result, program)
    if arguments.pairs:
        peer(result, program, arguments.pairs)
    result.write(watch)


def queue(result, program):
    """The plan's gains, by way and size, and again with more time for the size of the target."""
    for found in explained(program, "all", "-p", PROVIDERS, "--budget", BUDGET):
        sizes = found["sizes"]
        heads = ["way", *(f">{size} B" for size in sizes), *(f">irq/op, {size} B" for size in (sizes[0], sizes[-1]))]
        rows = []
        for way in found["ways"]:
            cells = way["cells"]
            rows.append([name(way, found), *map(gain, cells), *map(interrupts, (cells[0], cells[-1]))])
        result.text(f"{found['executor']}, {found['workload']}, emulated: rate relative to one message in flight")
        result.table(heads, rows)
    [found] = explained(program, "one-size", "-p", ENGINE, "-s", str(SIZE), "--budget", GAIN_BUDGET)
    full = next(enough for enough in found["enough"] if enough["bytes"] == SIZE)
    value, interval = full["gain"]["value"], full["gain"]["interval"]
    low = interval["low"] if interval else 0
    words = f"all at once is {value:.2f} times as fast as one at a time at {SIZE} B, at least {low:.2f}"
    result.verdict(low >= LEAST_GAIN, f"{words}; the target is {LEAST_GAIN}")
    steps = found["ways"][0]["cells"][0]["steps"]
    words = ", ".join(f"{steps[step]['share']:.0%} {words}" for step, words in STEPS.items())
    result.text(f"Where the time of {steps['operations']} messages of {SIZE} B went, one at a time: {words}.")


def explained(program, name, *options):
    """What cpb explains of a run of the plan."""
    record = build.scratch("driver_level") / f"{name}.jsonl"
    record.unlink(missing_ok=True)
    what = ["--target", f"lab:{GUEST}", "--plan", "driver-level", "-a", "aes-128-cbc", "--operation", "encrypt"]
    subprocess.run([program, "run", *what, *options, "--quiet", "-o", record], check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([program, "explain", "--json", record], check=True, capture_output=True)
    return json.loads(done.stdout)["queues"]


def name(way, found):
    """A way in words."""
    depth = "all at once" if way["in_flight"] is None else f"{way['in_flight']} in flight"
    return depth if way["provider"] == found["provider"] else f"{way['provider'].split(':')[0]}, {depth}"


def gain(cell):
    """A gain with its interval."""
    if not cell or cell["gain"] is None:
        return ""
    interval = cell["interval"]
    return f"{cell['gain']:.2f}" + (f" ({interval['low']:.2f} to {interval['high']:.2f})" if interval else "")


def interrupts(cell):
    """Interrupts per operation."""
    count = cell and cell["interrupts_per_operation"]
    return "" if count is None else f"{count:.2f}"


def peer(result, program, pairs):
    """One message at a time beside tcrypt, in the same guests."""
    text = (build.ROOT / "lab" / f"{GUEST}.toml").read_text()
    # Without the CPU's driver, the kernel's choice for cbc(aes), which tcrypt measures, is the engine's.
    text = text.replace('"virtio_crypto", "aesni_intel",', '"virtio_crypto",')
    text = text.replace("boot_seconds", 'spare-modules = ["tcrypt"]\nboot_seconds')
    guest = build.scratch("driver_level") / "tcrypt.toml"
    guest.write_text(text)
    plan = f"/tmp/plan-{SIZE}.toml"
    script = f"""
cat > {plan}
cpb run --plan {plan} -p {ENGINE} -q -o /tmp/record.jsonl > /dev/null
grep '^{{"round"' /tmp/record.jsonl
modprobe tcrypt mode=600 num_mb=1 sec=1 > /dev/null 2>&1 &
timeout {TCRYPT_SECONDS} awk '
  /multibuffer cbc.aes. .{DRIVER}. encryption/ {{it = 1}}
  it && /test 0 / {{print; exit}}
' /dev/kmsg
"""
    ours = 'name = "serial"\nreason = "beside tcrypt"\nbudget = "10s"\n[[measure]]\nalgorithms = ["aes-128-cbc"]\n'
    ours += f'operations = ["encrypt"]\nsizes = [{SIZE}]\nunique = 8\n'
    rows, shares = [], []
    for _ in range(pairs):
        order = [program, "lab", "run", guest, "--", "sh", "-c", script]
        said = subprocess.run(order, input=ours.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()
        rate = cpb_rate(said)
        theirs = re.search(r"\((\d+) bit key, +(\d+) byte blocks\): +(\d+) operations in (\d+) seconds", said)
        if not theirs:
            raise RuntimeError(f"tcrypt said nothing of {DRIVER}:\n{said}")
        peer_rate = int(theirs[3]) / int(theirs[4])
        shares.append(rate / peer_rate)
        rows.append([f"{rate:,.0f}", f"{peer_rate:,.0f}", f"{rate / peer_rate:.3f}"])
    result.text(f"One message of {SIZE} B at a time by {DRIVER}, operations a second; a row is one guest:")
    result.table([">cpb", ">tcrypt", ">ratio"], rows)
    middle = median(shares)
    words = f"cpb has {middle:.3f} of tcrypt's rate by the median of {pairs} pairs"
    result.verdict(middle >= LEAST_SHARE, f"{words}; the target is {LEAST_SHARE}")


def cpb_rate(said):
    """Operations a second of the median batch of a record's rounds, whose clock counts nanoseconds."""
    times = []
    for line in said.splitlines():
        if line.startswith('{"round"'):
            found = json.loads(line)["round"]
            times += [batch[0] / found["iterations"] for thread in found["samples"] for batch in thread]
    return 1e9 / median(times)


if __name__ == "__main__":
    main()
