//! The store through its public interface, with a small domain.

mod blobs;
mod copies;
mod crash;
mod full;
mod idempotency;
mod journal;
mod projections;
mod readers;
mod snapshots;
mod speed;
mod tally;
mod verify;
mod writing;
