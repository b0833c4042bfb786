//! The PCI configuration space (PCI Local Bus Specification 3.0, section 6.1).

/// Its size in bytes.
pub(crate) const SIZE: usize = 256;

/// The size of BAR 0: more than the registers take, so that QEMU gives it the first address of the 32-bit window
/// whatever other devices there are.
pub(crate) const REGISTERS: u64 = 1 << 20;

/// NXP's number (as Freescale's successor), and one that no device has.
const IDENTITY: [u16; 2] = [0x1957, 0xCAA4];
/// Encryption and decryption controller, other.
const CLASS: u32 = 0x10_8000;

const COMMAND: usize = 0x04;
const CLASS_AT: usize = 0x08;
const BAR_0: usize = 0x10;
const INTERRUPT_LINE: usize = 0x3C;
const INTERRUPT_PIN: usize = 0x3D;

/// The bits of the command register that software may set: memory, bus master, and no INTx.
const COMMAND_BITS: u16 = 0x0406;

/// The space and what software wrote into it.
pub(crate) struct ConfigurationSpace([u8; SIZE]);

impl ConfigurationSpace {
    pub(crate) fn new() -> ConfigurationSpace {
        let mut bytes = [0; SIZE];
        bytes[..2].copy_from_slice(&IDENTITY[0].to_le_bytes());
        bytes[2..4].copy_from_slice(&IDENTITY[1].to_le_bytes());
        bytes[CLASS_AT..CLASS_AT + 4].copy_from_slice(&(CLASS << 8).to_le_bytes());
        bytes[INTERRUPT_PIN] = 1;
        ConfigurationSpace(bytes)
    }

    /// Reads from `offset` on; 0 beyond the end.
    pub(crate) fn read(&self, offset: u64, data: &mut [u8]) {
        for (at, byte) in (offset..).zip(data) {
            *byte = usize::try_from(at).ok().and_then(|at| self.0.get(at)).copied().unwrap_or(0);
        }
    }

    /// Writes what can be written.
    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) {
        for (at, byte) in (offset..).zip(data) {
            let Ok(at) = usize::try_from(at) else { return };
            let mask = writable(at);
            if let Some(place) = self.0.get_mut(at) {
                *place = *place & !mask | byte & mask;
            }
        }
    }
}

/// The bits of a byte that software may write.
fn writable(at: usize) -> u8 {
    match at {
        COMMAND => COMMAND_BITS as u8,
        at if at == COMMAND + 1 => (COMMAND_BITS >> 8) as u8,
        BAR_0..0x14 => (!(REGISTERS as u32 - 1)).to_le_bytes()[at - BAR_0],
        INTERRUPT_LINE => 0xFF,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn software_finds_the_size_of_the_bar_and_changes_nothing_else() {
        let mut space = ConfigurationSpace::new();
        space.write(0, &[0xFF; SIZE]);
        let mut bytes = [0; SIZE];
        space.read(0, &mut bytes);
        assert_eq!(bytes[..4], [0x57, 0x19, 0xA4, 0xCA]);
        assert_eq!(bytes[BAR_0..BAR_0 + 4], 0xFFF0_0000_u32.to_le_bytes());
        assert_eq!(bytes[COMMAND..COMMAND + 2], COMMAND_BITS.to_le_bytes());
        assert_eq!(bytes[INTERRUPT_PIN], 1);
        let mut beyond = [1; 4];
        space.read(SIZE as u64 - 2, &mut beyond);
        assert_eq!(beyond, [0; 4]);
    }
}
