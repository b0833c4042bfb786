"""The statistics that the scripts of bench/ use."""

import itertools
import math
import random
import unittest

from lib import spread


class Spread(unittest.TestCase):
    def test_spread_is_largest_over_smallest_less_one(self):
        self.assertAlmostEqual(spread.spread([100, 103, 101]), 0.03)

    def test_the_middle_of_even_and_odd_counts(self):
        self.assertEqual(spread.median([9, 1, 2]), 2)
        self.assertEqual(spread.median(value for value in (9, 1, 2, 4)), 3)

    def test_student_joins_its_table_without_a_step_and_ends_at_the_normal(self):
        quantiles = [spread.student(freedom) for freedom in range(1, 200)]
        self.assertTrue(all(b < a for a, b in itertools.pairwise(quantiles)))
        self.assertAlmostEqual(spread.student(30), 2.042, places=3)
        self.assertAlmostEqual(spread.student(10_000), 1.960, places=3)

    def test_a_slope_is_found(self):
        self.assertAlmostEqual(spread.slope([(16, 7 + 32), (1024, 7 + 2048), (64, 7 + 128)]), 2)


class Intervals(unittest.TestCase):
    def test_runs_for_a_width_are_the_least_that_reach_it(self):
        for deviation in (0.0001, 0.01, 0.2):
            count = spread.runs_for(deviation, 0.003)
            self.assertLessEqual(spread.margin(deviation, count), 0.003)
            if count > 2:
                self.assertGreater(spread.margin(deviation, count - 1), 0.003)

    def test_the_interval_of_a_median_is_of_order_statistics(self):
        # Tables of the sign test: for 15 values the 4th and the 12th, for 5 the first and the last.
        self.assertEqual(spread.median_interval(range(1, 16)), (4, 12))
        self.assertEqual(spread.median_interval([5, 4, 3, 2, 1]), (1, 5))

    def test_a_median_s_interval_contains_the_truth_as_often_as_it_says(self):
        chance = random.Random(1)
        inside = 0
        for _ in range(1000):
            low, high = spread.median_interval([chance.gauss(0, 1) for _ in range(15)])
            inside += low <= 0 <= high
        self.assertGreaterEqual(inside, 940)


class Location(unittest.TestCase):
    """cpb's own location, as in crates/analysis/src/location.rs."""

    def test_late_values_move_nothing(self):
        calm = [100 + 0.01 * value for value in range(20)]
        hit = calm[:15] + [value * 10 for value in calm[15:]]
        self.assertEqual(spread.weighted(calm)[0], spread.weighted(hit)[0])

    def test_two_values_have_no_interval_and_equal_ones_none_of_width(self):
        self.assertIsNone(spread.weighted([1, 2])[1])
        self.assertAlmostEqual(spread.weighted([1.0] * 5)[1], 0)

    def test_weights_add_up_to_one_and_have_no_step_at_their_end(self):
        for count in (1, 2, 3, 10, 57):
            self.assertAlmostEqual(sum(spread.weights(count)), 1)
        self.assertLess(spread.weights(1000)[698], 1e-5)

    def test_the_error_of_noise_is_near_what_repetition_shows(self):
        chance = random.Random(2)
        drawn = [spread.weighted([chance.gauss(0, 1) for _ in range(40)]) for _ in range(400)]
        margin = spread.median(margin for _, margin in drawn)
        truth = 2 * spread.deviation([location for location, _ in drawn])
        self.assertLess(abs(math.log(margin / truth)), 0.25)
