//! CMSDK APB UART of the MPS2 boards, at 0x4000_4000. Source: Arm DDI 0479, section 4.3.

use crate::console::Console;

#[derive(Default)]
pub(super) struct CmsdkUart {
    control: u32,
    divider: u32,
}

impl CmsdkUart {
    pub(super) fn read(&mut self, offset: u32, console: &mut Console) -> u32 {
        match offset {
            0x00 => console.take().map_or(0, u32::from),
            // The transmitter is never full.
            0x04 => u32::from(console.has_input()) << 1,
            0x08 => self.control,
            0x10 => self.divider,
            _ => 0,
        }
    }

    pub(super) fn write(&mut self, offset: u32, value: u32, console: &mut Console) {
        match offset {
            0x00 => console.write(&[value as u8]),
            0x08 => self.control = value,
            0x10 => self.divider = value,
            _ => {}
        }
    }
}
