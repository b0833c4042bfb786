//! C libraries of the system, which are loaded when a provider is opened, and the tables of their functions.
//!
//! A process has one library of each kind, and one table for it. A call through the table costs what any call
//! into a shared library costs: its address comes from a fixed place.

use crate::Unavailable;
use core::ffi::{CStr, c_void};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicPtr, Ordering};
use cpb_core::{Error, Unsupported};
use std::ffi::CString;

/// Declares functions of a C library, in one of three ways.
///
/// `loaded: fn f();` makes `f` callable; `SLOTS` is the table that [`Library::fill`] fills. A function that the
/// library lacks returns null or 0, as C functions do when they fail.
///
/// `loaded as "prefix_": fn f();` is the same for what the library calls `prefix_f`. C can call this `f`, so it
/// can be passed to the library.
///
/// `linked or loaded as Trait: fn f();` makes `f` a function of `Trait`, which two types implement: `Linked`
/// calls the functions that cpb was linked with directly, and `Loaded` has the table `loaded::SLOTS`.
macro_rules! c_functions {
    (linked or loaded as $trait:ident: $($(#[$about:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)+) => {
        /// The functions, linked or loaded. All keep the library's own conventions.
        pub(crate) trait $trait: Copy {
            $($(#[$about])* unsafe fn $name($($argument: $type),*) $(-> $result)?;)+
        }

        /// The functions that cpb was linked with.
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

        /// The functions of a library that is loaded.
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
                // SAFETY: what the table holds under a name has the signature from the library's header. The
                // caller promises the rest.
                unsafe {
                    let function: unsafe extern "C" fn($($type),*) $(-> $result)? =
                        core::mem::transmute(function);
                    function($($argument),*)
                }
            }
        )+

        /// What replaces a function that is missing.
        mod absent {
            use super::*;
            $(pub(super) unsafe extern "C" fn $name($(_: $type),*) $(-> $result)? {
                // SAFETY: all results are numbers, pointers, or plain structures of such.
                unsafe { core::mem::zeroed() }
            })+
        }

        /// The addresses of the functions.
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

/// A shared library of the system, which stays loaded until the process ends.
#[derive(Debug)]
pub(crate) struct Library {
    handle: NonNull<c_void>,
    /// The name that it was requested by.
    name: CString,
}

// SAFETY: the dynamic linker's functions may be called from any thread.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// Loads the first of `names` that can be loaded.
    ///
    /// # Errors
    /// Returns an error if none can be loaded, in the dynamic linker's words, or if cpb is linked statically.
    pub(crate) fn open(names: &[&CStr]) -> Result<Library, Unavailable> {
        if cfg!(target_feature = "crt-static") {
            return Err(unavailable(
                "this cpb is linked statically and cannot load libraries, and its built-in runner \
                 for that is missing or did not start"
                    .to_owned(),
            ));
        }
        let mut problems: Vec<String> = Vec::new();
        for name in names {
            // SAFETY: a C string. The library's own constructors run, as in any program of this system that
            // uses it. It uses its own symbols: none of cpb's takes their place.
            let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
            match NonNull::new(handle) {
                Some(handle) => return Ok(Library { handle, name: CString::from(*name) }),
                None => problems.push(last_problem()),
            }
        }
        // The error of a library that exists but cannot be loaded says more than that of a missing one.
        let absent = |problem: &&String| problem.contains("No such file");
        let told = problems.iter().find(|problem| !absent(problem)).or(problems.first());
        Err(unavailable(told.cloned().unwrap_or_default()))
    }

    /// The address of what the library calls `name`, if it has it.
    pub(crate) fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the handle is never closed; the name is a C string.
        NonNull::new(unsafe { libc::dlsym(self.handle.as_ptr(), name.as_ptr()) })
    }

    /// Puts the library's functions into a table, and returns the names of those that it lacks.
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

    /// The file that it was loaded from, or the requested name if the dynamic linker does not tell.
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
        // SAFETY: the handle is open, and the linker returns its own map for it. The map lives as long as the
        // library, which is for ever, and a name in it is null or a C string.
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

    /// Programs for such targets load nothing, so the path is not needed.
    #[cfg(not(target_env = "gnu"))]
    fn path(&self) -> Option<String> {
        None
    }
}

/// An object of a loaded library, with one owner.
pub(crate) struct Owned<T>(pub(crate) *mut T, unsafe fn(*mut T));

impl<T> Owned<T> {
    /// Takes what the library has just made. Returns an error if it is null.
    pub(crate) fn take(made: *mut T, free: unsafe fn(*mut T)) -> Result<Owned<T>, Error> {
        if made.is_null() { Err(Error::Device(0)) } else { Ok(Owned(made, free)) }
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: we own it, and nothing uses it afterwards.
        unsafe { self.1(self.0) }
    }
}

/// The last error of the dynamic linker on this thread.
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

/// The error for a library that is not available here.
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
