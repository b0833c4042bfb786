"""The planted slowdown of gate.py."""

import json
import unittest

import gate


class Slower(unittest.TestCase):
    """Batches of one provider last 3 % longer; everything else is unchanged."""

    LINE = json.dumps({"round": {"provider": "a", "samples": [[[1000, [5, 6], [7, 8]], [2000, [5, 6], [7, 8]]]]}})

    def test_the_provider_is_slower_by_three_percent(self):
        entry = json.loads(gate.slower(self.LINE, "a"))
        self.assertEqual(entry["round"]["samples"], [[[1030, [5, 6], [7, 8]], [2060, [5, 6], [7, 8]]]])

    def test_others_are_not(self):
        self.assertEqual(gate.slower(self.LINE, "b"), self.LINE)
        self.assertEqual(gate.slower('{"cpb": {}}', "a"), '{"cpb": {}}')


if __name__ == "__main__":
    unittest.main()
