//! The flash configuration block, by which the boot ROM sets up the flash controller: quad reads of the boards' flash, an
//! ISSI IS25WP. The fields have the values of NXP's SDK (as imxrt1060evk-fcb and imxrt1170evk-fcb 0.2.0 have them),
//! except the clock, which an option of the image sets. The SDK has 133 MHz; AN13198 measured at 99.

use imxrt_boot_gen::Imxrt;
use imxrt_boot_gen::flexspi::opcodes::sdr::{CMD, DUMMY, RADDR, READ, WRITE};
use imxrt_boot_gen::flexspi::{
    self, Command, FlashPadType, Instr, LookupTable, Pads, ReadSampleClockSource, Sequence,
    SequenceBuilder, SerialClockOption, SerialFlashRegion, Version,
};
pub(crate) use imxrt_boot_gen::serial_flash::nor::ConfigurationBlock;

/// The clock of the flash.
const CLOCK: SerialClockOption = match env!("CPB_FLASH_CLOCK").as_bytes() {
    b"60" => SerialClockOption::MHz60,
    b"100" => SerialClockOption::MHz100,
    b"133" => SerialClockOption::MHz133,
    b"166" => SerialClockOption::MHz166,
    _ => panic!("build/options.rs lists the clocks"),
};

/// Bits of an address.
const ADDRESS: u8 = 24;
/// What a read or a write of data has as its operand; the controller does not use it here.
const DATA: u8 = 4;

/// The block for a board with a flash of `size` bytes.
pub(crate) const fn block(chip: Imxrt, size: u32) -> ConfigurationBlock {
    let common = flexspi::ConfigurationBlock::new(commands())
        .version(Version::new(1, 4, 0))
        .read_sample_clk_src(ReadSampleClockSource::LoopbackFromDQSPad)
        .cs_hold_time(flexspi::RECOMMENDED_CS_HOLD_TIME)
        .cs_setup_time(flexspi::RECOMMENDED_CS_SETUP_TIME)
        // The commands before the first read are sent with a slow clock.
        .controller_misc_options(1 << 4)
        .serial_flash_pad_type(FlashPadType::Quad)
        .serial_clk_freq(chip.serial_clock_frequency(CLOCK))
        .flash_size(SerialFlashRegion::A1, size);
    let slow = chip.ip_serial_clock_frequency(SerialClockOption::MHz30);
    let mut block = ConfigurationBlock::new(chip, common)
        .page_size(256)
        .sector_size(4 << 10)
        .ip_cmd_serial_clk_freq(Some(slow));
    if let Some(extras) = block.extras(chip) {
        extras.block_size(64 << 10);
    }
    block
}

/// The look-up table. Command EB sends its address on four wires and has six dummies.
const fn commands() -> LookupTable {
    let read = command(0xEB)
        .instr(Instr::new(RADDR, Pads::Four, ADDRESS))
        .instr(Instr::new(DUMMY, Pads::Four, 6))
        .instr(Instr::new(READ, Pads::Four, DATA));
    let address = Instr::new(RADDR, Pads::One, ADDRESS);
    let program = command(0x02).instr(address).instr(Instr::new(WRITE, Pads::One, DATA));
    LookupTable::new()
        .command(Command::Read, read.build())
        .command(
            Command::ReadStatus,
            command(0x05).instr(Instr::new(READ, Pads::One, DATA)).build(),
        )
        .command(Command::WriteEnable, alone(0x06))
        .command(Command::EraseSector, command(0x20).instr(address).build())
        .command(Command::PageProgram, program.build())
        .command(Command::ChipErase, alone(0x60))
}

const fn command(code: u8) -> SequenceBuilder {
    SequenceBuilder::new().instr(Instr::new(CMD, Pads::One, code))
}

const fn alone(code: u8) -> Sequence {
    command(code).build()
}
