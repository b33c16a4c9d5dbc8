//! The world outside: the time, and bytes that nobody knows. Tests and the demo bring their own.

use arena_contests::Moment;

/// Tells the time and brings luck.
pub trait Outside: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Moment;
    /// Bytes that nobody knows.
    fn luck(&self) -> [u8; 64];
    /// Bytes that nobody knows, for a key of the server's own: it outlives whoever brings luck that can be counted.
    fn secret(&self) -> [u8; 64] {
        self.luck()
    }
}
