"""The families of algorithms with key pairs, and the pairs that are timed.

Keys and signatures are in the encodings that crates/core/src/public_key.rs lists: each has one length.
"""

import hashlib
import json

from formats import (
    APACHE,
    PACKAGED,
    Family,
    from_cryptography,
    from_wycheproof,
    tests,
    wycheproof_id,
)

# Cases of one algorithm and source: a board does a public-key operation in a tenth of a second.
MOST = 100
# An ML-DSA signature has 3309 bytes; with key and message it still fits in a frame.
LONGEST = 3309
LONGEST_SIGNED = 512

CURVES = {"p256": ("secp256r1", "P-256", 256), "p384": ("secp384r1", "P-384", 384)}


def families(nist, wycheproof, pairs):
    """All of them; the timed pairs are written into the folder `pairs`."""
    pairs.mkdir(exist_ok=True)
    curve_pairs(nist, pairs)
    return [
        rsa(wycheproof, pairs),
        ecdsa(wycheproof),
        ed25519(nist, wycheproof, pairs),
        ml_dsa(wycheproof, pairs),
        ecdh(wycheproof),
        x25519(nist, wycheproof, pairs),
        ml_kem(wycheproof, pairs),
    ]


def rsa(wycheproof, pairs):
    family = Family("rsa", LONGEST)
    for bits in (2048, 3072, 4096):
        mgf = "sha1" if bits == 3072 else "sha256"
        keys = wycheproof / f"rsa_oaep_{bits}_sha256_mgf1{mgf}_test.json"
        parts = json.loads(keys.read_text())["testGroups"][0]["privateKey"]
        private = rsa_private(parts, bits)
        write_pair(pairs / f"rsa-{bits}", private, rsa_public(parts, bits))
        files = [
            ("pkcs1", f"rsa_signature_{bits}_sha256", "RSASSA-PKCS1-v1_5"),
            ("pss", f"rsa_pss_{bits}_sha256_mgf1_32", "RSASSA-PSS"),
        ]
        for scheme, stem, name in files:
            file = f"{stem}_test.json"
            title = f"Wycheproof {name}, SHA-256, {bits} bits, private keys from {keys.name}"
            family.source(title, from_wycheproof(file), APACHE)
            for group, test in some(wycheproof / file):
                public = rsa_public(group["publicKey"], bits)
                own = private.startswith(public)
                case = signature(stem, test, public, sha(256, test), bits // 8)
                if case:
                    signs = own and scheme == "pkcs1" and case["valid"]
                    case["private"] = private.hex() if signs else None
                    family.case(f"rsa-{bits}-{scheme}", case)
    return family


def rsa_public(parts, bits):
    return number(parts["modulus"], bits // 8) + number(parts["publicExponent"], 4)


def rsa_private(parts, bits):
    names = ("prime1", "prime2", "exponent1", "exponent2", "coefficient")
    halves = (number(parts[name], bits // 16) for name in names)
    return rsa_public(parts, bits) + number(parts["privateExponent"], bits // 8) + b"".join(halves)


def ecdsa(wycheproof):
    family = Family("ecdsa", LONGEST)
    for name, (curve, _, bits) in CURVES.items():
        stem = f"ecdsa_{curve}_sha{bits}_p1363"
        title = f"Wycheproof ECDSA, {curve}, SHA-{bits}, r and s in a row"
        family.source(title, from_wycheproof(f"{stem}_test.json"), APACHE)
        for group, test in some(wycheproof / f"{stem}_test.json"):
            public = bytes.fromhex(group["publicKey"]["uncompressed"])
            case = signature(stem, test, public, sha(bits, test), bits // 4)
            if case and len(public) == 1 + bits // 4:
                family.case(f"ecdsa-{name}", case)
    return family


def ed25519(nist, wycheproof, pairs):
    family = Family("eddsa", LONGEST)
    file = "asymmetric/Ed25519/sign.input"
    licence = f"public domain, by D. J. Bernstein and others; {PACKAGED}"
    family.source("the authors' own list, of signing and verifying", from_cryptography(file), licence)
    lines = (nist / file).read_text().splitlines()
    for index, text in enumerate(lines):
        private, public, message, signed = text.split(":")[:4]
        private = private[:64]
        if index == 0:
            write_pair(pairs / "ed25519", bytes.fromhex(private), bytes.fromhex(public))
        if index % (len(lines) // MOST) == 0 and len(message) <= 2 * LONGEST_SIGNED:
            family.case(
                "ed25519",
                {
                    "id": f"sign.input/{index}",
                    "key": public,
                    "private": private,
                    "message": message,
                    "tag": signed[:128],
                },
            )
    stem = "ed25519"
    family.source("Wycheproof EDDSA, Ed25519", from_wycheproof(f"{stem}_test.json"), APACHE)
    for group, test in some(wycheproof / f"{stem}_test.json"):
        case = signature(stem, test, bytes.fromhex(group["publicKey"]["pk"]), test["msg"], 64)
        if case:
            family.case("ed25519", case)
    return family


def ml_dsa(wycheproof, pairs):
    family = Family("ml-dsa", LONGEST)
    stem = "mldsa_65_verify"
    title = "Wycheproof ML-DSA-65, empty context"
    family.source(title, from_wycheproof(f"{stem}_test.json"), APACHE)
    for group, test in some(wycheproof / f"{stem}_test.json"):
        public = bytes.fromhex(group["publicKey"])
        case = None
        if len(public) == 1952 and not test.get("ctx") and len(test["msg"]) <= 2 * LONGEST_SIGNED:
            case = signature(stem, test, public, test["msg"], 3309)
        if case:
            family.case("ml-dsa-65", case)
    groups = json.loads((wycheproof / "mldsa_65_sign_seed_test.json").read_text())["testGroups"]
    write_pair(pairs / "ml-dsa-65", *(bytes.fromhex(groups[0][n]) for n in ("privateSeed", "publicKey")))
    return family


def ecdh(wycheproof):
    family = Family("ecdh", LONGEST)
    for name, (curve, _, bits) in CURVES.items():
        stem = f"ecdh_{curve}_ecpoint"
        title = f"Wycheproof ECDH, {curve}, uncompressed points"
        family.source(title, from_wycheproof(f"{stem}_test.json"), APACHE)
        for _, test in some(wycheproof / f"{stem}_test.json"):
            agreement(family, f"ecdh-{name}", stem, test, bits // 8, 1 + bits // 4)
    return family


def x25519(nist, wycheproof, pairs):
    family = Family("x25519", LONGEST)
    stem = "x25519"
    family.source("Wycheproof XDH, X25519", from_wycheproof(f"{stem}_test.json"), APACHE)
    for _, test in some(wycheproof / f"{stem}_test.json"):
        agreement(family, "x25519", stem, test, 32, 32)
    folder = nist / "asymmetric/X25519"
    # PKCS #8 and SubjectPublicKeyInfo end with the key itself (RFC 8410).
    halves = ((folder / f"x25519-{half}.der").read_bytes()[-32:] for half in ("pkcs8", "pub"))
    write_pair(pairs / "x25519", *halves)
    return family


def ml_kem(wycheproof, pairs):
    family = Family("ml-kem", LONGEST)
    stem = "mlkem_768"
    family.source("Wycheproof ML-KEM-768", from_wycheproof(f"{stem}_test.json"), APACHE)
    for _, test in some(wycheproof / f"{stem}_test.json"):
        if test["result"] == "valid":
            family.case(
                "ml-kem-768",
                {
                    "id": wycheproof_id(stem, {"comment": "", **test}),
                    "key": test["ek"],
                    "private": test["seed"],
                    "tag": test["c"],
                    "result": test["K"],
                },
            )
    keys = json.loads((wycheproof / "mlkem_768_keygen_seed_test.json").read_text())
    first = keys["testGroups"][0]["tests"][0]
    write_pair(pairs / "ml-kem-768", *(bytes.fromhex(first[half]) for half in ("seed", "ek")))
    return family


def curve_pairs(nist, pairs):
    path = nist / "asymmetric/ECDSA/FIPS_186-3/KeyPair.rsp"
    for _, curve, bits in CURVES.values():
        section = path.read_text().split(f"[{curve}]")[1]
        values = [text.split(" = ")[1] for text in section.splitlines() if text[:1] in ("d", "Q")][:3]
        scalar, x, y = (bytes.fromhex(value.zfill(bits // 4)) for value in values)
        write_pair(pairs / curve.lower(), scalar, b"\x04" + x + y)


def signature(stem, test, public, message, length):
    """A case of verifying; none for what only some take, or of another length."""
    if test["result"] == "acceptable" or len(test["sig"]) != 2 * length:
        return None
    return {
        "id": wycheproof_id(stem, test),
        "key": public.hex(),
        "message": message,
        "tag": test["sig"],
        "valid": test["result"] == "valid",
    }


def agreement(family, algorithm, stem, test, secret, public):
    """A peer's key that is no point of the curve must be refused; what only some take is left out."""
    if test["result"] == "acceptable" or len(test["public"]) != 2 * public:
        return
    private = bytes.fromhex(test["private"])
    if len(private) > secret:
        private = private[len(private) - secret :]  # DER puts a zero before a leading one bit
    family.case(
        algorithm,
        {
            "id": wycheproof_id(stem, test),
            "private": private.rjust(secret, b"\0").hex(),
            "message": test["public"],
            "result": test["shared"],
            "valid": test["result"] == "valid",
        },
    )


def some(path):
    """Valid and other cases, of each at most half of MOST, evenly over the file."""
    both = {}
    for group, test in tests(path):
        both.setdefault(test["result"] == "valid", []).append((group, test))
    for all_cases in both.values():
        step = -(-len(all_cases) // (MOST // 2))
        yield from all_cases[::step]


def sha(bits, test):
    return hashlib.new(f"sha{bits}", bytes.fromhex(test["msg"])).hexdigest()


def number(text, length):
    return bytes.fromhex(text).lstrip(b"\0").rjust(length, b"\0")


def write_pair(path, private, public):
    path.write_bytes(private + public)
