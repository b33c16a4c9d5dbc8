//! Why a call did not return: the guest's doing is a forfeit, the machine's is a host fault.

use std::fmt;

use arena_engine::{Forfeit, Frame, FuelScope, HostFault, TrapKind};
use wasmtime::{Trap, WasmBacktrace};

use crate::deadline::OutOfTime;

/// Raised by our own host functions and limits; read before anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A host call cost more fuel than was left.
    FuelSpent,
    /// What the guest handed over breaks a rule of the host.
    Unreadable(String),
    /// The guest ended itself through WASI.
    Exited,
    /// A run of an experiment reported more than it may.
    OverLimit { what: &'static str, limit: u64 },
    /// The safety stop.
    Overtime,
    /// Nobody waits any longer: the host's fault.
    OutOfTime(OutOfTime),
    /// The machine has no memory left: nobody's fault.
    HostMemory(String),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FuelSpent => f.write_str("fuel spent in a host call"),
            Self::Unreadable(why) => f.write_str(why),
            Self::Exited => f.write_str("the guest exited"),
            Self::OverLimit { what, limit } => write!(f, "{what}: the limit is {limit}"),
            Self::Overtime => f.write_str("the safety stop"),
            Self::OutOfTime(late) => late.fmt(f),
            Self::HostMemory(why) => write!(f, "the machine has no memory left: {why}"),
        }
    }
}

impl std::error::Error for Stop {}

/// What the seat knows about the call that failed.
pub(crate) struct Circumstances {
    pub(crate) scope: FuelScope,
    pub(crate) budget: u64,
    /// A growth that was refused during the call, with its limit.
    pub(crate) refused: Option<u64>,
    pub(crate) cpu_seconds_max: u32,
}

/// Frames kept of a stack.
const FRAMES_MAX: usize = 16;
/// Characters kept of a function's name or a place, and of a reason.
const NAME_CHARS_MAX: usize = 160;
const WHY_CHARS_MAX: usize = 400;

/// Reads the error of a call into a guest: our own errors as they say, then the runtime's traps,
/// then what only the machine can cause; the rest is an action that cannot be read.
pub(crate) fn read(error: wasmtime::Error, call: &Circumstances) -> Result<Forfeit, HostFault> {
    if let Some(stop) = error.downcast_ref::<Stop>() {
        let stop = stop.clone();
        return of_stop(stop, error, call);
    }
    if let Some(trap) = error.downcast_ref::<Trap>() {
        let trap = *trap;
        return Ok(of_trap(trap, &error, call));
    }
    if error.chain().any(is_of_the_machine) {
        return Err(HostFault { doing: "running a strategy", source: error.into() });
    }
    Ok(Forfeit::Unreadable { why: cut(&error.root_cause().to_string(), WHY_CHARS_MAX) })
}

