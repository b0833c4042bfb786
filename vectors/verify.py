"""Recompute every committed answer with implementations that had no part in extracting it.

Digests and HMACs with Python's own hashlib and hmac; ciphers with PyPI's `cryptography`, if it can
be imported. Also checks that the files keep their format's promises.
"""

import hashlib
import hmac
import json
from collections import Counter

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM, ChaCha20Poly1305
    from cryptography.hazmat.primitives.cmac import CMAC
    from cryptography.hazmat.primitives.hmac import HMAC
    from cryptography.hazmat.primitives.poly1305 import Poly1305

    try:
        from cryptography.hazmat.decrepit.ciphers.algorithms import Camellia, TripleDES
    except ImportError:
        from cryptography.hazmat.primitives.ciphers.algorithms import Camellia, TripleDES
except ImportError:
    Cipher = None

import verify_key_pairs

DIGESTS = {
    "md5": "md5",
    "sha-1": "sha1",
    "sha-224": "sha224",
    "sha-256": "sha256",
    "sha-384": "sha384",
    "sha-512": "sha512",
    "sha3-256": "sha3_256",
    "sha3-512": "sha3_512",
}
HMACS = {"hmac-sha-1": "sha1", "hmac-sha-256": "sha256", "hmac-sha-512": "sha512"}
GENERATORS = {"hmac-drbg-sha-256": "sha256", "hmac-drbg-sha-512": "sha512"}
RECORD = "aes-128-cbc-hmac-sha-1-tls"
# Encrypt-then-MAC: bytes of the MAC and of its key, and the digest.
SEALED = {"aes-128-cbc-hmac-sha-1-etm": (20, "sha1"), "aes-128-cbc-hmac-sha-256-etm": (32, "sha256")}
FIELDS = {"id", "key", "iv", "associated", "message", "result", "tag", "valid"}
# Bytes of a key and of a MAC.
MACS = {"aes-128-cmac": (16, 16), "aes-256-cmac": (32, 16), "poly1305": (32, 16)}
# Bytes of a key, of an IV, and of what messages are multiples of.
CIPHERS = {
    "aes-128-cbc": (16, 16, 16),
    "aes-192-cbc": (24, 16, 16),
    "aes-256-cbc": (32, 16, 16),
    "aes-128-ecb": (16, 0, 16),
    "aes-192-ecb": (24, 0, 16),
    "aes-256-ecb": (32, 0, 16),
    "aes-128-ctr": (16, 16, 1),
    "aes-192-ctr": (24, 16, 1),
    "aes-256-ctr": (32, 16, 1),
    "aes-128-xts": (32, 16, 1),
    "aes-256-xts": (64, 16, 1),
    "chacha20": (32, 16, 1),
    "camellia-256-cbc": (32, 16, 16),
    "3des-cbc": (24, 8, 8),
    "des-cbc": (8, 8, 8),
    "3des-ecb": (24, 0, 8),
    "des-ecb": (8, 0, 8),
}


def main(directory):
    """Prints a table of counts; the exit status is 0 only if nothing disagreed."""
    counts, skipped, wrong = {}, set(), []
    for path in sorted(directory.glob("*.json")):
        family = json.loads(path.read_text())
        seen = set()
        for group in family["groups"]:
            algorithm = group["algorithm"]
            family["sources"][group["source"]]
            for case in group["cases"]:
                name = f"{path.name} {algorithm} {case['id']}"
                if (algorithm, case["id"]) in seen or not well_formed(algorithm, case):
                    wrong.append(f"{name}: malformed")
                seen.add((algorithm, case["id"]))
                valid = case.get("valid", True)
                counts.setdefault(algorithm, Counter())[valid] += 1
                alone = algorithm in DIGESTS | HMACS | GENERATORS
                pairs = algorithm in verify_key_pairs.LENGTHS
                if (Cipher is None and not alone) or (pairs and not verify_key_pairs.recomputable(algorithm)):
                    skipped.add(algorithm)
                elif agrees(algorithm, case) != valid:
                    wrong.append(f"{name}: disagrees")
    print(f"{'algorithm':<20}{'valid':>8}{'invalid':>9}")
    for algorithm, count in counts.items():
        note = "  not recomputed" if algorithm in skipped else ""
        print(f"{algorithm:<20}{count[True]:>8}{count[False]:>9}{note}")
    total = sum(counts.values(), Counter())
    print(f"{'all':<20}{total[True]:>8}{total[False]:>9}")
    for line in wrong:
        print(line)
    if skipped:
        print("ciphers were not recomputed: install PyPI's cryptography and run this again")
    print(f"{len(wrong)} wrong")
    return 1 if wrong or skipped else 0


