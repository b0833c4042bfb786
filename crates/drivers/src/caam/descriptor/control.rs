//! Fields of the commands that control a descriptor: JUMP, MATH and MOVE.

/// Fields of JUMP.
pub mod jump {
    /// Type, bits 23:20: within the descriptor.
    pub const LOCAL: u32 = 0;
    /// Type: as [`LOCAL`], and increments a register.
    pub const LOCAL_INCREMENT: u32 = 1 << 20;
    /// Type: calls a subroutine.
    pub const CALL: u32 = 2 << 20;
    /// Type: as [`LOCAL`], and decrements a register.
    pub const LOCAL_DECREMENT: u32 = 3 << 20;
    /// Type: to another job descriptor, whose address follows.
    pub const NONLOCAL: u32 = 4 << 20;
    /// Type: returns from a subroutine.
    pub const RETURN: u32 = 6 << 20;
    /// Type: halts with the conditions as status.
    pub const HALT: u32 = 8 << 20;
    /// Type: halts with the status in bits 7:0.
    pub const HALT_STATUS: u32 = 0xC << 20;
    /// The mask of the type.
    pub const TYPE: u32 = 0xF << 20;
    /// Test, bits 17:16: all conditions are true. Without any condition, that is always so.
    pub const ALL: u32 = 0;
    /// Test: not all conditions are true.
    pub const NOT_ALL: u32 = 1 << 16;
    /// Test: one condition is true.
    pub const ANY: u32 = 2 << 16;
    /// Test: no condition is true.
    pub const NONE: u32 = 3 << 16;
    /// The conditions in bits 15:8 are those of the job instead of those of MATH.
    pub const JOB_CONDITIONS: u32 = 1 << 24;
    /// The result of MATH is negative.
    pub const NEGATIVE: u32 = 1 << 11;
    /// The result of MATH is zero.
    pub const ZERO: u32 = 1 << 10;
    /// MATH carried or borrowed.
    pub const CARRY: u32 = 1 << 9;
    /// The result of MATH is negative, or overflowed.
    pub const NEGATIVE_OVERFLOW: u32 = 1 << 8;
    /// With [`JOB_CONDITIONS`]: another job waits.
    pub const OTHERS_WAIT: u32 = 1 << 15;
    /// With [`JOB_CONDITIONS`]: the shared descriptor came with keys and contexts of an earlier job.
    pub const SHARED: u32 = 1 << 14;
    /// With [`JOB_CONDITIONS`]: as [`SHARED`], within one controller.
    pub const SELF_SHARED: u32 = 1 << 13;
    /// With [`JOB_CONDITIONS`]: all transfers are done.
    pub const CALM: u32 = 1 << 12;
    /// With [`JOB_CONDITIONS`]: no input is pending.
    pub const NO_INPUT: u32 = 1 << 11;
    /// With [`JOB_CONDITIONS`]: the info FIFO is empty.
    pub const NO_INFO: u32 = 1 << 10;
    /// With [`JOB_CONDITIONS`]: no output is pending.
    pub const NO_OUTPUT: u32 = 1 << 9;
    /// With [`JOB_CONDITIONS`]: no context is pending.
    pub const NO_CONTEXT: u32 = 1 << 8;
    /// The mask of the offset, in words from the command, with sign; or of the status.
    pub const OFFSET: u32 = 0xFF;
}

/// Fields of MATH.
pub mod math {
    /// The immediate operand is one word although the length is 8.
    pub const ONE_WORD: u32 = 1 << 26;
    /// The flags stay as they are.
    pub const NO_FLAGS: u32 = 1 << 25;
    /// Function, four bits, by its shift.
    pub const FUNCTION: u32 = 20;
    /// Adds.
    pub const ADD: u32 = 0 << FUNCTION;
    /// Adds with carry.
    pub const ADD_CARRY: u32 = 1 << FUNCTION;
    /// Subtracts.
    pub const SUB: u32 = 2 << FUNCTION;
    /// Subtracts with borrow.
    pub const SUB_BORROW: u32 = 3 << FUNCTION;
    /// Bitwise or.
    pub const OR: u32 = 4 << FUNCTION;
    /// Bitwise and.
    pub const AND: u32 = 5 << FUNCTION;
    /// Bitwise exclusive or.
    pub const XOR: u32 = 6 << FUNCTION;
    /// Shifts to the left.
    pub const SHIFT_LEFT: u32 = 7 << FUNCTION;
    /// Shifts to the right.
    pub const SHIFT_RIGHT: u32 = 8 << FUNCTION;
    /// Source 0 to the left by 32, with source 1 in the lower half.
    pub const SHIFT_LOAD: u32 = 9 << FUNCTION;
    /// Which bytes are zero. With a byte of the command: repeats it in each byte.
    pub const ZERO_BYTES: u32 = 10 << FUNCTION;
    /// Reverses the bytes of each word.
    pub const SWAP: u32 = 11 << FUNCTION;
    /// Source 0, four bits, by its shift: see [`operand`].
    pub const SOURCE_0: u32 = 16;
    /// Source 1, four bits, by its shift: see [`operand`].
    pub const SOURCE_1: u32 = 12;
    /// Destination, four bits, by its shift: see [`operand`].
    pub const DESTINATION: u32 = 8;
    /// The mask of the length: 1, 2, 4 or 8 bytes.
    pub const LENGTH: u32 = 0xF;

