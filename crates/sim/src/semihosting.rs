//! Semihosting: BKPT 0xAB with the call's number in R0 (Arm, "Semihosting for AArch32 and AArch64"). Only the
//! calls for console input and output and for ending the program are supported. The only files that can be
//! opened are the console and the features file, from which a C library learns that it can end with any
//! status.

use crate::fault::Stop;
use crate::machine::Machine;

const OPEN: u32 = 0x01;
const CLOSE: u32 = 0x02;
const WRITE_CHARACTER: u32 = 0x03;
const WRITE_STRING: u32 = 0x04;
const WRITE: u32 = 0x05;
const READ: u32 = 0x06;
const READ_CHARACTER: u32 = 0x07;
const IS_TTY: u32 = 0x09;
const SEEK: u32 = 0x0A;
const LENGTH: u32 = 0x0C;
const CLOCK: u32 = 0x10;
const TIME: u32 = 0x11;
const ERRNO: u32 = 0x13;
const COMMAND_LINE: u32 = 0x15;
const HEAP: u32 = 0x16;
const EXIT: u32 = 0x18;
const EXIT_EXTENDED: u32 = 0x20;
const ELAPSED: u32 = 0x30;
const TICK_FREQUENCY: u32 = 0x31;

/// The name of the features file, its handle, and its content: a signature, and one byte of flags, the lowest
/// of which is EXIT_EXTENDED.
const FEATURES_NAME: &[u8] = b":semihosting-features";
const FEATURES_HANDLE: u32 = 3;
const FEATURES: &[u8] = b"SHFB\x01";

/// ADP_Stopped_ApplicationExit: the program ended normally.
const APPLICATION_EXIT: u32 = 0x20026;
const FAILED: u32 = u32::MAX;

impl Machine {
    pub(crate) fn semihosting(&mut self) -> Result<(), Stop> {
        let (call, parameter) = (self.r[0], self.r[1]);
        let argument =
            |index: u32| self.memory.word(parameter.wrapping_add(4 * index)).unwrap_or(0);
        let [first, second, third] = [argument(0), argument(1), argument(2)];
        let answer = match call {
            OPEN => self.open(first, second, third),
            CLOSE | IS_TTY => u32::from(call == IS_TTY),
            WRITE_CHARACTER => {
                let byte = self.memory.bytes(parameter).first().copied().unwrap_or(0);
                self.console.write(&[byte]);
                0
            }
            WRITE_STRING => {
                let text = self.memory.bytes(parameter).split(|byte| *byte == 0).next();
                self.console.write(text.unwrap_or(&[]));
                0
            }
            WRITE => {
                let bytes = self.memory.bytes(second);
                let count = bytes.len().min(third as usize);
                self.console.write(&bytes[..count]);
                third - count as u32
            }
            READ if first == FEATURES_HANDLE => self.read_features(second, third),
            READ => self.read_console(second, third),
            READ_CHARACTER => self.console.take_waiting().map_or(FAILED, u32::from),
            SEEK if first == FEATURES_HANDLE => {
                self.console.features_read = (second as usize).min(FEATURES.len());
                0
            }
            LENGTH if first == FEATURES_HANDLE => FEATURES.len() as u32,
            SEEK | LENGTH | ERRNO => 0,
            CLOCK => (self.seconds() * 100.0) as u32,
            // A real date would make runs differ, so the epoch is the machine's reset.
            TIME => self.seconds() as u32,
            TICK_FREQUENCY => (self.chip.clock.core.value * 1e6) as u32,
            ELAPSED => {
                self.memory.load(parameter, &self.timing.now().to_le_bytes());
                0
            }
            COMMAND_LINE => {
                self.memory.load(first, &[0]);
                self.memory.load(parameter.wrapping_add(4), &[0; 4]);
                0
            }
            // All zero: use what the program was linked with.
            HEAP => {
                self.memory.load(first, &[0; 16]);
                0
            }
            EXIT if parameter == APPLICATION_EXIT => return Err(self.ended(Stop::Exit(0))),
            EXIT => return Err(self.ended(Stop::Exit(1))),
            EXIT_EXTENDED if first == APPLICATION_EXIT => {
                return Err(self.ended(Stop::Exit(second)));
            }
            EXIT_EXTENDED => return Err(self.ended(Stop::Exit(1))),
            other => return Err(Stop::UnknownCall(other)),
        };
        self.r[0] = answer;
        self.memory.look();
        Ok(())
    }