/// Whether only the machine can cause this: no room in the pool, no memory, no luck with a file.
fn is_of_the_machine(error: &(dyn std::error::Error + 'static)) -> bool {
    error.is::<wasmtime::PoolConcurrencyLimitError>()
        || error.is::<wasmtime::OutOfMemory>()
        || error.is::<rustix::io::Errno>()
        || error.is::<std::io::Error>()
}

fn of_stop(stop: Stop, error: wasmtime::Error, call: &Circumstances) -> Result<Forfeit, HostFault> {
    Ok(match stop {
        Stop::FuelSpent => fuel_spent(&error, call),
        Stop::Unreadable(why) => Forfeit::Unreadable { why: cut(&why, WHY_CHARS_MAX) },
        Stop::OverLimit { .. } => Forfeit::Unreadable { why: cut(&stop.to_string(), WHY_CHARS_MAX) },
        Stop::Exited => trapped(TrapKind::Exited, &error, call),
        Stop::Overtime => Forfeit::Overtime { limit_seconds: call.cpu_seconds_max },
        Stop::OutOfTime(late) => {
            return Err(HostFault { doing: "waiting for a guest", source: late.into() });
        }
        Stop::HostMemory(_) => {
            return Err(HostFault { doing: "growing a strategy's memory", source: error.into() });
        }
    })
}

fn fuel_spent(error: &wasmtime::Error, call: &Circumstances) -> Forfeit {
    match call.refused {
        Some(limit) => Forfeit::MemoryCapped { limit, then: TrapKind::FuelSpent, frames: frames(error) },
        None => Forfeit::FuelSpent { scope: call.scope, budget: call.budget },
    }
}

fn of_trap(trap: Trap, error: &wasmtime::Error, call: &Circumstances) -> Forfeit {
    let kind = match trap {
        Trap::OutOfFuel => return fuel_spent(error, call),
        Trap::Interrupt => return Forfeit::Overtime { limit_seconds: call.cpu_seconds_max },
        Trap::StackOverflow => TrapKind::NativeStack,
        Trap::MemoryOutOfBounds if below_zero(error) => TrapKind::Stack,
        Trap::MemoryOutOfBounds => TrapKind::MemoryOutOfBounds,
        Trap::TableOutOfBounds => TrapKind::TableOutOfBounds,
        Trap::IndirectCallToNull => TrapKind::IndirectCallToNull,
        Trap::BadSignature => TrapKind::BadSignature,
        Trap::IntegerOverflow => TrapKind::IntegerOverflow,
        Trap::IntegerDivisionByZero => TrapKind::IntegerDivisionByZero,
        Trap::BadConversionToInteger => TrapKind::BadConversionToInteger,
        Trap::UnreachableCodeReached => TrapKind::Unreachable,
        Trap::CannotEnterComponent | Trap::CannotLeaveComponent => TrapKind::ComponentRule,
        _ => TrapKind::Other,
    };
    trapped(kind, error, call)
}

/// A trap after growth was refused says both.
fn trapped(kind: TrapKind, error: &wasmtime::Error, call: &Circumstances) -> Forfeit {
    let frames = frames(error);
    match call.refused {
        Some(limit) => Forfeit::MemoryCapped { limit, then: kind, frames },
        None => Forfeit::Trapped { kind, frames },
    }
}

/// A guest's stack grows down towards address 0, so the access that overflows it wraps around to
/// just below 4 GiB. The runtime tells the address only in words.
fn below_zero(error: &wasmtime::Error) -> bool {
    const LAST_16_MIB: u64 = 0xff00_0000;
    error.chain().any(|cause| {
        let text = cause.to_string();
        // At the start of a message of its own: names of functions are the guest's to choose.
        let address = text.strip_prefix("memory fault at wasm address 0x").map(|rest| {
            let digits = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
            u64::from_str_radix(&rest[..digits], 16)
        });
        matches!(address, Some(Ok(address)) if (LAST_16_MIB..=u64::from(u32::MAX)).contains(&address))
    })
}

/// The guest's stack, innermost first, bounded.
fn frames(error: &wasmtime::Error) -> Vec<Frame> {
    let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() else { return Vec::new() };
    backtrace.frames().iter().take(FRAMES_MAX).map(frame).collect()
}

fn frame(info: &wasmtime::FrameInfo) -> Frame {
    let function = match info.func_name() {
        Some(name) => format!("{:#}", rustc_demangle::demangle(name)),
        None => format!("function[{}]", info.func_index()),
    };
    // Innermost inlined function first; the last symbol is the function that bears the name.
    let at = info.symbols().iter().rev().find_map(|symbol| {
        let (file, line) = (symbol.file()?, symbol.line()?);
        Some(cut(&format!("{file}:{line}"), NAME_CHARS_MAX))
    });
    Frame { function: cut(&function, NAME_CHARS_MAX), at }
}

fn cut(text: &str, max: usize) -> String {
    arena_engine::Excerpt { text, max }.to_string()
}
