//! The CAAM of the i.MX RT1170, driven by registers.

use crate::bus::ChipBus;
use crate::clock::cycles::CycleCounter;
use alloc::boxed::Box;
use core::cell::RefCell;
use core::sync::atomic::{AtomicPtr, Ordering};
use cortex_m::peripheral::SCB;
use cpb_core::{Error, Interrupt};
use cpb_drivers::caam::port::{Memory, Port};
use cpb_drivers::caam::provider::CaamProvider;
use cpb_drivers::caam::registers::{PAGE_64K, ring};
use cpb_drivers::caam::ring::Place;
use cpb_drivers::caam::{Addresses, Caam, Completion, Work};

/// The bus that all of it shares.
pub(crate) type Bus = ChipBus<'static, CycleCounter>;

/// The engine.
pub(crate) struct Engine {
    /// The driver, with ring 0 and the bus.
    pub(crate) driver: RefCell<Caam<'static, Bus>>,
    /// Ring 1, for the functions that Mbed TLS calls.
    pub(crate) port: RefCell<Port<'static>>,
}

/// The engine, for the functions that Mbed TLS calls; null until it is set up.
pub(crate) static ENGINE: AtomicPtr<Engine> = AtomicPtr::new(core::ptr::null_mut());

/// Base address and the interrupt line of ring 0 (NXP's header MIMXRT1176_cm7.h).
const BASE: u32 = 0x4044_0000;
const LINE: Interrupt = Interrupt(69);

/// Jobs in ring 0. Each takes 204 bytes of the memory for variables.
const RING: usize = 64;

/// Every so many jobs, or after so many times 64 engine clocks, a coalesced interrupt comes.
const COALESCED: Completion = Completion::Coalesced { count: 8, timer: 100 };

/// Sets the engine up. Its rings are among the variables of the image.
pub(crate) fn start(scb: SCB, clock: &'static CycleCounter) -> Result<&'static Engine, Error> {
    static mut WORK: Work<RING> = Work::EMPTY;
    static mut MEMORY: Memory = Memory::EMPTY;
    let (work, memory) = (&raw mut WORK, &raw mut MEMORY);
    // SAFETY: this runs once, so there are no other references.
    let (work, memory) = unsafe { (&mut *work, &mut *memory) };
    let place = |number| BASE + ring(number, PAGE_64K);
    let addresses = Addresses { base: BASE, ring: Place { base: place(0), line: LINE } };
    let mut driver = Caam::new(ChipBus::new(scb, clock), addresses, work)?;
    let port = Port::new(driver.bus(), place(1), memory)?;
    let engine = Engine { driver: RefCell::new(driver), port: RefCell::new(port) };
    let engine = Box::into_raw(Box::new(engine));
    ENGINE.store(engine, Ordering::Relaxed);
    // SAFETY: it is never freed.
    Ok(unsafe { &*engine })
}

/// The number of jobs that Mbed TLS gave it and that it has finished; `None` if it is not set up.
pub(crate) fn finished() -> Option<u64> {
    // SAFETY: it is null or an engine that lives as long as the image runs.
    let engine = unsafe { ENGINE.load(Ordering::Relaxed).as_ref() };
    engine.map(|engine| engine.port.borrow().finished())
}

/// The engine as providers: polled, by interrupt, and by coalesced interrupts.
pub(crate) fn ways<'e>(
    engine: &'e Engine,
    options: &'e str,
) -> [CaamProvider<'e, 'static, Bus>; 3] {
    [Completion::Polling, Completion::Interrupt, COALESCED]
        .map(|how| CaamProvider::new(&engine.driver, how, options))
}
