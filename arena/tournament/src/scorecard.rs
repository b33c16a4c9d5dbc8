//! The scorecard: what a success says. It is written as it is made, row by row, so that its size needs
//! no memory, and in the order of the procedure: how the run ended, what was completed, the records,
//! the scores, the identities, the receipt.

mod markdown;

use std::io::{self, Read, Write};

use arena_canon::Digest;
use serde::Serialize;
use serde_json::json;

use crate::ending::Class;
use crate::folder::{RECEIPT, match_name};
use crate::frozen::{Frozen, Matchup, Scenario};
use crate::identities::Identity;
use crate::names::MatchId;
use crate::record::{Outcome, Record, Settled};
use crate::seating::Seating;
use crate::standings::{Standing, Standings, seats};

pub(crate) use markdown::markdown;

/// The format of the scorecard.
const SCORECARD_SCHEMA: &str = "tournament.scorecard.v1";

/// What a scorecard is made of.
pub(crate) struct Source<'a> {
    pub(crate) frozen: &'a Frozen,
    pub(crate) frozen_sha256: Digest,
    pub(crate) standings: &'a Standings<'a>,
    /// The rows of the standings, whose ratings take a while.
    pub(crate) rows: &'a [Standing],
    /// The digest of each record, in the order of the matrix.
    pub(crate) digests: &'a [Digest],
    pub(crate) identities: &'a [Identity],
}

/// Writes the scorecard as one JSON document, a row a line. `pairs` gives the rows of
/// [`put_pair`].
pub(crate) fn write(source: &Source<'_>, pairs: &mut dyn Read, out: &mut dyn Write) -> io::Result<()> {
    let Source { frozen, frozen_sha256, standings, rows, digests, identities } = source;
    let mut document = Document::begin(out)?;
    document.member("schema", &SCORECARD_SCHEMA)?;
    document.member("slug", &frozen.slug)?;
    document.member("title", &frozen.title)?;
    document.member("game", &frozen.game)?;
    document.member("frozen_sha256", frozen_sha256)?;
    document.member("score_version", &frozen.protocol.score_version)?;
    document.member("terminal", &Class::Success)?;
    let planned = frozen.matchups.len();
    document.member("completed", &json!({ "planned": planned, "completed": digests.len() }))?;
    document.list(
        "records",
        frozen.matchups.iter().zip(*digests).map(|(matchup, digest)| {
            Ok(RecordRow { digest: *digest, id: matchup.id, path: match_name(matchup.id) })
        }),
    )?;
    document.list("standings", rows.iter().map(Ok))?;
    document.copy("pairs", pairs)?;
    document.list("cells", standings.cells().map(Ok))?;
    document.list(
        "identities",
        identities.iter().map(|identity| {
            let pin = &frozen.strategies[identity.index as usize];
            Ok(json!({
                "alias": identity.alias,
                "index": identity.index,
                "strategy": pin.name,
                "commitment": identity.commitment,
                "verified": true,
            }))
        }),
    )?;
    document.member("receipt", &RECEIPT)?;
    document.end()
}

/// One record, by its digest.
#[derive(Serialize)]
struct RecordRow {
    digest: Digest,
    id: MatchId,
    path: String,
}

/// One row for a matchup, by name.
#[derive(Serialize)]
struct Pair<'a> {
    id: MatchId,
    a: &'a str,
    b: &'a str,
    repetition: u32,
    outcome: Outcome,
    scores: [i64; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    moves: Option<&'a [String; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pack_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    settlements: Option<&'a [Settled; 2]>,
}

/// Puts the row of a matchup down: a line of its own, without its end.
pub(crate) fn put_pair(
    rows: &mut Vec<u8>,
    (frozen, seating): (&Frozen, &Seating),
    matchup: &Matchup,
    record: &Record,
) {
    let [a, b] = seats(seating, matchup).map(|index| frozen.strategies[index as usize].name.as_str());
    let pack_id = match &matchup.scenario {
        Scenario::Campus(pin) => Some(pin.pack_id.as_str()),
        Scenario::Matrix(_) => None,
    };
    let row = Pair {
        id: matchup.id,
        a,
        b,
        repetition: matchup.repetition,
        outcome: record.outcome(),
        scores: record.scores(),
        moves: record.matrix_moves(),
        pack_id,
        settlements: record.settlements(),
    };
    rows.extend_from_slice(before_row(matchup.id == MatchId(1)));
    serde_json::to_writer(rows, &row).expect("a row has string keys, and memory takes every byte");
}

/// What stands between two rows, and before the first.
fn before_row(first: bool) -> &'static [u8] {
    if first { b"\n" } else { b",\n" }
}

/// A JSON object that is written member by member.
struct Document<'w> {
    out: &'w mut dyn Write,
    first: bool,
}

impl<'w> Document<'w> {
    fn begin(out: &'w mut dyn Write) -> io::Result<Self> {
        out.write_all(b"{")?;
        Ok(Self { out, first: true })
    }

    fn key(&mut self, name: &str) -> io::Result<()> {
        let separator = if self.first { "" } else { "," };
        self.first = false;
        write!(self.out, "{separator}\n\"{name}\": ")
    }

    fn member(&mut self, name: &str, value: &impl Serialize) -> io::Result<()> {
        self.key(name)?;
        serde_json::to_writer(&mut self.out, value).map_err(io::Error::from)
    }

    fn list<T: Serialize>(
        &mut self,
        name: &str,
        rows: impl Iterator<Item = io::Result<T>>,
    ) -> io::Result<()> {
        self.key(name)?;
        self.out.write_all(b"[")?;
        for (i, row) in rows.enumerate() {
            self.out.write_all(before_row(i == 0))?;
            serde_json::to_writer(&mut self.out, &row?).map_err(io::Error::from)?;
        }
        self.out.write_all(b"\n]")
    }

    /// A list whose rows are written already, each as [`put_pair`] puts it.
    fn copy(&mut self, name: &str, rows: &mut dyn Read) -> io::Result<()> {
        self.key(name)?;
        self.out.write_all(b"[")?;
        io::copy(rows, &mut self.out)?;
        self.out.write_all(b"\n]")
    }

    fn end(self) -> io::Result<()> {
        self.out.write_all(b"\n}\n")
    }
}
