//! The DCP of the i.MX RT10xx: registers, four channels, chains of work packets, AES-128, SHA-1, SHA-256, CRC-32,
//! copies and fills.
//!
//! Register and packet layouts are those of NXP's register header and driver, as stated in `cpb_drivers::dcp`. Where
//! these are silent, the model's choice is marked "assumed". Copying rectangles (blit) is not modelled: such a packet
//! ends with the error code for an invalid mode.

mod job;

use crate::{Engine, Memory};
use cpb_drivers::dcp::packet::{COMPLETE, KEY_SLOTS, Packet, Words, control0};
use cpb_drivers::dcp::registers::{self, CHANNELS, channel, ctrl, stat, status};
use job::{Fault, Job, Output};

/// The state of [`registers::CTRL`] after a reset.
const IN_RESET: u32 = ctrl::RESET | ctrl::CLOCK_GATE | PRESENT;
const PRESENT: u32 = ctrl::HAS_CRYPTO | ctrl::HAS_SHA | ctrl::GATHER_RESIDUAL_WRITES;
/// Four key slots, four channels; SHA-1, CRC-32 and SHA-256; AES-128 (reset values of the register header).
const CAPABILITY0: u32 = 0x404;
const CAPABILITY1: u32 = 0x7_0001;
const VERSION: u32 = 0x0201_0000;

/// The time that each step takes, in ticks of the owner's clock.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Timing {
    /// From the semaphore's write, or the end of a packet, until the next packet has been fetched.
    pub fetch: f64,
    /// Loading and storing a channel's context.
    pub context: f64,
    /// Reading or writing a payload.
    pub payload: f64,
    /// One block of AES.
    pub aes_block: f64,
    /// One block of SHA-1.
    pub sha1_block: f64,
    /// One block of SHA-256.
    pub sha256_block: f64,
    /// A word of CRC-32, of a copy or of a fill.
    pub word: f64,
    /// From the last result until status and semaphore show the end.
    pub finish: f64,
}

/// The keys in the chip's fuses.
#[derive(Clone, Copy, Default)]
pub struct Fuses {
    /// The key that was programmed.
    pub otp: [u8; 16],
    /// The key that is unique to the chip.
    pub unique: [u8; 16],
}

#[derive(Clone, Copy, Default)]
struct Channel {
    packet: u32,
    semaphore: u8,
    status: u32,
    options: u32,
    state: job::State,
}

/// A packet that was computed: its words, what it writes, and whether its digest is not the expected one.
struct Work {
    words: Words,
    outputs: Vec<Output>,
    mismatch: bool,
}

/// A packet in work.
struct Running {
    channel: usize,
    /// When the next step is done.
    due: u64,
    /// What its end writes; `None` until the packet has been fetched.
    work: Option<Work>,
}

/// The model.
pub struct Dcp {
    timing: Timing,
    fuses: Fuses,
    ctrl: u32,
    channelctrl: u32,
    context: u32,
    /// Slot in bits 5:4, word in bits 1:0.
    key: u32,
    keys: [[u8; 16]; KEY_SLOTS],
    /// The words of the packet in work.
    packet: Words,
    channels: [Channel; CHANNELS],
    raised: u32,
    running: Option<Running>,
    /// The channel that had its turn last.
    last: usize,
    /// Packets finished since the beginning.
    finished: u64,
}

impl Dcp {
    /// The engine after power-on.
    pub fn new(timing: Timing, fuses: Fuses) -> Dcp {
        Dcp {
            timing,
            fuses,
            ctrl: IN_RESET,
            channelctrl: 0,
            context: 0,
            key: 0,
            keys: [[0; 16]; KEY_SLOTS],
            packet: Words::default(),
            channels: Default::default(),
            raised: 0,
            running: None,
            last: CHANNELS - 1,
            finished: 0,
        }
    }

    /// The number of packets that it has finished without an error.
    pub fn finished(&self) -> u64 {
        self.finished
    }

    fn reset(&mut self) {
        let Dcp { timing, fuses, finished, .. } = *self;
        *self = Dcp { finished, ..Dcp::new(timing, fuses) };
    }

    /// Whether a channel has work that it can do.
    fn is_ready(&self, number: usize) -> bool {
        let Channel { semaphore, status, .. } = self.channels[number];
        self.channelctrl >> number & 1 != 0 && semaphore > 0 && status & status::ERRORS == 0
    }

