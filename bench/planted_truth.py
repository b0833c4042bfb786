#!/usr/bin/env python3
"""Does `cpb explain` find planted costs in the noise of real runs?

crates/report/examples/planted_truth.rs generates records of two paths with known costs. Their noise is drawn from
rounds of real runs (crates/test-support/src/noise) of a quiet and of a loaded machine. Half of them also have bursts,
drift, and two states of the core's clock.

Targets: the true crossover lies in the printed interval in at least 93 % of runs; the estimate in it, by straight
lines as they are planted, is typically off by at most half of the interval of an oracle that knows the noise; "never"
is right at least 97 % of the time; a path that switches inside at a known size is found.
"""

import subprocess

from lib import build, machine
from lib.result import Result

SEEDS = 10_000


def main():
    watch = machine.Watch()
    program = build.example("planted_truth", "cpb-report")
    command = [program, str(SEEDS)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    report(parse(output), watch)


def parse(text):
    """Parses lines of a word and a figure each."""
    return {word: float(figure) for word, figure in (line.split() for line in text.splitlines())}


def shares(found):
    """The figures for the targets: coverage, correct reports of "never", switches found."""
    never = found["said_rightly"] + found["said_wrongly"]
    return (
        found["inside"] / found["crossing"],
        found["said_rightly"] / never if never else 0.0,
        found["found"] / found["switches"],
    )


def report(found, watch):
    """Writes the result file."""
    coverage, never, switches = shares(found)
    result = Result(
        "planted_truth",
        "does `cpb explain` find planted crossovers again in the noise of real runs, "
        "and report none that was not planted?",
        "bench/planted_truth.py",
    )
    result.table(
        ["what", ">of", ">figure", ">target"],
        [
            [
                "the true crossover lies in the printed interval",
                f"{found['crossing']:.0f} runs",
                f"{coverage:.1%}",
                "≥ 93 %",
            ],
            [
                "median error of the estimate by the width of an oracle that knows the noise",
                f"{found['crossing']:.0f} runs",
                f"{found['off']:.2f}",
                "≤ 0.5",
            ],
            [
                '"never" is true where it is said',
                f"{found['said_rightly'] + found['said_wrongly']:.0f} times",
                f"{never:.1%}",
                "≥ 97 %",
            ],
            [
                '"never" is said where it is true',
                f"{found['without']:.0f} runs",
                f"{found['said_rightly'] / found['without']:.1%}",
                "≥ 97 %",
            ],
            [
                "a switch inside a path is found between the right sizes",
                f"{found['switches']:.0f} runs",
                f"{switches:.1%}",
                "≥ 95 %",
            ],
        ],
    )
    met = (
        coverage >= 0.93
        and found["off"] <= 0.5
        and never >= 0.97
        and found["said_rightly"] / found["without"] >= 0.97
        and switches >= 0.95
    )
    result.verdict(
        met,
        f"{coverage:.1%} of crossovers in their interval, estimates off by {found['off']:.2f} of the "
        f'oracle\'s; "never" right in {never:.1%}; {switches:.1%} of switches found.',
    )
    result.write(watch)


if __name__ == "__main__":
    main()
