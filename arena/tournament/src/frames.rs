//! Length-prefixed JSON frames: four bytes, big-endian, and then so many bytes of one document.

use std::io::{self, Read};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Largest frame.
pub(crate) const FRAME_BYTES_MAX: usize = 64 << 20;

/// Room that is made for a frame before its bytes are there.
const FRAME_BYTES_AT_ONCE: usize = 64 << 10;

/// Appends one frame to `frames`, which are then written in one piece, so that their reader is woken once.
pub(crate) fn append(frames: &mut Vec<u8>, message: &impl Serialize) -> io::Result<()> {
    let start = frames.len();
    frames.extend_from_slice(&[0; 4]);
    serde_json::to_writer(&mut *frames, message).map_err(io::Error::from)?;
    let length = frames.len() - start - 4;
    if length > FRAME_BYTES_MAX {
        frames.truncate(start);
        return Err(io::Error::other(format!("a frame of {length} bytes; the limit is {FRAME_BYTES_MAX}")));
    }
    frames[start..start + 4].copy_from_slice(&(length as u32).to_be_bytes());
    Ok(())
}

/// Reads one frame; nothing at the end of the stream.
pub(crate) fn read<T: DeserializeOwned>(input: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match input.read(&mut length)? {
        0 => return Ok(None),
        read => input.read_exact(&mut length[read..])?,
    }
    let length = u32::from_be_bytes(length) as usize;
    if length > FRAME_BYTES_MAX {
        return Err(io::Error::other(format!("a frame of {length} bytes; the limit is {FRAME_BYTES_MAX}")));
    }
    let mut bytes = Vec::with_capacity(length.min(FRAME_BYTES_AT_ONCE));
    if input.take(length as u64).read_to_end(&mut bytes)? < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&bytes).map(Some).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::{FRAME_BYTES_MAX, append, read};

    #[test]
    fn frames_come_back_and_the_stream_ends() {
        let mut bytes = Vec::new();
        for message in ["", "one", "żółw"] {
            append(&mut bytes, &message).expect("appended");
        }
        let mut stream = bytes.as_slice();
        for message in ["", "one", "żółw"] {
            assert_eq!(read::<String>(&mut stream).expect("a frame").as_deref(), Some(message));
        }
        assert!(read::<String>(&mut stream).expect("the end").is_none());
    }

    #[test]
    fn what_is_no_frame_is_an_error() {
        let too_long = (FRAME_BYTES_MAX as u32 + 1).to_be_bytes();
        for wrong in [&b"\0\0"[..], b"\0\0\0\x05\"ab\"", b"\0\0\0\x02{}", &too_long] {
            assert!(read::<String>(&mut &wrong[..]).is_err(), "{wrong:?}");
        }
    }
}