    /// Operands. The numbers of the sequence lengths depend on where they stand.
    pub mod operand {
        /// MATH register 0; 1 to 3 follow.
        pub const MATH_0: u32 = 0;
        /// A word behind the command.
        pub const IMMEDIATE: u32 = 4;
        /// Protocol override.
        pub const PROTOCOL_OVERRIDE: u32 = 7;
        /// Source 0 and destination: what is left of the input sequence.
        pub const SEQ_IN: u32 = 8;
        /// Source 0 and destination: what is left of the output sequence.
        pub const SEQ_OUT: u32 = 9;
        /// Source 0 and destination: the variable length of the input sequence.
        pub const VARIABLE_IN: u32 = 10;
        /// Source 0 and destination: the variable length of the output sequence.
        pub const VARIABLE_OUT: u32 = 11;
        /// Source 0: zero.
        pub const ZERO_0: u32 = 12;
        /// Source 0: one.
        pub const ONE_0: u32 = 15;
        /// Source 1: the variable length of the input sequence.
        pub const VARIABLE_IN_1: u32 = 8;
        /// Source 1: the variable length of the output sequence.
        pub const VARIABLE_OUT_1: u32 = 9;
        /// Source 1: eight bytes of the input FIFO.
        pub const INPUT_FIFO_1: u32 = 10;
        /// Source 1: eight bytes of the output FIFO.
        pub const OUTPUT_FIFO_1: u32 = 11;
        /// Source 1: one.
        pub const ONE_1: u32 = 12;
        /// Source 1: where the job came from.
        pub const JOB_SOURCE_1: u32 = 13;
        /// Source 1: zero.
        pub const ZERO_1: u32 = 15;
        /// Destination: none.
        pub const NONE: u32 = 15;
    }
}

/// Fields of MOVE.
pub mod moving {
    /// Auxiliary bits, by their shift.
    pub const AUX: u32 = 25;
    /// The next command waits until the data has been moved.
    pub const WAIT: u32 = 1 << 24;
    /// Source, four bits, by its shift.
    pub const SOURCE: u32 = 20;
    /// Destination, four bits, by its shift.
    pub const DESTINATION: u32 = 16;
    /// The offset in bytes, by its shift.
    pub const OFFSET: u32 = 8;
    /// The mask of the length; in MOVE_LEN, bits 1:0 select the MATH register.
    pub const LENGTH: u32 = 0xFF;
    /// Source and destination: context of class 1.
    pub const CONTEXT_1: u32 = 0;
    /// Source and destination: context of class 2.
    pub const CONTEXT_2: u32 = 1;
    /// Source and destination: output FIFO.
    pub const OUTPUT_FIFO: u32 = 2;
    /// Source and destination: descriptor buffer.
    pub const DESCRIPTOR: u32 = 3;
    /// Source and destination: MATH register 0; 1 to 3 follow.
    pub const MATH_0: u32 = 4;
    /// Source: the input FIFO by way of the info FIFO.
    pub const INPUT_FIFO: u32 = 8;
    /// Source: the input FIFO by way of the info FIFO; the class is in the auxiliary bits.
    pub const INPUT_FIFO_CLASS: u32 = 9;
    /// Source: the input FIFO without an entry of the info FIFO.
    pub const INPUT_FIFO_RAW: u32 = 10;
    /// Destination: message of class 1.
    pub const TO_INPUT_1: u32 = 8;
    /// Destination: message of class 2.
    pub const TO_INPUT_2: u32 = 9;
    /// Destination: the input FIFO.
    pub const TO_INPUT: u32 = 10;
    /// Destination: key of class 1.
    pub const TO_KEY_1: u32 = 13;
    /// Destination: key of class 2.
    pub const TO_KEY_2: u32 = 14;
}
