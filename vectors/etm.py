"""AES-128-CBC, then HMAC over associated data, IV and ciphertext: encrypt-then-MAC, as IPsec ESP combines the two.

No list of such cases with whole MACs is published. The ciphertexts are NIST's; the MACs are computed here.
"""

import hashlib
import hmac

from formats import NIST, Family

ALGORITHMS = {"aes-128-cbc-hmac-sha-1-etm": "sha1", "aes-128-cbc-hmac-sha-256-etm": "sha256"}
CIPHER = "aes-128-cbc"
# Only some of the cases of one block; the MMT cases have up to ten.
STEP = 16
# An ESP header, without and with its extended sequence number, and other lengths.
ASSOCIATED = (8, 12, 0, 16, 1, 20, 31, 64)


def sealed(aes_cbc):
    """The family, from that of AES-CBC."""
    family = Family("aes-cbc-hmac-etm")
    for (algorithm, source), cases in aes_cbc.groups.items():
        printed = aes_cbc.sources[source]
        if algorithm != CIPHER or printed["licence"] != NIST:
            continue
        family.source(f"{printed['name']}, with MACs", f"computed by vectors/etm.py from {printed['origin']}", NIST)
        chosen = cases if "MMT" in printed["name"] else cases[::STEP]
        for etm, digest in ALGORITHMS.items():
            for number, case in enumerate(chosen):
                for one in cases_of(case, number, digest):
                    family.case(etm, one)
    return family


def cases_of(case, number, digest):
    """A case with its MAC, and the same with one bit changed in each part that the MAC covers, and in the MAC."""
    length = hashlib.new(digest).digest_size
    mac_key = derived("key", case["id"], length)
    parts = {
        "associated": derived("associated", case["id"], ASSOCIATED[number % len(ASSOCIATED)]),
        "iv": bytes.fromhex(case["iv"]),
        "result": bytes.fromhex(case["result"]),
    }
    parts["tag"] = hmac.digest(mac_key, b"".join(parts.values()), digest)
    key = case["key"] + mac_key.hex()
    as_hex = {name: value.hex() for name, value in parts.items()}
    yield {"id": case["id"], "key": key, "message": case["message"], **as_hex}
    name = list(parts)[number % len(parts)]
    if parts[name]:
        changed = bytearray(parts[name])
        changed[number % len(changed)] ^= 1 << number % 8
        forged = as_hex | {name: changed.hex()}
        yield {"id": f"{case['id']}, {name} changed", "key": key, **forged, "valid": False}


def derived(what, identity, length):
    """Bytes that are different for each case and the same each time."""
    return hashlib.shake_128(f"cpb {what} {identity}".encode()).digest(length)
