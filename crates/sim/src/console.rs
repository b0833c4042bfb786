//! The guest's output and input, through a UART or semihosting.

use crate::fault::Stop;
use std::collections::VecDeque;
use std::io::{Read, Write};

/// After this many unanswered input requests, the guest is considered to be waiting for input.
const PATIENCE: u32 = 16;

/// The guest's output and input.
#[derive(Default)]
pub struct Console {
    output: Option<Box<dyn Write + Send>>,
    input: Option<Box<dyn Read + Send>>,
    arrived: VecDeque<u8>,
    asked: u32,
    /// How much of semihosting's features file has been read.
    pub(crate) features_read: usize,
    /// Set if the output or the input is gone, so that the run ends.
    pub(crate) stop: Option<Stop>,
}

impl Console {
    /// A console with output to `output` and input from `input`. A read of `input` may block.
    pub fn new(output: Box<dyn Write + Send>, input: Option<Box<dyn Read + Send>>) -> Self {
        Console { output: Some(output), input, ..Console::default() }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.asked = 0;
        let Some(output) = &mut self.output else { return };
        if output.write_all(bytes).is_err() {
            self.output = None;
            self.stop = Some(Stop::Interrupted);
        }
    }

    pub(crate) fn flush(&mut self) {
        if let Some(output) = &mut self.output {
            // A closed output is noticed at the next write.
            let _ = output.flush();
        }
    }

    /// The guest asks whether a byte is available. If it has asked often enough and has done nothing else,
    /// simulated time stops until one arrives.
    pub(crate) fn has_input(&mut self) -> bool {
        if !self.arrived.is_empty() {
            return true;
        }
        self.asked += 1;
        if self.asked >= PATIENCE {
            self.wait();
        }
        !self.arrived.is_empty()
    }

    /// Returns a byte if one is available. This counts as asking.
    pub(crate) fn take(&mut self) -> Option<u8> {
        if self.has_input() {
            self.asked = 0;
        }
        self.arrived.pop_front()
    }

    /// Returns a byte, waiting for it if there is an input; `None` at its end.
    pub(crate) fn take_waiting(&mut self) -> Option<u8> {
        if self.arrived.is_empty() {
            self.wait();
        }
        self.take()
    }

    fn wait(&mut self) {
        let Some(input) = &mut self.input else { return };
        self.asked = 0;
        if let Some(output) = &mut self.output {
            let _ = output.flush();
        }
        let mut buffer = [0; 4096];
        match input.read(&mut buffer) {
            Ok(count @ 1..) => self.arrived.extend(&buffer[..count]),
            _ => {
                self.input = None;
                self.stop = Some(Stop::InputEnded);
            }
        }
    }
}
