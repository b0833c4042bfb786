"""Hash functions and message authentication codes."""

import hashlib
from pathlib import Path

import aes_block
from formats import (
    APACHE,
    NIST,
    PACKAGED,
    Family,
    from_cryptography,
    from_openssl,
    from_wycheproof,
    openssl_file,
    records,
    stanzas,
    tests,
    wycheproof_id,
)


def sha(nist):
    family = Family("sha")
    files = [
        ("sha-1", "SHA1/SHA1"),
        ("sha-224", "SHA2/SHA224"),
        ("sha-256", "SHA2/SHA256"),
        ("sha-384", "SHA2/SHA384"),
        ("sha-512", "SHA2/SHA512"),
        ("sha3-256", "SHA3/SHA3_256"),
        ("sha3-512", "SHA3/SHA3_512"),
    ]
    for algorithm, stem in files:
        for kind in ("ShortMsg", "LongMsg"):
            file = f"hashes/{stem}{kind}.rsp"
            name = Path(file).stem
            family.source(f"NIST CAVP SHAVS {name}", from_cryptography(file), NIST)
            for _section, case in records(nist / file):
                bits = int(case["Len"])
                case = {
                    "id": f"{name}/{bits}",
                    # An empty message is printed as one zero byte.
                    "message": case["Msg"][: bits // 4],
                    "result": case["MD"],
                }
                family.case(algorithm, case)
    return family


def md5(nist):
    """RFC 1321 has seven. An HMAC ends with MD5 of the key's block and the inner digest: RFC 2202 adds seven
    answers to messages that are computed here."""
    family = Family("md5")
    file = "hashes/MD5/rfc-1321.txt"
    licence = f"RFC 1321, copyright RSA Data Security (1992); {PACKAGED}"
    family.source("RFC 1321 section A.5", from_cryptography(file), licence)
    for _section, case in records(nist / file):
        bits = int(case["Len"])
        case = {"id": f"rfc1321/{bits}", "message": case["Msg"][: bits // 4], "result": case["MD"]}
        family.case("md5", case)
    file = "HMAC/rfc-2202-md5.txt"
    licence = f"RFC 2202, copyright The Internet Society (1997); {PACKAGED}"
    name = "RFC 2202 section 2, HMAC-MD5: the outer digest (RFC 2104: H(K xor opad, H(K xor ipad, text)))"
    family.source(name, from_cryptography(file), licence)
    for number, (_section, case) in enumerate(records(nist / file), 1):
        key = bytes.fromhex(case["Key"])
        key = hashlib.md5(key).digest() if len(key) > 64 else key
        key = key.ljust(64, b"\0")
        inner = hashlib.md5(bytes(byte ^ 0x36 for byte in key) + bytes.fromhex(case["Msg"]))
        message = bytes(byte ^ 0x5C for byte in key) + inner.digest()
        case = {"id": f"rfc2202/{number}", "message": message.hex(), "result": case["MD"]}
        family.case("md5", case)
    return family


def hmac(nist, wycheproof):
    family = Family("hmac")
    for rfc, section, year, bits, digest in (
        (2202, 3, 1997, 160, "sha1"),
        (4231, 4, 2005, 256, "sha256"),
        (4231, 4, 2005, 512, "sha512"),
    ):
        number = digest.removeprefix("sha")
        algorithm = f"hmac-sha-{number}"
        file = f"HMAC/rfc-{rfc}-{digest}.txt"
        licence = f"RFC {rfc}, copyright The Internet Society ({year})"
        if rfc == 4231:
            licence += ', "may be used for conformance testing"'
        name = f"RFC {rfc} section {section}, HMAC-SHA-{number}"
        family.source(name, from_cryptography(file), f"{licence}; {PACKAGED}")
        for place, (_, case) in enumerate(records(nist / file), 1):
            case = {
                "id": f"rfc{rfc}/{place}",
                "key": case["Key"],
                "message": case["Msg"],
                "result": case["MD"],
            }
            family.case(algorithm, case)
        file = f"hmac_{digest}_test.json"
        name = f"Wycheproof HMAC{digest.upper()}, untruncated tags"
        family.source(name, from_wycheproof(file), APACHE)
        wycheproof_macs(family, wycheproof / file, f"hmac_{digest}", bits, None, algorithm)
    return family


def cmac(nist, wycheproof, openssl):
    family = Family("cmac")
    for bits in (128, 256):
        algorithm = f"aes-{bits}-cmac"
        file = f"CMAC/nist-800-38b-aes{bits}.txt"
        family.source(f"NIST SP 800-38B, AES-{bits}", from_cryptography(file), NIST)
        for _section, case in records(nist / file):
            case = {
                "id": f"sp800-38b/{case['COUNT']}",
                "key": case["KEY"],
                "message": case["MESSAGE"],
                "result": case["OUTPUT"],
            }
            family.case(algorithm, case)
        file = "aes_cmac_test.json"
        name = f"Wycheproof AES-CMAC, AES-{bits}, untruncated tags"
        family.source(name, from_wycheproof(file), APACHE)
        wycheproof_macs(family, wycheproof / file, "aes_cmac", 128, bits, algorithm)
        file = "aead_aes_siv_cmac_test.json"
        name = (
            f"Wycheproof AES-SIV-CMAC, AES-{bits}, valid cases of one block or more, the CMAC that ends S2V "
            "(RFC 5297 section 2.4: V = CMAC(K1, P xorend D))"
        )
        family.source(name, from_wycheproof(file), APACHE)
        for group, test in tests(wycheproof / file):
            message = siv_message(test)
            if group["keySize"] == 2 * bits and test["result"] == "valid" and message:
                case = {
                    "id": wycheproof_id("aead_aes_siv_cmac", test),
                    "key": test["key"][: bits // 4],
                    "message": message.hex(),
                    "result": test["tag"],
                }
                family.case(algorithm, case)
    return family


def siv_message(test):
    """What RFC 5297 has authenticated last: of associated data, nonce and plaintext."""
    key, associated, nonce, message = (bytes.fromhex(test[field]) for field in ("key", "aad", "iv", "msg"))
    if len(message) < 16:
        return None
    key = key[: len(key) // 2]
    digest = aes_block.cmac(key, bytes(16))
    for text in (associated, nonce):
        digest = aes_block.xor(aes_block.double(digest), aes_block.cmac(key, text))
    return message[:-16] + aes_block.xor(message[-16:], digest)


def poly1305(openssl):
    family = Family("poly1305")
    file = "evpmac_poly1305.txt"
    family.source("OpenSSL's Poly1305 tests", from_openssl(file), APACHE)
    path = openssl_file(openssl, file)
    for number, stanza in enumerate(stanzas(path, "MAC"), 1):
        if stanza["MAC"] == "Poly1305" and "Output" in stanza and len(stanza["Key"]) == 64:
            case = {
                "id": f"evpmac_poly1305/{number}",
                "key": stanza["Key"],
                "message": stanza.get("Input", ""),
                "result": stanza["Output"],
            }
            family.case("poly1305", case)
    return family


def wycheproof_macs(family, path, stem, tag, key, algorithm):
    """Cases with whole tags; keys of `key` bits, or of any length."""
    for group, test in tests(path):
        if group["tagSize"] == tag and key in (None, group["keySize"]):
            case = {
                "id": wycheproof_id(stem, test),
                "key": test["key"],
                "message": test["msg"],
                "result": test["tag"],
                "valid": test["result"] == "valid",
            }
            family.case(algorithm, case)
