"""Runs `cpb run`, and reads its reports and records."""

import json
import subprocess
import time

from lib import build

AES = "aes-256-cbc/encrypt/message"


def run(record, *arguments, environment=None):
    """Measures into the file `record`. Returns the summary and the seconds that the command took."""
    record.unlink(missing_ok=True)
    command = [build.cpb(), "run", "--quiet", "--json", "-o", record, *arguments]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, env=environment)
    seconds = time.monotonic() - start
    if done.returncode != 0:
        raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout), seconds


def show(record):
    """The summary of a record."""
    command = [build.cpb(), "show", "--json", record]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def figures(summary):
    """The figures of every measured cell: {(provider, workload): figures}."""
    return {
        (cell["provider"], cell["workload"]): cell["figures"]["measured"]
        for cell in summary["cells"]
        if "measured" in cell["figures"]
    }


def value(figure):
    """The number in an estimate, or None."""
    return None if figure is None else figure["value"]


def seconds_per_cell(summary):
    """The duration of a run divided by the number of its cells, including the start of processes and the checks."""
    return summary["run"]["seconds"] / len(figures(summary))


def floor(summary):
    """The null provider's operation: nanoseconds, and cycles or None."""
    return summary["floor"]["ns_per_operation"], summary["floor"]["cycles_per_operation"]


def discarded(summary):
    """The share of batches that were discarded."""
    noise = summary["noise"]
    return (noise["unsteady"] + noise["crowded"]) / noise["batches"]


def options(provider):
    """The compiler and flags that the provider reports."""
    little = ["-p", provider, "-a", "sha-256", "-s", "16", "--budget", "0.1s"]
    summary, _ = run(build.scratch("records") / "options.jsonl", *little)
    return summary["run"]["providers"][provider]["options"]
