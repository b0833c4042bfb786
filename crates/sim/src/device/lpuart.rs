//! LPUART: the i.MX RT's serial port. LPUART1 at 0x4018_4000 (RT1060) and 0x4007_C000 (RT1170).
//!
//! Source: NXP's register headers (mcux-devices-rt, BSD-3). Sending takes no time: a byte has been sent when
//! the status is read next, so a program that polls does not wait for 115200 baud.

use crate::console::Console;

const STAT: u32 = 0x14;
const CTRL: u32 = 0x18;
const DATA: u32 = 0x1C;
const FIFO: u32 = 0x28;

const TRANSMIT_EMPTY: u32 = 1 << 23;
const TRANSMIT_COMPLETE: u32 = 1 << 22;
const RECEIVED: u32 = 1 << 21;
/// CTRL: interrupt when the transmitter has room.
const TRANSMIT_INTERRUPT: u32 = 1 << 23;
/// DATA: the receiver is empty.
const RECEIVE_EMPTY: u32 = 1 << 12;

pub(super) struct Lpuart {
    registers: [u32; 16],
}

impl Default for Lpuart {
    fn default() -> Self {
        let mut registers = [0; 16];
        // VERID, PARAM and BAUD after reset, with FIFOs of four entries.
        registers[0] = 0x0401_0003;
        registers[1] = 0x0000_0202;
        registers[4] = 0x0F00_0004;
        registers[10] = 0x00C0_0011;
        Lpuart { registers }
    }
}

impl Lpuart {
    pub(super) fn read(&mut self, offset: u32, console: &mut Console) -> u32 {
        match offset {
            STAT => {
                let received = if console.has_input() { RECEIVED } else { 0 };
                TRANSMIT_EMPTY | TRANSMIT_COMPLETE | received
            }
            DATA => console.take().map_or(RECEIVE_EMPTY, u32::from),
            FIFO => {
                let empty = if console.has_input() { 0 } else { 1 << 22 };
                self.registers[10] & !(1 << 22) | 1 << 23 | empty
            }
            _ => self.registers.get(offset as usize / 4).copied().unwrap_or(0),
        }
    }

    pub(super) fn write(&mut self, offset: u32, value: u32, console: &mut Console) {
        match offset {
            DATA => console.write(&[value as u8]),
            0x00 | 0x04 | STAT => {}
            _ => {
                if let Some(register) = self.registers.get_mut(offset as usize / 4) {
                    *register = value;
                }
            }
        }
    }

    pub(super) fn interrupts(&self) -> bool {
        self.registers[CTRL as usize / 4] & TRANSMIT_INTERRUPT != 0
    }
}
