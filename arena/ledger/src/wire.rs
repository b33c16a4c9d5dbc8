//! Transactions as JSON: `{"postings": [[asset, account, change], …]}`, every number a decimal string.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::transaction::POSTINGS_MAX;
use crate::{Account, Asset, Posting, Transaction};

type Row = (String, String, String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    postings: Vec<Row>,
    #[serde(default)]
    expected: Vec<Row>,
}

#[derive(Serialize)]
struct Written<P: Serialize, E: Serialize> {
    postings: P,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<E>,
}

/// Rows as they are written, one after another.
struct Rows<'a, T>(&'a [T], fn(&T) -> (&Account, i128));

impl<T> Serialize for Rows<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|row| {
            let (account, number) = self.1(row);
            (account.asset().as_str(), account.name(), Decimal(number))
        }))
    }
}

struct Decimal(i128);

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl Serialize for Transaction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let expected = Some(self.expected()).filter(|expected| !expected.is_empty());
        Written {
            postings: Rows(self.postings(), |posting: &Posting| (&posting.account, posting.change.into())),
            expected: expected
                .map(|expected| Rows(expected, |(account, at): &(Account, u64)| (account, i128::from(*at)))),
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
