//! Boards: the firmware on an emulated board behind a serial line and on simulated boards, and images for
//! boards that cannot be emulated here.

mod answers;
mod images;
mod line;
mod simulated;

use cpb_test_support::skip;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The image called `name` if the images were built; otherwise the test `test` is skipped.
fn image(test: &str, name: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("CPB_FIRMWARE_IMAGES") else {
        skip(&format!("board::{test}"), "images are built by `make test`");
        return None;
    };
    let path = PathBuf::from(folder).join(format!("{name}.elf"));
    assert!(path.is_file(), "{} was built", path.display());
    Some(path)
}

/// QEMU's mps2-an500 running an image, with its UART on a pseudo-terminal.
struct Emulated {
    qemu: Child,
    /// The terminal's device.
    device: String,
}

impl Emulated {
    fn start(image: &std::path::Path) -> Emulated {
        let mut qemu = Command::new("qemu-system-arm")
            .args(["-M", "mps2-an500", "-display", "none", "-monitor", "none", "-serial", "pty"])
            .arg("-kernel")
            .arg(image)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("qemu-system-arm, which scripts/setup.sh installs");
        let mut said = String::new();
        let stdout = qemu.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut said).expect("what QEMU says");
        let device = said.split_whitespace().find(|word| word.starts_with("/dev/"));
        Emulated { device: device.unwrap_or_else(|| panic!("QEMU says: {said}")).to_owned(), qemu }
    }

    /// Removes the device, like pulling the plug.
    fn unplug(&mut self) {
        self.qemu.kill().expect("a child of ours");
        self.qemu.wait().expect("a child of ours");
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        // It may have been unplugged already.
        _ = self.qemu.kill();
        _ = self.qemu.wait();
    }
}
