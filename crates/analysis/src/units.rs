//! Units of figures, as types.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::ops::{Div, Mul, Sub};

/// A number with a unit.
pub trait Unit: Copy {
    /// The number `value` of this unit.
    fn of(value: f64) -> Self;
    /// The bare number.
    fn number(self) -> f64;
}

macro_rules! units {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl Unit for $name {
            fn of(value: f64) -> Self {
                $name(value)
            }
            fn number(self) -> f64 {
                self.0
            }
        }

        impl $name {
            /// Compares like [`f64::total_cmp`].
            pub fn total_cmp(&self, other: &$name) -> Ordering {
                self.0.total_cmp(&other.0)
            }
        }

        /// Multiplies the value and keeps the unit.
        impl Mul<f64> for $name {
            type Output = $name;
            fn mul(self, factor: f64) -> $name {
                $name(self.0 * factor)
            }
        }

        /// The difference.
        impl Sub for $name {
            type Output = $name;
            fn sub(self, other: $name) -> $name {
                $name(self.0 - other.0)
            }
        }

        /// The ratio of the two.
        impl Div for $name {
            type Output = f64;
            fn div(self, other: $name) -> f64 {
                self.0 / other.0
            }
        })*
    };
}

units! {
    /// Wall-clock time in nanoseconds.
    Nanoseconds;
    /// Cycles of the core at its effective clock.
    Cycles;
    /// Cycles of the core at its effective clock, per byte of message.
    CyclesPerByte;
    /// Instructions that a CPU retired.
    Instructions;
    /// Instructions that a CPU retired, per byte of message.
    InstructionsPerByte;
    /// Bytes of message.
    Bytes;
    /// Bytes of message per thousand cycles: thousands of bytes a second per MHz.
    BytesPerKilocycle;
    /// Bytes of message per second.
    BytesPerSecond;
    /// Thousands of bytes of message per second, as in logs.
    KilobytesPerSecond;
    /// Operations per second.
    OperationsPerSecond;
    /// Time in seconds.
    Seconds;
    /// CPU time in seconds per 1,000,000 bytes of message.
    SecondsPerMegabyte;
    /// Clock cycles per second.
    Hertz;
    /// Millions of clock cycles per second, as in logs.
    Megahertz;
    /// A ratio of two figures of one unit.
    Times;
}

/// A message length.
impl From<u32> for Bytes {
    fn from(bytes: u32) -> Bytes {
        Bytes(bytes.into())
    }
}

impl From<KilobytesPerSecond> for BytesPerSecond {
    fn from(kilobytes: KilobytesPerSecond) -> BytesPerSecond {
        BytesPerSecond(kilobytes.0 * 1e3)
    }
}

impl From<Megahertz> for Hertz {
    fn from(megahertz: Megahertz) -> Hertz {
        Hertz(megahertz.0 * 1e6)
    }
}

/// Two bounds in one unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval<U> {
    /// The lower bound.
    pub low: U,
    /// The upper bound.
    pub high: U,
}
