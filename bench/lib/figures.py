"""From a record's raw batches to figures, as cpb does it (crates/cpb/src/analysis), and with each
choice open: for experiments about those choices."""

import collections
import json
import math

from lib.spread import median, quantile, weighted

AGREEMENT = 0.004

# One batch: wall-clock nanoseconds and core cycles of one operation (cycles by the mean of both
# readings of the reference chain; none where the core's clock is unknown), and how far the readings
# disagree, as a share of their mean.
Batch = collections.namedtuple("Batch", "ns cycles disagreement")


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


def batches(record_round, cost):
    """The batches of a round's first thread."""
    cycles, found = record_round["reference_cycles"], []
    for ticks, before, after in record_round["samples"][0]:
        ns = max(ticks - cost, 0) / record_round["iterations"]
        before, after = before - cost, after - cost
        reference = (before + after) / 2
        if cycles == 0:
            found.append(Batch(ns, None, 0.0))
        elif before > 0 and after > 0:
            disagreement = abs(before - after) / reference
            found.append(Batch(ns, ns * cycles / reference, disagreement))
    return found


def cells(path):
    """The batches of every cell of a record, pass by pass: {(provider, workload): [[Batch]]}."""
    header, rounds = read(path)
    found = collections.defaultdict(list)
    for one in rounds:
        cell = one["provider"], one["workload"]
        found[cell].append(batches(one, cost(header, one["provider"])))
    return dict(found)


def crowded(values, limit=0.03, reach=15):
    """Which of a run's rounds fall into a spell in which all cells were slow, so that something they
    share was: on a virtual machine, the other thread of the core, which leaves the reference chain as
    fast as ever. `values` are (cell, figure) in the order of time. A round counts as crowded if the
    rounds around it, of other cells mostly, take `limit` more than those cells usually do."""
    usual = collections.defaultdict(list)
    for cell, value in values:
        usual[cell].append(value)
    usual = {cell: quantile(found, 0.25) for cell, found in usual.items()}
    excess = [value / usual[cell] - 1 for cell, value in values]
    around = lambda place: excess[max(place - reach, 0) : place] + excess[place + 1 : place + reach + 1]
    return [median(around(place)) > limit for place in range(len(values))]


def uncrowded(path):
    """As `cells`, without the rounds of crowded spells; and the share of rounds that these are."""
    header, rounds = read(path)
    rounds = [one for one in rounds if one["reference_cycles"]]
    found = [((r["provider"], r["workload"]), batches(r, cost(header, r["provider"]))) for r in rounds]
    values = [(cell, passes([one], cycles)) for cell, one in found]
    known = [place for place, (_, value) in enumerate(values) if value]
    flags = crowded([(values[place][0], values[place][1][0]) for place in known])
    kept = collections.defaultdict(list)
    for place, flag in zip(known, flags):
        if not flag:
            cell, one = found[place]
            kept[cell].append(one)
    return dict(kept), sum(flags) / len(flags)


def passes(all_batches, figure, agreement=AGREEMENT, within=median):
    """One value of each pass: `within` of `figure` over the batches that are kept."""
    values = []
    for of_one_pass in all_batches:
        kept = [figure(batch) for batch in of_one_pass if batch.disagreement <= agreement]
        if kept and None not in kept:
            values.append(within(kept))
    return values


def located(values):
    """cpb's figure of a cell: its location over passes, in logarithms; and half the width of its
    interval as a share of it."""
    location, margin = weighted([math.log(value) for value in values])
    return math.exp(location), margin


def cycles(batch):
    """Its cycles."""
    return batch.cycles


def nanoseconds(batch):
    """Its wall-clock time."""
    return batch.ns
