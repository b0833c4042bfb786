//! The state of a guest that ended with an error: registers, back-trace, the last instructions.

use crate::calls::Calls;
use crate::fault::{Fault, Stop};
use crate::image::Image;
use crate::machine::{HISTORY, Machine};
use std::fmt::Write;

/// The state at a fault, before a handler changes it.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) fault: Fault,
    state: State,
}

#[derive(Clone, Debug)]
struct State {
    registers: [u32; 16],
    flags: u32,
    exception: u16,
    calls: Calls,
    history: Vec<u32>,
    cycles: u64,
    instructions: u64,
}

impl State {
    fn of(machine: &Machine) -> State {
        let mut registers = [0; 16];
        registers.copy_from_slice(&machine.r[..16]);
        registers[15] = machine.next;
        State {
            registers,
            flags: machine.flags(),
            exception: machine.exception,
            calls: machine.calls.clone(),
            history: machine.newest(),
            cycles: machine.timing.now(),
            instructions: machine.instructions,
        }
    }
}

impl Snapshot {
    pub(crate) fn take(machine: &Machine, fault: Fault) -> Snapshot {
        Snapshot { fault, state: State::of(machine) }
    }
}

impl Machine {
    /// The addresses of the newest instructions, oldest first. An instruction that did not complete is the
    /// last.
    fn newest(&self) -> Vec<u32> {
        let last = self.instructions as usize;
        let mut all: Vec<u32> = (1..=HISTORY)
            .map(|i| self.history[(last + i) & (HISTORY - 1)])
            .filter(|address| *address != u32::MAX)
            .collect();
        // If the last instruction completed, the ring's oldest slot belongs to the next one.
        if all.last() != Some(&self.next) {
            all = (0..HISTORY)
                .map(|i| self.history[(last + i) & (HISTORY - 1)])
                .filter(|address| *address != u32::MAX)
                .collect();
        }
        all
    }

    /// A description of why and where the guest stopped: the reason, the registers, the calls that led there
    /// and the last 16 instructions, each with its symbol.
    pub fn diagnose(&self, stop: Stop, image: &Image) -> String {
        let current;
        let state = match (&self.faulted, stop) {
            (Some(snapshot), Stop::Fault(_) | Stop::Lockup(_)) => &snapshot.state,
            _ => {
                current = State::of(self);
                &current
            }
        };
        let mut text = format!("{stop}");
        if let Stop::Unmodelled(address) = stop {
            let _ = write!(text, ": {}", self.devices.unmodelled(address).unwrap_or_default());
        }
        text.push('\n');
        let at = state.history.last().copied().unwrap_or(state.registers[15]);
        if let Stop::UnknownInstruction(code) = stop {
            text = format!("unknown instruction {}\n", opcode_text(code));
        }
        let _ = writeln!(
            text,
            "at {at:#010x} {}, after {} cycles and {} instructions",
            image.describe(at),
            state.cycles,
            state.instructions
        );
        let newest = std::iter::once(at).chain(state.history.iter().rev().copied());
        let mut came_from = newest.chain([self.system.vtor]);
        let decrypted = |address: u32| Some((address, self.memory.decrypted_range(address)?));
        if !matches!(stop, Stop::InputEnded | Stop::Interrupted)
            && let Some((address, (first, last))) = came_from.find_map(decrypted)
        {
            let _ = writeln!(
                text,
                "{address:#010x} is in {first:#010x} to {last:#010x}, which OTFAD decrypts: with a wrong key or counter, or \
                 if bytes were moved after they were encrypted, what it decrypts is no program"
            );
        }
        registers(&mut text, state);
        text.push_str("\ncalled from\n");
        for frame in state.calls.frames.iter().rev().take(32) {
            let _ = writeln!(text, "  {:#010x} {}", frame.back, image.describe(frame.back));
        }
        if state.calls.frames.is_empty() {
            text.push_str("  nothing: no call is open\n");
        }
        text.push_str("\nlast instructions\n");
        for address in &state.history {
            let code = opcode_text(self.opcode(*address));
            let _ = writeln!(text, "  {address:#010x} {code:<9} {}", image.describe(*address));
        }
        text
    }
}

fn opcode_text(code: u32) -> String {
    if code > 0xFFFF {
        format!("{:04x} {:04x}", code >> 16, code & 0xFFFF)
    } else {
        format!("{code:04x}")
    }
}

fn registers(text: &mut String, state: &State) {
    text.push('\n');
    for (number, value) in state.registers.iter().enumerate() {
        let name = match number {
            13 => "sp".to_owned(),
            14 => "lr".to_owned(),
            15 => "pc".to_owned(),
            _ => format!("r{number}"),
        };
        let end = if number % 4 == 3 { "\n" } else { "  " };
        let _ = write!(text, "{name:>3} {value:08x}{end}");
    }
    let flags: String = "NZCVQ"
        .chars()
        .enumerate()
        .map(|(i, letter)| if state.flags >> (31 - i) & 1 != 0 { letter } else { '-' })
        .collect();
    let _ = writeln!(text, "flags {flags}  exception {}", state.exception);
}
