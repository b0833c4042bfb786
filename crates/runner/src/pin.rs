//! Thread affinity.

use std::io;

/// Returns the CPUs that this thread may run on.
///
/// # Errors
/// Returns an error if the system call fails.
pub fn allowed() -> io::Result<Vec<usize>> {
    let mut set = empty();
    // SAFETY: `set` is ours and of the size given; 0 is the calling thread.
    let status = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &mut set) };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the index is below the set's size in bits.
    Ok((0..libc::CPU_SETSIZE as usize)
        .filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &set) })
        .collect())
}

/// Pins the calling thread to `cpu`.
///
/// # Errors
/// Returns an error if the system call fails: EINVAL if the CPU does not exist, or if this process may not use it.
pub fn pin(cpu: usize) -> io::Result<()> {
    if cpu >= libc::CPU_SETSIZE as usize {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let mut set = empty();
    // SAFETY: the index is below the set's size in bits.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    // SAFETY: `set` is ours and of the size given; 0 is the calling thread.
    match unsafe { libc::sched_setaffinity(0, size_of_val(&set), &set) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The CPU that the calling thread runs on now; `None` if the system does not say.
pub(crate) fn current() -> Option<usize> {
    // SAFETY: the call has no arguments and no other effect.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
}

fn empty() -> libc::cpu_set_t {
    // SAFETY: a CPU set is an array of integers, for which all zeros is the empty set.
    unsafe { core::mem::zeroed() }
}
