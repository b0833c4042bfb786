//! Sums, shifts and conditions (A2.2, A7.3, A7.4).

use crate::machine::Machine;

/// AddWithCarry: returns sum, carry, overflow.
#[inline(always)]
pub(super) fn add_with_carry(a: u32, b: u32, carry: bool) -> (u32, bool, bool) {
    let wide = u64::from(a) + u64::from(b) + u64::from(carry);
    let sum = wide as u32;
    (sum, wide >> 32 != 0, (!(a ^ b) & (a ^ sum)) >> 31 != 0)
}

/// Shift_C: LSL, LSR, ASR and ROR by any amount, and RRX. Returns the value and the carry.
#[inline(always)]
pub(super) fn shift_by(value: u32, kind: u8, amount: u32, carry: bool) -> (u32, bool) {
    if amount == 0 {
        return (value, carry);
    }
    match kind {
        0 if amount < 32 => (value << amount, value >> (32 - amount) & 1 != 0),
        0 => (0, amount == 32 && value & 1 != 0),
        1 if amount < 32 => (value >> amount, value >> (amount - 1) & 1 != 0),
        1 => (0, amount == 32 && value >> 31 != 0),
        2 if amount < 32 => ((value as i32 >> amount) as u32, value >> (amount - 1) & 1 != 0),
        2 => ((value as i32 >> 31) as u32, value >> 31 != 0),
        3 => {
            let rotated = value.rotate_right(amount & 31);
            (rotated, rotated >> 31 != 0)
        }
        _ => (u32::from(carry) << 31 | value >> 1, value & 1 != 0),
    }
}

/// Whether condition `code` holds.
#[inline(always)]
pub(crate) fn condition_holds(code: u8, machine: &Machine) -> bool {
    let (n, z) = ((machine.n as i32) < 0, machine.z == 0);
    let (c, v) = (machine.c, machine.v);
    let holds = match code >> 1 {
        0 => z,
        1 => c,
        2 => n,
        3 => v,
        4 => c && !z,
        5 => n == v,
        6 => n == v && !z,
        _ => return true,
    };
    holds != (code & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_at_their_limits_are_as_the_manual_has_them() {
        assert_eq!(shift_by(1, 0, 32, false), (0, true));
        assert_eq!(shift_by(1, 0, 33, true), (0, false));
        assert_eq!(shift_by(0x8000_0000, 1, 32, false), (0, true));
        assert_eq!(shift_by(0x8000_0000, 2, 200, false), (u32::MAX, true));
        assert_eq!(shift_by(0x8000_0001, 3, 32, false), (0x8000_0001, true));
        assert_eq!(shift_by(2, 4, 1, true), (0x8000_0001, false));
    }

    #[test]
    fn overflow_is_a_sign_that_no_operand_had() {
        assert_eq!(add_with_carry(0x7FFF_FFFF, 1, false), (0x8000_0000, false, true));
        assert_eq!(add_with_carry(5, !5, true), (0, true, false));
    }
}
