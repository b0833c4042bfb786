//! Contexts in memory of their own.

use alloc::alloc::{alloc, dealloc, handle_alloc_error};
use core::alloc::Layout;
use core::marker::PhantomData;
use core::ptr::NonNull;

/// A library that has contexts of type `T`.
pub trait Has<T> {
    /// Size and alignment of one: never 0.
    const LAYOUT: Layout;

    /// Makes one where there is room for it.
    ///
    /// # Safety
    /// There is.
    unsafe fn init(context: *mut T);

    /// Frees what it holds.
    ///
    /// # Safety
    /// It was initialised.
    unsafe fn free(context: *mut T);
}

/// A context that was initialised, stays where it is, and is freed when it is dropped.
pub struct Held<L: Has<T>, T> {
    context: NonNull<T>,
    library: PhantomData<L>,
}

impl<L: Has<T>, T> Held<L, T> {
    /// A new one.
    #[allow(clippy::new_without_default, reason = "nothing about it is usual")]
    pub fn new() -> Self {
        // SAFETY: a context is not without size.
        let memory = unsafe { alloc(L::LAYOUT) };
        let Some(context) = NonNull::new(memory.cast()) else { handle_alloc_error(L::LAYOUT) };
        // SAFETY: room for a context, in its final place.
        unsafe { L::init(context.as_ptr()) };
        Held { context, library: PhantomData }
    }

    /// Where it is.
    #[inline]
    pub fn get(&mut self) -> *mut T {
        self.context.as_ptr()
    }

    /// Makes another one in its place.
    #[inline]
    pub fn renew(&mut self) {
        // SAFETY: was initialised; what was freed may be initialised again.
        unsafe {
            L::free(self.get());
            L::init(self.get());
        }
    }
}

impl<L: Has<T>, T> Drop for Held<L, T> {
    fn drop(&mut self) {
        // SAFETY: was allocated and initialised in `new`, is freed once.
        unsafe {
            L::free(self.get());
            dealloc(self.get().cast(), L::LAYOUT);
        }
    }
}
