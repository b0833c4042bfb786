//! MIMXRT1060-EVK: i.MX RT1062, Cortex-M7 at 600 MHz; LPUART1 goes to the debug probe's USB port.

use crate::clock::cycles::CycleCounter;
use crate::flash_configuration::{self, ConfigurationBlock};
use crate::imxrt;
use imxrt_boot_gen::Imxrt;
use imxrt_hal::ccm::{self, clock_gate};
use imxrt_hal::lpuart::{Lpuart, Pins};
use imxrt_hal::{dcdc, iomuxc};
use imxrt_ral as ral;

#[used]
#[unsafe(link_section = ".fcb")]
static FLASH_CONFIGURATION: ConfigurationBlock =
    flash_configuration::block(Imxrt::Imxrt1060, 8 << 20);

/// The only part of the board that is used once it is set up.
pub(crate) use crate::imxrt::Uart as Board;

/// The name on the command line and in records.
pub(crate) const NAME: &str = "imxrt1060-evk";

/// The clock's ticks are core cycles.
pub(crate) const COUNTS_CYCLES: bool = true;

/// PLL1 runs at 24 MHz x 100 / 2, the core at half of that.
const PLL1_DIVIDER: u32 = 100;
const CORE_DIVIDER: u32 = 2;
const FREQUENCY: u32 = ccm::analog::pll1::frequency(PLL1_DIVIDER) / CORE_DIVIDER;
/// The voltage that the core needs at 600 MHz: i.MX RT1060 data sheet, "Operating ranges", overdrive.
const CORE_MILLIVOLTS: u32 = 1275;

impl Board {
    /// Sets up memory, clocks and the UART, and starts the cycle counter.
    pub(crate) fn start(core: &mut cortex_m::Peripherals) -> (Board, CycleCounter) {
        imxrt::set_up_memory(core);
        // SAFETY: this runs once, and nothing else takes peripherals.
        let (mut ccm, mut analog, mut dcdc, pads, lpuart) = unsafe {
            (
                ral::ccm::CCM::instance(),
                ral::ccm_analog::CCM_ANALOG::instance(),
                ral::dcdc::DCDC::instance(),
                iomuxc::into_pads(ral::iomuxc::IOMUXC::instance()),
                ral::lpuart::LPUART1::instance(),
            )
        };
        // The core runs from the crystal while its PLL is set up.
        ccm::periph_clk2::set_divider(&mut ccm, 1);
        ccm::periph_clk2::set_selection(&mut ccm, ccm::periph_clk2::Selection::Osc);
        ccm::ahb_clk::set_selection(&mut ccm, ccm::ahb_clk::Selection::PeriphClk2Sel);
        dcdc::set_target_vdd_soc(&mut dcdc, CORE_MILLIVOLTS);
        ccm::analog::pll1::restart(&mut analog, PLL1_DIVIDER);
        ccm::arm_divider::set_divider(&mut ccm, CORE_DIVIDER);
        ccm::pre_periph_clk::set_selection(&mut ccm, ccm::pre_periph_clk::Selection::Pll1);
        ccm::ahb_clk::set_divider(&mut ccm, 1);
        ccm::ipg_clk::set_divider(&mut ccm, 4);
        ccm::ahb_clk::set_selection(&mut ccm, ccm::ahb_clk::Selection::PrePeriphClkSel);

        // CCGR0, gate 5: the clock of the DCP (i.MX RT1060 reference manual, "CCM Clock Gating Register 0").
        ral::modify_reg!(ral::ccm, ccm, CCGR0, CG5: 0b11);
        clock_gate::lpuart::<1>().set(&mut ccm, clock_gate::OFF);
        ccm::uart_clk::set_selection(&mut ccm, ccm::uart_clk::Selection::Oscillator);
        ccm::uart_clk::set_divider(&mut ccm, 1);
        clock_gate::lpuart::<1>().set(&mut ccm, clock_gate::ON);
        let pins = Pins { tx: pads.gpio_ad_b0.p12, rx: pads.gpio_ad_b0.p13 };
        let uart = Board::new(Lpuart::with_pins(lpuart, pins));
        (uart, CycleCounter::start(&mut core.DCB, &mut core.DWT, FREQUENCY.into()))
    }
}

/// SysTick's handler. Not used.
pub(crate) unsafe extern "C" fn tick() {}

/// What data from flash passes through on its way to the core.
pub(crate) fn flash() -> &'static str {
    "the core's loads; FlexSPI, QSPI flash"
}
