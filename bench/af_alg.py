#!/usr/bin/env python3
"""Is the AF_ALG provider as fast as its interface allows: at 16 bytes, compared with a plain C loop over libkcapi?

Both encrypt AES-128-CBC with the same driver of the same kernel, in one guest of the lab. They run directly one after
the other in many short pairs, and take turns to go first. Under emulation, times in a guest mean nothing. But the
ratio of two programs that make the same system calls compares what they do in addition to these calls.

Target: cpb's speed as a share of the loop's, lower bound of the 95 % interval at least 0.95.
"""

import io
import json
import platform
import subprocess
import tarfile

from lib import build, kcapi, machine
from lib.result import Result, marked
from lib.spread import median, median_interval

# The guest with this machine's architecture, and its CPU's own driver of AES-CBC.
GUESTS = {"x86_64": ("x86_64-6.1", "cbc-aes-aesni"), "aarch64": ("aarch64-6.1", "cbc-aes-ce")}
ENGINE = "virtio_crypto_aes_cbc"

PAIRS = 60
SIZE = 16
TARGET = 0.95
BATCHES = 4
# libkcapi's two ways to pass a message to the kernel; by default the length decides.
WAYS = ["sendmsg", "vmsplice"]
# Operations per batch of the loop: chosen with the first figures so that a batch lasts as long as cpb's, BATCH_US.
OPERATIONS = {False: 500, True: 200}
BATCH_US = 20_000

WORKLOAD = f"aes-128-cbc/encrypt/message/{SIZE}"


def main():
    guest, cpu_driver = GUESTS[platform.machine()]
    cpb, direct, loop = build.static("cpb"), build.static_example("direct"), kcapi.loop()
    watch = machine.Watch()
    order = [cpb, "lab", "run", guest, "--", "sh", "-c", "tar x -C /tmp && exec sh /tmp/pairs.sh"]
    files = {"direct": direct, "libkcapi_loop": loop}
    packed = archive(files, script([cpu_driver, ENGINE]))
    # A static cpb also runs in its own guest.
    done = subprocess.run(order, input=packed, stdout=subprocess.PIPE, check=True)
    report(watch, *parse(done.stdout.decode()))


def script(drivers):
    """The guest's script: it prints the kernel's name and runs all pairs, with a line before each figure that names
    it."""
    lines = ["set -e", "cd /tmp", 'echo "kernel $(uname -r)"']
    for driver in drivers:
        how = f"10000,{BATCH_US},{BATCHES},1,10"
        own = [f"echo '= {driver} cpb'", f"./direct 'af_alg:{driver}' {WORKLOAD}={how}"]
        peers = []
        for way in WAYS:
            count = OPERATIONS[driver == ENGINE]
            peers.append(f"echo '= {driver} {way}'")
            peers.append(f"./libkcapi_loop '{driver}' {SIZE} {count} {BATCHES} {way}")
        for number in range(PAIRS):
            lines += own + peers if number % 2 == 0 else peers + own
    return "\n".join(lines) + "\n"


def archive(files, text):
    """A tar archive of the programs and the script."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as tar:
        for name, path in files.items():
            tar.add(path, arcname=name)
        entry = tarfile.TarInfo("pairs.sh")
        entry.size = len(text)
        tar.addfile(entry, io.BytesIO(text.encode()))
    return whole.getvalue()


def parse(text):
    """The kernel, and {driver: {program: [nanoseconds per operation in each process]}}. A process's figure is its
    shortest batch, because disturbances lengthen batches."""
    kernel, found, batches = None, {}, []
    for line in text.splitlines():
        if line.startswith("kernel "):
            kernel = line.split()[1]
        elif line.startswith("= "):
            _, driver, who = line.split()
            batches = []
            found.setdefault(driver, {}).setdefault(who, []).append(batches)
        elif line.startswith("{"):
            one = json.loads(line)
            (samples,) = one["samples"]
            batches += [(ticks - one["cost"]) / one["iterations"] for ticks, *_ in samples]
        elif line.strip():
            batches.append(float(line))
    least = {
        driver: {who: [min(batches) for batches in all_of_it] for who, all_of_it in who_did.items()}
        for driver, who_did in found.items()
    }
    return kernel, least


def report(watch, kernel, found):
    """Writes the result file."""
    result = Result(
        "af_alg",
        "is the AF_ALG provider as fast as the interface: at 16 bytes, against a plain C loop over libkcapi?",
        "bench/af_alg.py",
    )
    _, version = kcapi.package()
    result.text(
        f"Emulated: a guest with Linux {kernel} in QEMU. {PAIRS} pairs of processes, taking turns to go "
        f"first; a process's figure is the least of its {BATCHES} batches. {WORKLOAD}; peer: a loop "
        f"over Debian's libkcapi {version} in its two ways, of which the faster one counts.",
        "",
        "The microseconds are those of an emulated CPU and of no other use than to be divided.",
    )
    rows, bounds = [], []
    for driver, times in found.items():
        own = times["cpb"]
        fastest = min(WAYS, key=lambda way: median(times[way]))
        for way in WAYS:
            ratios = [peer / mine for mine, peer in zip(own, times[way], strict=True)]
            low, high = median_interval(ratios)
            if way == fastest:
                bounds.append(low)
            rows.append(
                [
                    driver,
                    way,
                    f"{median(own) / 1000:.1f}",
                    f"{median(times[way]) / 1000:.1f}",
                    f"{median(ratios):.3f}",
                    f"{low:.3f} to {high:.3f}",
                    marked(low >= TARGET) if way == fastest else "",
                ]
            )
    heads = ["driver", "libkcapi by", ">cpb, µs", ">libkcapi, µs", ">speed of cpb / libkcapi"]
    result.table([*heads, ">95 % interval", f">at least {TARGET}"], rows)
    result.verdict(
        all(low >= TARGET for low in bounds),
        f"at {SIZE} B cpb's AF_ALG is at least {min(bounds):.3f} times as fast as libkcapi's faster way.",
    )
    result.write(watch)


if __name__ == "__main__":
    main()