    /// Gives the next ready channel its turn: those of high priority first, else one after the other.
    fn next_turn(&mut self, now: u64) {
        if self.running.is_some() || self.ctrl & (ctrl::RESET | ctrl::CLOCK_GATE) != 0 {
            return;
        }
        let in_turn = (1..=CHANNELS).map(|step| (self.last + step) % CHANNELS);
        let ready = in_turn.filter(|&number| self.is_ready(number));
        let urgent = |number: &usize| self.channelctrl >> (8 + number) & 1 == 0;
        if let Some(channel) = ready.min_by_key(urgent) {
            self.last = channel;
            let due = later(now, self.timing.fetch);
            self.running = Some(Running { channel, due, work: None });
        }
    }

    /// Fetches the packet in turn and begins its work. Its results are written at the end.
    fn begin(&mut self, running: &mut Running, memory: &mut dyn Memory) -> Result<(), Fault> {
        let channel = &self.channels[running.channel];
        let mut packet = Packet::EMPTY;
        memory.read(channel.packet.into(), &mut packet.0).map_err(|_| Fault::PACKET)?;
        let words = packet.words();
        self.packet = words;
        let switches = self.ctrl & ctrl::SWITCH_CONTEXT != 0;
        let place = registers::context_of(running.channel) as u64;
        let mut job = Job {
            memory,
            words: &words,
            keys: &self.keys,
            fuses: &self.fuses,
            timing: &self.timing,
            context: switches.then_some(u64::from(self.context) + place),
            state: channel.state,
            time: 0.0,
            outputs: Vec::new(),
            mismatch: false,
        };
        job.run()?;
        let Job { state, time, outputs, mismatch, .. } = job;
        self.channels[running.channel].state = state;
        running.due = later(running.due, time + self.timing.finish);
        running.work = Some(Work { words, outputs, mismatch });
        Ok(())
    }

    /// Writes the results of a packet and goes on to the next one of its channel.
    fn end(&mut self, running: &Running, memory: &mut dyn Memory) -> Result<(), Fault> {
        let Some(Work { words, outputs, mismatch }) = &running.work else { return Ok(()) };
        for output in outputs {
            output.write(memory)?;
        }
        let channel = &mut self.channels[running.channel];
        let tag = words.control0 >> control0::TAG << status::TAG;
        let mismatch = if *mismatch { status::HASH_MISMATCH } else { 0 };
        channel.status = channel.status & !(0xFF << status::TAG) | tag | mismatch;
        let told = channel.status & !1 | COMPLETE;
        let place = u64::from(channel.packet) + Packet::SIZE as u64 - 4;
        memory.write(place, &told.to_le_bytes()).map_err(|_| Fault::PACKET)?;
        self.finished += 1;
        if words.control0 & control0::INTERRUPT != 0 {
            self.raised |= stat::INTERRUPT << running.channel;
        }
        if words.control0 & control0::DECREMENT != 0 {
            channel.semaphore = channel.semaphore.saturating_sub(1);
        }
        let chained = words.control0 & control0::CHAIN != 0;
        if words.control0 & control0::CHAIN_CONTIGUOUS != 0 {
            channel.packet = channel.packet.wrapping_add(Packet::SIZE as u32);
        } else if chained {
            channel.packet = words.next;
        }
        match channel.semaphore {
            0 => Ok(()),
            _ if chained && channel.packet == 0 => Err(Fault::code(status::NEXT_IS_ZERO)),
            _ if words.control0 & (control0::CHAIN | control0::CHAIN_CONTIGUOUS) == 0 => {
                Err(Fault::code(status::NO_CHAIN))
            }
            _ => Ok(()),
        }
    }

    /// Performs one step of the packet in work.
    fn step(&mut self, mut running: Running, memory: &mut dyn Memory) {
        let now = running.due;
        let fetching = running.work.is_none();
        let done =
            if fetching { self.begin(&mut running, memory) } else { self.end(&running, memory) };
        match done {
            Ok(()) if fetching => self.running = Some(running),
            Ok(()) => self.next_turn(now),
            Err(Fault(bits)) => {
                self.channels[running.channel].status |= bits;
                self.raised |= stat::INTERRUPT << running.channel;
                self.next_turn(now);
            }
        }
    }

    /// Writes with the effect of the addressed register: plain, or setting, clearing or toggling bits.
    fn change(word: &mut u32, offset: u32, value: u32) {
        match offset & 0xC {
            registers::SET => *word |= value,
            registers::CLEAR => *word &= !value,
            registers::TOGGLE => *word ^= value,
            _ => *word = value,
        }
    }

