//! The DCP of the i.MX RT1060, driven by registers.

use crate::bus::ChipBus;
use core::cell::RefCell;
use cortex_m::peripheral::SCB;
use cpb_core::{Clock, Error, Interrupt};
use cpb_drivers::dcp::provider::DcpProvider;
use cpb_drivers::dcp::{Completion, Dcp, Work};

/// The driver on this chip's bus.
type Engine<'c, C> = RefCell<Dcp<'static, ChipBus<'c, C>>>;

/// Base address and merged interrupt line (NXP's header MIMXRT1062.h).
const BASE: u32 = 0x402F_C000;
const LINE: Interrupt = Interrupt(50);

/// Sets the engine up. Its packets and payloads are among the variables of the image.
pub(crate) fn start<C: Clock>(scb: SCB, clock: &C) -> Result<Engine<'_, C>, Error> {
    static mut WORK: Work = Work::EMPTY;
    let work = &raw mut WORK;
    // SAFETY: this runs once, so there is no other reference.
    let work = unsafe { &mut *work };
    Dcp::new(ChipBus::new(scb, clock), BASE, LINE, work).map(RefCell::new)
}

/// The engine as providers: polled, and by interrupt.
pub(crate) fn ways<'e, 'c, C: Clock>(
    engine: &'e Engine<'c, C>,
    options: &'e str,
) -> [DcpProvider<'e, 'static, ChipBus<'c, C>>; 2] {
    [Completion::Polling, Completion::Interrupt].map(|how| DcpProvider::new(engine, how, options))
}
