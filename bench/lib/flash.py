"""The cost of reading the serial flash in place: two constants, fitted to the figures in NXP's AN13198.

A new address costs a command before its first byte. The core continues when 8 bytes have arrived, or the 32 bytes of
a line if the cache requested them. Data that the controller has read ahead costs a transfer over the bus. The rate of
the wires is not fitted: two clocks per byte.
"""

import json
import tomllib
from pathlib import Path

from lib.text import columns

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "records" / "otfad-flexspi.jsonl"
CHIP = ROOT / "crates" / "sim" / "chips" / "imxrt1170.toml"
WIDTHS = {"8-bit": 1, "16-bit": 2, "32-bit": 4}
# What the core waits for after a command, in bytes: one answer, or a line.
ANSWER, LINE = 8, 32


def cells():
    """[(kind, width's name, size, MB/s)] of flash without OTFAD and without a filled cache."""
    for line in RECORD.read_text().splitlines():
        cell = json.loads(line).get("published")
        if not cell or cell["provider"] != "flexspi":
            continue
        _, kind, width = cell["row"].split(" / ")
        size, cache = cell["column"].split(", ")
        figure = cell["figures"][0]
        if width in WIDTHS and cache != "Filled" and "flag" not in figure:
            yield kind.split()[0].lower(), cache.lower(), width, size, float(figure["printed"])


class Flash:
    """The chip's clocks and its fitted constants."""

    def __init__(self):
        chip = tomllib.loads(CHIP.read_text())
        self.core = chip["clock"]["core"]["value"]
        self.per_clock = self.core / chip["clock"]["flash"]["value"]
        self.per_byte = chip["timing"]["flash-byte"]["value"]
        self.first = chip["timing"]["flash-first"]["value"]
        self.buffered = chip["timing"]["flash-buffered"]["value"]

    def command(self, cache, width, rate):
        """Flash clocks before the first byte, from a ping-pong cell."""
        moved, waited = (LINE, LINE) if cache == "invalidated" else (WIDTHS[width], ANSWER)
        return moved * self.core / rate / self.per_clock - waited * self.per_byte

    def command_rate(self, cache, width, first):
        """MB/s of a ping-pong cell."""
        moved, waited = (LINE, LINE) if cache == "invalidated" else (WIDTHS[width], ANSWER)
        return moved * self.core / ((first + waited * self.per_byte) * self.per_clock)

    def passage(self, width, rate):
        """Core cycles of a read of prefetched data, from a linear uncached cell."""
        return WIDTHS[width] * self.core / rate


def mean(values):
    return sum(values) / len(values)


def table():
    """Both fits as text: each row is predicted by a constant fitted without it."""
    flash, body = Flash(), [["rows", "of cells", "MB/s", "constant, without", "predicted", "error"]]
    jumps = {}
    ahead = {}
    for kind, cache, width, _size, rate in cells():
        if kind == "pingpong":
            jumps.setdefault((cache, width), []).append(rate)
        elif cache == "disabled" and width != "32-bit":
            ahead.setdefault(width, []).append(rate)
    commands = {row: mean([flash.command(*row, rate) for rate in rates]) for row, rates in jumps.items()}
    for (cache, width), rates in jumps.items():
        first = mean([value for row, value in commands.items() if row != (cache, width)])
        add(
            body,
            f"ping-pong, cache {cache}, {width}",
            rates,
            f"{first:.1f} clocks",
            flash.command_rate(cache, width, first),
        )
    passages = {width: mean([flash.passage(width, rate) for rate in rates]) for width, rates in ahead.items()}
    for width, rates in ahead.items():
        passage = mean([value for row, value in passages.items() if row != width])
        add(
            body,
            f"linear, cache disabled, {width}",
            rates,
            f"{passage:.1f} cycles",
            WIDTHS[width] * flash.core / passage,
        )
    first, passage = mean(list(commands.values())), mean(list(passages.values()))
    return (
        "\nReading the serial flash in place (RT1170; NXP AN13198, figure 4), each row predicted by a constant "
        "fitted to the others\n\n"
        + columns(body, 1)
        + f"\nfit to all rows: a command {first:.1f} flash clocks (the chip's file has {flash.first}), "
        f"{sum(map(len, jumps.values()))} figures less 1 constant; a read ahead {passage:.1f} core cycles "
        f"({flash.buffered}), {sum(map(len, ahead.values()))} figures less 1; {flash.per_byte} clocks a byte, "
        "not fitted\n"
    )


def add(body, row, rates, constant, predicted):
    error = 100 * (predicted / mean(rates) - 1)
    body.append([row, str(len(rates)), f"{mean(rates):.2f}", constant, f"{predicted:.2f}", f"{error:+.1f}%"])
