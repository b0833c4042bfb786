//! What a flash configuration block tells the boot ROM about reading: the clock of the flash, and the sequence of the
//! flash controller's (FlexSPI's) look-up table that reads it.
//!
//! Offsets and codes are those of NXP's `FlexSPI NOR` configuration block, as imxrt-boot-gen 0.4.0 writes it.

use std::fmt;

/// The number of the clock.
const SERIAL_CLOCK: usize = 0x46;
/// The look-up table; its first sequence is the one for reading.
const SEQUENCE: usize = 0x80;
/// Instructions of a sequence, two bytes each.
const INSTRUCTIONS: usize = 8;

/// Codes of instructions: what they put on the wires.
const STOP: u8 = 0x00;
const COMMAND: u8 = 0x01;
const ROW_ADDRESS: u8 = 0x02;
const COLUMN_ADDRESS: u8 = 0x03;
/// One, two, four and eight bits, from this code on.
const MODE_1: u8 = 0x04;
const MODE_8: u8 = 0x07;
const READ: u8 = 0x09;
const DUMMY: u8 = 0x0C;
const DUMMY_BY_FLASH: u8 = 0x0D;
/// Added to a code: both edges of the clock carry data.
const BOTH_EDGES: u8 = 0x20;

/// The command of a read, in clocks of the flash.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ReadSequence {
    /// Clocks before the first byte: command, address, mode bits, dummies.
    pub clocks: u32,
    /// Clocks of each byte.
    pub per_byte: f64,
}

/// What a flash configuration block says about reads.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct FlashRead {
    /// The number of the clock, as the boot ROM of the chip counts them.
    pub(crate) serial_clock: u8,
    pub(crate) sequence: ReadSequence,
}

/// Why the boot ROM's model cannot read a flash as its configuration block says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlashConfigurationError {
    /// The block ends early.
    Short,
    /// The sequence for reading has this instruction, by its place and code, which does not belong into a read.
    Instruction(usize, u8),
    /// The sequence for reading ends without a read.
    NoRead,
    /// The chip has no clock of this number.
    Clock(u8),
}

impl fmt::Display for FlashConfigurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("its flash configuration block ")?;
        match self {
            Self::Short => f.write_str("ends early"),
            Self::Instruction(place, code) => {
                write!(
                    f,
                    "has a sequence for reading whose instruction {place} has code {code:#04x}"
                )
            }
            Self::NoRead => f.write_str("has a sequence for reading that does not read"),
            Self::Clock(number) => {
                write!(f, "asks for clock {number} of the flash, which this chip does not have")
            }
        }
    }
}

impl FlashRead {
    /// Parses a flash configuration block.
    pub(crate) fn parse(block: &[u8]) -> Result<FlashRead, FlashConfigurationError> {
        let serial_clock = *block.get(SERIAL_CLOCK).ok_or(FlashConfigurationError::Short)?;
        let sequence = block.get(SEQUENCE..SEQUENCE + 2 * INSTRUCTIONS);
        let sequence = sequence.ok_or(FlashConfigurationError::Short)?;
        let mut half_clocks = 0u32;
        for (place, instruction) in sequence.as_chunks::<2>().0.iter().enumerate() {
            let [operand, code] = *instruction;
            let (code, wires) = (code >> 2, 1u32 << (code & 3));
            let operand = u32::from(operand);
            // Half clocks of a bit on one wire.
            let (kind, edge) =
                if code & BOTH_EDGES != 0 { (code - BOTH_EDGES, 1) } else { (code, 2) };
            half_clocks += match kind {
                COMMAND => 8 * edge / wires,
                ROW_ADDRESS | COLUMN_ADDRESS => operand * edge / wires,
                MODE_1..=MODE_8 => (1 << (kind - MODE_1)) * edge / wires,
                // In clocks of the controller, of which a clock of the flash has two if both edges carry data.
                DUMMY | DUMMY_BY_FLASH => operand * edge,
                READ => {
                    let per_byte = f64::from(8 * edge) / f64::from(wires) / 2.0;
                    let sequence = ReadSequence { clocks: half_clocks.div_ceil(2), per_byte };
                    return Ok(FlashRead { serial_clock, sequence });
                }
                STOP => return Err(FlashConfigurationError::NoRead),
                _ => return Err(FlashConfigurationError::Instruction(place, code)),
            };
        }
        Err(FlashConfigurationError::NoRead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(sequence: &[u8]) -> Vec<u8> {
        let mut block = vec![0; 512];
        block[SERIAL_CLOCK] = 5;
        block[SEQUENCE..SEQUENCE + sequence.len()].copy_from_slice(sequence);
        block
    }

    #[test]
    fn the_sequence_of_the_boards_is_a_quad_read() {
        // Command EB on one wire; address of 24 bits, six dummies and data on four.
        let read = FlashRead::parse(&block(&[0xEB, 4, 0x18, 0x0A, 6, 0x32, 4, 0x26])).unwrap();
        let sequence = ReadSequence { clocks: 8 + 6 + 6, per_byte: 2.0 };
        assert_eq!(read, FlashRead { serial_clock: 5, sequence });
    }

    #[test]
    fn both_edges_of_the_clock_and_all_widths_count() {
        // One wire: command 6B, address, eight dummies, data on four wires.
        let quad_output = FlashRead::parse(&block(&[0x6B, 4, 24, 8, 8, 0x30, 4, 0x26])).unwrap();
        assert_eq!(quad_output.sequence, ReadSequence { clocks: 8 + 24 + 8, per_byte: 2.0 });
        // HyperFlash: eight wires and both edges; command, row and column address, the flash's own dummies.
        let hyper = [0xA0, 0x87, 0x18, 0x8B, 0x10, 0x8F, 6, 0xB7, 4, 0xA7];
        let hyper = FlashRead::parse(&block(&hyper)).unwrap();
        // Half a clock, 1.5 and 1 clock, and three.
        assert_eq!(hyper.sequence, ReadSequence { clocks: 6, per_byte: 0.5 });
    }

    #[test]
    fn what_is_no_read_is_refused_in_words() {
        let cases: [(&[u8], &str); 4] = [
            (&[0xEB, 4], "does not read"),
            (&[], "does not read"),
            (&[0xEB, 4, 4, 0x20], "instruction 1 has code 0x08"),
            (&[0xEB, 4, 0, 0x7C], "instruction 1 has code 0x1f"),
        ];
        for (sequence, words) in cases {
            let error = FlashRead::parse(&block(sequence)).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        assert_eq!(FlashRead::parse(&[0; 0x80]), Err(FlashConfigurationError::Short));
    }
}
