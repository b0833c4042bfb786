//! The parameters of the curves P-256 and P-384, and their numbers.

use super::super::ring::Lines;

/// The room for a number of a curve.
pub(super) const NUMBER: usize = 64;

/// A number of a curve that the engine writes, in cache lines of its own. Its size is that of the curve.
pub(super) type Number = Lines<[u8; NUMBER]>;

/// A number of zero.
pub(super) const fn number() -> Number {
    Lines([0; NUMBER])
}

/// A point, in affine coordinates.
pub(super) struct Point {
    pub(super) x: Number,
    pub(super) y: Number,
}

impl Point {
    pub(super) const fn new() -> Point {
        Point { x: number(), y: number() }
    }
}

/// A curve: its parameters, and the size of its numbers.
pub(super) struct Curve {
    pub(super) size: usize,
    pub(super) prime: Number,
    pub(super) a: Number,
    pub(super) b: Number,
    pub(super) base: Point,
    pub(super) order: Number,
}

/// P-256 (SP 800-186, 3.2.1.3).
pub(super) const P_256: Curve = Curve {
    size: 32,
    prime: hex("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"),
    a: hex("ffffffff00000001000000000000000000000000fffffffffffffffffffffffc"),
    b: hex("5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b"),
    base: Point {
        x: hex("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"),
        y: hex("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"),
    },
    order: hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"),
};

/// P-384 (SP 800-186, 3.2.1.4).
pub(super) const P_384: Curve = Curve {
    size: 48,
    prime: hex(
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff",
    ),
    a: hex(
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000fffffffc",
    ),
    b: hex(
        "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aef",
    ),
    base: Point {
        x: hex(
            "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7",
        ),
        y: hex(
            "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f",
        ),
    },
    order: hex(
        "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973",
    ),
};

/// The number that hexadecimal digits state.
const fn hex(text: &str) -> Number {
    const fn digit(byte: u8) -> u8 {
        if byte <= b'9' { byte - b'0' } else { byte - b'a' + 10 }
    }
    let (text, mut bytes) = (text.as_bytes(), [0; NUMBER]);
    let mut at = 0;
    while at < text.len() {
        bytes[at / 2] = digit(text[at]) << 4 | digit(text[at + 1]);
        at += 2;
    }
    Lines(bytes)
}
