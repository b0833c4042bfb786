"""The intervals of mbedtls_generics.py."""

import math
import unittest

import mbedtls_generics as bench


class Quantiles(unittest.TestCase):
    def test_they_are_those_of_the_tables(self):
        # Abramowitz and Stegun, table 26.10.
        for share, freedom, value in [(0.975, 8, 2.306), (0.9995, 8, 5.041), (0.975, 1, 12.706), (0.995, 4, 4.604)]:
            self.assertAlmostEqual(bench.quantile(share, freedom), value, delta=0.001)


class Compared(unittest.TestCase):
    @staticmethod
    def side(*figures):
        return [{("p", "w"): [math.log(figure)] * 2} for figure in figures]

    def test_a_cell_that_is_slower_is_found_and_one_that_scatters_is_not(self):
        steady = {"before": self.side(100, 100.01, 99.99), "after": self.side(103, 103.01, 102.99)}
        ((_, middle, half),) = bench.compare(steady)
        self.assertAlmostEqual(math.expm1(middle), 0.03, places=3)
        self.assertGreater(middle - half, math.log(1.01))
        ((_, middle, half),) = bench.compare({"before": self.side(100, 110, 90), "after": self.side(103, 113, 93)})
        self.assertLess(middle - half, 0)

    def test_what_not_every_build_measured_is_left_out(self):
        found = {"before": self.side(1, 2), "after": [*self.side(1), {}]}
        self.assertEqual(bench.compare(found), [])


if __name__ == "__main__":
    unittest.main()
