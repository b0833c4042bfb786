//! Controls which tests of one program run commands at the same time. A test that judges its measurements has the
//! machine to itself; all others run in parallel.

use std::cell::Cell;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static TURNS: RwLock<()> = RwLock::new(());

thread_local! {
    /// The number of turns that this thread has.
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// Ends when it is dropped, in the thread that took it.
pub(crate) struct Turn(#[expect(dead_code, reason = "held, and dropped")] Guard);

#[expect(dead_code, reason = "held, and dropped")]
enum Guard {
    /// In parallel with others.
    Shared(RwLockReadGuard<'static, ()>),
    Alone(RwLockWriteGuard<'static, ()>),
    /// Within another turn, which lasts longer.
    Within,
}

impl Turn {
    /// A turn in parallel with others. A thread that already has a turn does not wait for another one. Otherwise it
    /// would deadlock with a test that waits to be alone.
    pub(crate) fn shared() -> Turn {
        if HELD.get() > 0 {
            return Turn::within();
        }
        Turn::of(Guard::Shared(TURNS.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// An exclusive turn. Waits until no other test has a turn.
    pub(crate) fn alone() -> Turn {
        assert_eq!(HELD.get(), 0, "this test has a turn, and would wait for its end");
        Turn::of(Guard::Alone(TURNS.write().unwrap_or_else(PoisonError::into_inner)))
    }

    /// A part of a turn that another thread of the same test has.
    pub(crate) fn within() -> Turn {
        Turn::of(Guard::Within)
    }

    fn of(guard: Guard) -> Turn {
        HELD.set(HELD.get() + 1);
        Turn(guard)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        HELD.set(HELD.get().saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn whoever_is_alone_waits_for_the_others_and_a_turn_within_a_turn_waits_for_nothing() {
        let others = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let _turn = Turn::shared();
                    others.fetch_add(1, Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(5));
                    let _again = Turn::shared();
                    others.fetch_sub(1, Ordering::SeqCst);
                });
                scope.spawn(|| {
                    let _alone = Turn::alone();
                    assert_eq!(others.load(Ordering::SeqCst), 0);
                    let _within = Turn::shared();
                });
            }
        });
        assert_eq!(HELD.get(), 0);
    }
}
