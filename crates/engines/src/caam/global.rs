//! The registers that job rings share: configuration, versions, counters, and controller 0 as software runs it.

use super::{Caam, Configuration, Counts, Origin, Running};
use cpb_drivers::caam::descriptor::WORDS;
use cpb_drivers::caam::registers::{self, DECO_BLOCK, cha, csta, ctpr, deco, jr, mcfgr, vreg};
use std::collections::BTreeMap;

/// The master configuration after a reset, but for the order of words (`fsl_caam` 2.4.0 writes 0x00082300 as the
/// value of the reset).
const MCFGR: u32 = 0x2300;

/// The random number generator has stopped, and its entropy is valid: bits of RTMCTL that drivers wait for.
const RTMCTL_READY: u32 = 1 << 13 | 1 << 10;

/// A request of [`registers::DECORR`], and its grant.
const REQUEST: u32 = 1;
const GRANT: u32 = 1 << 16;

/// The statistics.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Counters {
    pub(super) dequeued: u64,
    encrypted: u64,
    decrypted: u64,
    bytes_encrypted: u64,
    bytes_protected: u64,
    bytes_decrypted: u64,
    bytes_validated: u64,
}

impl Counters {
    /// Adds a job. Which bytes the engine counts is assumed: all that were loaded for an accelerator.
    pub(super) fn add(&mut self, counts: &Counts) {
        let Counts { bytes, encrypts, has_cipher, has_digest, .. } = *counts;
        if encrypts {
            self.encrypted += 1;
            self.bytes_encrypted += if has_cipher { bytes } else { 0 };
            self.bytes_protected += if has_digest { bytes } else { 0 };
        } else if has_cipher || has_digest {
            self.decrypted += 1;
            self.bytes_decrypted += if has_cipher { bytes } else { 0 };
            self.bytes_validated += if has_digest { bytes } else { 0 };
        }
    }

    fn at(&self, offset: u32) -> u64 {
        match offset & !7 {
            registers::REQUESTS_DEQUEUED => self.dequeued,
            registers::REQUESTS_ENCRYPTED => self.encrypted,
            registers::REQUESTS_DECRYPTED => self.decrypted,
            registers::BYTES_ENCRYPTED => self.bytes_encrypted,
            registers::BYTES_PROTECTED => self.bytes_protected,
            registers::BYTES_DECRYPTED => self.bytes_decrypted,
            registers::BYTES_VALIDATED => self.bytes_validated,
            _ => 0,
        }
    }
}

/// The shared registers.
pub(super) struct Global {
    pub(super) mcfgr: u32,
    /// Registers that only remember what was written.
    plain: BTreeMap<u32, u32>,
    granted: bool,
    /// Controller 0's buffer, and the status of its last descriptor.
    pub(super) buffer: [u32; WORDS],
    status: u32,
    runs: bool,
    pub(super) counters: Counters,
    pub(super) fault_address: u64,
}

impl Global {
    pub(super) fn new(configuration: &Configuration) -> Global {
        let is_transposed = configuration.high_word_first != configuration.big_endian;
        Global {
            mcfgr: MCFGR | configuration.mcfgr | if is_transposed { mcfgr::TRANSPOSE } else { 0 },
            plain: BTreeMap::new(),
            granted: false,
            buffer: [0; WORDS],
            status: 0,
            runs: false,
            counters: Counters::default(),
            fault_address: 0,
        }
    }

    pub(super) fn reset(&mut self, configuration: &Configuration) {
        *self = Global { counters: self.counters, ..Global::new(configuration) };
    }

    /// Whether controller 0 belongs to software.
    pub(super) fn is_granted(&self) -> bool {
        self.granted
    }

    pub(super) fn end_buffer(&mut self, status: u32) {
        (self.status, self.runs) = (status, false);
    }
}

impl Caam {
    /// The block of registers that `offset` is in, the offset in it, and the ring whose block it is.
    fn place(&self, offset: u32) -> (u32, u32, Option<usize>) {
        let page = self.configuration.page.max(registers::PAGE_4K);
        let (block, within) = (offset / page, offset % page);
        let ring = (block as usize).checked_sub(1).filter(|ring| *ring < self.rings.len());
        (block, within, ring)
    }

    pub(super) fn register(&self, offset: u32) -> u32 {
        let (block, within, ring) = self.place(offset);
        let is_version = (registers::VREG..registers::PAGE_4K).contains(&within);
        match ring {
            _ if block == DECO_BLOCK && !is_version => self.deco_register(within),
            _ if is_version && (block == 0 || ring.is_some() || block == DECO_BLOCK) => {
                if block == DECO_BLOCK { 0 } else { self.version_register(within) }
            }
            Some(ring) => self.rings[ring].read(within),
            None if block == 0 => self.global_register(within),
            None => 0,
        }
    }

    fn deco_register(&self, within: u32) -> u32 {
        match within {
            deco::STATUS => self.global.status,
            deco::CONTROL if self.global.runs => deco::RUN,
            deco::DEBUG => u32::from(self.global.runs) << 31,
            at if (deco::BUFFER..deco::BUFFER + 4 * WORDS as u32).contains(&at) => {
                self.global.buffer[((at - deco::BUFFER) / 4) as usize]
            }
            _ => 0,
        }
    }

