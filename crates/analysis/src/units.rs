//! Units of figures, as types.

use serde::Serialize;

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
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl Unit for $name {
            fn of(value: f64) -> Self {
                $name(value)
            }
            fn number(self) -> f64 {
                self.0
            }
        })*
    };
}

units! {
    /// Wall-clock time in nanoseconds.
    Nanoseconds;
    /// Cycles of the core's effective clock.
    Cycles;
    /// Cycles of the core's effective clock for each byte of message.
    CyclesPerByte;
    /// Bytes of message.
    Bytes;
    /// Bytes of message in a second.
    BytesPerSecond;
    /// Clock cycles in a second.
    Hertz;
    /// A ratio of two figures of one unit.
    Times;
}

/// Two bounds of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval<U> {
    /// The lower bound.
    pub low: U,
    /// The upper bound.
    pub high: U,
}
