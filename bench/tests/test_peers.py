"""The output of other programs, and the description of the machine."""

import unittest

import sensitivity
from lib import libgcrypt, machine, mbedtls, openssl

OPTIONS = (
    "cc (Debian 12.2.0-14+deb12u1) 12.2.0; compiler: cc -fPIC -pthread -m64 -Wa,--noexecstack -Wall "
    "-O3 -O2 -ffunction-sections -fdata-sections -fPIC -m64 -march=x86-64 -DL_ENDIAN -DNDEBUG"
)


class OpenSsl(unittest.TestCase):
    def test_a_rate_is_read(self):
        text = "+H:16384\n+F:25:AES-256-CBC:766108112.00\n"
        self.assertEqual(openssl.bytes_per_second(text), 766108112.0)
        self.assertEqual(openssl.bytes_per_second("+H:16\n+F:27:hmac(sha256):1.5\n"), 1.5)

    def test_no_rate_is_an_error(self):
        for text in ("", "+H:16\n", "+F:25:AES-256-CBC:0.00\n", "+F:1:a:1\n+F:2:b:2\n"):
            with self.assertRaises(ValueError):
                openssl.bytes_per_second(text)

    def test_the_build_s_own_flags_are_told_from_openssl_s(self):
        flags = ["-O2", "-ffunction-sections", "-fdata-sections", "-fPIC", "-m64", "-march=x86-64"]
        self.assertEqual(openssl.flags(OPTIONS), flags)

    def test_the_compiler_line_is_the_rest_of_its_line(self):
        version = "OpenSSL 3.6.3 9 Jun 2026\ncompiler: cc -O3 -O2 -DNDEBUG\n"
        self.assertEqual(openssl.compiler_line(version), "compiler: cc -O3 -O2 -DNDEBUG")


class MbedTls(unittest.TestCase):
    def test_rates_are_kibibytes_and_a_row_that_failed_is_none(self):
        text = "\n  SHA-256                  :     116298 KiB/s,          0 cycles/byte\n"
        text += "  AES-CBC-256              :          0 KiB/s,          0 cycles/byte\n  AES-CTR-256 : FAILED: -0x21\n"
        self.assertEqual(mbedtls.rates(text), {"SHA-256": 1e9 / (116298 * 1024)})

    def test_the_program_finds_the_names_that_got_a_prefix(self):
        names = {"cpb_mbedtls_c_aes_init", "cpb_mbedtls_c_psa_crypto_init", "memcpy"}
        header = "#define mbedtls_aes_init cpb_mbedtls_c_aes_init\n"
        header += "#define psa_crypto_init cpb_mbedtls_c_psa_crypto_init\n"
        self.assertEqual(mbedtls.renames(names, "cpb_mbedtls_c_"), header)


class Libgcrypt(unittest.TestCase):
    def test_slopes_are_read_of_ciphers_and_hashes(self):
        text = "cipher,AES256,CBC enc,,,0.948,ns/B,1006,MiB/s,,c/B\n"
        text += "hash,SHA256,,,,0.545,ns/B,1749,MiB/s,,c/B\nnot,a,row\n"
        self.assertEqual(libgcrypt.slopes(text), {"AES256 CBC enc": 0.948, "SHA256": 0.545})


class Planted(unittest.TestCase):
    def test_a_calibration_is_read(self):
        plants = sensitivity.parse("1024:14 0.009791 0.000069\n16384:202 0.010096 0.000029\n")
        self.assertEqual(plants, {1024: (14, 0.009791, 0.000069), 16384: (202, 0.010096, 0.000029)})

    def test_an_interval_that_touches_one_does_not_leave_it_out(self):
        def ratio(low, high):
            return {"interval": {"low": low, "high": high}}

        self.assertTrue(sensitivity.excludes_one(ratio(1.001, 1.02)))
        self.assertTrue(sensitivity.excludes_one(ratio(0.98, 0.999)))
        self.assertFalse(sensitivity.excludes_one(ratio(0.98, 1.0)))
        self.assertFalse(sensitivity.excludes_one({"interval": None}))


class Machine(unittest.TestCase):
    def test_a_cpu_has_a_name_on_each_architecture(self):
        self.assertEqual(machine.cpu_model("processor\t: 0\nmodel name\t: AMD EPYC\n"), "AMD EPYC")
        self.assertEqual(machine.cpu_model("processor: 0\nCPU part\t: 0xd08\n"), "0xd08")

    def test_busy_ticks_leave_idle_ones_out(self):
        stat = "cpu  100 1 20 5000 300 4 5 6 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n"
        self.assertEqual(machine.busy_ticks(stat), (130, 6))
