"""From raw batches to figures."""

import json
import pathlib
import tempfile
import unittest

from lib import figures
from lib.spread import median


def record_round(samples, reference_cycles=30_000, iterations=100):
    """A round as in a record."""
    return {
        "provider": "openssl",
        "workload": "sha-256/hash/message/16",
        "reference_cycles": reference_cycles,
        "iterations": iterations,
        "samples": [samples],
    }


def batch(ticks, before, after, burst=0.5):
    """A batch as in a record; `burst` is the ratio of the burst's time to the chain's."""
    return [ticks, *([chain, int(chain * burst)] for chain in (before, after))]


class Batches(unittest.TestCase):
    def test_readings_are_taken_off_and_cycles_follow_the_core(self):
        # 100 operations in 200,000 ns at 3 cycles a nanosecond.
        samples = [batch(200_020, 10_020, 10_020), batch(100_020, 5_020, 5_020)]
        first, second = figures.batches(record_round(samples), 20)
        self.assertEqual((first.ns, first.cycles, first.disagreement), (2000, 6000, 0))
        self.assertEqual((second.ns, second.cycles), (1000, 6000))

    def test_without_a_reference_there_are_no_cycles(self):
        (only,) = figures.batches(record_round([batch(200_000, 0, 0)], reference_cycles=0), 0)
        self.assertEqual((only.ns, only.cycles), (2000, None))
        self.assertEqual(figures.passes([[only]], figures.cycles), [])
        self.assertEqual(figures.passes([[only]], figures.nanoseconds), [2000])

    def test_a_reading_that_cannot_be_is_no_batch(self):
        self.assertEqual(figures.batches(record_round([batch(200_000, 0, 10_000)]), 0), [])


class Passes(unittest.TestCase):
    def test_batches_in_which_the_clock_moved_do_not_count(self):
        samples = [batch(200_000, 10_000, 10_059), batch(50_000, 10_000, 10_061), batch(100_000, 10_000, 10_000)]
        batches = figures.batches(record_round(samples), 0)
        (value,) = figures.passes([batches], figures.nanoseconds)
        self.assertEqual(value, 1000)
        (value,) = figures.passes([batches], figures.nanoseconds, agreement=0.01)
        self.assertEqual(value, 500)
        self.assertEqual(figures.passes([batches[1:2]], figures.cycles), [])

    def test_a_figure_s_width_is_a_share(self):
        location, margin = figures.located([1000.0, 1010.0, 990.0, 1005.0, 995.0])
        self.assertAlmostEqual(location, 997, delta=5)
        self.assertTrue(0.001 < margin < 0.03, margin)


class Crowds(unittest.TestCase):
    def test_batches_that_share_their_core_are_told_from_those_that_do_not(self):
        samples = [batch(100_000 * (1 + place % 2), 10_000, 10_000, 0.5 + 0.2 * (place % 2)) for place in range(20)]
        one = record_round(samples)
        limit = figures.alone([one], lambda provider: 0)
        batches = figures.batches(one, 0, limit)
        self.assertEqual([each.crowded for each in batches], [False, True] * 10)
        self.assertEqual(figures.passes([batches], figures.nanoseconds), [1000])
        middle = figures.passes([batches], figures.nanoseconds, crowded=True, within=median)
        self.assertEqual(middle, [1500])


class Records(unittest.TestCase):
    def test_cells_are_collected_pass_by_pass(self):
        clock = {"clock": {"cost": 20}}
        lines = [
            {"cpb": {"providers": {"openssl": clock}}},
            {"check": {"provider": "openssl"}},
            {"round": record_round([batch(200_020, 10_020, 10_020)])},
            {"round": record_round([batch(300_020, 10_020, 10_020)])},
            {"end": {}},
        ]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "record.jsonl")
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
            cells = figures.cells(path)
        ((cell, passes),) = cells.items()
        self.assertEqual(cell, ("openssl", "sha-256/hash/message/16"))
        self.assertEqual([one[0].ns for one in passes], [2000, 3000])
