//! The chip's devices, one file each, found by the file's name.

mod cmsdk_uart;
mod lpuart;
mod registers;

use crate::chip::{self, Chip};
use crate::console::Console;
use crate::system::Nvic;

/// A device: a variant a file.
enum Model {
    CmsdkUart(cmsdk_uart::CmsdkUart),
    Lpuart(lpuart::Lpuart),
    Registers(registers::Registers),
}

struct Device {
    base: u32,
    size: u32,
    interrupt: Option<u16>,
    model: Model,
}

/// All devices of a chip.
pub(crate) struct Devices {
    all: Vec<Device>,
}

fn model(description: &chip::Device) -> Model {
    match description.kind.as_str() {
        "cmsdk_uart" => Model::CmsdkUart(cmsdk_uart::CmsdkUart::default()),
        "lpuart" => Model::Lpuart(lpuart::Lpuart::default()),
        // A model that is not there yet: what a program writes to it is remembered.
        _ => Model::Registers(registers::Registers::new(description)),
    }
}

impl Devices {
    pub(crate) fn new(chip: &Chip) -> Self {
        let device = |d: &chip::Device| Device {
            base: d.base,
            size: d.size,
            interrupt: d.interrupt,
            model: model(d),
        };
        Devices { all: chip.device.iter().map(device).collect() }
    }

    fn at(&mut self, address: u32) -> Option<(&mut Model, u32)> {
        let found = self.all.iter_mut().find(|d| address.wrapping_sub(d.base) < d.size)?;
        Some((&mut found.model, address - found.base))
    }

    /// The word at `address`, or nothing where no device is.
    pub(crate) fn read(&mut self, address: u32, _now: u64, console: &mut Console) -> Option<u32> {
        let (model, offset) = self.at(address)?;
        Some(match model {
            Model::CmsdkUart(uart) => uart.read(offset, console),
            Model::Lpuart(uart) => uart.read(offset, console),
            Model::Registers(registers) => registers.read(offset),
        })
    }

    /// Writes the word at `address`; false where no device is.
    pub(crate) fn write(&mut self, address: u32, value: u32, console: &mut Console) -> bool {
        let Some((model, offset)) = self.at(address) else { return false };
        match model {
            Model::CmsdkUart(uart) => uart.write(offset, value, console),
            Model::Lpuart(uart) => uart.write(offset, value, console),
            Model::Registers(registers) => registers.write(offset, value),
        }
        true
    }

    /// Raises the interrupts that devices ask for.
    pub(crate) fn raise(&self, nvic: &mut Nvic) {
        for device in &self.all {
            let asks = match &device.model {
                Model::Lpuart(uart) => uart.interrupts(),
                _ => false,
            };
            if let Some(number) = device.interrupt.filter(|_| asks) {
                nvic.pend(16 + number);
            }
        }
    }
}