def well_formed(algorithm, case):
    """Lengths and presence of fields, as README.md promises them."""
    valid = case.get("valid", True)
    length = {n: len(bytes.fromhex(v)) for n, v in case.items() if n not in ("id", "valid")}
    if algorithm in verify_key_pairs.LENGTHS:
        return verify_key_pairs.well_formed(algorithm, case, length)
    if set(case) - FIELDS or case.get("valid") is True or max(length.values()) > 2048:
        return False
    present = set(length)
    if algorithm in DIGESTS:
        size = hashlib.new(DIGESTS[algorithm]).digest_size
        return valid and present == {"message", "result"} and length["result"] == size
    if algorithm in HMACS:
        size = hashlib.new(HMACS[algorithm]).digest_size
        return present == {"key", "message", "result"} and length["result"] == size
    if algorithm in MACS:
        sizes = (length["key"], length["result"])
        return present == {"key", "message", "result"} and sizes == MACS[algorithm]
    if "drbg" in algorithm:
        same = length["message"] == length["result"] > 0
        return same and present == {"key", "message", "result"} and length["key"] >= 48
    if algorithm == RECORD:
        sizes = (length["key"], length["iv"], length["associated"], length["result"] % 16)
        fields = {"key", "iv", "associated", "result"} | ({"message", "tag"} if valid else set())
        return present == fields and sizes == (36, 16, 11, 0) and length.get("tag", 20) == 20
    if algorithm in CIPHERS:
        key, iv, block = CIPHERS[algorithm]
        sizes = (length["key"], length.get("iv", 0), length["message"] % block)
        same = length["message"] == length["result"] > 0
        fields = {"key", "message", "result"} | ({"iv"} if iv else set())
        return valid and same and sizes == (key, iv, 0) and present == fields
    if algorithm in SEALED:
        size, _ = SEALED[algorithm]
        fields = {"key", "iv", "associated", "result", "tag"} | ({"message"} if valid else set())
        sizes = (length["key"], length["iv"], length["result"] % 16, length["tag"])
        return present == fields and sizes == (16 + size, 16, 0, size)
    key = 32 if algorithm == "chacha20-poly1305" else int(algorithm.split("-")[1]) // 8
    expected = {"key", "iv", "associated", "result", "tag"} | ({"message"} if valid else set())
    same = not valid or length["message"] == length["result"]
    sizes = (length["key"], length["iv"], length["tag"])
    return same and present == expected and sizes == (key, 12, 16)


def agrees(algorithm, case):
    """Whether an independent implementation accepts the case, both ways where there are two."""
    case = {n: bytes.fromhex(v) for n, v in case.items() if n not in ("id", "valid")}
    if algorithm in verify_key_pairs.LENGTHS:
        return verify_key_pairs.agrees(algorithm, case)
    message, result = case.get("message"), case["result"]
    if algorithm in DIGESTS:
        return hashlib.new(DIGESTS[algorithm], message).digest() == result
    if algorithm in HMACS:
        return hmac.new(case["key"], message, HMACS[algorithm]).digest() == result
    if algorithm == "poly1305":
        return Poly1305.generate_tag(case["key"], message) == result
    if algorithm in MACS:
        mac = CMAC(algorithms.AES(case["key"]))
        mac.update(message)
        return mac.finalize() == result
    if algorithm in GENERATORS:
        return hmac_drbg(GENERATORS[algorithm], case["key"], len(message)) == result
    if algorithm == "hash-drbg-sha-256":
        return hash_drbg("sha256", case["key"], len(message)) == result
    if algorithm == "ctr-drbg-aes-256":
        return ctr_drbg(case["key"], len(message)) == result
    if algorithm == RECORD:
        return record_agrees(case)
    if algorithm in CIPHERS:
        cipher = cipher_of(algorithm, case["key"], case.get("iv"))
        encryptor, decryptor = cipher.encryptor(), cipher.decryptor()
        return (
            encryptor.update(message) + encryptor.finalize() == result
            and decryptor.update(result) + decryptor.finalize() == message
        )
    if algorithm in SEALED:
        return sealed_agrees(case, SEALED[algorithm][1])
    if algorithm.endswith("-ccm"):
        aead = AESCCM(case["key"])
    else:
        aead = (ChaCha20Poly1305 if algorithm == "chacha20-poly1305" else AESGCM)(case["key"])
    sealed = result + case["tag"]
    try:
        opened = aead.decrypt(case["iv"], sealed, case["associated"])
    except InvalidTag:
        return False
    return opened == message and aead.encrypt(case["iv"], opened, case["associated"]) == sealed


def sealed_agrees(case, digest):
    """Opens what was encrypted and then authenticated."""
    authenticated = case["associated"] + case["iv"] + case["result"]
    mac = HMAC(case["key"][16:], {"sha1": hashes.SHA1(), "sha256": hashes.SHA256()}[digest])
    mac.update(authenticated)
    if mac.finalize() != case["tag"]:
        return False
    decryptor = Cipher(algorithms.AES(case["key"][:16]), modes.CBC(case["iv"])).decryptor()
    return decryptor.update(case["result"]) + decryptor.finalize() == case.get("message")


