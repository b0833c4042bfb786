//! A provider whose caches are emptied before each operation: what code in flash costs when it has not run for a while.

use core::cell::RefCell;
use cortex_m::Peripherals;
use cpb_core::{
    CryptoWorkload, Dispatch, Error, Identity, Job, Phase, Progress, Provider, Session, Unsupported,
};

/// Another provider with cold caches. They are emptied when a job is built: if that is before the clock starts, a batch
/// has one operation, and only the operation is timed; if it is in the loop, emptying is timed as well.
pub(crate) struct Cold<'p> {
    provider: &'p dyn Provider,
    core: RefCell<Peripherals>,
}

impl<'p> Cold<'p> {
    pub(crate) fn new(provider: &'p dyn Provider) -> Self {
        // SAFETY: only the registers of the caches are used, which no one else does while a session is open.
        Cold { provider, core: RefCell::new(unsafe { Peripherals::steal() }) }
    }
}

impl Provider for Cold<'_> {
    fn identity(&self) -> Identity<'_> {
        Identity { provider: "mbedtls-cold", ..self.provider.identity() }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        self.provider.supports(&serial(workload)?)
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.provider.session(&serial(workload)?, keys, jobs, &mut |session| {
            body(&mut ColdSession { session, core: &self.core })
        })
    }
}

/// The workload as the other provider runs it, which builds nothing.
fn serial(workload: &CryptoWorkload) -> Result<CryptoWorkload, Unsupported> {
    let Dispatch { depth, notice, .. } = Dispatch::SERIAL;
    let is_single = (workload.dispatch.depth, workload.dispatch.notice) == (depth, notice);
    if !is_single || workload.phase == Phase::Setup {
        return Err(Unsupported::Mode);
    }
    Ok(CryptoWorkload { dispatch: Dispatch::SERIAL, ..*workload })
}

struct ColdSession<'s> {
    session: &'s mut dyn Session,
    core: &'s RefCell<Peripherals>,
}

impl Session for ColdSession<'_> {
    fn build(&mut self, job: usize) -> Result<(), Error> {
        self.session.build(job)?;
        let Peripherals { SCB, CPUID, .. } = &mut *self.core.borrow_mut();
        // What other code wrote is kept.
        SCB.clean_invalidate_dcache(CPUID);
        SCB.invalidate_icache();
        Ok(())
    }

    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        self.session.submit(job)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.session.output(job)
    }
}
