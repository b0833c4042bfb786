//! The DCP of the i.MX RT1060, driven by registers.

use crate::bus::ChipBus;
use crate::clock::cycles::CycleCounter;
use alloc::boxed::Box;
use core::cell::RefCell;
use core::sync::atomic::{AtomicPtr, Ordering};
use cortex_m::peripheral::SCB;
use cpb_core::{Error, Interrupt};
use cpb_drivers::dcp::provider::DcpProvider;
use cpb_drivers::dcp::{Completion, Dcp, Work};

/// The driver on this chip's bus.
pub(crate) type Driver = Dcp<'static, ChipBus<'static, CycleCounter>>;

/// The engine, for the functions that Mbed TLS calls; null until it is set up.
pub(crate) static ENGINE: AtomicPtr<RefCell<Driver>> = AtomicPtr::new(core::ptr::null_mut());

/// Base address and merged interrupt line (NXP's header MIMXRT1062.h).
const BASE: u32 = 0x402F_C000;
const LINE: Interrupt = Interrupt(50);

/// Sets the engine up. Its packets and payloads are among the variables of the image.
pub(crate) fn start(
    scb: SCB,
    clock: &'static CycleCounter,
) -> Result<&'static RefCell<Driver>, Error> {
    static mut WORK: Work = Work::EMPTY;
    let work = &raw mut WORK;
    // SAFETY: this runs once, so there is no other reference.
    let work = unsafe { &mut *work };
    let dcp = Dcp::new(ChipBus::new(scb, clock), BASE, LINE, work)?;
    let engine = Box::into_raw(Box::new(RefCell::new(dcp)));
    ENGINE.store(engine, Ordering::Relaxed);
    // SAFETY: it is never freed.
    Ok(unsafe { &*engine })
}

/// The number of packets that it has finished; `None` if it is not set up.
pub(crate) fn finished() -> Option<u64> {
    // SAFETY: it is null or a driver that lives as long as the image runs.
    let engine = unsafe { ENGINE.load(Ordering::Relaxed).as_ref() };
    engine.map(|engine| engine.borrow().finished())
}

/// The engine as providers: polled, and by interrupt.
pub(crate) fn ways<'e>(
    engine: &'e RefCell<Driver>,
    options: &'e str,
) -> [DcpProvider<'e, 'static, ChipBus<'static, CycleCounter>>; 2] {
    [Completion::Polling, Completion::Interrupt].map(|how| DcpProvider::new(engine, how, options))
}
