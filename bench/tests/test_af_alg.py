"""The script for the guest, and its output."""

import io
import tarfile
import unittest

import af_alg

PRINTED = """kernel 6.1.0-56-amd64
= cbc-aes-aesni cpb
{"provider":"a","workload":"w","how":"h","cost":10,"reference_cycles":0,"iterations":100,\
"samples":[[[4010,[1,2],[3,4]],[3010,[1,2],[3,4]]]]}
= cbc-aes-aesni sendmsg
41.5
39.0
= cbc-aes-aesni sendmsg
50.0
= cbc-aes-aesni cpb
{"provider":"a","workload":"w","how":"h","cost":0,"reference_cycles":0,"iterations":10,\
"samples":[[[500,[1,2],[3,4]]]]}
"""


class Guest(unittest.TestCase):
    def test_each_process_gives_its_least_batch(self):
        kernel, found = af_alg.parse(PRINTED)
        self.assertEqual(kernel, "6.1.0-56-amd64")
        self.assertEqual(found, {"cbc-aes-aesni": {"cpb": [30.0, 50.0], "sendmsg": [39.0, 50.0]}})

    def test_what_is_no_figure_is_an_error(self):
        with self.assertRaises(ValueError):
            af_alg.parse("= a cpb\ndirect: no provider\n")

    def test_pairs_take_turns_to_go_first(self):
        named = [line for line in af_alg.script(["d"]).splitlines() if line.startswith("echo '=")]
        who = [line.split()[-1].rstrip("'") for line in named]
        self.assertEqual(who[:6], ["cpb", *af_alg.WAYS, *af_alg.WAYS, "cpb"])
        self.assertEqual(who.count("cpb"), af_alg.PAIRS)

    def test_the_archive_holds_the_script(self):
        whole = io.BytesIO(af_alg.archive({"this": __file__}, "true\n"))
        with tarfile.open(fileobj=whole) as tar:
            self.assertEqual(tar.getnames(), ["this", "pairs.sh"])
            self.assertEqual(tar.extractfile("pairs.sh").read(), b"true\n")
