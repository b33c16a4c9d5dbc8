//! Bytes that nobody knows: for secrets, keys and samples. Never for anything that a record derives.

use std::fs::File;
use std::io::Read;

use crate::failure::Failure;
use crate::files;

/// 32 of them.
pub(crate) fn secret_bytes() -> Result<[u8; 32], Failure> {
    let mut bytes = [0; 32];
    let read = File::open("/dev/urandom").and_then(|mut random| random.read_exact(&mut bytes));
    read.map_err(|why| Failure::internal("make a secret", files::plain(&why)))?;
    Ok(bytes)
}

/// 64 of them, or the end of the process: a server without luck would hand out keys that can be foreseen.
pub(crate) fn stretched() -> [u8; 64] {
    let mut bytes = [0; 64];
    let read = File::open("/dev/urandom").and_then(|mut random| random.read_exact(&mut bytes));
    match read {
        Ok(()) => bytes,
        Err(why) => panic!("cannot read random bytes: {why}"),
    }
}
