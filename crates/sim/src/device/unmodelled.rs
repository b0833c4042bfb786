//! A block that the chip has but the simulator does not model: an engine whose results must not be invented.
//! A program that uses it is stopped with a message.

use crate::chip::DeviceDescription;

pub(super) struct Unmodelled {
    name: String,
}

impl Unmodelled {
    pub(super) fn new(description: &DeviceDescription) -> Self {
        Unmodelled { name: description.name.clone() }
    }

    /// The name of the device.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use crate::chip::Chip;
    use crate::fault::{Fault, Stop};
    use crate::image::{Image, Segment};
    use crate::machine::Machine;

    /// The result of reading the word at `address` on the given chip.
    fn reading(chip: &str, address: u32) -> (Stop, String) {
        // The initial stack pointer, the address of the first instruction; ldr r0, =address; ldr r1, [r0].
        let words = [0x2000_8000, 9, 0x6801_4801, 0xBF00_BF00, address];
        let bytes = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        let segments = vec![Segment { address: 0, bytes }];
        let image = Image { entry: 8, segments, symbols: Vec::new() };
        let mut machine = Machine::new(Chip::named(chip).expect("a built-in chip"));
        image.load(&mut machine).expect("it fits");
        machine.boot(&image);
        machine.set_max_cycles(1000);
        let stop = machine.run();
        (stop, machine.diagnose(stop, &image))
    }

    #[test]
    fn an_engine_without_a_model_is_named_and_not_made_up() {
        let (stop, words) = reading("imxrt1060", 0x403E_C010);
        assert_eq!(stop, Stop::Unmodelled(0x403E_C010), "{words}");
        let first = words.lines().next().unwrap_or_default();
        assert!(first.contains("not modelled") && first.contains("BEE"), "{first}");
        // A register block that stores values, and an address without a device.
        assert!(!matches!(reading("imxrt1170", 0x400C_C000).0, Stop::Unmodelled(_)));
        assert_eq!(reading("imxrt1060", 0x5000_0000).0, Stop::Fault(Fault::Bus(0x5000_0000)));
    }
}
