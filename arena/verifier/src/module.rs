//! The functions that the module exports, for a caller that knows numbers only: [`alloc`] gives room for pack and log,
//! [`verify`] answers where they stand, [`dealloc`] takes both back.
//!
//! One call at a time: a page has a worker for each. Rust reads no address that came from outside.
#![allow(unsafe_code, reason = "a name that others call by is declared so; nothing in here is unsafe")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::answer::{LOG_BYTES_MAX, PACK_BYTES_MAX, answer};

/// What lies between caller and engine.
struct Desk {
    /// The pack, and behind it the log.
    given: Vec<u8>,
    pack_bytes: usize,
    answer: Vec<u8>,
}

static DESK: Mutex<Desk> = Mutex::new(Desk { given: Vec::new(), pack_bytes: 0, answer: Vec::new() });

fn desk() -> MutexGuard<'static, Desk> {
    DESK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Room for a pack and, right behind it, a log. Returns where it begins; null if one is longer than its limit.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn alloc(pack_bytes: usize, log_bytes: usize) -> *mut u8 {
    if pack_bytes > PACK_BYTES_MAX || log_bytes > LOG_BYTES_MAX {
        return std::ptr::null_mut();
    }
    let mut desk = desk();
    desk.pack_bytes = pack_bytes;
    desk.given.clear();
    desk.given.resize(pack_bytes + log_bytes, 0);
    desk.given.as_mut_ptr()
}

/// Checks what was written into the room. Returns where the answer begins: JSON of [`answer_bytes`] bytes, which
/// stays until the next call.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn verify() -> *const u8 {
    let mut desk = desk();
    let (pack, log) = desk.given.split_at(desk.pack_bytes);
    desk.answer = answer(pack, log);
    desk.answer.as_ptr()
}

/// How long the answer is.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn answer_bytes() -> usize {
    desk().answer.len()
}

/// Takes the room and the answer back.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn dealloc() {
    *desk() = Desk { given: Vec::new(), pack_bytes: 0, answer: Vec::new() };
}
