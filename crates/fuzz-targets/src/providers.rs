//! The kernel's lists.

use cpb_providers::{interrupts, kernel_crypto};

/// Takes any bytes as a list from the kernel: `/proc/crypto`, a NETLINK_CRYPTO dump, `/proc/interrupts`.
pub fn kernel_lists(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut drivers = kernel_crypto::parse(&text);
    assert!(drivers.iter().all(|driver| !driver.driver.is_empty()));
    for line in interrupts::parse(&text) {
        assert!(!line.id.contains('\n'));
    }
    let mut reported = Vec::new();
    let _ = kernel_crypto::parse_dump(bytes, &mut reported);
    let most = drivers.len() + reported.len();
    kernel_crypto::join(&mut drivers, reported);
    assert!(drivers.len() <= most && drivers.iter().all(|driver| !driver.driver.is_empty()));
    for (_, name) in kernel_crypto::kernel_names() {
        let found = kernel_crypto::candidates(&drivers, name);
        assert!(found.is_sorted_by(|a, b| a.priority >= b.priority));
    }
}
