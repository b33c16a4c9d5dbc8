//! Double-entry accounts, holds, stakes and escrow, in integer atomic units.
//!
//! A [`Ledger`] is a pure value: a [`Transaction`] balances in every asset and is applied whole or not
//! at all, so the same history gives the same balances for anybody. Nothing here knows what the
//! money is for, and nothing is ever rounded without being said: shares go by the largest remainder.
#![cfg_attr(not(test), deny(clippy::float_arithmetic, clippy::arithmetic_side_effects))]

mod account;
mod amount;
mod ledger;
mod movement;
mod refusal;
mod share;
#[cfg(test)]
mod tests;
mod transaction;
mod wire;

pub use account::{Account, Asset, NameError, PART_BYTES_MAX, PARTS_MAX};
pub use amount::{Amount, ParseAmountError};
pub use ledger::{Ledger, apply};
pub use movement::{Stake, deposit, hold, pay_out, release, slash, transfer};
pub use refusal::Refusal;
pub use share::{ShareError, split};
pub use transaction::{POSTINGS_MAX, Posting, Transaction};
