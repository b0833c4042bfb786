//! Serves the model of an engine to a virtual machine, as a PCI device over vfio-user.
//!
//! QEMU is the client: it passes accesses of the device's registers on, lends the guest's memory as file descriptors,
//! and gives an eventfd for the interrupt pin. The guest need not know that it is PCI: what a driver of a platform
//! device needs is the address of the registers and the number of the pin's interrupt, and the device tree has both.
//!
//! [`Server`] serves one QEMU and ends with it. Time is the host's clock: a time per job, if one is given, passes on
//! it, which an emulated CPU sees as waiting.

#![forbid(unsafe_code)]

mod configuration_space;
mod device;
pub mod least_privilege;
mod memory;
mod pin;
mod recorder;

use anyhow::{Context, Result};
use configuration_space::REGISTERS;
use cpb_engines::caam::{Caam, Planted};
use cpb_record::EngineCount;
use device::{Connection, Device, Shared};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use vfio_bindings::bindings::vfio::{
    VFIO_IRQ_INFO_EVENTFD, VFIO_PCI_BAR0_REGION_INDEX, VFIO_PCI_CONFIG_REGION_INDEX,
    VFIO_PCI_INTX_IRQ_INDEX, VFIO_PCI_NUM_IRQS, VFIO_PCI_NUM_REGIONS, VFIO_REGION_INFO_FLAG_READ,
    VFIO_REGION_INFO_FLAG_WRITE, vfio_region_info,
};
use vfio_user::{IrqInfo, ServerRegion};

/// An engine at a socket.
pub struct Server {
    socket: vfio_user::Server,
    shared: Arc<Shared>,
}

/// The engine of a server that another thread runs.
#[derive(Clone)]
pub struct Handle(Arc<Shared>);

impl Handle {
    /// The counts so far.
    pub fn counts(&self) -> EngineCount {
        self.0.device().counts()
    }

    /// Plants a fault in jobs that have not begun yet.
    pub fn plant(&self, planted: Planted) {
        self.0.device().plant(planted);
    }
}

impl Server {
    /// Listens at `socket`, which must not exist. The engine's ticks are nanoseconds.
    ///
    /// # Errors
    /// Returns an error if the socket cannot be made.
    pub fn new(socket: &Path, engine: Caam) -> Result<Server> {
        let listening = vfio_user::Server::new(socket, true, interrupts(), regions());
        let socket = listening.with_context(|| format!("cannot listen at {}", socket.display()))?;
        Ok(Server { socket, shared: Arc::new(Shared::new(Device::new(engine))) })
    }

    /// Writes what each job reads and writes to `output`, a line of JSON for each.
    pub fn record(&self, output: File) {
        self.shared.device().record(output);
    }

    /// For what is read and changed while the server runs.
    pub fn handle(&self) -> Handle {
        Handle(Arc::clone(&self.shared))
    }

    /// Serves the first QEMU that connects, until it closes the connection.
    ///
    /// # Errors
    /// Returns an error if the connection fails.
    pub fn run(self) -> Result<()> {
        let clock = Arc::clone(&self.shared);
        thread::spawn(move || clock.keep_time());
        let mut backend = Connection(Arc::clone(&self.shared));
        let served = self.socket.run(&mut backend);
        self.shared.close();
        served.context("the virtual machine's connection failed")
    }
}

/// The registers in BAR 0, and the configuration space.
fn regions() -> Vec<ServerRegion> {
    let region = |index| {
        let size = match index {
            VFIO_PCI_BAR0_REGION_INDEX => REGISTERS,
            VFIO_PCI_CONFIG_REGION_INDEX => configuration_space::SIZE as u64,
            _ => 0,
        };
        let flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
        let region_info = vfio_region_info {
            argsz: size_of::<vfio_region_info>() as u32,
            index,
            size,
            flags: if size > 0 { flags } else { 0 },
            ..Default::default()
        };
        ServerRegion { region_info, sparse_areas: Vec::new(), mmap_fd: None }
    };
    (0..VFIO_PCI_NUM_REGIONS).map(region).collect()
}

/// One pin, INTA.
fn interrupts() -> Vec<IrqInfo> {
    let interrupt = |index| {
        let is_pin = index == VFIO_PCI_INTX_IRQ_INDEX;
        let (count, flags) = if is_pin { (1, VFIO_IRQ_INFO_EVENTFD) } else { (0, 0) };
        IrqInfo { index, flags, count }
    };
    (0..VFIO_PCI_NUM_IRQS).map(interrupt).collect()
}
