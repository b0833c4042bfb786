//! SysTick (B3.3). It counts core cycles, regardless of the clock selected in CSR.

#[derive(Default)]
pub(crate) struct SysTick {
    control: u32,
    reload: u32,
    /// The cycle at which the counter had its reload value.
    begun: u64,
    /// How often it had reached zero at the last query.
    seen: u64,
    /// How often it had reached zero when the interrupt was last raised.
    raised: u64,
}

impl SysTick {
    fn period(&self) -> u64 {
        u64::from(self.reload) + 1
    }

    fn is_on(&self) -> bool {
        self.control & 1 != 0 && self.reload != 0
    }

    /// How often the counter has reached zero by cycle `now`.
    fn zeros(&self, now: u64) -> u64 {
        if self.is_on() { (now.saturating_sub(self.begun) + 1) / self.period() } else { 0 }
    }

    pub(crate) fn read(&mut self, offset: u32, now: u64) -> u32 {
        match offset {
            0x0 => {
                let zeros = self.zeros(now);
                let flag = u32::from(zeros > self.seen) << 16;
                self.seen = zeros;
                self.control | flag
            }
            0x4 => self.reload,
            0x8 if self.is_on() => {
                let passed = now.saturating_sub(self.begun) % self.period();
                self.reload - passed as u32
            }
            0xC => 0x8000_0000,
            _ => 0,
        }
    }

    pub(crate) fn write(&mut self, offset: u32, value: u32, now: u64) {
        match offset {
            0x0 => {
                if value & 1 != 0 && self.control & 1 == 0 {
                    self.restart(now);
                }
                self.control = value & 7;
            }
            0x4 => self.reload = value & 0x00FF_FFFF,
            0x8 => self.restart(now),
            _ => {}
        }
    }

    fn restart(&mut self, now: u64) {
        self.begun = now + 1;
        (self.seen, self.raised) = (0, 0);
    }

    /// The cycle at which the next interrupt is due; `None` if interrupts are off.
    pub(crate) fn due(&self) -> Option<u64> {
        let on = self.is_on() && self.control & 2 != 0;
        on.then(|| self.begun + (self.raised + 1) * self.period() - 1)
    }

    /// Whether an interrupt is due at cycle `now`.
    pub(crate) fn tick(&mut self, now: u64) -> bool {
        if self.due().is_none_or(|due| now < due) {
            return false;
        }
        self.raised = self.zeros(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_down_and_reaches_zero_each_period() {
        let mut tick = SysTick::default();
        tick.write(4, 9, 0);
        tick.write(0, 7, 0);
        assert_eq!(tick.read(8, 1), 9);
        assert_eq!(tick.read(8, 10), 0);
        assert_eq!(tick.read(8, 11), 9);
        assert_eq!(tick.due(), Some(10));
        assert!(tick.tick(10) && !tick.tick(11));
        assert_eq!(tick.due(), Some(20));
        assert_eq!(tick.read(0, 12) >> 16, 1);
        assert_eq!(tick.read(0, 13) >> 16, 0);
    }
}
