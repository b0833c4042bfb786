"""The arithmetic of dense_truth.py."""

import unittest

import dense_truth


def path(*costs):
    """Costs at 16, 32, 64 and 128 bytes, known to 1 %."""
    return {size: (cost, 0.01) for size, cost in zip((16, 32, 64, 128), costs, strict=True)}


class Crossings(unittest.TestCase):
    """Where dense costs cross."""

    def test_a_crossing_lies_between_sizes_at_which_different_paths_win(self):
        self.assertEqual(dense_truth.crossings(path(1, 2, 3, 4), path(2, 2, 2, 2)), [(16, 64)])
        self.assertEqual(dense_truth.crossings(path(1, 1, 1, 1), path(2, 2, 2, 2)), [])
        self.assertEqual(dense_truth.crossings(path(1, 3, 1, 3), path(2, 2, 2, 2)), [(16, 32), (32, 64), (64, 128)])

    def test_partial_blocks_are_another_matter(self):
        one, other = path(1, 1, 1, 1), path(2, 2, 2, 2)
        one[20], other[20] = (5, 0.01), (1, 0.01)
        self.assertEqual(dense_truth.crossings(one, other), [])


class Lines(unittest.TestCase):
    """How far costs are off straight lines."""

    def test_a_size_between_two_of_the_plan_is_held_against_the_line_through_them(self):
        costs = {16: (16, 0.01), 32: (48, 0.01), 40: (20, 0.01), 64: (64, 0.01)}
        whole, partial = dense_truth.off_the_line({"task": {"path": costs}})
        self.assertEqual([round(share, 6) for share in whole], [0.5])
        self.assertEqual([round(share, 6) for share in partial], [-0.5])


class Advice(unittest.TestCase):
    """The advice of a run at a size, and its cost."""

    ADVICE = [
        {"least": 16, "largest": 16, "from": None, "to": {"bytes": 40.0}, "take": ["a"]},
        {"least": 64, "largest": 128, "from": {"bytes": 40.0}, "to": None, "take": ["b", "c"]},
    ]

    def test_a_border_parts_two_ranges(self):
        take = [dense_truth.advised(self.ADVICE, size) for size in (16, 32, 64, 128, 256)]
        self.assertEqual(take, [["a"], ["a"], ["b", "c"], ["b", "c"], []])

    def test_where_advice_says_that_it_is_not_known_there_is_none(self):
        border = {"bytes": 40.0, "low": 16, "high": 64, "open": True}
        advice = [{**self.ADVICE[0], "to": border}, {**self.ADVICE[1], "from": border}]
        take = [dense_truth.advised(advice, size) for size in (16, 32, 64)]
        self.assertEqual(take, [["a"], [], ["b", "c"]])

    def test_advice_of_an_earlier_cpb_leaves_gaps(self):
        old = [
            {"least": 16, "largest": 16, "from": None, "to": None, "take": ["a"]},
            {"least": 64, "largest": 128, "from": None, "to": None, "take": ["b"]},
        ]
        self.assertEqual([dense_truth.advised(old, size) for size in (16, 32, 64)], [["a"], [], ["b"]])

    def test_regret_is_of_the_worst_that_is_advised(self):
        dense = {"a": path(1, 3, 9, 9), "b": path(2, 2, 1, 1), "c": path(2, 2, 1.2, 1)}
        found = {"asked": 0, "none": 0, "regrets": [], "partial": []}
        dense_truth.regret(found, dense, self.ADVICE)
        self.assertEqual([round(lost, 6) for lost in found["regrets"]], [0, 0.5, 0.2, 0])
        self.assertEqual((found["asked"], found["none"]), (4, 0))


if __name__ == "__main__":
    unittest.main()