    fn global_register(&self, within: u32) -> u32 {
        let plain = || self.global.plain.get(&within).copied().unwrap_or(0);
        let keys = |base: u32, key: usize| {
            let place = (within - base) as usize;
            let bytes = &self.random.keys[key][place..place + 4];
            bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte))
        };
        match within & !3 {
            registers::MCFGR => self.global.mcfgr,
            registers::DECORR if self.global.granted => {
                // A job of a ring that is at work there ends first.
                let is_busy = matches!(&self.decos[0], Some(job) if job.origin != Origin::Software);
                if is_busy { REQUEST } else { REQUEST | GRANT }
            }
            registers::RDSTA => self.random.status,
            registers::RTMCTL => plain() | RTMCTL_READY,
            registers::JDKEKR..registers::TDKEKR => keys(registers::JDKEKR, 0),
            registers::TDKEKR..registers::TDSKR => keys(registers::TDKEKR, 1),
            at @ registers::TDSKR.. if at < registers::TDSKR + 32 => keys(registers::TDSKR, 2),
            _ => plain(),
        }
    }

    /// Versions and statistics, which each block repeats.
    fn version_register(&self, within: u32) -> u32 {
        let Configuration { era, aes, des, md, rng, pk, version, .. } = self.configuration;
        let numbers = [
            (cha::AES, aes.is_some()),
            (cha::DES, des),
            (cha::MD, md.is_some()),
            (cha::RNG, rng),
            (cha::PK, pk.is_some()),
        ];
        let old = era < 10;
        match within & !3 {
            at @ registers::VREG..registers::REQUESTS_DEQUEUED if !old => {
                let entry = |version: u8| u32::from(version) << vreg::VERSION | 1;
                match at - registers::VREG {
                    vreg::AES => aes.map_or(0, entry),
                    vreg::MD => md.map_or(0, entry),
                    vreg::DES if des => entry(1),
                    vreg::RNG if rng => entry(4),
                    vreg::PK => pk.map_or(0, entry),
                    _ => 0,
                }
            }
            at @ registers::REQUESTS_DEQUEUED..registers::CRNR_MS => {
                let counter = self.global.counters.at(at);
                let is_first = at & 4 == 0;
                let high = is_first
                    == (self.configuration.high_word_first || self.configuration.big_endian);
                if high { (counter >> 32) as u32 } else { counter as u32 }
            }
            registers::CTPR_MS => {
                let long = if self.configuration.long_pointers { ctpr::LONG_POINTERS } else { 0 };
                let page = self.configuration.page >= registers::PAGE_64K;
                long | if page { ctpr::PAGE_64K } else { 0 }
            }
            registers::FAR => (self.global.fault_address >> 32) as u32,
            at if at == registers::FAR + 4 => self.global.fault_address as u32,
            registers::CSTA => {
                let busy = self.decos.iter().any(Option::is_some);
                let big = if self.configuration.big_endian { csta::BIG_ENDIAN } else { 0 };
                big | if busy { csta::BUSY } else { csta::IDLE }
            }
            registers::CCBVID => u32::from(era) << 24,
            registers::CHAVID_LS if old => {
                u32::from(aes.unwrap_or(0)) << cha::AES
                    | u32::from(des) << cha::DES
                    | u32::from(md.unwrap_or(0)) << cha::MD
                    | if rng { 4 << cha::RNG } else { 0 }
                    | u32::from(pk.unwrap_or(0) & 0xF) << cha::PK
            }
            registers::CHANUM_MS => {
                (self.decos.len() as u32 & 0xF) << 24 | (self.rings.len() as u32) << 28
            }
            registers::CHANUM_LS if old => {
                numbers.iter().fold(0, |word, (shift, has)| word | u32::from(*has) << shift)
            }
            registers::CAAMVID_MS => version,
            _ => 0,
        }
    }

    pub(super) fn set_register(&mut self, offset: u32, value: u32, now: u64) {
        let (block, within, ring) = self.place(offset);
        match ring {
            Some(number) => {
                let ring = &mut self.rings[number];
                ring.write(within, value, now, &self.timing);
                if within == jr::IRJAR {
                    ring.check_bases(&self.configuration);
                    let deepest = &mut self.totals.deepest;
                    *deepest = (*deepest).max(ring.pending + ring.in_flight + ring.full);
                }
            }
            None if block == DECO_BLOCK => self.set_deco_register(within, value, now),
            None if block == 0 => self.set_global_register(within, value),
            None => {}
        }
    }

    fn set_deco_register(&mut self, within: u32, value: u32, now: u64) {
        match within {
            at if (deco::BUFFER..deco::BUFFER + 4 * WORDS as u32).contains(&at) => {
                self.global.buffer[((at - deco::BUFFER) / 4) as usize] = value;
            }
            deco::CONTROL
                if value & deco::RUN != 0 && self.global.granted && self.decos[0].is_none() =>
            {
                (self.global.runs, self.global.status) = (true, 0);
                let origin = Origin::Software;
                self.decos[0] = Some(Running { origin, due: Some(now), work: None, fault: None });
            }
            _ => {}
        }
    }

    fn set_global_register(&mut self, within: u32, value: u32) {
        match within & !3 {
            registers::MCFGR => {
                if value & mcfgr::RESET != 0 {
                    self.reset();
                }
                self.global.mcfgr = value & !(mcfgr::RESET | mcfgr::DMA_RESET);
            }
            registers::DECORR => self.global.granted = value & REQUEST != 0,
            registers::RDSTA => {}
            at if at < registers::VREG => {
                self.global.plain.insert(at, value);
            }
            _ => {}
        }
    }
}
