//! C libraries of the system's, loaded when a provider is opened, and the tables of their functions.
//!
//! A process has one library of a kind, and one table for it. A call through it costs what any call
//! into a shared library costs: its address comes from a fixed place.

use crate::Unavailable;
use core::ffi::{CStr, c_void};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicPtr, Ordering};
use cpb_core::{Error, Unsupported};
use std::ffi::CString;

/// Declares functions of a C library, in one of two ways.
///
/// `loaded: fn f();` makes `f` callable; `SLOTS` is the table that [`Library::fill`] fills. A function
/// that the library lacks answers as C functions do that fail: with null or 0.
///
/// `loaded as "prefix_": fn f();` is the same for what the library calls `prefix_f`, and `f` is one that C
/// can call: it may be handed to the library.
///
/// `linked or loaded as Trait: fn f();` makes `f` a function of `Trait`, which has two types: `Linked`,
/// whose functions are those that cpb was linked with, called directly, and `Loaded`, whose table is
/// `loaded::SLOTS`.
macro_rules! c_functions {
    (linked or loaded as $trait:ident: $($(#[$about:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)+) => {
        /// The functions, wherever they come from. All keep the library's own terms.
        pub(crate) trait $trait: Copy {
            $($(#[$about])* unsafe fn $name($($argument: $type),*) $(-> $result)?;)+
        }

        /// Those that cpb was linked with.
        #[cfg(feature = "openssl")]
        #[derive(Clone, Copy)]
        pub(crate) struct Linked;

        #[cfg(feature = "openssl")]
        unsafe extern "C" {
            $($(#[$about])* pub(crate) fn $name($($argument: $type),*) $(-> $result)?;)+
        }

        #[cfg(feature = "openssl")]
        impl $trait for Linked {
            $(
                #[inline(always)]
                unsafe fn $name($($argument: $type),*) $(-> $result)? {
                    // SAFETY: as promised by the caller.
                    unsafe { $name($($argument),*) }
                }
            )+
        }

        /// Those of a library that is loaded.
        #[derive(Clone, Copy)]
        pub(crate) struct Loaded;

        /// Their table.
        pub(crate) mod loaded {
            use super::*;
            $crate::loaded::c_functions! { loaded:
                $($(#[$about])* fn $name($($argument: $type),*) $(-> $result)?;)+
            }
        }

        impl $trait for Loaded {
            $(
                #[inline(always)]
                unsafe fn $name($($argument: $type),*) $(-> $result)? {
                    // SAFETY: as promised by the caller.
                    unsafe { loaded::$name($($argument),*) }
                }
            )+
        }
    };
    (loaded: $($functions:tt)+) => {
        $crate::loaded::c_functions! { @table "", "Rust": $($functions)+ }
    };
    (loaded as $prefix:literal: $($functions:tt)+) => {
        $crate::loaded::c_functions! { @table $prefix, "C": $($functions)+ }
    };
    (@table $prefix:literal, $abi:literal: $($(#[$about:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)+) => {
        $(
            $(#[$about])*
            #[inline(always)]
            pub(crate) unsafe extern $abi fn $name($($argument: $type),*) $(-> $result)? {
                let function = addresses::$name.load(core::sync::atomic::Ordering::Relaxed);
                // SAFETY: what the table holds under a name has the signature that the library's
                // header gives it; the rest is promised by the caller.
                unsafe {
                    let function: unsafe extern "C" fn($($type),*) $(-> $result)? =
                        core::mem::transmute(function);
                    function($($argument),*)
                }
            }
        )+

        /// What stands for a function that is not there.
        mod absent {
            use super::*;
            $(pub(super) unsafe extern "C" fn $name($(_: $type),*) $(-> $result)? {
                // SAFETY: all results are numbers, pointers, or plain structures of such.
                unsafe { core::mem::zeroed() }
            })+
        }

        /// Where the functions are.
        #[allow(non_upper_case_globals)]
        mod addresses {
            use core::sync::atomic::AtomicPtr;
            $(pub(super) static $name: AtomicPtr<()> =
                AtomicPtr::new(super::absent::$name as *mut ());)+
        }

        /// The table.
        pub(crate) static SLOTS: &[$crate::loaded::Slot] = &[$($crate::loaded::Slot {
            name: match core::ffi::CStr::from_bytes_with_nul(concat!($prefix, stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("an identifier has no NUL"),
            },
            address: &addresses::$name,
        }),+];
    };
}
pub(crate) use c_functions;

/// A function's place in a table.
pub(crate) struct Slot {
    pub(crate) name: &'static CStr,
    pub(crate) address: &'static AtomicPtr<()>,
}

/// A shared library of the system's, loaded until the process ends.
#[derive(Debug)]
pub(crate) struct Library {
    handle: NonNull<c_void>,
    /// What it was asked for by.
    name: CString,
}

// SAFETY: the dynamic linker's functions may be called from any thread.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// Loads the first of `names` that is here.
    ///
    /// # Errors
    /// None is, or one is broken; in the dynamic linker's words.
    pub(crate) fn open(names: &[&CStr]) -> Result<Library, Unavailable> {
        if cfg!(target_feature = "crt-static") {
            return Err(unavailable(
                "this cpb is linked statically and loads nothing, and no runner that can is built in \
                 or could be started"
                    .to_owned(),
            ));
        }
        let mut problems: Vec<String> = Vec::new();
        for name in names {
            // SAFETY: a C string. The library's own constructors run, as in any program of this
            // system that uses it. Its symbols are its own: nothing of cpb's takes their place.
            let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
            match NonNull::new(handle) {
                Some(handle) => return Ok(Library { handle, name: CString::from(*name) }),
                None => problems.push(last_problem()),
            }
        }
        // One that is there and cannot be loaded says more than one that is not there.
        let absent = |problem: &&String| problem.contains("No such file");
        let told = problems.iter().find(|problem| !absent(problem)).or(problems.first());
        Err(unavailable(told.cloned().unwrap_or_default()))
    }

    /// The address of what it calls `name`, if it has it.
    pub(crate) fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the handle is never closed; the name is a C string.
        NonNull::new(unsafe { libc::dlsym(self.handle.as_ptr(), name.as_ptr()) })
    }

    /// Puts its functions into a table, and returns the names of those that it lacks.
    pub(crate) fn fill(&self, slots: &[Slot]) -> Vec<&'static CStr> {
        let mut missing = Vec::new();
        for slot in slots {
            match self.symbol(slot.name) {
                Some(symbol) => slot.address.store(symbol.as_ptr().cast(), Ordering::Relaxed),
                None => missing.push(slot.name),
            }
        }
        missing
    }

    /// The file that it was loaded from, as far as the dynamic linker tells.
    pub(crate) fn file(&self) -> String {
        self.path().unwrap_or_else(|| self.name.to_string_lossy().into_owned())
    }

    #[cfg(target_env = "gnu")]
    fn path(&self) -> Option<String> {
        /// The beginning of `struct link_map` (link.h).
        #[repr(C)]
        struct LinkMap {
            base: usize,
            name: *const core::ffi::c_char,
        }
        let mut map: *const LinkMap = core::ptr::null();
        // SAFETY: the handle is open, and for it the linker gives its own map, which lives as long as the
        // library does, for ever; a name in it is null or a C string.
        unsafe {
            let found = libc::dlinfo(
                self.handle.as_ptr(),
                libc::RTLD_DI_LINKMAP,
                core::ptr::from_mut(&mut map).cast(),
            );
            let name = if found == 0 { map.as_ref()?.name } else { core::ptr::null() };
            (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
        }
    }

    /// Where programs load nothing nobody asks.
    #[cfg(not(target_env = "gnu"))]
    fn path(&self) -> Option<String> {
        None
    }
}

/// Something of a loaded library's that is one's own.
pub(crate) struct Owned<T>(pub(crate) *mut T, unsafe fn(*mut T));

impl<T> Owned<T> {
    /// Of what the library has just made, or could not make: then it is null.
    pub(crate) fn take(made: *mut T, free: unsafe fn(*mut T)) -> Result<Owned<T>, Error> {
        if made.is_null() { Err(Error::Device(0)) } else { Ok(Owned(made, free)) }
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: ours; nothing uses it afterwards.
        unsafe { self.1(self.0) }
    }
}

/// What the dynamic linker last complained of on this thread.
fn last_problem() -> String {
    // SAFETY: null or a C string that lives until the next call.
    unsafe {
        let problem = libc::dlerror();
        match problem.is_null() {
            true => "the dynamic linker does not say why".to_owned(),
            false => CStr::from_ptr(problem).to_string_lossy().into_owned(),
        }
    }
}

/// That a library is not to be had here.
pub(crate) fn unavailable(detail: String) -> Unavailable {
    Unavailable { reason: Unsupported::Device, detail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::c_int;

    c_functions! { loaded:
        fn abs(number: c_int) -> c_int;
        fn no_library_has_this(number: c_int) -> *mut c_void;
    }

    mod prefixed {
        use super::*;
        c_functions! { loaded as "to":
            fn upper(letter: c_int) -> c_int;
        }
    }

    #[test]
    fn functions_come_from_the_library_and_those_it_lacks_answer_null() {
        let library = Library::open(&[c"no-such-library.so.99", c"libc.so.6"]).expect("libc");
        // SAFETY: any number may be given.
        unsafe {
            assert_eq!(abs(-7), 0, "before it is loaded");
            assert_eq!(library.fill(SLOTS), [c"no_library_has_this"]);
            assert_eq!(abs(-7), 7);
            assert!(no_library_has_this(1).is_null());
            assert!(library.fill(prefixed::SLOTS).is_empty());
            let function: unsafe extern "C" fn(c_int) -> c_int = prefixed::upper;
            assert_eq!(function(c_int::from(b'a')), c_int::from(b'A'));
        }
        let file = library.file();
        assert!(file.starts_with('/') && file.ends_with("libc.so.6"), "{file}");
    }

    #[test]
    fn a_library_that_is_broken_is_told_before_one_that_is_not_there() {
        let absent = Library::open(&[c"no-such-library.so.99"]).expect_err("none");
        assert!(absent.detail.contains("no-such-library.so.99"), "{}", absent.detail);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("broken.so");
        std::fs::write(&path, b"\x7fELF and no more").expect("a file");
        let broken = std::ffi::CString::new(path.to_str().expect("a name")).expect("a name");
        let told = Library::open(&[c"no-such-library.so.99", &broken]).expect_err("none");
        assert!(told.detail.contains("broken.so"), "{}", told.detail);
    }
}
