"""The arithmetic of planted_truth.py."""

import unittest

import planted_truth


class Shares(unittest.TestCase):
    """The figures for the targets."""

    def test_each_share_is_of_its_own_runs(self):
        found = planted_truth.parse(
            "crossing 200\ninside 190\nwithout 60\nsaid_rightly 49\nsaid_wrongly 1\nswitches 10\nfound 9\n"
        )
        self.assertEqual(planted_truth.shares(found), (0.95, 0.98, 0.9))

    def test_never_never_said_is_not_right(self):
        found = {
            "crossing": 1.0,
            "inside": 1.0,
            "said_rightly": 0.0,
            "said_wrongly": 0.0,
            "switches": 1.0,
            "found": 1.0,
        }
        self.assertEqual(planted_truth.shares(found)[1], 0.0)
