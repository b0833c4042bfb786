//! Two heaps: what is small, such as a cipher's context, lies beside the stack, where the image was
//! told to put it; what is big is never touched while the clock runs and lies in bulk memory.
//!
//! Nothing of ours is allocated inside the timed region: sessions are open before the clock starts. The
//! library's big numbers are, and lie among what is small, however long they are.

use crate::memory;
use core::alloc::{GlobalAlloc, Layout};
use core::cell::RefCell;
use core::ptr::{self, NonNull};
use linked_list_allocator::Heap;

/// From here on an allocation is big. The largest context of Mbed TLS 2.28 has 392 bytes.
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

/// Gives the heaps their memory. To be called once, before anything is allocated.
pub(crate) fn init() {
    let give = |heap: &RefCell<Heap>, (start, size): (*mut u8, usize)| {
        // SAFETY: the linker script reserves this memory for nothing else, and it is given once.
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

// SAFETY: each allocation is a piece of one heap's memory, and goes back to that heap, which its size
// names.
unsafe impl GlobalAlloc for Heaps {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let heap = self.of(layout.size());
        heap.borrow_mut().allocate_first_fit(layout).map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if let Some(memory) = NonNull::new(memory) {
            // SAFETY: came from `alloc` with this layout.
            unsafe { self.of(layout.size()).borrow_mut().deallocate(memory, layout) };
        }
    }
}

/// What precedes a block that C asked for: its size, for C does not tell it again.
const HEAD: usize = 8;

fn block(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(HEAD)?, HEAD).ok()
}

/// Zeroed memory for C, of the small heap; null if there is none left.
#[unsafe(no_mangle)]
extern "C" fn cpb_calloc(count: usize, size: usize) -> *mut u8 {
    let Some((bytes, layout)) = count.checked_mul(size).and_then(|n| Some((n, block(n)?))) else {
        return ptr::null_mut();
    };
    // SAFETY: the layout has a size; the head lies inside the block.
    unsafe {
        let allocated = HEAPS.small.borrow_mut().allocate_first_fit(layout);
        let Ok(start) = allocated.map(NonNull::as_ptr) else { return ptr::null_mut() };
        start.write_bytes(0, layout.size());
        start.cast::<usize>().write(bytes);
        start.add(HEAD)
    }
}

/// Takes back what [`cpb_calloc`] gave; null is nothing.
///
/// # Safety
/// `memory` came from there and is not used any more.
#[unsafe(no_mangle)]
unsafe extern "C" fn cpb_free(memory: *mut u8) {
    if memory.is_null() {
        return;
    }
    // SAFETY: the head of a block that `cpb_calloc` made is there.
    unsafe {
        let start = NonNull::new_unchecked(memory.sub(HEAD));
        if let Some(layout) = block(start.cast::<usize>().read()) {
            HEAPS.small.borrow_mut().deallocate(start, layout);
        }
    }
}
