"""Recompute the answers of algorithms with key pairs with PyPI's `cryptography`; ML-DSA and ML-KEM as
far as its OpenSSL has them."""

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, x25519
    from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, encode_dss_signature
    from cryptography.hazmat.primitives.hashes import SHA256, SHA384

    CURVES = {"p256": (ec.SECP256R1, SHA256), "p384": (ec.SECP384R1, SHA384)}
except ImportError:
    CURVES = {}
try:
    from cryptography.hazmat.primitives.asymmetric import mldsa, mlkem
except ImportError:
    mldsa = mlkem = None

# Bytes of a public key, of a private one, of a tag, and of a result.
LENGTHS = {
    **{
        f"rsa-{bits}-{scheme}": (bits // 8 + 4, bits * 9 // 16 + 4, bits // 8, 0)
        for bits in (2048, 3072, 4096)
        for scheme in ("pkcs1", "pss")
    },
    "ecdsa-p256": (65, 32, 64, 0),
    "ecdsa-p384": (97, 48, 96, 0),
    "ed25519": (32, 32, 64, 0),
    "ml-dsa-65": (1952, 32, 3309, 0),
    "ecdh-p256": (0, 32, 0, 32),
    "ecdh-p384": (0, 48, 0, 48),
    "x25519": (0, 32, 0, 32),
    "ml-kem-768": (1184, 64, 1088, 32),
}


def recomputable(algorithm):
    """Whether the installed version can."""
    missing = {"ml-dsa-65": mldsa, "ml-kem-768": mlkem}
    return missing.get(algorithm, True) is not None


def well_formed(algorithm, case, length):
    """Each part that is there is as long as its encoding says; a result stands only in valid cases."""
    public, private, tag, result = LENGTHS[algorithm]
    right = {"key": public, "private": private, "tag": tag}
    fits = all(length.get(name, 0) in (0, wanted) for name, wanted in right.items())
    valid = case.get("valid", True)
    return fits and (not valid or length.get("result", 0) == result)


def agrees(algorithm, case):
    """Whether it takes the case, and where it can, signs the same."""
    try:
        return KINDS[algorithm.split("-")[0]](algorithm, case)
    except (InvalidSignature, ValueError):
        return False


def of_rsa(algorithm, case):
    size = int(algorithm.split("-")[1]) // 8
    key, number = case["key"], lambda part: int.from_bytes(part, "big")
    public = rsa.RSAPublicNumbers(number(key[size:]), number(key[:size])).public_key()
    scheme = padding.PKCS1v15()
    if algorithm.endswith("pss"):
        scheme = padding.PSS(padding.MGF1(SHA256()), 32)
    public.verify(case["tag"], case["message"], scheme, Prehashed(SHA256()))
    if "private" in case:
        rest = case["private"][size + 4 :]
        d, halves = number(rest[:size]), rest[size:]
        p, q, dp, dq, qi = (number(halves[i * size // 2 :][: size // 2]) for i in range(5))
        own = rsa.RSAPrivateNumbers(p, q, d, dp, dq, qi, public.public_numbers()).private_key()
        return own.sign(case["message"], scheme, Prehashed(SHA256())) == case["tag"]
    return True


def of_ecdsa(algorithm, case):
    curve, digest = CURVES[algorithm.split("-")[1]]
    public = ec.EllipticCurvePublicKey.from_encoded_point(curve(), case["key"])
    half = len(case["tag"]) // 2
    r, s = (int.from_bytes(part, "big") for part in (case["tag"][:half], case["tag"][half:]))
    public.verify(encode_dss_signature(r, s), case["message"], ec.ECDSA(Prehashed(digest())))
    return True


def of_ed25519(_, case):
    ed25519.Ed25519PublicKey.from_public_bytes(case["key"]).verify(case["tag"], case["message"])
    if "private" in case:
        own = ed25519.Ed25519PrivateKey.from_private_bytes(case["private"])
        return own.sign(case["message"]) == case["tag"]
    return True


def of_ecdh(algorithm, case):
    curve, _ = CURVES[algorithm.split("-")[1]]
    own = ec.derive_private_key(int.from_bytes(case["private"], "big"), curve())
    peer = ec.EllipticCurvePublicKey.from_encoded_point(curve(), case["message"])
    return own.exchange(ec.ECDH(), peer) == case["result"]


def of_x25519(_, case):
    own = x25519.X25519PrivateKey.from_private_bytes(case["private"])
    peer = x25519.X25519PublicKey.from_public_bytes(case["message"])
    return own.exchange(peer) == case["result"]


def of_ml(algorithm, case):
    if algorithm == "ml-kem-768":
        own = mlkem.MLKEM768PrivateKey.from_seed_bytes(case["private"])
        same = own.public_key().public_bytes_raw() == case["key"]
        return same and own.decapsulate(case["tag"]) == case["result"]
    public = mldsa.MLDSA65PublicKey.from_public_bytes(case["key"])
    public.verify(case["tag"], case["message"])
    return True


KINDS = {
    "rsa": of_rsa,
    "ecdsa": of_ecdsa,
    "ed25519": of_ed25519,
    "ecdh": of_ecdh,
    "x25519": of_x25519,
    "ml": of_ml,
}
