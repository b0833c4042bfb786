//! Stands where the RustCrypto crates look for `cpufeatures`, and answers what that answers, unless this
//! process was started with [`SWITCH`] in its environment: then the CPU has no extension.
//!
//! The crates have a switch of their own, but it is one of the compiler's (`--cfg aes_backend="soft"` and its
//! like) and would take a second build of them. They all ask this crate before they use an extension, so its
//! answer decides which of the code that is there anyway is run: on a CPU without extensions the same.
//!
//! Decision 16 has more.

#![cfg(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64"))]

#[doc(hidden)]
pub use published;

/// The variable that tells a process to do without the CPU's extensions, whatever it says.
pub const SWITCH: &str = "CPB_RUSTCRYPTO_SOFT";

/// Whether this process may use extensions.
pub fn allowed() -> bool {
    std::env::var_os(SWITCH).is_none()
}

/// A module that says whether the CPU has all of the named features. It has the interface of the published
/// crate's macro, and costs what that costs: the answer is found once and then read from one byte. What
/// every CPU has that this program was compiled for (SSE2 on x86-64, NEON on ARMv8) is there for ever.
#[macro_export]
macro_rules! new {
    ($module:ident, $($feature:tt),+ $(,)?) => {
        #[allow(dead_code, unreachable_pub)]
        mod $module {
            use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

            $crate::published::new!(published, $($feature),+);

            const COMPILED_FOR: bool = cfg!(all($(target_feature = $feature),+));

            const UNKNOWN: u8 = 0;
            const ABSENT: u8 = 1;
            const PRESENT: u8 = 2;
            static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);

            /// That the answer has been found.
            #[derive(Copy, Clone, Debug)]
            pub struct InitToken(());

            impl InitToken {
                /// Finds it.
                pub fn init() -> Self {
                    init()
                }

                /// Finds it and says it.
                pub fn init_get() -> (Self, bool) {
                    init_get()
                }

                /// Says it.
                #[inline(always)]
                pub fn get(&self) -> bool {
                    COMPILED_FOR || ANSWER.load(Relaxed) == PRESENT
                }
            }

            /// Finds the answer, and says it.
            #[inline]
            pub fn init_get() -> (InitToken, bool) {
                #[cold]
                fn find() -> bool {
                    let present = $crate::allowed() && published::get();
                    ANSWER.store(if present { PRESENT } else { ABSENT }, Relaxed);
                    present
                }
                let present = COMPILED_FOR
                    || match ANSWER.load(Relaxed) {
                        UNKNOWN => find(),
                        answer => answer == PRESENT,
                    };
                (InitToken(()), present)
            }

            /// Finds the answer.
            #[inline]
            pub fn init() -> InitToken {
                init_get().0
            }

            /// Says the answer.
            #[inline]
            pub fn get() -> bool {
                init_get().1
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_arch = "x86_64")]
    new!(sse2, "sse2");
    new!(aes, "aes");
    published::new!(published_aes, "aes");

    /// Runs twice: with the switch in a process of its own, for answers are kept.
    #[test]
    fn answers_are_those_of_the_published_crate_unless_switched_off() {
        assert_eq!(aes::get(), allowed() && published_aes::get());
        assert_eq!(aes::init().get(), aes::get());
        #[cfg(target_arch = "x86_64")]
        assert!(sse2::get(), "no x86-64 is without");
        if allowed() {
            let again = std::process::Command::new(std::env::current_exe().expect("a name"))
                .args([
                    "--exact",
                    "tests::answers_are_those_of_the_published_crate_unless_switched_off",
                ])
                .env(SWITCH, "1")
                .output()
                .expect("this program");
            assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stdout));
            assert!(String::from_utf8_lossy(&again.stdout).contains("1 passed"));
        }
    }
}
