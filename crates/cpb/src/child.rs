//! Processes that cpb starts: why one did not start, how it ended, and the last lines of its standard error.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Mutex;

/// The folder with a name for each open file of this process.
pub(crate) const OPEN_FILES: &str = "/proc/self/fd";

/// Why a runner did not start, in words.
pub(crate) fn why_not_started(path: &Path, error: &std::io::Error) -> String {
    // The file itself exists: the dynamic linker that it asks for was not found.
    if path.starts_with(OPEN_FILES) && error.kind() == std::io::ErrorKind::NotFound {
        return "this system has no glibc to load the libraries".to_owned();
    }
    format!("cannot start {}: {error}", path.display())
}

/// How a process ended, in words.
pub(crate) fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with status {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}{}", signal_name(signal)),
        (None, None) => "ended".to_owned(),
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => " (SIGSEGV, a bad memory access)",
        libc::SIGILL => " (SIGILL, an instruction that this CPU does not support)",
        libc::SIGBUS => " (SIGBUS)",
        libc::SIGABRT => " (SIGABRT)",
        libc::SIGFPE => " (SIGFPE)",
        libc::SIGKILL => " (SIGKILL, possibly out of memory)",
        _ => "",
    }
}

/// Reads until the end of the stream and keeps the last few lines.
pub(crate) fn read_errors(mut stderr: impl Read, tail: &Mutex<String>) {
    const KEPT: usize = 2000;
    let mut bytes = [0; 1024];
    while let Ok(count @ 1..) = stderr.read(&mut bytes) {
        let Ok(mut tail) = tail.lock() else { return };
        tail.push_str(&String::from_utf8_lossy(&bytes[..count]));
        let excess = tail.len().saturating_sub(KEPT);
        let cut = (excess..=tail.len()).find(|at| tail.is_char_boundary(*at)).unwrap_or(0);
        tail.drain(..cut);
    }
}
