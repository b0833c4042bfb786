//! The memory protection unit (B3.5), and the default memory map that applies while it is off.

/// The permitted uses of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attributes {
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    pub(crate) executable: bool,
    pub(crate) cacheable: bool,
}

/// One region's registers.
#[derive(Clone, Copy, Debug, Default)]
struct MpuRegion {
    base: u32,
    attributes: u32,
}

const REGIONS: usize = 16;

/// The position of an address relative to a region.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Inside,
    /// In a disabled subregion.
    Hole,
    Outside,
}

/// The registers.
#[derive(Default)]
pub(crate) struct Mpu {
    control: u32,
    number: u32,
    regions: [MpuRegion; REGIONS],
}

impl Mpu {
    pub(crate) fn read(&self, offset: u32) -> u32 {
        let region = self.regions[self.number as usize % REGIONS];
        match offset {
            0x00 => (REGIONS as u32) << 8,
            0x04 => self.control,
            0x08 => self.number,
            0x0C | 0x14 | 0x1C | 0x24 => region.base | self.number,
            0x10 | 0x18 | 0x20 | 0x28 => region.attributes,
            _ => 0,
        }
    }

    pub(crate) fn write(&mut self, offset: u32, value: u32) {
        match offset {
            0x04 => self.control = value & 7,
            0x08 => self.number = value & 0xF,
            0x0C | 0x14 | 0x1C | 0x24 => {
                if value & 0x10 != 0 {
                    self.number = value & 0xF;
                }
                self.regions[self.number as usize % REGIONS].base = value & !0x1F;
            }
            0x10 | 0x18 | 0x20 | 0x28 => {
                self.regions[self.number as usize % REGIONS].attributes = value;
            }
            _ => {}
        }
    }

    /// The attributes at `address`, and the range around it within `first..=last` that has the same
    /// attributes.
    pub(crate) fn look_up(
        &self,
        address: u32,
        privileged: bool,
        handler: bool,
        (mut first, mut last): (u32, u32),
    ) -> (Attributes, (u32, u32)) {
        // HardFault and NMI handlers run without the MPU unless HFNMIENA is set.
        let on = self.control & 1 != 0 && (!handler || self.control & 2 != 0);
        let mut found = self.background(address, on, privileged);
        for region in self.regions.iter().filter(|_| on) {
            let Some((low, high, inside)) = region.covers(address) else { continue };
            if inside != Place::Outside {
                (first, last) = (first.max(low), last.min(high));
                if inside == Place::Inside {
                    found = region.attributes(privileged);
                }
            } else if high < address {
                first = first.max(high + 1);
            } else {
                last = last.min(low - 1);
            }
        }
        // The default map changes every half GiB.
        (found, (first.max(address & !0x1FFF_FFFF), last.min(address | 0x1FFF_FFFF)))
    }

    /// The default map. An MPU that is `on` hides it, except from privileged code with PRIVDEFENA.
    fn background(&self, address: u32, on: bool, privileged: bool) -> Attributes {
        let device = matches!(address >> 29, 2 | 5 | 6 | 7);
        let hidden = on && !(privileged && self.control & 4 != 0);
        Attributes {
            readable: !hidden,
            writable: !hidden,
            executable: !hidden && !device,
            cacheable: !device,
        }
    }
}

impl MpuRegion {
    /// The range around `address`, and where it is: the subregion if any are disabled, otherwise the whole
    /// region. `None` if the region is disabled.
    fn covers(self, address: u32) -> Option<(u32, u32, Place)> {
        if self.attributes & 1 == 0 {
            return None;
        }
        let bits = (self.attributes >> 1 & 0x1F).max(4) + 1;
        let size = 1u64 << bits;
        let base = u64::from(self.base) & !(size - 1);
        let (low, high) = (base as u32, (base + size - 1) as u32);
        if !(low..=high).contains(&address) {
            return Some((low, high, Place::Outside));
        }
        let disabled = self.attributes >> 8 & 0xFF;
        if bits < 8 || disabled == 0 {
            return Some((low, high, Place::Inside));
        }
        let eighth = (size / 8) as u32;
        let index = (address - low) / eighth;
        let (begin, end) = (low + index * eighth, low + index * eighth + (eighth - 1));
        let place = if disabled >> index & 1 == 0 { Place::Inside } else { Place::Hole };
        Some((begin, end, place))
    }

    fn attributes(self, privileged: bool) -> Attributes {
        let (readable, writable) = match (self.attributes >> 24 & 7, privileged) {
            (1, privileged) => (privileged, privileged),
            (2, privileged) => (true, privileged),
            (3, _) => (true, true),
            (5, privileged) => (privileged, false),
            (6 | 7, _) => (true, false),
            _ => (false, false),
        };
        let (tex, c, b) = (
            self.attributes >> 19 & 7,
            self.attributes >> 17 & 1 != 0,
            self.attributes >> 16 & 1 != 0,
        );
        let cacheable = match tex {
            0 => c,
            1 => c && b,
            // TEX holds the outer policy. The inner policy, in C and B, is the one that counts here.
            4.. => c || b,
            _ => false,
        };
        let executable = readable && self.attributes >> 28 & 1 == 0;
        Attributes { readable, writable, executable, cacheable }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_over_another_wins_and_bounds_what_is_remembered() {
        let mut mpu = Mpu::default();
        mpu.write(0x0C, 0x2020_0000 | 0x10);
        // 256 KiB, read and write for all, normal memory without caching.
        mpu.write(0x10, 3 << 24 | 1 << 19 | 17 << 1 | 1);
        mpu.write(0x04, 5);
        let all = (0x2000_0000, 0x2FFF_FFFF);
        let (inside, range) = mpu.look_up(0x2020_0010, true, false, all);
        assert!(inside.readable && inside.writable && !inside.cacheable);
        assert_eq!(range, (0x2020_0000, 0x2023_FFFF));
        let (behind, range) = mpu.look_up(0x2024_0000, true, false, all);
        assert!(behind.cacheable);
        assert_eq!(range, (0x2024_0000, 0x2FFF_FFFF));
    }

    #[test]
    fn without_a_background_only_regions_can_be_used() {
        let mut mpu = Mpu::default();
        mpu.write(0x04, 1);
        let (found, _) = mpu.look_up(0x2000_0000, true, false, (0, u32::MAX));
        assert!(!found.readable && !found.executable);
    }

    #[test]
    fn a_handler_of_hard_faults_runs_without_it() {
        let mut mpu = Mpu::default();
        mpu.write(0x04, 1);
        let in_handler = |mpu: &Mpu| mpu.look_up(0x3000_0000, true, true, (0, u32::MAX)).0;
        assert!(in_handler(&mpu).executable);
        mpu.write(0x04, 1 | 2);
        assert!(!in_handler(&mpu).executable, "HFNMIENA keeps it on");
    }
}
