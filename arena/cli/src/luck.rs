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
