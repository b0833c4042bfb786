//! Measurements beyond the totals: calls of chosen functions, sections between marks, and a profile by
//! function, cause and call stack.

use crate::calls::{Calls, Frame};
use crate::image::Image;
use crate::machine::Machine;
use crate::timing::{CAUSES, Scoreboard};
use std::collections::HashMap;

/// The most marks and calls that are kept individually. Further ones are only counted.
const KEPT: usize = 100_000;

/// Cycles, instructions and causes at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The hint's number, or `None` for a read of DWT_CYCCNT.
    pub number: Option<u8>,
    /// The address of the instruction.
    pub address: u32,
    /// Cycles since reset.
    pub cycles: u64,
    /// Instructions since reset.
    pub instructions: u64,
    /// See [`Machine::accesses`].
    pub accesses: [u64; 4],
    /// Cycles by cause since reset.
    pub spent: [u64; CAUSES],
}

/// Calls of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timed {
    /// The function's name.
    pub name: String,
    /// Cycles of each call, including the functions that it calls.
    pub cycles: Vec<u64>,
    /// Instructions of each call.
    pub instructions: Vec<u64>,
    /// The number of calls that are not in the lists.
    pub more: u64,
}

struct Open {
    function: usize,
    back: u32,
    stack: u32,
    cycles: u64,
    instructions: u64,
}

/// The measurements.
#[derive(Default)]
pub struct Measure {
    addresses: Vec<u32>,
    /// Functions that are timed.
    pub timed: Vec<Timed>,
    open: Vec<Open>,
    /// Marks in the order of their execution.
    pub marks: Vec<Mark>,
    /// The number of marks that were not kept.
    pub more_marks: u64,
    profile: Option<Box<Profile>>,
}

impl Measure {
    /// Measures the calls of a function.
    pub fn time(&mut self, name: &str, address: u32) {
        self.addresses.push(address);
        self.timed.push(Timed { name: name.to_owned(), ..Timed::default() });
    }

    /// Starts a profile.
    pub fn keep_profile(&mut self, image: &Image) {
        self.profile = Some(Box::new(Profile::new(image)));
    }

    /// The profile; `None` if none was kept.
    pub fn profiled(&self) -> Option<&Profile> {
        self.profile.as_deref()
    }

    pub(crate) fn profiles(&self) -> bool {
        self.profile.is_some()
    }

    pub(crate) fn is_timed(&self, address: u32) -> bool {
        self.addresses.contains(&address)
    }

    pub(crate) fn enter(
        &mut self,
        address: u32,
        stack: u32,
        back: u32,
        timing: &Scoreboard,
        instructions: u64,
    ) {
        let Some(function) = self.addresses.iter().position(|a| *a == address) else { return };
        let back = back & !1;
        // A loop back to the first instruction is not a call.
        let again = |o: &Open| o.function == function && o.back == back && o.stack == stack;
        if self.open.last().is_some_and(again) || self.open.len() >= KEPT {
            return;
        }
        self.open.push(Open { function, back, stack, cycles: timing.now(), instructions });
    }

    #[inline(always)]
    pub(crate) fn leave(&mut self, target: u32, stack: u32, timing: &Scoreboard, count: u64) {
        while let Some(open) = self.open.last() {
            let ends = open.back == target && open.stack == stack;
            if !ends && open.stack >= stack {
                return;
            }
            if ends {
                let timed = &mut self.timed[open.function];
                if timed.cycles.len() < KEPT {
                    timed.cycles.push(timing.now() - open.cycles);
                    timed.instructions.push(count - open.instructions);
                } else {
                    timed.more += 1;
                }
            }
            self.open.pop();
            if ends {
                return;
            }
        }
    }

    #[inline(always)]
    pub(crate) fn profile(
        &mut self,
        pc: u32,
        before: &[u64; CAUSES],
        timing: &Scoreboard,
        calls: &Calls,
    ) {
        if let Some(profile) = &mut self.profile {
            profile.add(pc, before, &timing.spent(), calls);
        }
    }
}

impl Machine {
    /// DBG #number: sets a mark, as documented in docs/method/simulator.md.
    pub(crate) fn mark(&mut self, number: u32) {
        self.add_mark(Some(number as u8));
    }

    /// A read of DWT_CYCCNT sets a mark.
    pub(crate) fn mark_counter(&mut self) {
        self.add_mark(None);
    }

