//! Transactions as JSON: `{"postings": [[asset, account, change], …]}`, every number a decimal string.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::transaction::POSTINGS_MAX;
use crate::{Account, Asset, Posting, Transaction};

type Row = (String, String, String);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    postings: Vec<Row>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    expected: Vec<Row>,
}

impl Serialize for Transaction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = |account: &Account, number: String| {
            (account.asset().to_string(), account.name().to_owned(), number)
        };
        Wire {
            postings: self.postings().iter().map(|p| row(&p.account, p.change.to_string())).collect(),
            expected: self.expected().iter().map(|(account, at)| row(account, at.to_string())).collect(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Transaction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = Wire::deserialize(deserializer)?;
        let rows = wire.postings.len().max(wire.expected.len());
        if rows > POSTINGS_MAX {
            return Err(D::Error::custom(format_args!("{rows} postings; the limit is {POSTINGS_MAX}")));
        }
        let mut postings = Vec::with_capacity(wire.postings.len());
        for row in &wire.postings {
            postings.push(Posting { account: account(row)?, change: number(&row.2)? });
        }
        let mut transaction = Self::of(postings);
        for row in &wire.expected {
            transaction = transaction.expecting(account(row)?, number(&row.2)?);
        }
        Ok(transaction)
    }
}

fn account<E: serde::de::Error>((asset, name, _): &Row) -> Result<Account, E> {
    Asset::new(asset).and_then(|asset| Account::parse(&asset, name)).map_err(E::custom)
}

/// Only the spelling that we write, so that equal transactions have equal bytes.
fn number<N: std::str::FromStr + ToString, E: serde::de::Error>(text: &str) -> Result<N, E> {
    let number = text.parse::<N>().ok().filter(|number| number.to_string() == text);
    number.ok_or_else(|| E::custom("a posting's number is a plain decimal integer in a string"))
}
