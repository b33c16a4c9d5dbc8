//! What every request passes through, and what handlers read requests with.

pub(crate) mod arrival;
pub(crate) mod body;
pub(crate) mod finish;
pub(crate) mod kept;
pub(crate) mod limit;
pub(crate) mod linger;
pub(crate) mod log;
pub(crate) mod paging;
pub(crate) mod parts;
pub(crate) mod versioned;
pub(crate) mod who;
