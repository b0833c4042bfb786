//! The call stack, from observed calls and returns. It is also right for code without frame pointers.

/// One call that has not returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The return address.
    pub(crate) back: u32,
    /// The stack pointer at the call.
    stack: u32,
    /// The address of the called function.
    pub(crate) function: u32,
}

/// The most frames that are kept. A deeper stack means a runaway recursion, or a manually switched stack.
const DEEPEST: usize = 4096;

/// The calls that have not returned, outermost first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    pub(crate) frames: Vec<Frame>,
    /// Changes whenever the frames change.
    pub(crate) version: u64,
}

impl Calls {
    pub(crate) fn push(&mut self, back: u32, stack: u32, function: u32) {
        if self.frames.len() >= DEEPEST {
            self.frames.drain(..DEEPEST / 2);
        }
        self.frames.push(Frame { back, stack, function });
        self.version += 1;
    }

    /// Handles a branch to `target` that may be a return. `stack` is the current stack pointer.
    pub(crate) fn returned(&mut self, target: u32, stack: u32) {
        while let Some(newest) = self.frames.last() {
            let ends = newest.back == target && newest.stack == stack;
            // A frame below the stack pointer is gone, however the function was left.
            if !ends && newest.stack >= stack {
                return;
            }
            self.frames.pop();
            self.version += 1;
            if ends {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_return_ends_its_call_and_a_long_jump_those_below() {
        let mut calls = Calls::default();
        calls.push(0x100, 0x2000, 0x500);
        calls.push(0x510, 0x1FF0, 0x600);
        calls.push(0x610, 0x1FE0, 0x700);
        calls.returned(0x610, 0x1FE0);
        assert_eq!(calls.frames.len(), 2);
        calls.returned(0x104, 0x2000);
        assert_eq!(calls.frames.len(), 1);
        calls.returned(0x100, 0x2000);
        assert!(calls.frames.is_empty());
    }
}
