//! Reasons why the guest does not continue normally.

use std::fmt;

/// Something for which the architecture raises an exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is no memory or device at this address.
    Bus(u32),
    /// The MPU forbids the access.
    Protection(u32),
    /// Code at this address cannot be executed.
    Execute(u32),
    /// The address must be a multiple of the access's size.
    Unaligned(u32),
    /// UDF, the permanently undefined instruction.
    Undefined,
    /// A branch out of Thumb state, or an invalid EXC_RETURN.
    State(u32),
    /// The floating-point unit is switched off in CPACR.
    NoCoprocessor,
    /// Division by zero, with CCR.DIV_0_TRP set.
    DivisionByZero,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Bus(a) => write!(f, "bus fault: nothing is at {a:#010x}"),
            Fault::Protection(a) => write!(f, "memory fault: access to {a:#010x} is forbidden"),
            Fault::Execute(a) => write!(f, "memory fault: nothing can be executed at {a:#010x}"),
            Fault::Unaligned(a) => write!(f, "usage fault: {a:#010x} is not aligned"),
            Fault::Undefined => write!(f, "usage fault: an undefined instruction (UDF)"),
            Fault::State(a) => {
                write!(f, "usage fault: branch to {a:#010x}, which is not Thumb code")
            }
            Fault::NoCoprocessor => {
                write!(f, "usage fault: a floating-point instruction while CPACR switches it off")
            }
            Fault::DivisionByZero => write!(f, "usage fault: division by zero"),
        }
    }
}

/// The reason why an instruction did not complete normally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Fault(Fault),
    /// An instruction that the simulator does not know.
    Unknown,
    /// Not decoded yet: it must be decoded and executed again.
    Pending,
    /// FPSCR selects arithmetic that the simulator does not support.
    Arithmetic(u32),
    Breakpoint(u8),
    SupervisorCall,
    Wait,
    ExceptionReturn(u32),
    /// The device at this address has no model.
    Unmodelled(u32),
    /// The guest requested a reset.
    Reset,
}

/// The reason why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The guest ended itself, with this status.
    Exit(u32),
    /// The cycle limit was reached.
    MaxCycles,
    /// A fault that no handler of the guest handled.
    Fault(Fault),
    /// An instruction that the simulator does not know.
    UnknownInstruction(u32),
    /// FPSCR selects arithmetic that the simulator does not support.
    UnknownArithmetic(u32),
    /// BKPT, without a debugger.
    Breakpoint(u8),
    /// A fault in a fault handler, or while its registers were stacked.
    Lockup(Fault),
    /// A branch to itself that no interrupt can end.
    Loops,
    /// The guest sleeps, and nothing can wake it.
    Sleeps,
    /// An unknown semihosting call.
    UnknownCall(u32),
    /// The guest used the device at this address, which has no model.
    Unmodelled(u32),
    /// The guest waits for input, and the input has ended.
    InputEnded,
    /// The user of the simulator interrupted the run.
    Interrupted,
}

impl Stop {
    /// Whether the guest ended successfully.
    pub fn is_success(self) -> bool {
        self == Stop::Exit(0)
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Exit(status) => write!(f, "exit status {status}"),
            Stop::MaxCycles => write!(f, "stopped: as many cycles as --max-cycles allows"),
            Stop::Fault(fault) => write!(f, "{fault}"),
            Stop::UnknownInstruction(code) => write!(f, "unknown instruction {code:#06x}"),
            Stop::UnknownArithmetic(bits) => {
                write!(
                    f,
                    "FPSCR = {bits:#010x}: only rounding to nearest without flushing is known"
                )
            }
            Stop::Breakpoint(number) => write!(f, "breakpoint {number}"),
            Stop::Lockup(fault) => write!(f, "lockup: a fault while handling a fault: {fault}"),
            Stop::Loops => write!(f, "the program branches to itself for ever"),
            Stop::Sleeps => write!(f, "the program sleeps and nothing can wake it"),
            Stop::UnknownCall(number) => write!(f, "unknown semihosting call {number:#x}"),
            Stop::Unmodelled(address) => {
                write!(f, "the program uses a device that is not modelled, at {address:#010x}")
            }
            Stop::InputEnded => write!(f, "the program waits for input, and there is no more"),
            Stop::Interrupted => write!(f, "interrupted"),
        }
    }
}
