//! MIMXRT1170-EVK: i.MX RT1176, its Cortex-M7 at 996 MHz; LPUART1 goes to the debug probe's USB port.

use crate::clock::cycles::CycleCounter;
use crate::flash_configuration::{self, ConfigurationBlock};
use crate::imxrt;
use imxrt_boot_gen::Imxrt;
use imxrt_hal::ccm::clock_gate;
use imxrt_hal::iomuxc;
use imxrt_hal::lpuart::{Lpuart, Pins};
use imxrt_ral as ral;

#[used]
#[unsafe(link_section = ".fcb")]
static FLASH_CONFIGURATION: ConfigurationBlock =
    flash_configuration::block(Imxrt::Imxrt1170, 16 << 20);

/// The only part of the board that is used once it is set up.
pub(crate) use crate::imxrt::Uart as Board;

/// The name on the command line and in records.
pub(crate) const NAME: &str = "imxrt1170-evk";

/// The clock's ticks are core cycles.
pub(crate) const COUNTS_CYCLES: bool = true;

/// The core's PLL runs at 24 MHz x 166 / 2. Its output is divided by 2.
const PLL_DIVIDER: u32 = 166;
const FREQUENCY: u32 = 24_000_000 / 2 * PLL_DIVIDER / 2;
/// POST_DIV_SEL: divide by 2.
const POST_DIVIDER_2: u32 = 0;

/// Clock roots (CLOCK_ROOTn of the CCM), and their sources (CLOCK_ROOTn_CONTROL.MUX).
const ROOT_M7: usize = 0;
const ROOT_LPUART1: usize = 25;
const M7_BY_RC_48M_HALVED: u32 = 0;
const M7_BY_ARM_PLL: u32 = 4;
const LPUART_BY_CRYSTAL: u32 = 1;

/// DCDC_CTRL1.VDD1P0CTRL_TRG counts steps of 25 mV from 600 mV: 1.15 V, which the core needs at
/// 996 MHz (i.MX RT1170 data sheet, "Operating ranges", overdrive).
const CORE_VOLTAGE: u32 = (1150 - 600) / 25;

impl Board {
    /// Sets up memory, clocks and the UART, and starts the cycle counter.
    pub(crate) fn start(core: &mut cortex_m::Peripherals) -> (Board, CycleCounter) {
        imxrt::set_up_memory(core);
        // SAFETY: this runs once, and nothing else takes peripherals.
        let (mut ccm, pll, dcdc, pads, lpuart) = unsafe {
            (
                ral::ccm::CCM::instance(),
                ral::anadig_pll::ANADIG_PLL::instance(),
                ral::dcdc::DCDC::instance(),
                iomuxc::into_pads(
                    ral::iomuxc::IOMUXC::instance(),
                    ral::iomuxc_lpsr::IOMUXC_LPSR::instance(),
                ),
                ral::lpuart::LPUART1::instance(),
            )
        };
        // The core runs from an oscillator while its PLL is set up.
        feed(&ccm, ROOT_M7, M7_BY_RC_48M_HALVED);
        ral::modify_reg!(ral::dcdc, dcdc, CTRL1, VDD1P0CTRL_TRG: CORE_VOLTAGE);
        while ral::read_reg!(ral::dcdc, dcdc, REG0, STS_DC_OK == 0) {}
        start_pll(&pll);
        feed(&ccm, ROOT_M7, M7_BY_ARM_PLL);

        feed(&ccm, ROOT_LPUART1, LPUART_BY_CRYSTAL);
        clock_gate::lpuart::<1>().set(&mut ccm, clock_gate::ON);
        let pins = Pins { tx: pads.gpio_ad.p24, rx: pads.gpio_ad.p25 };
        let uart = Board::new(Lpuart::with_pins(lpuart, pins));
        (uart, CycleCounter::start(&mut core.DCB, &mut core.DWT, FREQUENCY.into()))
    }
}

/// Connects a clock root to one of its sources, undivided.
fn feed(ccm: &ral::ccm::CCM, root: usize, source: u32) {
    use ral::ccm::clockroot::CLOCK_ROOT_STATUS0::CHANGING;
    let root = &ccm.CLOCK_ROOT[root];
    root.CLOCK_ROOT_CONTROL.write(source << 8);
    while root.CLOCK_ROOT_STATUS0.read() & CHANGING::mask != 0 {}
}

/// Starts the core's PLL: set up while powered down, power up with the ring held, release it, wait until it
/// is stable, enable the clock output. NXP's SDK probably uses the same order, but it was not available for
/// comparison, and this has not been run on a board.
fn start_pll(pll: &ral::anadig_pll::ANADIG_PLL) {
    ral::modify_reg!(ral::anadig_pll, pll, ARM_PLL_CTRL, POWERUP: 0, ENABLE_CLK: 0, ARM_PLL_GATE: 1);
    ral::modify_reg!(ral::anadig_pll, pll, ARM_PLL_CTRL,
        DIV_SELECT: PLL_DIVIDER, POST_DIV_SEL: POST_DIVIDER_2, BYPASS: 0);
    wait(30);
    ral::modify_reg!(ral::anadig_pll, pll, ARM_PLL_CTRL, POWERUP: 1, HOLD_RING_OFF: 1);
    wait(30);
    ral::modify_reg!(ral::anadig_pll, pll, ARM_PLL_CTRL, HOLD_RING_OFF: 0);
    while ral::read_reg!(ral::anadig_pll, pll, ARM_PLL_CTRL, ARM_PLL_STABLE == 0) {}
    ral::modify_reg!(ral::anadig_pll, pll, ARM_PLL_CTRL, ENABLE_CLK: 1, ARM_PLL_GATE: 0);
}

/// Waits at least this many microseconds while the core runs at 24 MHz.
fn wait(microseconds: u32) {
    cortex_m::asm::delay(24 * microseconds);
}

/// SysTick's handler. Not used.
pub(crate) unsafe extern "C" fn tick() {}

/// What data from flash passes through on its way to the core: with the global enable of OTFAD1 (CR, bit GE), the
/// engine decrypts what lies in its regions.
pub(crate) fn flash() -> &'static str {
    // SAFETY: a register of OTFAD1 (NXP's header MIMXRT1176_cm7.h), whose clock FlexSPI1 keeps on.
    let control = unsafe { (0x400C_CC00 as *const u32).read_volatile() };
    if control & 1 << 31 == 0 {
        "the core's loads; FlexSPI, QSPI flash"
    } else {
        "the core's loads; FlexSPI, QSPI flash, OTFAD on"
    }
}
