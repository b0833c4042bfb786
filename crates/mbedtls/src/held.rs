//! Contexts that are allocated on the heap.

use alloc::alloc::{alloc, dealloc, handle_alloc_error};
use core::alloc::Layout;
use core::marker::PhantomData;
use core::ptr::NonNull;

/// A library that has contexts of type `T`.
pub trait Has<T> {
    /// Size and alignment of a context. The size is never 0.
    const LAYOUT: Layout;

    /// Initialises a context at `context`.
    ///
    /// # Safety
    /// There must be room for a context.
    unsafe fn init(context: *mut T);

    /// Frees what the context holds.
    ///
    /// # Safety
    /// The context must be initialised.
    unsafe fn free(context: *mut T);
}

/// An initialised context that never moves and is freed when it is dropped.
pub struct Held<L: Has<T>, T> {
    context: NonNull<T>,
    library: PhantomData<L>,
}

impl<L: Has<T>, T> Held<L, T> {
    /// Allocates and initialises a context.
    #[allow(clippy::new_without_default, reason = "nothing about it is usual")]
    pub fn new() -> Self {
        // SAFETY: the size of a context is not 0.
        let memory = unsafe { alloc(L::LAYOUT) };
        let Some(context) = NonNull::new(memory.cast()) else { handle_alloc_error(L::LAYOUT) };
        // SAFETY: the memory has room for a context and is its final place.
        unsafe { L::init(context.as_ptr()) };
        Held { context, library: PhantomData }
    }

    /// The address of the context.
    #[inline]
    pub fn get(&mut self) -> *mut T {
        self.context.as_ptr()
    }

    /// Replaces the context with a new one in the same place.
    #[inline]
    pub fn renew(&mut self) {
        // SAFETY: the context was initialised; after it is freed, it may be initialised again.
        unsafe {
            L::free(self.get());
            L::init(self.get());
        }
    }
}

impl<L: Has<T>, T> Drop for Held<L, T> {
    fn drop(&mut self) {
        // SAFETY: it was allocated and initialised in `new`, and is freed once.
        unsafe {
            L::free(self.get());
            dealloc(self.get().cast(), L::LAYOUT);
        }
    }
}
