import copy
import unittest

import imxrt

KEPT = {
    "image": "a",
    "compiler": "GCC 1",
    "rows": {"aes-128-ecb": [40.0, 15.66, 5.39, 0.0, 0.0, "5e7e"], "sha-1": [13.65, 4.14, 2.38, 0.0, 0.0, "beef"]},
}


def changed(**what):
    image = copy.deepcopy(KEPT)
    for row, figures in what.pop("rows", {}).items():
        image["rows"][row] = figures
    return {**image, **what}


def compare(image, again=None):
    found, how = imxrt.compare("board", image, KEPT, lambda name: again)
    return list(found), how


class Check(unittest.TestCase):
    def test_the_same_image_has_the_very_figures(self):
        self.assertEqual(compare(changed()), ([], imxrt.SAME_IMAGE))
        wrong, _ = compare(changed(rows={"aes-128-ecb": [40.01, 15.66, 5.39, 0.0, 0.0, "5e7e"]}))
        self.assertEqual(len(wrong), 1)
        self.assertIn("aes-128-ecb", wrong[0])

    def test_where_code_lies_elsewhere_figures_are_alike_and_answers_equal(self):
        slower = {"aes-128-ecb": [40.5, 15.66, 5.39, 0.0, 0.0, "5e7e"]}
        self.assertEqual(compare(changed(image="b", rows=slower)), ([], imxrt.SAME_COMPILER))
        for figures in ([45.0, 15.66, 5.39, 0.0, 0.0, "5e7e"], [40.0, 15.66, 5.39, 0.0, 0.0, "0000"]):
            wrong, _ = compare(changed(image="b", rows={"aes-128-ecb": figures}))
            self.assertEqual(len(wrong), 1)

    def test_a_row_that_is_missing_is_told(self):
        image = changed(image="b")
        del image["rows"]["sha-1"]
        wrong, _ = compare(image)
        self.assertEqual(len(wrong), 1)

    def test_by_another_compiler_two_runs_are_equal(self):
        faster = changed(image="b", compiler="GCC 2", rows={"sha-1": [9.0, 4.0, 2.0, 0.0, 0.0, "beef"]})
        self.assertEqual(compare(faster, again=faster), ([], imxrt.OTHER_COMPILER))
        wrong, _ = compare(faster, again=changed())
        self.assertEqual(len(wrong), 1)


if __name__ == "__main__":
    unittest.main()
