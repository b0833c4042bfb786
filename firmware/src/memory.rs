//! The placement chosen by the linker, and the stack's depth.

use crate::startup::PAINT;
use core::ptr::addr_of;

#[allow(dead_code, reason = "boards differ in what they need of it")]
mod board {
    include!("../build/memory.rs");
    #[cfg(feature = "imxrt1060-evk")]
    include!("../boards/imxrt1060-evk/memory.rs");
    #[cfg(feature = "imxrt1170-evk")]
    include!("../boards/imxrt1170-evk/memory.rs");
    #[cfg(feature = "mps2-an500")]
    include!("../boards/mps2-an500/memory.rs");
}
#[cfg(feature = "imxrt")]
pub(crate) use board::{MEMORY, Region};

unsafe extern "C" {
    static mut __stack: u32;
    static mut __stack_top: u32;
    static mut __heap: u8;
    static mut __heap_end: u8;
    static mut __bulk: u8;
    static mut __bulk_end: u8;
    static mut __buffers: u8;
    static mut __buffers_end: u8;
    static __sizes_text: u8;
    static __sizes_rodata: u8;
    static __sizes_data: u8;
    static __sizes_bss: u8;
}

/// Sizes of the image's sections, in bytes.
pub(crate) struct Sizes {
    /// Code, including the vectors and the startup code.
    pub(crate) text: usize,
    /// Constants.
    pub(crate) rodata: usize,
    /// Variables with an initial value.
    pub(crate) data: usize,
    /// Variables initialised to zero.
    pub(crate) bss: usize,
}

/// The sizes counted by the linker. The address of such a symbol is the number.
pub(crate) fn sizes() -> Sizes {
    Sizes {
        text: addr_of!(__sizes_text) as usize,
        rodata: addr_of!(__sizes_rodata) as usize,
        data: addr_of!(__sizes_data) as usize,
        bss: addr_of!(__sizes_bss) as usize,
    }
}

/// The first address and the length of the memory between two symbols.
fn between(start: *mut u8, end: *mut u8) -> (*mut u8, usize) {
    (start, end as usize - start as usize)
}

/// The memory of small allocations.
pub(crate) fn heap() -> (*mut u8, usize) {
    between(&raw mut __heap, &raw mut __heap_end)
}

/// The memory of big allocations.
pub(crate) fn bulk() -> (*mut u8, usize) {
    between(&raw mut __bulk, &raw mut __bulk_end)
}

/// The memory for messages and outputs while they are timed.
///
/// # Safety
/// The memory returned by an earlier call must not be used any more.
pub(crate) unsafe fn buffers() -> &'static mut [u8] {
    let (start, size) = between(&raw mut __buffers, &raw mut __buffers_end);
    // SAFETY: the linker script reserves this memory for nothing else, bytes may have any value, and the
    // caller guarantees that this is the only slice of it.
    unsafe { core::slice::from_raw_parts_mut(start, size) }
}

/// Bytes below the stack pointer that are not painted, because the painting function uses them.
const MARGIN: usize = 256;

/// Paints the unused stack, and returns the address of the current stack pointer.
#[inline(never)]
pub(crate) fn paint_stack() -> usize {
    let here = cortex_m::register::msp::read() as usize;
    let mut place = &raw mut __stack;
    while (place as usize) < here - MARGIN {
        // SAFETY: this is inside the stack and below everything that is in use, including this function's
        // frame. Interrupts use the stack meanwhile only for pushing and popping.
        unsafe {
            place.write_volatile(PAINT);
            place = place.add(1);
        }
    }
    here
}

/// The greatest depth of the stack below `since` since it was painted, in bytes. The first 256 bytes are not
/// detected.
pub(crate) fn stack_depth(since: usize) -> u32 {
    let mut place = &raw const __stack;
    let top = &raw const __stack_top;
    // SAFETY: reads words of the stack, up to its end.
    while place < top && unsafe { place.read_volatile() } == PAINT {
        // SAFETY: stays within the stack.
        place = unsafe { place.add(1) };
    }
    since.saturating_sub(place as usize) as u32
}