def record_agrees(case):
    """Opens a record as RFC 2246, section 6.2.3.2, has it: padding, then MAC, then message."""
    cipher = Cipher(algorithms.AES(case["key"][:16]), modes.CBC(case["iv"]))
    decryptor = cipher.decryptor()
    plain = decryptor.update(case["result"]) + decryptor.finalize()
    padding = plain[-1] + 1
    length = len(plain) - padding - 20
    if length < 0 or set(plain[-padding:]) != {plain[-1]}:
        return False
    message, mac = plain[:length], plain[length : length + 20]
    header = case["associated"] + length.to_bytes(2, "big")
    right = hmac.digest(case["key"][16:], header + message, "sha1")
    return mac == right == case.get("tag") and message == case.get("message")


def cipher_of(algorithm, key, iv):
    """The package's cipher; of DES there is none but triple DES with one key three times."""
    if algorithm == "chacha20":
        return Cipher(algorithms.ChaCha20(key, iv), mode=None)
    mode = {"ecb": modes.ECB, "cbc": modes.CBC, "ctr": modes.CTR, "xts": modes.XTS}
    mode = mode[algorithm.rsplit("-")[-1]]
    mode = mode() if iv is None else mode(iv)
    if algorithm == "camellia-256-cbc":
        return Cipher(Camellia(key), mode)
    if "des" in algorithm:
        return Cipher(TripleDES(key * (24 // len(key))), mode)
    return Cipher(algorithms.AES(key), mode)


def hmac_drbg(digest, seed, length):
    """The second answer of HMAC_DRBG: SP 800-90A, section 10.1.2."""
    size = hashlib.new(digest).digest_size
    key, value = bytes(size), b"\x01" * size

    def update(data):
        nonlocal key, value
        for number in (0, 1) if data else (0,):
            key = hmac.digest(key, value + bytes([number]) + data, digest)
            value = hmac.digest(key, value, digest)

    update(seed)
    for _ in range(2):
        output = b""
        while len(output) < length:
            value = hmac.digest(key, value, digest)
            output += value
        update(b"")
    return output[:length]


def hash_drbg(digest, seed, length):
    """The second answer of Hash_DRBG: SP 800-90A, section 10.1.1, with the lengths of SHA-256 (table 2)."""
    size = 55

    def hashed(*parts):
        return hashlib.new(digest, b"".join(parts)).digest()

    def derive(data):
        bits = (8 * size).to_bytes(4, "big")
        return b"".join(hashed(bytes([number]), bits, data) for number in (1, 2))[:size]

    state = derive(seed)
    constant = int.from_bytes(derive(b"\x00" + state), "big")
    for count in (1, 2):
        value = int.from_bytes(state, "big")
        blocks = range((length + 31) // 32)
        output = b"".join(hashed(((value + at) % 2 ** (8 * size)).to_bytes(size, "big")) for at in blocks)
        value += int.from_bytes(hashed(b"\x03", state), "big") + constant + count
        state = (value % 2 ** (8 * size)).to_bytes(size, "big")
    return output[:length]


def ctr_drbg(seed, length):
    """The second answer of CTR_DRBG with AES-256 and derivation function: section 10.2.1."""
    key, counter = bytes(32), 0

    def encrypt(key, block):
        encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
        return encryptor.update(block) + encryptor.finalize()

    def blocks(count):
        nonlocal counter
        output = b""
        for _ in range(count):
            counter = (counter + 1) % 2**128
            output += encrypt(key, counter.to_bytes(16, "big"))
        return output

    def update(data):
        nonlocal key, counter
        mixed = bytes(a ^ b for a, b in zip(blocks(3), data, strict=True))
        key, counter = mixed[:32], int.from_bytes(mixed[32:], "big")

    update(derived(seed, encrypt))
    for _ in range(2):
        output = blocks((length + 15) // 16)
        update(bytes(48))
    return output[:length]


def derived(data, encrypt):
    """Block_Cipher_df, 48 bytes: section 10.3.2."""
    text = len(data).to_bytes(4, "big") + (48).to_bytes(4, "big") + data + b"\x80"
    text += bytes(-len(text) % 16)

    def bcc(key, text):
        chained = bytes(16)
        for place in range(0, len(text), 16):
            chained = encrypt(key, bytes(a ^ b for a, b in zip(chained, text[place : place + 16], strict=True)))
        return chained

    prefix = (number.to_bytes(4, "big") + bytes(12) for number in range(3))
    mixed = b"".join(bcc(bytes(range(32)), start + text) for start in prefix)
    key, block = mixed[:32], mixed[32:]
    output = b""
    for _ in range(3):
        block = encrypt(key, block)
        output += block
    return output
