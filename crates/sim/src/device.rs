//! The chip's devices, one file each. A device is selected by the name of its file.

mod cmsdk_uart;
mod engine;
mod lpuart;
mod registers;
mod unmodelled;

use crate::chip::{self, Chip};
use crate::console::Console;
use crate::memory::{Bus, Memory};
use crate::system::Nvic;
use cpb_engines::Engine;
use cpb_engines::otfad::Otfad;
use cpb_otfad::{BLOBS, Kek, OpenError};
pub use engine::caam_timing_of;

/// A device, with one variant per file, and one for the models of `crates/engines`.
enum Model {
    Engine(Box<dyn Engine>),
    Otfad(Box<Otfad>),
    CmsdkUart(cmsdk_uart::CmsdkUart),
    Lpuart(lpuart::Lpuart),
    Registers(registers::Registers),
    Unmodelled(unmodelled::Unmodelled),
}

struct Device {
    base: u32,
    size: u32,
    /// The interrupt number of each line.
    interrupts: Vec<u16>,
    /// The lines that were raised at the last query, one bit each.
    raised: u32,
    model: Model,
}

/// All devices of a chip.
pub(crate) struct Devices {
    all: Vec<Device>,
}

/// The model of a device.
fn model(description: &chip::DeviceDescription, core_mhz: f64) -> Model {
    if let Some(engine) = engine::new(description, core_mhz) {
        return Model::Engine(engine);
    }
    match description.kind.as_str() {
        "cmsdk_uart" => Model::CmsdkUart(cmsdk_uart::CmsdkUart::default()),
        "lpuart" => Model::Lpuart(lpuart::Lpuart::default()),
        "otfad" => Model::Otfad(Box::new(Otfad::new())),
        "unmodelled" => Model::Unmodelled(unmodelled::Unmodelled::new(description)),
        _ => Model::Registers(registers::Registers::new(description)),
    }
}

impl Devices {
    pub(crate) fn new(chip: &Chip) -> Self {
        let device = |d: &chip::DeviceDescription| Device {
            base: d.base,
            size: d.size,
            interrupts: d.interrupt.iter().chain(&d.interrupts).copied().collect(),
            raised: 0,
            model: model(d, chip.clock.core.value),
        };
        Devices { all: chip.device.iter().map(device).collect() }
    }

    /// Adds an engine. It answers instead of any other device at its addresses.
    pub(crate) fn attach(
        &mut self,
        base: u32,
        size: u32,
        interrupts: &[u16],
        engine: Box<dyn Engine>,
    ) {
        let (interrupts, model) = (interrupts.to_vec(), Model::Engine(engine));
        self.all.insert(0, Device { base, size, interrupts, raised: 0, model });
    }

    pub(crate) fn has_engines(&self) -> bool {
        self.engines().next().is_some()
    }

    fn engines(&self) -> impl Iterator<Item = &dyn Engine> {
        self.all.iter().filter_map(|device| match &device.model {
            Model::Engine(engine) => Some(&**engine),
            _ => None,
        })
    }

    /// Has the inline engine unwrap these key blobs, as the boot ROM does; `None` if the chip has no such engine.
    pub(crate) fn open_key_blobs(
        &mut self,
        blobs: &[u8; BLOBS],
        kek: &Kek,
        memory: &mut Memory,
    ) -> Option<Result<(), OpenError>> {
        let otfad = self.all.iter_mut().find_map(|device| match &mut device.model {
            Model::Otfad(otfad) => Some(otfad),
            _ => None,
        })?;
        let opened = otfad.boot(blobs, kek);
        memory.decrypt(otfad);
        Some(opened)
    }

    /// Performs what engines have to do by cycle `now`.
    pub(crate) fn advance(&mut self, now: u64, memory: &mut Memory) {
        let waited = std::mem::take(&mut memory.engines_waited);
        let mut runs = false;
        for device in &mut self.all {
            let Model::Engine(engine) = &mut device.model else { continue };
            if waited != 0 && engine.next_event().is_some() {
                engine.delay(waited);
            }
            let name = engine.name();
            engine.advance(now, &mut Bus { memory, engine: name });
            runs |= engine.next_event().is_some();
        }
        memory.engine_runs = runs;
    }

    /// The cycle of an engine's next change that no access causes; `None` if all are idle.
    pub(crate) fn next_event(&self) -> Option<u64> {
        self.engines().filter_map(Engine::next_event).min()
    }

    /// The index of the device at `address`, and the offset of the register.
    fn find(&self, address: u32) -> Option<(usize, u32)> {
        let number = self.all.iter().position(|d| address.wrapping_sub(d.base) < d.size)?;
        Some((number, address - self.all[number].base))
    }

    /// Reads the word at `address` in cycle `now`; `None` if there is no device.
    pub(crate) fn read(
        &mut self,
        address: u32,
        now: u64,
        memory: &mut Memory,
        console: &mut Console,
    ) -> Option<u32> {
        let (number, offset) = self.find(address)?;
        match &mut self.all[number].model {
            Model::Engine(_) => self.read_engine(number, offset, now, memory),
            Model::Otfad(otfad) => Some(otfad.read(offset)),
            Model::CmsdkUart(uart) => Some(uart.read(offset, console)),
            Model::Lpuart(uart) => Some(uart.read(offset, console)),
            Model::Registers(registers) => Some(registers.read(offset)),
            Model::Unmodelled(_) => None,
        }
    }

    /// Reads a register of an engine. A program may poll it, so the machine looks around only if it changed.
    fn read_engine(
        &mut self,
        number: usize,
        offset: u32,
        now: u64,
        memory: &mut Memory,
    ) -> Option<u32> {
        if self.next_event().is_some_and(|due| due <= now) {
            memory.look();
        }
        self.advance(now, memory);
        let Model::Engine(engine) = &mut self.all[number].model else { return None };
        let before = (engine.next_event(), engine.interrupts());
        let value = engine.read(offset);
        if (engine.next_event(), engine.interrupts()) != before {
            memory.look();
        }
        Some(value)
    }

    /// Writes the word at `address` in cycle `now`; `false` if there is no device.
    pub(crate) fn write(
        &mut self,
        address: u32,
        value: u32,
        now: u64,
        memory: &mut Memory,
        console: &mut Console,
    ) -> bool {
        let Some((number, offset)) = self.find(address) else { return false };
        if matches!(self.all[number].model, Model::Engine(_)) {
            self.advance(now, memory);
        }
        match &mut self.all[number].model {
            Model::Engine(engine) => engine.write(offset, value, now),
            Model::Otfad(otfad) => {
                otfad.write(offset, value);
                memory.decrypt(otfad);
            }
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

    /// Raises the interrupts that devices request. Lines are levels: an interrupt becomes pending while its line
    /// is raised, except that one whose handler is running becomes pending again only when the line rises anew or
    /// is still raised at the handler's end.
    pub(crate) fn raise(&mut self, nvic: &mut Nvic) {
        for device in &mut self.all {
            let lines = match &device.model {
                Model::Engine(engine) => engine.interrupts(),
                Model::Lpuart(uart) => u32::from(uart.interrupts()),
                _ => continue,
            };
            let risen = lines & !device.raised;
            device.raised = lines;
            for (line, number) in device.interrupts.iter().enumerate().take(32) {
                let handled = nvic.is_active(16 + number);
                if risen >> line & 1 != 0 || lines >> line & 1 != 0 && !handled {
                    nvic.pend(16 + number);
                }
            }
        }
    }
}
