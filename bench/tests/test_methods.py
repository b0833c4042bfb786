"""The methods that bench/methods.py compares."""

import unittest

import methods
from lib.figures import Batch


class Methods(unittest.TestCase):
    # Three passes: 5,000 ns or 15,000 cycles. In the second, the clock was half as fast and one batch was
    # interrupted.
    CELL = [
        [Batch(5000, 15000, 0.0, False)] * 3,
        [Batch(10000, 15000, 0.0, False), Batch(90000, 15000, 0.5, False), Batch(10000, 15000, 0.0, False)],
        [Batch(5000, 15000, 0.0, False)] * 3,
    ]

    def test_cycles_see_through_a_change_of_clock(self):
        for name, method in methods.METHODS.items():
            value = method(self.CELL)
            if not name.startswith("wall"):
                self.assertAlmostEqual(value, 15000, msg=name)
        self.assertGreater(methods.METHODS["wall: mean of all batches"](self.CELL), 10000)

    def test_a_slope_is_the_cost_of_a_byte(self):
        def run(per_byte):
            sizes = (16, 1024, 16384)
            costs = {size: 100 + per_byte * size for size in sizes}
            return {
                ("a", f"x/encrypt/message/{size}"): [[Batch(cost, cost, 0.0, False)]] for size, cost in costs.items()
            }

        found = methods.slopes([run(2), run(3)], methods.METHODS["wall: minimum"])
        ((group, values),) = found.items()
        self.assertEqual(group, ("a", "x", "encrypt", "message"))
        self.assertAlmostEqual(values[0], 2)
        self.assertAlmostEqual(values[1], 3)

    def test_every_shape_differs_from_the_product_s(self):
        shape = methods.product_shape()
        others = [other for name, other in methods.variants(shape).items() if "product" not in name]
        self.assertEqual(len(shape), 5)
        self.assertNotIn(shape, others)
        self.assertEqual(len(set(others)), len(others))
