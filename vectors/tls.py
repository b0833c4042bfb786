"""Records of TLS: BoringSSL's list, with another version in the header.

The list has random versions, and OpenSSL reads the version to find out whether an IV is in the record. Each case
is therefore made again with the version of TLS 1.0: MAC and ciphertext are computed here, by a function that has
to reproduce what the list prints, for the version that it prints it for.
"""

import hmac
import sys

import aes_block
from formats import BORINGSSL, ISC, Family, tests_of_boringssl

ALGORITHM = "aes-128-cbc-hmac-sha-1-tls"
FILE = "src/crypto/cipher_extra/test/aes_128_cbc_sha1_tls_implicit_iv_tests.txt"
TLS_1_0 = b"\x03\x01"
# The list changes each of 255 bytes of padding.
PADDING_STEP = 8
# Beyond the list: its longest message, over and over.
LONG = (1024, 1420, 2000)


def records(boringssl):
    family = Family("aes-cbc-hmac-tls")
    family.source(
        "BoringSSL's aes_128_cbc_sha1_tls_implicit_iv_tests, as records of TLS 1.0",
        f"Debian source package android-platform-external-boringssl, {BORINGSSL}, {FILE}",
        ISC,
    )
    fails = 0
    for number, (title, test) in enumerate(tests_of_boringssl(boringssl / FILE)):
        test = Test(test)
        # These have no title, but for the first.
        fails += not test.valid and not title
        if test.valid or title or fails % PADDING_STEP == 0:
            family.case(ALGORITHM, case(f"boringssl/{number} {title}".strip(), test))
    longest = max((Test(test) for _, test in tests_of_boringssl(boringssl / FILE)), key=Test.length)
    family.source(
        "longer messages: the list's longest one, repeated",
        f"computed by vectors/tls.py from {FILE}",
        ISC,
    )
    for length in LONG:
        longest.message = (longest.message * length)[:length]
        plain = sealed(longest.mac_key, longest.header, longest.message)
        family.case(ALGORITHM, as_printed(f"repeated to {length} bytes", longest, plain))
    return family


class Test:
    """What the list says of a record; `plain` is the record before it was encrypted."""

    def __init__(self, test):
        mac_key, key, iv = (bytes.fromhex(test["KEY"])[a:b] for a, b in ((0, 20), (20, 36), (36, 52)))
        self.mac_key, self.key, self.iv = mac_key, key, iv
        self.printed_header = bytes.fromhex(test["AD"])
        self.header = self.printed_header[:9] + TLS_1_0
        self.message = bytes.fromhex(test["IN"])
        self.printed = bytes.fromhex(test["CT"] + test["TAG"])
        self.valid = "FAILS" not in test
        self.mac = bytes.fromhex(test["DIGEST"])

    def length(self):
        return len(self.message)


def case(identity, test):
    """The same record with another version, its MAC as right or wrong as it was."""
    plain = cbc_decrypt(test.key, test.iv, test.printed)
    there = slice(len(test.message), len(test.message) + 20)
    printed_mac = mac_of(test.mac_key, test.printed_header, test.message)
    if plain[there] == printed_mac:
        mac = mac_of(test.mac_key, test.header, test.message)
        plain = plain[: there.start] + mac + plain[there.stop :]
    elif test.valid:
        sys.exit(f"{identity}: the printed MAC does not follow from header and message")
    if printed_mac != test.mac and test.valid:
        sys.exit(f"{identity}: another MAC is printed")
    least = sealed(test.mac_key, test.printed_header, test.message)
    same = cbc_encrypt(test.key, test.iv, least) == test.printed
    if test.valid and not same and len(least) == len(plain):
        sys.exit(f"{identity}: the printed record does not follow from header and message")
    return as_printed(identity, test, plain)


def as_printed(identity, test, plain):
    mac = mac_of(test.mac_key, test.header, test.message)
    return {
        "id": identity,
        "key": (test.key + test.mac_key).hex(),
        "iv": test.iv.hex(),
        "associated": test.header.hex(),
        "message": test.message.hex() if test.valid else None,
        "result": cbc_encrypt(test.key, test.iv, plain).hex(),
        "tag": mac.hex() if test.valid else None,
        "valid": test.valid,
    }


def mac_of(key, header, message):
    """RFC 2246, section 6.2.3.1; `header` is without the length."""
    return hmac.digest(key, header + len(message).to_bytes(2, "big") + message, "sha1")


def sealed(mac_key, header, message):
    """A record before it is encrypted, with the least padding: section 6.2.3.2."""
    text = message + mac_of(mac_key, header, message)
    padding = 15 - len(text) % 16
    return text + bytes([padding]) * (padding + 1)


def cbc_encrypt(key, iv, text):
    output, chained = b"", iv
    for place in range(0, len(text), 16):
        chained = aes_block.encrypt(key, aes_block.xor(chained, text[place : place + 16]))
        output += chained
    return output


def cbc_decrypt(key, iv, text):
    output, chained = b"", iv
    for place in range(0, len(text), 16):
        block = text[place : place + 16]
        output += aes_block.xor(chained, aes_block.decrypt(key, block))
        chained = block
    return output