    fn write_channel(&mut self, number: usize, offset: u32, value: u32) {
        let layout = channel(number);
        let channel = &mut self.channels[number];
        match offset & !0xC {
            at if at == layout.packet => channel.packet = value,
            at if at == layout.semaphore && offset & 0xC == registers::CLEAR => {
                channel.semaphore &= !(value as u8);
            }
            at if at == layout.semaphore => {
                channel.semaphore = channel.semaphore.saturating_add(value as u8);
            }
            at if at == layout.status => Dcp::change(&mut channel.status, offset, value),
            at if at == layout.options => Dcp::change(&mut channel.options, offset, value),
            _ => {}
        }
    }

    fn write_key(&mut self, value: u32) {
        let (slot, word) = ((self.key >> 4 & 3) as usize, (self.key & 3) as usize);
        self.keys[slot][4 * word..][..4].copy_from_slice(&value.to_le_bytes());
        self.key = self.key & !3 | (self.key + 1) & 3;
    }

    fn state(&self) -> u32 {
        let ready = (0..CHANNELS).filter(|&number| self.is_ready(number));
        let ready = ready.fold(0, |bits, number| bits | stat::READY << number);
        let current = self.running.as_ref().map_or(0, |running| 1 << (24 + running.channel));
        stat::OTP_KEY_READY | current | ready | self.raised
    }
}

/// The channel whose registers are at `offset`.
fn channel_at(offset: u32) -> Option<usize> {
    let number = (offset.checked_sub(0x100)? / 0x40) as usize;
    (number < CHANNELS).then_some(number)
}

fn later(now: u64, ticks: f64) -> u64 {
    now.saturating_add(ticks.round() as u64)
}

impl Engine for Dcp {
    fn name(&self) -> &'static str {
        "DCP"
    }

    fn read(&mut self, offset: u32) -> u32 {
        if let Some(number) = channel_at(offset) {
            let (layout, channel) = (channel(number), &self.channels[number]);
            return match offset & !0xC {
                at if at == layout.packet => channel.packet,
                at if at == layout.semaphore => u32::from(channel.semaphore) << 16,
                at if at == layout.status => channel.status,
                at if at == layout.options => channel.options,
                _ => 0,
            };
        }
        let Words { next, control0, control1, source, destination, size, payload, .. } =
            self.packet;
        match offset & !0xC {
            registers::CTRL => self.ctrl,
            registers::STAT => self.state(),
            registers::CHANNELCTRL => self.channelctrl,
            registers::CAPABILITY0 => CAPABILITY0,
            registers::CAPABILITY1 => CAPABILITY1,
            registers::CONTEXT => self.context,
            registers::KEY => self.key,
            at @ 0x80..=0xE0 => {
                let words = [next, control0, control1, source, destination, size, payload];
                words[((at - registers::PACKET) / 16) as usize]
            }
            registers::VERSION => VERSION,
            _ => 0,
        }
    }

    fn write(&mut self, offset: u32, value: u32, now: u64) {
        let is_ctrl = offset & !0xC == registers::CTRL;
        if is_ctrl {
            Dcp::change(&mut self.ctrl, offset, value);
            self.ctrl |= ctrl::HAS_CRYPTO | ctrl::HAS_SHA;
            if self.ctrl & ctrl::RESET != 0 {
                self.reset();
            }
        } else if self.ctrl & (ctrl::RESET | ctrl::CLOCK_GATE) != 0 {
            // Without its clock, the engine takes nothing.
            return;
        }
        match (channel_at(offset), offset & !0xC) {
            (Some(number), _) => self.write_channel(number, offset, value),
            (_, registers::STAT) if offset & 0xC == registers::CLEAR => {
                self.raised &= !(value & 0xF);
            }
            (_, registers::CHANNELCTRL) => Dcp::change(&mut self.channelctrl, offset, value),
            (_, registers::CONTEXT) => self.context = value,
            (_, registers::KEY) => self.key = value & 0x33,
            (_, registers::KEYDATA) => self.write_key(value),
            _ => {}
        }
        self.next_turn(now);
    }

    fn advance(&mut self, now: u64, memory: &mut dyn Memory) {
        while let Some(running) = self.running.take_if(|running| running.due <= now) {
            self.step(running, memory);
        }
    }

    fn next_event(&self) -> Option<u64> {
        self.running.as_ref().map(|running| running.due)
    }

    /// Line 0 is that of the channels, line 1 that of channel 0 alone unless it is merged with the others.
    fn interrupts(&self) -> u32 {
        let raised = self.raised & self.ctrl & ctrl::INTERRUPTS;
        if self.channelctrl & registers::MERGE_CHANNEL_0 != 0 {
            return (raised != 0).into();
        }
        u32::from(raised & !1 != 0) | (raised & 1) << 1
    }

    fn delay(&mut self, ticks: u64) {
        if let Some(running) = &mut self.running {
            running.due = running.due.saturating_add(ticks);
        }
    }
}
