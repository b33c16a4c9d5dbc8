//! The campus game as a value: vectors, faults and laws, without a sandbox.

mod vectors;
