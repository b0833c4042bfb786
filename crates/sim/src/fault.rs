//! Why the guest does not simply go on.

use std::fmt;

/// Something that the architecture makes an exception of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No memory and no device is there.
    Bus(u32),
    /// The MPU forbids it.
    Protection(u32),
    /// Nothing can be executed there.
    Execute(u32),
    /// The address must be a multiple of the access's size.
    Unaligned(u32),
    /// UDF: an instruction that is none, on purpose.
    Undefined,
    /// Thumb code was left, or EXC_RETURN is wrong.
    State(u32),
    /// The floating-point unit is switched off in CPACR.
    NoCoprocessor,
    /// By zero, with CCR.DIV_0_TRP set.
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

/// Why an instruction did not end as usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Fault(Fault),
    /// An instruction that the simulator does not know.
    Unknown,
    /// Not decoded yet: decode, then again.
    Pending,
    /// FPSCR asks for arithmetic that the simulator does not have.
    Arithmetic(u32),
    Breakpoint(u8),
    SupervisorCall,
    Wait,
    ExceptionReturn(u32),
    /// The device at this address has no model.
    Unmodelled(u32),
    /// The guest asked for a reset.
    Reset,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The guest said so; its status.
    Exit(u32),
    /// As many cycles as allowed.
    MaxCycles,
    /// A fault that no handler of the guest took.
    Fault(Fault),
    /// An instruction that the simulator does not know.
    UnknownInstruction(u32),
    /// FPSCR asks for arithmetic that the simulator does not have.
    UnknownArithmetic(u32),
    /// BKPT, without a debugger.
    Breakpoint(u8),
    /// A fault in a handler of faults, or while its registers were stacked.
    Lockup(Fault),
    /// A branch to itself that no interrupt will end.
    Loops,
    /// It sleeps, and nothing will wake it.
    Sleeps,
    /// A semihosting call that is not known.
    UnknownCall(u32),
    /// It uses the device at this address, of which there is no model.
    Unmodelled(u32),
    /// It waits for input, and there is no more.
    InputEnded,
    /// Whoever runs the simulator asked for it.
    Interrupted,
}

impl Stop {
    /// Whether the guest ended as it wanted to.
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
