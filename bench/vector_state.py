#!/usr/bin/env python3
"""What does it cost an operation if the preceding round left the upper halves of the vector registers in use? This is
the experiment behind decision 4: why the runner clears them before each session.

There is no target: the ratio shows how much the clearing saves.
"""

import json
import platform
import subprocess

from lib import build, figures, machine
from lib.result import Result
from lib.spread import median, median_interval

PROCESSES = 15
WORKLOADS = [
    "sha-256/hash/message/16384",
    "aes-256-cbc/decrypt/message/16384",
    "aes-256-cbc/encrypt/message/16384",
    "aes-256-ctr/encrypt/message/16384",
    "aes-256-gcm/encrypt/message/16384",
    "chacha20-poly1305/encrypt/message/16384",
]
STATES = ["clear", "ymm", "zmm"]
BUDGET = "400,200,8,1,10"


def main():
    program = build.example("direct")
    watch = machine.Watch()
    result = Result(
        "vector_state",
        "what does it cost an operation that the upper halves of the vector registers are in use?",
        "bench/vector_state.py",
    )
    states = [state for state in STATES if possible(program, state)]
    if len(states) < 2:
        result.text(f"{platform.machine()} has no such registers: nothing to see.")
        result.write(watch)
        return
    found = {}
    for number in range(PROCESSES):
        order = states[number % len(states) :] + states[: number % len(states)]
        for workload in WORKLOADS:
            for state in order:
                values = measure(program, [f"{workload}={BUDGET},{state}"])
                found.setdefault((workload, state), []).append(values)
    rows = []
    for workload in WORKLOADS:
        base = found[workload, "clear"]
        row = [workload, cell(base)]
        for state in states[1:]:
            ratios = [one / other for one, other in zip(found[workload, state], base, strict=True) if one and other]
            if not ratios:
                row.append("clock unknown")
                continue
            low, high = median_interval(ratios)
            row.append(f"{median(ratios):.3f} ({low:.3f} to {high:.3f})")
        rows.append(row)
    result.text(
        f"OpenSSL, all extensions; {PROCESSES} processes for each state, taking turns, each a round of 8 "
        "batches by cpb's loop. Ratios of cycles, median and its 95 % interval:"
    )
    heads = [f">{state} in use / clear" for state in states[1:]]
    result.table(["workload", ">cycles, clear", *heads], rows)
    result.write(watch)


def possible(program, state):
    """Whether this CPU has the registers."""
    command = [program, "openssl", f"{WORKLOADS[0]}=1,1,1,1,10,{state}"]
    return subprocess.run(command, capture_output=True).returncode == 0


def measure(program, rounds):
    """Median cycles of the single round in a separate process, or None."""
    command = [program, "--cpus", str(machine.measuring_cpu()), "openssl", *rounds]
    text = subprocess.run(command, check=True, capture_output=True).stdout
    line = json.loads(text)
    values = figures.passes([figures.batches(line, line["cost"])], figures.cycles)
    return values[0] if values else None


def cell(values):
    """The median of the known values."""
    known = [value for value in values if value]
    return f"{median(known):.0f}" if known else "clock unknown"


if __name__ == "__main__":
    main()
