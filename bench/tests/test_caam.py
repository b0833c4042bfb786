"""Which rows of the CAAM have a range."""

import unittest

from lib import caam


class Rows(unittest.TestCase):
    def test_a_range_is_of_the_engine_s_own_sha(self):
        with_range = ["caam sha-1", "mbedtls-caam hmac-sha-256", "caam aes-128-cbc-hmac-sha-1-etm"]
        without = [
            "sha-256",
            "caam-interrupts sha-1",
            "mbedtls-caam sha-512",
            "caam hash-drbg-sha-256",
            "caam aes-128-cbc",
        ]
        self.assertEqual([row for row in with_range + without if caam.hangs_on_sha(row)], with_range)


if __name__ == "__main__":
    unittest.main()
