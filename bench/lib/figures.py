"""Computes figures from a record's raw batches as cpb does (crates/analysis/src), but with each choice as a
parameter, for experiments on those choices."""

import collections
import json
import math

from lib.spread import lower_quartile, quantile, weighted

AGREEMENT = 0.006

# The same as in crates/analysis/src/smt.rs.
ALONE, ROOM = 0.2, 0.02

# One batch: wall-clock nanoseconds and core cycles of one operation (cycles by the mean of both readings of the
# reference chain; None if the core's clock is unknown), how far the readings disagree, as a share of their mean, and
# whether another thread ran on the same core.
Batch = collections.namedtuple("Batch", "ns cycles disagreement crowded")


def read(path):
    """A record: its header and its rounds."""
    header, rounds = None, []
    with open(path) as lines:
        for line in lines:
            (kind, content), *_ = json.loads(line).items()
            if kind == "cpb":
                header = content
            elif kind == "round":
                rounds.append(content)
    return header, rounds


def cost(header, provider):
    """Nanoseconds of one reading of the clock."""
    return header["providers"][provider]["clock"]["cost"]


def readings(record_round, cost):
    """For each batch of a round's first thread: its nanoseconds, and (chain, burst) before and after, minus the
    clock's cost. A batch with an impossible reading is skipped."""
    found = []
    for ticks, *readings in record_round["samples"][0]:
        readings = [(chain - cost, burst - cost) for chain, burst in readings]
        if record_round["reference_cycles"] == 0 or all(chain > 0 for chain, _ in readings):
            found.append((max(ticks - cost, 0) / record_round["iterations"], readings))
    return found


def alone(rounds, cost):
    """The highest ratio of the burst's time to the chain's on a core that is not shared. `cost` returns the clock's
    cost for a round's provider."""
    ratios = [
        burst / chain
        for one in rounds
        for _, ((chain, burst), _) in readings(one, cost(one["provider"]))
        if chain > 0 and burst > 0
    ]
    return quantile(ratios, ALONE) * (1 + ROOM) if ratios else math.inf


def batches(record_round, cost, limit=math.inf):
    """The batches of a round's first thread. Those whose burst took more than `limit` are crowded."""
    cycles, found = record_round["reference_cycles"], []
    for ns, around in readings(record_round, cost):
        if cycles == 0:
            found.append(Batch(ns, None, 0.0, False))
            continue
        (before, _), (after, _) = around
        reference = (before + after) / 2
        shared = any(burst / chain > limit for chain, burst in around)
        found.append(Batch(ns, ns * cycles / reference, abs(before - after) / reference, shared))
    return found


def cells(path):
    """The batches of every cell of a record by pass: {(provider, workload): [[Batch]]}."""
    header, rounds = read(path)
    limit = alone(rounds, lambda provider: cost(header, provider))
    found = collections.defaultdict(list)
    for one in rounds:
        cell = one["provider"], one["workload"]
        found[cell].append(batches(one, cost(header, one["provider"]), limit))
    return dict(found)


def passes(all_batches, figure, agreement=AGREEMENT, crowded=False, within=lower_quartile):
    """One value per pass: the lower quartile of `figure` over the batches that are kept."""
    values = []
    for of_one_pass in all_batches:
        kept = [batch for batch in of_one_pass if crowded or not batch.crowded]
        kept = [figure(batch) for batch in kept if batch.disagreement <= agreement]
        if kept and None not in kept:
            values.append(within(kept))
    return values


def located(values):
    """cpb's figure of a cell: its location over passes, in logarithms, and half the width of its interval as a share
    of the figure."""
    location, margin = weighted([math.log(value) for value in values])
    return math.exp(location), margin


def cycles(batch):
    """The batch's cycles."""
    return batch.cycles


def nanoseconds(batch):
    """The batch's wall-clock time."""
    return batch.ns
