//! A pack and a log in, one JSON document out.

use std::sync::Arc;

use arena_canon::json::{self, Value};
use arena_engine::campus::{Checked, Faults, Pack, Unchecked, check};
use serde_json::json;

/// Bytes of a log. A server takes as many unless it is told otherwise.
pub const LOG_BYTES_MAX: usize = 4 << 20;
/// Bytes of a pack.
pub const PACK_BYTES_MAX: usize = 4 << 20;
/// Turns of a pack. Servers offer none that is longer.
pub const TURNS_MAX: u32 = 2_000;

/// Why nothing was replayed.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("the {what} is {bytes} bytes; the limit is {limit}")]
    Large { what: &'static str, bytes: usize, limit: usize },
    #[error("the pack is none: {0}")]
    Pack(Faults),
    #[error("the pack has {turns} turns; the limit is {TURNS_MAX}")]
    Long { turns: u32 },
    #[error(transparent)]
    Unchecked(#[from] Unchecked),
}

impl Refused {
    fn code(&self) -> &'static str {
        match self {
            Self::Large { .. } => "body_too_large",
            Self::Pack(_) | Self::Long { .. } => "pack",
            Self::Unchecked(why) => why.code(),
        }
    }
}

/// Replays `log` against `pack` and tells what came of it, as canonical JSON. Its `verdict` is `verified`, `departs`,
/// or `refused` with a `code` and a `detail` where there was nothing to replay.
pub fn answer(pack: &[u8], log: &[u8]) -> Vec<u8> {
    let told = match checked(pack, log) {
        Ok(checked) => checked.to_json(),
        Err(why) => refusal(&why),
    };
    json::canonical(&told)
}

fn refusal(why: &Refused) -> Value {
    json!({ "verdict": "refused", "code": why.code(), "detail": why.to_string() })
}

fn checked(pack: &[u8], log: &[u8]) -> Result<Checked, Refused> {
    bounded("log", log, LOG_BYTES_MAX)?;
    bounded("pack", pack, PACK_BYTES_MAX)?;
    let pack = Pack::parse(pack).map_err(Refused::Pack)?;
    if pack.turns() > TURNS_MAX {
        return Err(Refused::Long { turns: pack.turns() });
    }
    Ok(check(log, |name| name.means(&pack).then(|| Arc::clone(&pack)))?)
}

fn bounded(what: &'static str, bytes: &[u8], limit: usize) -> Result<(), Refused> {
    let bytes = bytes.len();
    if bytes > limit { Err(Refused::Large { what, bytes, limit }) } else { Ok(()) }
}
