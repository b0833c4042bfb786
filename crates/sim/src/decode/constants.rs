//! Constants as encoded in instructions.

use crate::insn::{CARRY_KEPT, bits};

/// ThumbExpandImm_C (A5.3.2): expands twelve bits to a constant and the resulting carry.
pub(super) fn expand(twelve: u32) -> (u32, u8) {
    let byte = twelve & 0xFF;
    match bits(twelve, 11, 8) {
        0b0000 => (byte, CARRY_KEPT),
        0b0001 => (byte << 16 | byte, CARRY_KEPT),
        0b0010 => (byte << 24 | byte << 8, CARRY_KEPT),
        0b0011 => (byte * 0x0101_0101, CARRY_KEPT),
        _ => {
            let value = (0x80 | (twelve & 0x7F)).rotate_right(bits(twelve, 11, 7));
            (value, (value >> 31) as u8)
        }
    }
}

/// VFPExpandImm (A6.4.1) for a single.
pub(super) fn float(byte: u32) -> u32 {
    let exponent = if byte & 0x40 == 0 { 0x80 } else { 0x7C };
    (byte & 0x80) << 24 | (exponent | bits(byte, 5, 4)) << 23 | (byte & 0xF) << 19
}

/// VFPExpandImm for a double: returns its upper word.
pub(super) fn double(byte: u32) -> u32 {
    let exponent = if byte & 0x40 == 0 { 0x400 } else { 0x3FC };
    (byte & 0x80) << 24 | (exponent | bits(byte, 5, 4)) << 20 | (byte & 0xF) << 16
}

/// The low `width` bits of `value`, sign-extended.
pub(super) fn sign_extend(value: u32, width: u32) -> u32 {
    ((value << (32 - width)) as i32 >> (32 - width)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_as_the_manual_lists_them() {
        assert_eq!(expand(0x0AB), (0xAB, CARRY_KEPT));
        assert_eq!(expand(0x1AB), (0x00AB_00AB, CARRY_KEPT));
        assert_eq!(expand(0x2AB), (0xAB00_AB00, CARRY_KEPT));
        assert_eq!(expand(0x3AB), (0xABAB_ABAB, CARRY_KEPT));
        assert_eq!(expand(0x400), (0x8000_0000, 1));
        assert_eq!(expand(0xFFF), (0x0000_01FE, 0));
    }

    #[test]
    fn floats_are_those_of_vmov() {
        for byte in 0..256u32 {
            let single = f32::from_bits(float(byte));
            assert_eq!(f64::from(single), f64::from_bits(u64::from(double(byte)) << 32));
        }
        assert_eq!(f32::from_bits(float(0x70)), 1.0);
        assert_eq!(f32::from_bits(float(0x00)), 2.0);
        assert_eq!(f32::from_bits(float(0x80)), -2.0);
    }
}
