//! Measures how long the parts of `make test` take.

use std::time::{Duration, Instant};

/// The parts so far, in order.
#[derive(Default)]
pub(crate) struct Parts(Vec<(&'static str, Duration)>);

impl Parts {
    /// Runs one part, and prints its name as a heading.
    pub(crate) fn run<T>(&mut self, name: &'static str, part: impl FnOnce() -> T) -> T {
        println!("{}== {name}", if self.0.is_empty() { "" } else { "\n" });
        let start = Instant::now();
        let result = part();
        self.0.push((name, start.elapsed()));
        result
    }

    /// Splits the last part at `first` into two.
    pub(crate) fn divide(&mut self, names: [&'static str; 2], first: Duration) {
        if let Some((_, whole)) = self.0.pop() {
            let first = first.min(whole);
            self.0.extend([(names[0], first), (names[1], whole - first)]);
        }
    }

    /// A table of parts, with seconds and the share of all; longest first.
    pub(crate) fn table(&self) -> String {
        let whole: Duration = self.0.iter().map(|(_, time)| *time).sum();
        let mut parts = self.0.clone();
        parts.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        parts.push(("all", whole));
        let line = |(name, time): &(&str, Duration)| {
            let seconds = time.as_secs_f64();
            let share = 100.0 * seconds / whole.as_secs_f64().max(f64::MIN_POSITIVE);
            format!("{name:<24} {seconds:8.1} s {share:5.1} %\n")
        };
        parts.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_part_comes_first_and_all_of_them_last() {
        let mut parts = Parts(vec![("check", Duration::from_secs(30))]);
        parts.0.push(("cargo test", Duration::from_secs(70)));
        parts.divide(["building the tests", "running the tests"], Duration::from_secs(50));
        let table = "\
building the tests           50.0 s  50.0 %
check                        30.0 s  30.0 %
running the tests            20.0 s  20.0 %
all                         100.0 s 100.0 %
";
        assert_eq!(parts.table(), table);
    }

    #[test]
    fn a_part_that_ran_is_counted_and_gives_its_result() {
        let mut parts = Parts::default();
        assert_eq!(parts.run("sleep", || std::thread::sleep(Duration::from_millis(2))), ());
        assert!(parts.0[0].1 >= Duration::from_millis(2));
        assert_eq!(Parts::default().table(), "all                           0.0 s   0.0 %\n");
    }
}
