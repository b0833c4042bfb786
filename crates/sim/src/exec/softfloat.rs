//! Arithmetic with the host's floats and the architecture's NaN rules (A2.5).
//!
//! Rounding is to nearest. The cumulative exception flags of FPSCR are not kept.

/// The functions for both widths, with the same text for each.
macro_rules! width {
    ($name:ident, $float:ty, $bits:ty, $quiet:expr, $default:expr) => {
        pub(super) mod $name {
            const QUIET: $bits = $quiet;
            const DEFAULT: $bits = $default;
            const SIGN: $bits = 1 << (<$bits>::BITS - 1);

            fn value(bits: $bits) -> $float {
                <$float>::from_bits(bits)
            }

            fn signals(bits: $bits) -> bool {
                value(bits).is_nan() && bits & QUIET == 0
            }

            /// FPProcessNaNs: the first signalling NaN, made quiet, or else the first NaN.
            pub(in super::super) fn nan(operands: &[$bits], default: bool) -> Option<$bits> {
                let signalling = operands.iter().find(|bits| signals(**bits));
                let any = operands.iter().find(|bits| value(**bits).is_nan());
                let found = signalling.or(any)?;
                Some(if default { DEFAULT } else { found | QUIET })
            }

            fn result(operands: &[$bits], default: bool, value: $float) -> $bits {
                nan(operands, default).unwrap_or(if value.is_nan() {
                    DEFAULT
                } else {
                    value.to_bits()
                })
            }

            pub(in super::super) fn negate(a: $bits) -> $bits {
                a ^ SIGN
            }

            pub(in super::super) fn absolute(a: $bits) -> $bits {
                a & !SIGN
            }

            pub(in super::super) fn add(a: $bits, b: $bits, default: bool) -> $bits {
                result(&[a, b], default, value(a) + value(b))
            }

            pub(in super::super) fn subtract(a: $bits, b: $bits, default: bool) -> $bits {
                result(&[a, b], default, value(a) - value(b))
            }

            pub(in super::super) fn multiply(a: $bits, b: $bits, default: bool) -> $bits {
                result(&[a, b], default, value(a) * value(b))
            }

            pub(in super::super) fn divide(a: $bits, b: $bits, default: bool) -> $bits {
                result(&[a, b], default, value(a) / value(b))
            }

            /// a - x * y, rounded twice.
            pub(in super::super) fn subtract_product(
                a: $bits,
                x: $bits,
                y: $bits,
                default: bool,
            ) -> $bits {
                add(a, negate(multiply(x, y, default)), default)
            }

            pub(in super::super) fn root(a: $bits, default: bool) -> $bits {
                result(&[a], default, value(a).sqrt())
            }

            /// FPMulAdd: addend + a * b, rounded once.
            pub(in super::super) fn fuse(
                addend: $bits,
                a: $bits,
                b: $bits,
                default: bool,
            ) -> $bits {
                let (x, y) = (value(a), value(b));
                let undefined = (x.is_infinite() && y == 0.0) || (x == 0.0 && y.is_infinite());
                if undefined && value(addend).is_nan() && !signals(addend) {
                    return DEFAULT;
                }
                result(&[addend, a, b], default, x.mul_add(y, value(addend)))
            }

            /// The larger or smaller number. A quiet NaN does not count as a number.
            pub(in super::super) fn extreme(
                a: $bits,
                b: $bits,
                larger: bool,
                default: bool,
            ) -> $bits {
                let quiet = |bits| value(bits).is_nan() && !signals(bits);
                match (quiet(a), quiet(b)) {
                    (true, false) if !signals(b) => return b,
                    (false, true) if !signals(a) => return a,
                    _ => {}
                }
                if let Some(nan) = nan(&[a, b], default) {
                    return nan;
                }
                let (x, y) = (value(a), value(b));
                let first = if x == y { (a & SIGN == 0) == larger } else { (x > y) == larger };
                if first { a } else { b }
            }

            /// N, Z, C, V of a comparison, in bits 31 to 28.
            pub(in super::super) fn compare(a: $bits, b: $bits) -> u32 {
                match value(a).partial_cmp(&value(b)) {
                    Some(std::cmp::Ordering::Less) => 0b1000 << 28,
                    Some(std::cmp::Ordering::Equal) => 0b0110 << 28,
                    Some(std::cmp::Ordering::Greater) => 0b0010 << 28,
                    None => 0b0011 << 28,
                }
            }

            /// Rounds to a whole number of the same type.
            pub(in super::super) fn round(a: $bits, mode: u32, default: bool) -> $bits {
                result(&[a], default, rounded(a, mode))
            }

            fn rounded(a: $bits, mode: u32) -> $float {
                use crate::decode::rounding::*;
                let x = value(a);
                match mode {
                    UP => x.ceil(),
                    DOWN => x.floor(),
                    TO_ZERO => x.trunc(),
                    AWAY => x.round(),
                    NEAREST | CURRENT | _ => x.round_ties_even(),
                }
            }

            /// Converts to the nearest integer, saturating; a NaN gives zero.
            pub(in super::super) fn integer(a: $bits, mode: u32, signed: bool) -> u32 {
                let whole = rounded(a, mode);
                if signed { whole as i32 as u32 } else { whole as u32 }
            }
        }
    };
}

width!(single, f32, u32, 1 << 22, 0x7FC0_0000);
width!(double, f64, u64, 1 << 51, 0x7FF8 << 48);

/// Converts a half to a double, exactly; NaNs keep their payload.
pub(super) fn from_half(half: u16) -> u64 {
    let sign = u64::from(half >> 15) << 63;
    let (exponent, fraction) = (u64::from(half >> 10 & 0x1F), u64::from(half & 0x3FF));
    match exponent {
        0 => sign | (fraction as f64 / f64::from(1 << 24)).to_bits(),
        31 => {
            let quiet = if fraction == 0 { 0 } else { 1 << 51 };
            sign | 0x7FF << 52 | fraction << 42 | quiet
        }
        _ => sign | (exponent + 1008) << 52 | fraction << 42,
    }
}

/// Converts a double to a half, rounding to nearest even.
pub(super) fn to_half(bits: u64) -> u16 {
    let sign = (bits >> 48) as u16 & 0x8000;
    let value = f64::from_bits(bits & !(1 << 63));
    if value.is_nan() {
        return sign | 0x7E00 | (bits >> 42) as u16 & 0x1FF;
    }
    // The distance between adjacent halves follows the exponent, but is not below that of the subnormal ones.
    let exponent = ((value.to_bits() >> 52) as i32 - 1023).max(-14);
    let step = 2f64.powi(exponent - 10);
    let units = (value / step).round_ties_even();
    if value.is_infinite() || units * step > 65504.0 {
        return sign | 0x7C00;
    }
    let base = if exponent > -14 || units >= 1024.0 { exponent + 14 } else { 0 };
    let fraction = units as u32;
    // A fraction that rounds up to the next power of two carries into the exponent.
    if fraction < 1024 {
        sign | fraction as u16
    } else {
        sign | ((base as u32) << 10).wrapping_add(fraction) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_survive_the_way_to_doubles_and_back() {
        for half in 0..=u16::MAX {
            let nan = half & 0x7C00 == 0x7C00 && half & 0x3FF != 0;
            let expected = if nan { half | 0x200 } else { half };
            assert_eq!(to_half(from_half(half)), expected, "{half:#06x}");
        }
    }
}
