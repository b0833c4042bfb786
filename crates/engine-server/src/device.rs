//! The device: an engine, the guest's memory, and the pin.

use crate::configuration_space::ConfigurationSpace;
use crate::memory::GuestMemory;
use crate::pin::Pin;
use crate::recorder::{Recorded, Recorder};
use cpb_engines::Engine;
use cpb_engines::caam::{Caam, Planted, Totals};
use cpb_record::EngineCount;
use std::fs::File;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use vfio_bindings::bindings::vfio::{
    VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_ACTION_UNMASK, VFIO_PCI_BAR0_REGION_INDEX,
    VFIO_PCI_CONFIG_REGION_INDEX, VFIO_PCI_INTX_IRQ_INDEX,
};
use vfio_user::{DmaMapFlags, DmaUnmapFlags, ServerBackend};

/// The longest time that the clock sleeps.
const IDLE: Duration = Duration::from_secs(1);

/// The device as QEMU sees it.
pub(crate) struct Device {
    engine: Caam,
    memory: GuestMemory,
    space: ConfigurationSpace,
    pin: Pin,
    recorder: Option<Recorder>,
    since: Instant,
    closed: bool,
}

impl Device {
    pub(crate) fn new(engine: Caam) -> Device {
        Device {
            engine,
            memory: GuestMemory::default(),
            space: ConfigurationSpace::new(),
            pin: Pin::default(),
            recorder: None,
            since: Instant::now(),
            closed: false,
        }
    }

    pub(crate) fn record(&mut self, output: File) {
        self.recorder = Some(Recorder::new(output));
    }

    pub(crate) fn plant(&mut self, planted: Planted) {
        self.engine.plant(planted);
    }

    pub(crate) fn counts(&self) -> EngineCount {
        let Totals { finished: jobs, failed, commands, bytes, deepest } = self.engine.totals();
        EngineCount {
            jobs,
            failed,
            commands,
            bytes,
            interrupts: self.pin.rises,
            deepest,
            ..EngineCount::default()
        }
    }

    fn ticks(&self, now: Instant) -> u64 {
        u64::try_from((now - self.since).as_nanos()).unwrap_or(u64::MAX)
    }

    /// Does everything that is due.
    fn advance(&mut self) {
        let now = Instant::now();
        let ticks = self.ticks(now);
        let recorder = self.recorder.as_mut();
        let mut memory = Recorded { memory: &mut self.memory, recorder };
        self.engine.advance(ticks, &mut memory);
        self.pin.set(self.engine.interrupts() != 0);
        self.pin.advance(now);
    }

    /// The time until something is due.
    fn next_event(&self) -> Duration {
        let now = Instant::now();
        let engine = self.engine.next_event();
        let engine = engine.map(|at| Duration::from_nanos(at.saturating_sub(self.ticks(now))));
        let pin = self.pin.next_event().map(|at| at.saturating_duration_since(now));
        engine.into_iter().chain(pin).min().unwrap_or(IDLE).min(IDLE)
    }

    fn read(&mut self, offset: u64, data: &mut [u8]) {
        self.advance();
        for (at, bytes) in words(offset).zip(data.chunks_mut(4)) {
            let word = self.engine.read(at).to_le_bytes();
            bytes.copy_from_slice(&word[..bytes.len()]);
        }
    }

    /// Registers are words; parts of words are not written.
    fn write(&mut self, offset: u64, data: &[u8]) {
        self.advance();
        for (at, bytes) in words(offset).zip(data.as_chunks::<4>().0) {
            let now = self.ticks(Instant::now());
            self.engine.write(at, u32::from_le_bytes(*bytes), now);
        }
        self.advance();
    }
}

/// The offsets of the words from `offset` on.
fn words(offset: u64) -> impl Iterator<Item = u32> {
    (offset as u32 & !3..).step_by(4)
}

/// The device, and a signal that its next event has changed.
pub(crate) struct Shared {
    device: Mutex<Device>,
    changed: Condvar,
}

impl Shared {
    pub(crate) fn new(device: Device) -> Shared {
        Shared { device: Mutex::new(device), changed: Condvar::new() }
    }

    pub(crate) fn device(&self) -> MutexGuard<'_, Device> {
        self.device.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets time pass, until the device is closed.
    pub(crate) fn keep_time(&self) {
        let mut device = self.device();
        while !device.closed {
            let pause = device.next_event();
            let waited = self.changed.wait_timeout(device, pause);
            device = waited.unwrap_or_else(PoisonError::into_inner).0;
            device.advance();
        }
    }

    pub(crate) fn close(&self) {
        self.device().closed = true;
        self.changed.notify_all();
    }

    /// Changes the device, and lets the clock know if there is something to wait for.
    fn change<R>(&self, change: impl FnOnce(&mut Device) -> R) -> R {
        let mut device = self.device();
        let before = device.next_event();
        let result = change(&mut device);
        if device.next_event() < before {
            self.changed.notify_all();
        }
        result
    }
}

/// The device at the end of QEMU's connection.
pub(crate) struct Connection(pub(crate) Arc<Shared>);

impl ServerBackend for Connection {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> io::Result<()> {
        match region {
            VFIO_PCI_BAR0_REGION_INDEX => self.0.change(|device| device.read(offset, data)),
            VFIO_PCI_CONFIG_REGION_INDEX => self.0.device().space.read(offset, data),
            _ => data.fill(0),
        }
        Ok(())
    }

    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) -> io::Result<()> {
        match region {
            VFIO_PCI_BAR0_REGION_INDEX => self.0.change(|device| device.write(offset, data)),
            VFIO_PCI_CONFIG_REGION_INDEX => self.0.device().space.write(offset, data),
            _ => {}
        }
        Ok(())
    }

    fn dma_map(
        &mut self,
        _: DmaMapFlags,
        offset: u64,
        address: u64,
        size: u64,
        file: Option<File>,
    ) -> io::Result<()> {
        // Without a file there is nothing to read: a device of QEMU's own.
        match file {
            Some(file) => self.0.device().memory.map(file, offset, address, size),
            None => Ok(()),
        }
    }

    fn dma_unmap(&mut self, _: DmaUnmapFlags, address: u64, size: u64) -> io::Result<()> {
        self.0.device().memory.unmap(address, size);
        Ok(())
    }

    fn reset(&mut self) -> io::Result<()> {
        self.0.change(|device| {
            device.engine.power_on();
            device.space = ConfigurationSpace::new();
            device.pin.set(false);
        });
        Ok(())
    }

    fn set_irqs(
        &mut self,
        index: u32,
        flags: u32,
        _: u32,
        count: u32,
        files: Vec<File>,
    ) -> io::Result<()> {
        if index == VFIO_PCI_INTX_IRQ_INDEX {
            self.0.change(|device| {
                if flags & VFIO_IRQ_SET_ACTION_TRIGGER != 0 {
                    let event = files.into_iter().next();
                    if event.is_some() || count == 0 {
                        device.pin.connect(event);
                    }
                } else if flags & VFIO_IRQ_SET_ACTION_UNMASK != 0 {
                    device.pin.unmask(Instant::now());
                }
            });
        }
        Ok(())
    }
}
