//! The chip's devices, one file each. A device is selected by the name of its file.

mod cmsdk_uart;
mod lpuart;
mod registers;
mod unmodelled;

use crate::chip::{self, Chip};
use crate::console::Console;
use crate::system::Nvic;

/// A device, with one variant per file.
enum Model {
    CmsdkUart(cmsdk_uart::CmsdkUart),
    Lpuart(lpuart::Lpuart),
    Registers(registers::Registers),
    Unmodelled(unmodelled::Unmodelled),
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

fn model(description: &chip::DeviceDescription) -> Model {
    match description.kind.as_str() {
        "cmsdk_uart" => Model::CmsdkUart(cmsdk_uart::CmsdkUart::default()),
        "lpuart" => Model::Lpuart(lpuart::Lpuart::default()),
        "unmodelled" => Model::Unmodelled(unmodelled::Unmodelled::new(description)),
        _ => Model::Registers(registers::Registers::new(description)),
    }
}

impl Devices {
    pub(crate) fn new(chip: &Chip) -> Self {
        let device = |d: &chip::DeviceDescription| Device {
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

    /// Reads the word at `address`; `None` if there is no device.
    pub(crate) fn read(&mut self, address: u32, _now: u64, console: &mut Console) -> Option<u32> {
        let (model, offset) = self.at(address)?;
        match model {
            Model::CmsdkUart(uart) => Some(uart.read(offset, console)),
            Model::Lpuart(uart) => Some(uart.read(offset, console)),
            Model::Registers(registers) => Some(registers.read(offset)),
            Model::Unmodelled(_) => None,
        }
    }

    /// Writes the word at `address`; `false` if there is no device.
    pub(crate) fn write(&mut self, address: u32, value: u32, console: &mut Console) -> bool {
        let Some((model, offset)) = self.at(address) else { return false };
        match model {
            Model::CmsdkUart(uart) => uart.write(offset, value, console),
            Model::Lpuart(uart) => uart.write(offset, value, console),
            Model::Registers(registers) => registers.write(offset, value),
            Model::Unmodelled(_) => return false,
        }
        true
    }

    /// The name of the device at `address`; `None` unless there is a device without a model.
    pub(crate) fn unmodelled(&self, address: u32) -> Option<&str> {
        let found = self.all.iter().find(|d| address.wrapping_sub(d.base) < d.size)?;
        match &found.model {
            Model::Unmodelled(block) => Some(block.name()),
            _ => None,
        }
    }

    /// Raises the interrupts that devices request.
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
