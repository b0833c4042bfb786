//! The commands that control a descriptor: JUMP, MATH and MOVE.

use super::accelerator::Class;
use super::class::{Chunk, Kind};
use super::deco::Job;
use super::fault::Fault;
use cpb_drivers::caam::descriptor::math::{self, operand};
use cpb_drivers::caam::descriptor::{class, jump, moving};
use cpb_drivers::caam::status::{self, deco};

impl Job<'_> {
    pub(super) fn class_of(&mut self, class: u32) -> &mut Class {
        if class == class::ONE { &mut self.class1 } else { &mut self.class2 }
    }

    /// JUMP.
    pub(super) fn jump(&mut self, word: u32) -> Result<(), Fault> {
        self.pump()?;
        let waits_1 = word & class::ONE != 0 && self.class1.active.is_some();
        let waits_2 = word & class::TWO != 0 && self.class2.active.is_some();
        if waits_1 || waits_2 {
            return Err(Fault::Deco(deco::WATCHDOG));
        }
        let kind = word & jump::TYPE;
        let address = if kind == jump::NONLOCAL { self.pointer()? } else { 0 };
        let steps = matches!(kind, jump::LOCAL_INCREMENT | jump::LOCAL_DECREMENT);
        if steps {
            let register = word >> 12 & 0xF;
            let step = if kind == jump::LOCAL_INCREMENT { 1 } else { u64::MAX };
            let value = self.source_0(register).ok_or(Fault::Deco(deco::JUMP))?.wrapping_add(step);
            self.set_destination(register, value, 8).ok_or(Fault::Deco(deco::JUMP))?;
            self.set_flags(value, 8, false);
        }
        let conditions = if steps { word & 0xF00 } else { word & 0xFF00 };
        let holds =
            if word & jump::JOB_CONDITIONS != 0 { self.job_conditions() } else { self.flags };
        let holds = holds & conditions;
        let taken = match word & jump::NONE {
            jump::ALL => holds == conditions,
            jump::NOT_ALL => holds != conditions,
            jump::ANY => holds != 0,
            _ => holds == 0,
        };
        if !taken {
            return Ok(());
        }
        let low = word & jump::OFFSET;
        match kind {
            jump::LOCAL | jump::LOCAL_INCREMENT | jump::LOCAL_DECREMENT => self.jump_to(low),
            jump::CALL => {
                self.subroutine = Some(self.next);
                self.jump_to(low)
            }
            jump::RETURN => {
                self.next = self.subroutine.take().ok_or(Fault::Deco(deco::JUMP))?;
                Ok(())
            }
            jump::NONLOCAL => Err(Fault::Jump(address)),
            jump::HALT => {
                self.settle_stores()?;
                Err(Fault::Halt(status::JUMP_CONDITIONS | self.flags >> 8))
            }
            jump::HALT_STATUS => {
                self.settle_stores()?;
                // Status 0 is a normal end.
                let index = (self.index as u32) << status::INDEX;
                let word = if low == 0 { status::GOOD } else { status::JUMP_HALT | index | low };
                Err(Fault::Halt(word))
            }
            _ => Err(Fault::Deco(deco::JUMP)),
        }
    }

    /// A halted descriptor ends as soon as its output is written.
    fn settle_stores(&mut self) -> Result<(), Fault> {
        if self.stores.is_empty() { Ok(()) } else { Err(Fault::Deco(deco::WATCHDOG)) }
    }

    fn jump_to(&mut self, offset: u32) -> Result<(), Fault> {
        let target = self.index.checked_add_signed(isize::from(offset as u8 as i8));
        let within = |target: &usize| *target > self.begin && *target <= self.end;
        self.next = target.filter(within).ok_or(Fault::Deco(deco::JUMP))?;
        Ok(())
    }

    /// Everything is calm, because the model finishes a command before the next. Jobs share nothing.
    fn job_conditions(&self) -> u32 {
        let mut holds = jump::CALM | jump::NO_CONTEXT;
        if self.class1.queue.is_empty() && self.class2.queue.is_empty() {
            holds |= jump::NO_INPUT;
        }
        if self.info.is_empty() {
            holds |= jump::NO_INFO;
        }
        if self.stores.is_empty() {
            holds |= jump::NO_OUTPUT;
        }
        holds
    }

    fn source_0(&self, number: u32) -> Option<u64> {
        Some(match number {
            0..=3 => self.math[number as usize],
            operand::PROTOCOL_OVERRIDE => self.protocol_override.into(),
            operand::SEQ_IN => self.sequence_in.left.into(),
            operand::SEQ_OUT => self.sequence_out.left.into(),
            operand::VARIABLE_IN => self.sequence_in.variable.into(),
            operand::VARIABLE_OUT => self.sequence_out.variable.into(),
            operand::ZERO_0 => 0,
            operand::ONE_0 => 1,
            _ => return None,
        })
    }

    fn source_1(&mut self, number: u32) -> Option<u64> {
        Some(match number {
            0..=3 => self.math[number as usize],
            operand::PROTOCOL_OVERRIDE => self.protocol_override.into(),
            operand::VARIABLE_IN_1 => self.sequence_in.variable.into(),
            operand::VARIABLE_OUT_1 => self.sequence_out.variable.into(),
            operand::INPUT_FIFO_1 => self.taken(true, 8)?,
            operand::OUTPUT_FIFO_1 => self.taken(false, 8)?,
            operand::ONE_1 => 1,
            operand::JOB_SOURCE_1 => self.source.into(),
            operand::ZERO_1 => 0,
            _ => return None,
        })
    }

    fn taken(&mut self, is_input: bool, length: usize) -> Option<u64> {
        let fifo = if is_input { &mut self.input_fifo } else { &mut self.output_fifo };
        let bytes = (fifo.len() >= length).then(|| fifo.drain(..length))?;
        Some(bytes.fold(0, |value, byte| value << 8 | u64::from(byte)))
    }

    fn set_destination(&mut self, number: u32, value: u64, length: u32) -> Option<()> {
        match number {
            0..=3 => self.math[number as usize] = value & mask(length),
            operand::PROTOCOL_OVERRIDE => self.protocol_override = value as u32,
            operand::SEQ_IN => self.sequence_in.left = value as u32,
            operand::SEQ_OUT => self.sequence_out.left = value as u32,
            operand::VARIABLE_IN => self.sequence_in.variable = value as u32,
            operand::VARIABLE_OUT => self.sequence_out.variable = value as u32,
            operand::NONE => {}
            _ => return None,
        }
        Some(())
    }

    fn set_flags(&mut self, value: u64, length: u32, carry: bool) {
        let value = value & mask(length);
        let negative = value >> (8 * length - 1) & 1 != 0;
        let mut flags = 0;
        if negative {
            flags |= jump::NEGATIVE;
        }
        if value == 0 {
            flags |= jump::ZERO;
        }
        if carry {
            flags |= jump::CARRY;
        }
        // Which flags tell an overflow is assumed: negative, and not by a carry.
        if negative != carry {
            flags |= jump::NEGATIVE_OVERFLOW;
        }
        self.flags = flags;
    }

    pub(super) fn math(&mut self, word: u32) -> Result<(), Fault> {
        let wrong = Fault::Deco(deco::MATH);
        let length = word & math::LENGTH;
        if !matches!(length, 1 | 2 | 4 | 8) {
            return Err(wrong);
        }
        let (source_0, source_1) = (word >> math::SOURCE_0 & 0xF, word >> math::SOURCE_1 & 0xF);
        let immediates =
            [source_0, source_1].iter().filter(|source| **source == operand::IMMEDIATE).count();
        if immediates > 1 {
            return Err(wrong);
        }
        let mut immediate = 0;
        if immediates == 1 {
            immediate = self.word()?.into();
            if length == 8 && word & math::ONE_WORD == 0 {
                immediate = immediate << 32 | u64::from(self.word()?);
            }
        }
        let first = match source_0 {
            operand::IMMEDIATE => immediate,
            other => self.source_0(other).ok_or(wrong)?,
        };
        let second = match source_1 {
            operand::IMMEDIATE => immediate,
            other => self.source_1(other).ok_or(wrong)?,
        };
        let function = word & 0xF << math::FUNCTION;
        let destination = word >> math::DESTINATION & 0xF;
        self.calculate(function, [first, second], destination, length, word & math::NO_FLAGS == 0)
    }

    /// MATH with a byte of the command as source 1.
    pub(super) fn math_immediate(&mut self, word: u32) -> Result<(), Fault> {
        let wrong = Fault::Deco(deco::MATH);
        let length = word & math::LENGTH;
        if !matches!(length, 1 | 2 | 4 | 8) {
            return Err(wrong);
        }
        let immediate = u64::from(word >> 4 & 0xFF);
        let number = word >> 16 & 0xF;
        // The bit tells in which column the source is looked up.
        let source =
            if word & 1 << 24 == 0 { self.source_0(number) } else { self.source_1(number) };
        let source = source.ok_or(wrong)?;
        let mut function = word & 0xF << math::FUNCTION;
        let mut operands = [source, immediate];
        if function == math::ZERO_BYTES {
            function = math::OR;
            operands = [0, immediate.wrapping_mul(0x0101_0101_0101_0101)];
        }
        let destination = word >> 12 & 0xF;
        self.calculate(function, operands, destination, length, word & math::NO_FLAGS == 0)
    }

    fn calculate(
        &mut self,
        function: u32,
        operands: [u64; 2],
        destination: u32,
        length: u32,
        sets_flags: bool,
    ) -> Result<(), Fault> {
        let mask = mask(length);
        let [first, second] = operands.map(|operand| operand & mask);
        let carry_in = u64::from(self.flags & jump::CARRY != 0);
        let wide = |sum: u128| (sum as u64 & mask, sum > mask.into());
        let bits = u64::from(8 * length);
        let (value, carry) = match function {
            math::ADD => wide(u128::from(first) + u128::from(second)),
            math::ADD_CARRY => wide(u128::from(first) + u128::from(second) + u128::from(carry_in)),
            math::SUB => (first.wrapping_sub(second) & mask, first < second),
            math::SUB_BORROW => {
                let taken = u128::from(second) + u128::from(carry_in);
                (first.wrapping_sub(taken as u64) & mask, u128::from(first) < taken)
            }
            math::OR => (first | second, false),
            math::AND => (first & second, false),
            math::XOR => (first ^ second, false),
            math::SHIFT_LEFT if second >= bits => (0, false),
            math::SHIFT_LEFT => (first << second & mask, false),
            math::SHIFT_RIGHT if second >= bits => (0, false),
            math::SHIFT_RIGHT => (first >> second, false),
            math::SHIFT_LOAD => (first << 32 | second & 0xFFFF_FFFF, false),
            math::ZERO_BYTES => {
                let zero = (0..length).filter(|byte| first >> (8 * byte) & 0xFF == 0);
                (zero.fold(0, |bits, byte| bits | 1 << byte), false)
            }
            math::SWAP => {
                let [high, low] = [(first >> 32) as u32, first as u32].map(u32::swap_bytes);
                (u64::from(high) << 32 | u64::from(low), false)
            }
            _ => return Err(Fault::Deco(deco::MATH)),
        };
        self.set_destination(destination, value, length).ok_or(Fault::Deco(deco::MATH))?;
        if sets_flags {
            self.set_flags(value, length, carry);
        }
        Ok(())
    }

    /// The bytes of the MATH registers, each with its most significant byte first.
    pub(super) fn math_bytes(&self) -> Vec<u8> {
        self.math.iter().flat_map(|value| value.to_be_bytes()).collect()
    }

    pub(super) fn set_math_bytes(&mut self, bytes: &[u8]) {
        for (value, bytes) in self.math.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *value = u64::from_be_bytes(*bytes);
        }
    }

    /// MOVE and MOVE_LEN. The offset belongs to the source if that is a context or the descriptor buffer, and else to
    /// the destination; with the least significant auxiliary bit it is the other way round (assumed).
    pub(super) fn move_data(&mut self, word: u32, by_register: bool) -> Result<(), Fault> {
        let wrong = Fault::Deco(deco::MOVE);
        let length = if by_register {
            (self.math[(word & 3) as usize] & 0xFF) as usize
        } else {
            (word & moving::LENGTH) as usize
        };
        let offset = (word >> moving::OFFSET & 0xFF) as usize;
        let (source, destination) =
            (word >> moving::SOURCE & 0xF, word >> moving::DESTINATION & 0xF);
        let has_place =
            |register: u32| register <= moving::MATH_0 + 3 && register != moving::OUTPUT_FIFO;
        let first = match source {
            moving::CONTEXT_1 | moving::CONTEXT_2 | moving::DESCRIPTOR => true,
            _ => !has_place(destination),
        };
        let (from, to) = if first { (offset, 0) } else { (0, offset) };
        let bytes = self.moved_from(source, from, length).ok_or(wrong)?;
        self.moved_to(destination, to, bytes).ok_or(wrong)
    }

    fn moved_from(&mut self, source: u32, from: usize, length: usize) -> Option<Vec<u8>> {
        let to = from + length;
        Some(match source {
            moving::CONTEXT_1 => self.class1.registers.context.get(from..to)?.to_vec(),
            moving::CONTEXT_2 => self.class2.registers.context.get(from..to)?.to_vec(),
            moving::OUTPUT_FIFO => (self.output_fifo.len() >= length)
                .then(|| self.output_fifo.drain(..length))?
                .collect(),
            moving::DESCRIPTOR => self.descriptor_bytes().get(from..to)?.to_vec(),
            4..=7 => {
                let at = 8 * (source - moving::MATH_0) as usize + from;
                self.math_bytes().get(at..at + length)?.to_vec()
            }
            moving::INPUT_FIFO | moving::INPUT_FIFO_CLASS | moving::INPUT_FIFO_RAW => {
                self.pump_info().ok()?;
                // What an accelerator has been given counts as input as well: descriptors without a cipher copy it.
                let fifos = [&mut self.for_deco, &mut self.input_fifo, &mut self.recent];
                let fifo = fifos.into_iter().find(|fifo| fifo.len() >= length)?;
                fifo.drain(..length).collect()
            }
            _ => return None,
        })
    }

    fn moved_to(&mut self, destination: u32, to: usize, bytes: Vec<u8>) -> Option<()> {
        let end = to + bytes.len();
        match destination {
            moving::CONTEXT_1 => {
                self.class1.registers.context.get_mut(to..end)?.copy_from_slice(&bytes);
            }
            moving::CONTEXT_2 => {
                self.class2.registers.context.get_mut(to..end)?.copy_from_slice(&bytes);
            }
            moving::OUTPUT_FIFO => self.output_fifo.extend(bytes),
            moving::DESCRIPTOR => {
                let mut all = self.descriptor_bytes();
                all.get_mut(to..end)?.copy_from_slice(&bytes);
                for (word, bytes) in self.buffer.iter_mut().zip(all.as_chunks::<4>().0) {
                    *word = u32::from_be_bytes(*bytes);
                }
            }
            4..=7 => {
                let at = 8 * (destination - moving::MATH_0) as usize;
                let mut all = self.math_bytes();
                all.get_mut(at + to..at + end)?.copy_from_slice(&bytes);
                self.set_math_bytes(&all);
            }
            moving::TO_INPUT_1 | moving::TO_INPUT_2 => {
                let chunk = Chunk { kind: Kind::Message, bytes, last: false, snoop: None };
                let is_first = destination == moving::TO_INPUT_1;
                let class = if is_first { &mut self.class1 } else { &mut self.class2 };
                class.queue.push_back(chunk);
            }
            moving::TO_INPUT => self.input_fifo.extend(bytes),
            moving::TO_KEY_1 if end <= 64 => {
                let key = &mut self.class1.registers.key;
                key.resize(end.max(key.len()), 0);
                key[to..end].copy_from_slice(&bytes);
            }
            moving::TO_KEY_2 if end <= 128 => {
                let key = &mut self.class2.registers.key;
                key.resize(end.max(key.len()), 0);
                key[to..end].copy_from_slice(&bytes);
            }
            _ => return None,
        }
        Some(())
    }

    fn descriptor_bytes(&self) -> Vec<u8> {
        self.buffer.iter().flat_map(|word| word.to_be_bytes()).collect()
    }
}

/// The bits of a value of `length` bytes.
fn mask(length: u32) -> u64 {
    u64::MAX >> (64 - 8 * length)
}