    fn seconds(&self) -> f64 {
        self.timing.now() as f64 / (self.chip.clock.core.value * 1e6)
    }

    /// The console, `:tt`, has handle 1 for reading and 2 for writing.
    fn open(&mut self, name: u32, mode: u32, length: u32) -> u32 {
        let bytes = self.memory.bytes(name);
        let name = bytes.get(..length as usize).unwrap_or(&[]);
        match (name, mode) {
            (b":tt", 0..4) => 1,
            (b":tt", _) => 2,
            (FEATURES_NAME, 0 | 1) => {
                self.console.features_read = 0;
                FEATURES_HANDLE
            }
            _ => FAILED,
        }
    }

    /// Returns the number of bytes that could not be read.
    fn read_features(&mut self, buffer: u32, count: u32) -> u32 {
        let rest = FEATURES.get(self.console.features_read..).unwrap_or(&[]);
        let bytes = &rest[..rest.len().min(count as usize)];
        if self.memory.load(buffer, bytes) {
            self.console.features_read += bytes.len();
            return count - bytes.len() as u32;
        }
        count
    }

    /// Reads at most one line. Returns the number of bytes that could not be read.
    fn read_console(&mut self, buffer: u32, count: u32) -> u32 {
        let mut done = 0;
        while done < count {
            let Some(byte) = self.console.take_waiting() else { break };
            if !self.memory.load(buffer.wrapping_add(done), &[byte]) {
                break;
            }
            done += 1;
            if byte == b'\n' {
                break;
            }
        }
        // Here the end of the input is a result, not a reason to stop.
        self.console.stop = None;
        count - done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::Chip;

    /// The result of a call, and a machine to inspect.
    fn call(machine: &mut Machine, number: u32, arguments: [u32; 3]) -> Result<u32, Stop> {
        for (word, argument) in (0..).zip(arguments) {
            machine.memory.load(0x2000_0000 + 4 * word, &argument.to_le_bytes());
        }
        machine.r[0] = number;
        machine.r[1] = 0x2000_0000;
        machine.semihosting().map(|()| machine.r[0])
    }

    #[test]
    fn a_library_learns_that_it_may_end_with_any_status() {
        let mut machine = Machine::new(Chip::named("imxrt1060").expect("a built-in chip"));
        machine.memory.load(0x2000_0100, FEATURES_NAME);
        let length = FEATURES_NAME.len() as u32;
        let handle = call(&mut machine, OPEN, [0x2000_0100, 0, length]).expect("an answer");
        assert_eq!(call(&mut machine, LENGTH, [handle, 0, 0]), Ok(5));
        assert_eq!(call(&mut machine, READ, [handle, 0x2000_0200, 4]), Ok(0));
        assert_eq!(machine.memory.bytes(0x2000_0200).get(..4), Some(&b"SHFB"[..]));
        assert_eq!(call(&mut machine, SEEK, [handle, 4, 0]), Ok(0));
        assert_eq!(call(&mut machine, READ, [handle, 0x2000_0200, 8]), Ok(7), "one byte is left");
        assert_eq!(machine.memory.bytes(0x2000_0200).first(), Some(&1));
        let ended = call(&mut machine, EXIT_EXTENDED, [APPLICATION_EXIT, 7, 0]);
        assert_eq!(ended, Err(Stop::Exit(7)));
        machine.memory.load(0x2000_0100, b":other-file-of-the-host");
        assert_eq!(call(&mut machine, OPEN, [0x2000_0100, 0, length]), Ok(FAILED));
    }
}
