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
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
except ImportError:
    Cipher = None

DIGESTS = {"sha-1": "sha1", "sha-256": "sha256", "sha-512": "sha512"}
HASHED = {"hmac-sha-256": "sha256", "hmac-drbg-sha-256": "sha256", "hmac-drbg-sha-512": "sha512"}
FIELDS = {"id", "key", "iv", "associated", "message", "result", "tag", "valid"}


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
                if Cipher is None and algorithm not in DIGESTS and algorithm not in HASHED:
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
    if set(case) - FIELDS or case.get("valid") is True or max(length.values()) > 2048:
        return False
    present = set(length)
    if algorithm in DIGESTS:
        size = hashlib.new(DIGESTS[algorithm]).digest_size
        return valid and present == {"message", "result"} and length["result"] == size
    if algorithm == "hmac-sha-256":
        return present == {"key", "message", "result"} and length["result"] == 32
    if "drbg" in algorithm:
        same = length["message"] == length["result"] > 0
        return same and present == {"key", "message", "result"} and length["key"] >= 48
    key = 32 if algorithm == "chacha20-poly1305" else int(algorithm.split("-")[1]) // 8
    if length["key"] != key:
        return False
    if algorithm.endswith(("-cbc", "-ctr")):
        whole = algorithm.endswith("-ctr") or length["message"] % 16 == 0
        same = length["message"] == length["result"] > 0
        return valid and whole and same and present == {"key", "iv", "message", "result"}
    expected = {"key", "iv", "associated", "result", "tag"} | ({"message"} if valid else set())
    same = not valid or length["message"] == length["result"]
    return same and present == expected and length["iv"] == 12 and length["tag"] == 16


def agrees(algorithm, case):
    """Whether an independent implementation accepts the case, both ways where there are two."""
    case = {n: bytes.fromhex(v) for n, v in case.items() if n not in ("id", "valid")}
    message, result = case.get("message"), case["result"]
    if algorithm in DIGESTS:
        return hashlib.new(DIGESTS[algorithm], message).digest() == result
    if algorithm == "hmac-sha-256":
        return hmac.new(case["key"], message, "sha256").digest() == result
    if algorithm in HASHED:
        return hmac_drbg(HASHED[algorithm], case["key"], len(message)) == result
    if algorithm == "ctr-drbg-aes-256":
        return ctr_drbg(case["key"], len(message)) == result
    if algorithm.endswith(("-cbc", "-ctr")):
        mode = modes.CBC if algorithm.endswith("-cbc") else modes.CTR
        cipher = Cipher(algorithms.AES(case["key"]), mode(case["iv"]))
        encryptor, decryptor = cipher.encryptor(), cipher.decryptor()
        return (
            encryptor.update(message) + encryptor.finalize() == result
            and decryptor.update(result) + decryptor.finalize() == message
        )
    aead = (ChaCha20Poly1305 if algorithm == "chacha20-poly1305" else AESGCM)(case["key"])
    sealed = result + case["tag"]
    try:
        opened = aead.decrypt(case["iv"], sealed, case["associated"])
    except InvalidTag:
        return False
    return opened == message and aead.encrypt(case["iv"], opened, case["associated"]) == sealed


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
        mixed = bytes(a ^ b for a, b in zip(blocks(3), data))
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
            chained = encrypt(key, bytes(a ^ b for a, b in zip(chained, text[place : place + 16])))
        return chained

    prefix = (number.to_bytes(4, "big") + bytes(12) for number in range(3))
    mixed = b"".join(bcc(bytes(range(32)), start + text) for start in prefix)
    key, block = mixed[:32], mixed[32:]
    output = b""
    for _ in range(3):
        block = encrypt(key, block)
        output += block
    return output
