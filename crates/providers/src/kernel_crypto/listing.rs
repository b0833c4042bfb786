//! `/proc/crypto`, as `crypto/proc.c` of Linux writes it: blocks of `key : value`, an empty line
//! after each.

use super::{Driver, Selftest};

/// The drivers that `text` lists. Accepts any text: unknown lines are skipped, and a block without a driver's
/// name is ignored.
pub fn parse(text: &str) -> Vec<Driver> {
    let mut drivers = Vec::new();
    let mut driver = Driver::default();
    for line in text.lines().chain([""]) {
        if line.trim().is_empty() {
            let driver = std::mem::take(&mut driver);
            if !driver.driver.is_empty() {
                drivers.push(driver);
            }
        } else if let Some((key, value)) = line.split_once(':') {
            set(&mut driver, key.trim(), value.trim());
        }
    }
    drivers
}

fn set(driver: &mut Driver, key: &str, value: &str) {
    let keys = driver.key_bytes.unwrap_or((0, u32::MAX));
    match key {
        "name" => driver.name = value.to_owned(),
        "driver" => driver.driver = value.to_owned(),
        // `module_name` in include/linux/module.h returns this for built-in code.
        "module" => driver.module = (value != "kernel").then(|| value.to_owned()),
        "priority" => driver.priority = value.parse().unwrap_or(0),
        "refcnt" => driver.references = value.parse().unwrap_or(0),
        "selftest" if value == "passed" => driver.selftest = Selftest::Passed,
        "internal" => driver.internal = value == "yes",
        "type" => driver.kind = value.to_owned(),
        "async" => driver.asynchronous = Some(value == "yes"),
        "min keysize" => driver.key_bytes = value.parse().ok().map(|least| (least, keys.1)),
        "max keysize" => driver.key_bytes = value.parse().ok().map(|most| (keys.0, most)),
        _ => {}
    }
}
