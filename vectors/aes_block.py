"""AES, one block at a time (FIPS 197), and CMAC (SP 800-38B).

Slow and plain. It computes what modes derive inside and published cases do not print: AES-EAX's initial
counter block, what AES-SIV authenticates last, and records of TLS in another version.
"""


def encrypt(key, block):
    """The ciphertext of one 16-byte block; the key has 16, 24 or 32 bytes."""
    rounds = _round_keys(key)
    state = xor(block, rounds[0])
    for number, round_key in enumerate(rounds[1:], 1):
        state = bytes(_SBOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16))
        if number < len(rounds) - 1:
            state = b"".join(_mix_column(state[i : i + 4]) for i in range(0, 16, 4))
        state = xor(state, round_key)
    return state


def decrypt(key, block):
    """What `encrypt` made this of."""
    rounds = _round_keys(key)
    state = xor(block, rounds[-1])
    for number, round_key in reversed(list(enumerate(rounds[:-1]))):
        moved = bytearray(16)
        for i in range(16):
            moved[(i + 4 * (i % 4)) % 16] = _SBOX.index(state[i])
        state = xor(moved, round_key)
        # The matrix is its own inverse's inverse after four times: three are one back.
        for _ in range(3 if number else 0):
            state = b"".join(_mix_column(state[i : i + 4]) for i in range(0, 16, 4))
    return state


def cmac(key, message):
    """The 16-byte CMAC of a message of any length."""
    subkey = double(encrypt(key, bytes(16)))
    end = max(0, (len(message) - 1) // 16 * 16)
    last = message[end:]
    if len(last) < 16:
        subkey = double(subkey)
        last = last + b"\x80" + bytes(15 - len(last))
    state = bytes(16)
    for start in range(0, end, 16):
        state = encrypt(key, xor(state, message[start : start + 16]))
    return encrypt(key, xor(xor(state, last), subkey))


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def double(block):
    """Multiplication by x in GF(2^128), SP 800-38B section 6.1."""
    value = int.from_bytes(block, "big") << 1
    if value >> 128:
        value = (value ^ 0x87) & (2**128 - 1)
    return value.to_bytes(16, "big")


def _times_two(x):
    """Multiplication by x in AES's field, FIPS 197 section 4.2.1."""
    return (x << 1) ^ (0x11B if x & 0x80 else 0)


def _mix_column(column):
    a, b, c, d = column
    every = a ^ b ^ c ^ d
    pairs = ((a, b), (b, c), (c, d), (d, a))
    return bytes(x ^ every ^ _times_two(x ^ y) for x, y in pairs)


def _round_keys(key):
    words = [key[i : i + 4] for i in range(0, len(key), 4)]
    length = len(words)
    constant = 1
    while len(words) < 4 * (length + 7):
        word = words[-1]
        if len(words) % length == 0:
            word = bytes(_SBOX[x] for x in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = _times_two(constant)
        elif length == 8 and len(words) % length == 4:
            word = bytes(_SBOX[x] for x in word)
        words.append(xor(words[-length], word))
    return [b"".join(words[i : i + 4]) for i in range(0, len(words), 4)]


def _substitution_box():
    """FIPS 197 section 5.1.1: the inverse in the field, then the affine map."""
    box = [0x63] + [0] * 255
    power, inverse = 1, 1
    for _ in range(255):
        power ^= _times_two(power)  # times 3, a generator
        for shift in (1, 2, 4):  # divided by 3
            inverse ^= inverse << shift
        inverse &= 0xFF
        if inverse & 0x80:
            inverse ^= 0x09
        rotations = (inverse << shift | inverse >> (8 - shift) for shift in range(5))
        value = 0x63
        for rotation in rotations:
            value ^= rotation & 0xFF
        box[power] = value
    return bytes(box)


_SBOX = _substitution_box()
