//! Two heaps. Small allocations, such as a cipher's context, are next to the stack, where the image was
//! configured to place it. Big allocations are never accessed while the clock runs, and are in bulk memory.
//!
//! The firmware's own code allocates nothing inside the timed region: sessions are opened before the clock
//! starts. The library does allocate its big numbers there. They come from the small heap, whatever their
//! length.

use crate::memory;
use core::alloc::{GlobalAlloc, Layout};
use core::cell::RefCell;
use core::ptr::{self, NonNull};
use linked_list_allocator::Heap;

/// Allocations of at least this size are big. The largest context of Mbed TLS 2.28 has 392 bytes.
const BIG: usize = 1024;

struct Heaps {
    small: RefCell<Heap>,
    bulk: RefCell<Heap>,
}

// SAFETY: there is one core, one thread, and no interrupt handler allocates.
unsafe impl Sync for Heaps {}

#[global_allocator]
static HEAPS: Heaps =
    Heaps { small: RefCell::new(Heap::empty()), bulk: RefCell::new(Heap::empty()) };

/// Gives the heaps their memory. Must be called once, before any allocation.
pub(crate) fn init() {
    let give = |heap: &RefCell<Heap>, (start, size): (*mut u8, usize)| {
        // SAFETY: the linker script reserves this memory for the heap only, and it is given once.
        unsafe { heap.borrow_mut().init(start, size) };
    };
    give(&HEAPS.small, memory::heap());
    give(&HEAPS.bulk, memory::bulk());
}

impl Heaps {
    fn of(&self, size: usize) -> &RefCell<Heap> {
        if size < BIG { &self.small } else { &self.bulk }
    }
}

// SAFETY: each allocation is a part of one heap's memory and is returned to the same heap, which is selected
// by the size.
unsafe impl GlobalAlloc for Heaps {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let heap = self.of(layout.size());
        heap.borrow_mut().allocate_first_fit(layout).map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if let Some(memory) = NonNull::new(memory) {
            // SAFETY: `memory` came from `alloc` with this layout.
            unsafe { self.of(layout.size()).borrow_mut().deallocate(memory, layout) };
        }
    }
}

/// The header of a block for C contains the block's size, because C does not pass it to free.
const HEAD: usize = 8;

fn block(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(HEAD)?, HEAD).ok()
}

/// Allocates zeroed memory for C from the small heap. Returns null if none is left.
#[unsafe(no_mangle)]
extern "C" fn cpb_calloc(count: usize, size: usize) -> *mut u8 {
    let Some((bytes, layout)) = count.checked_mul(size).and_then(|n| Some((n, block(n)?))) else {
        return ptr::null_mut();
    };
    // SAFETY: the layout has a non-zero size, and the header is inside the block.
    unsafe {
        let allocated = HEAPS.small.borrow_mut().allocate_first_fit(layout);
        let Ok(start) = allocated.map(NonNull::as_ptr) else { return ptr::null_mut() };
        start.write_bytes(0, layout.size());
        start.cast::<usize>().write(bytes);
        start.add(HEAD)
    }
}

/// Frees memory from [`cpb_calloc`]. Null is ignored.
///
/// # Safety
/// `memory` must come from [`cpb_calloc`] and must not be used any more.
#[unsafe(no_mangle)]
unsafe extern "C" fn cpb_free(memory: *mut u8) {
    if memory.is_null() {
        return;
    }
    // SAFETY: the memory follows the header of a block made by `cpb_calloc`.
    unsafe {
        let start = NonNull::new_unchecked(memory.sub(HEAD));
        if let Some(layout) = block(start.cast::<usize>().read()) {
            HEAPS.small.borrow_mut().deallocate(start, layout);
        }
    }
}
