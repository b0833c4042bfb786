"""The table of results."""

import unittest

from lib import result


class Overview(unittest.TestCase):
    def test_every_result_has_its_line_with_its_verdict(self):
        text = (
            "# floor\n\n**Machine:** a CPU; 2026-01-02 03:04 UTC; while this ran other programs took 5% of "
            "all CPUs\n\n**Met:** at most 3 ns.\n"
        )
        lines = result.overview({"methods": "# methods\n", "floor": text}).splitlines()
        self.assertIn(
            "| [floor](floor.md) | 2026-01-02 03:04 UTC, other programs took 5% | **Met:** at most 3 ns. |",
            lines,
        )
        self.assertIn("| [methods](methods.md) |  | evidence, no target |", lines)