    fn add_mark(&mut self, number: Option<u8>) {
        if self.measure.marks.len() >= KEPT {
            self.measure.more_marks += 1;
            return;
        }
        self.measure.marks.push(Mark {
            number,
            address: self.here(),
            cycles: self.timing.now(),
            instructions: self.instructions,
            accesses: self.accesses(),
            spent: self.timing.spent(),
        });
    }
}

/// Cycles by function, cause and call stack.
pub struct Profile {
    /// First address, last address plus one, and name of each function, by address.
    functions: Vec<(u32, u32, String)>,
    spent: Vec<[u64; CAUSES]>,
    counted: Vec<u64>,
    /// The function of the newest instruction.
    current: usize,
    /// Cycles by call stack: functions from the outermost.
    stacks: HashMap<Vec<usize>, u64>,
    stack: Vec<usize>,
    version: u64,
    pending: u64,
}

impl Profile {
    fn new(image: &Image) -> Profile {
        let mut functions = vec![(0, 0, "?".to_owned())];
        for symbol in image.symbols.iter().filter(|s| s.is_function) {
            // Assembly often gives no size. Such a function extends to the next one.
            let end = match symbol.size {
                0 => u32::MAX,
                size => symbol.address.saturating_add(size),
            };
            let known = functions.len() > 1;
            functions.pop_if(|last| known && last.0 == symbol.address);
            functions.push((symbol.address, end, symbol.name.clone()));
        }
        for next in 1..functions.len() {
            functions[next - 1].1 = functions[next - 1].1.min(functions[next].0);
        }
        Profile {
            spent: vec![[0; CAUSES]; functions.len()],
            counted: vec![0; functions.len()],
            functions,
            current: 0,
            stacks: HashMap::new(),
            stack: Vec::new(),
            version: u64::MAX,
            pending: 0,
        }
    }

    fn function_at(&self, pc: u32) -> usize {
        let behind = self.functions.partition_point(|f| f.0 <= pc);
        let found = behind.saturating_sub(1);
        if pc < self.functions[found].1 { found } else { 0 }
    }

    fn add(&mut self, pc: u32, before: &[u64; CAUSES], after: &[u64; CAUSES], calls: &Calls) {
        let (first, end, _) = &self.functions[self.current];
        let moved = !(*first..*end).contains(&pc);
        if moved || calls.version != self.version {
            self.settle();
            if moved {
                self.current = self.function_at(pc);
            }
            self.version = calls.version;
            // Use the address of the call: the return address may be in another function if the called one
            // never returns.
            let caller = |frame: &Frame| self.function_at(frame.back.wrapping_sub(2));
            let callers = calls.frames.iter().map(caller);
            self.stack = callers.collect();
            self.stack.push(self.current);
        }
        let slot = &mut self.spent[self.current];
        for cause in 0..CAUSES {
            let cycles = after[cause] - before[cause];
            slot[cause] += cycles;
            self.pending += cycles;
        }
        self.counted[self.current] += 1;
    }

    fn settle(&mut self) {
        if self.pending != 0 {
            *self.stacks.entry(self.stack.clone()).or_default() += self.pending;
            self.pending = 0;
        }
    }

    /// Name, instructions and cycles by cause of each function that ran, sorted by time, longest first.
    pub fn by_function(&self) -> Vec<(&str, u64, [u64; CAUSES])> {
        let mut all: Vec<_> = (0..self.functions.len())
            .filter(|i| self.counted[*i] != 0)
            .map(|i| (self.functions[i].2.as_str(), self.counted[i], self.spent[i]))
            .collect();
        all.sort_by_key(|(name, _, spent)| (std::cmp::Reverse(spent.iter().sum::<u64>()), *name));
        all
    }

    /// Folded stacks in the format of flame graph tools: one `main;f;g 1234` per line.
    pub fn folded(&self) -> String {
        let line = |stack: &[usize], cycles: u64| {
            let names: Vec<&str> = stack.iter().map(|i| self.functions[*i].2.as_str()).collect();
            format!("{} {cycles}\n", names.join(";"))
        };
        let mut lines: Vec<String> = self.stacks.iter().map(|(s, c)| line(s, *c)).collect();
        if self.pending != 0 {
            lines.push(line(&self.stack, self.pending));
        }
        lines.sort();
        lines.concat()
    }
}
