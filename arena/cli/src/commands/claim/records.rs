//! Records: made of results, kept until they are revealed, sealed and signed.

use std::path::{Path, PathBuf};

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::commitment::{Sealed, commitment, nonce};
use arena_claims::envelope::{Scope, sign};
use arena_claims::life::{Claim, Command, Phase};
use arena_claims::record::{Place, Record, Role, assemble};
use arena_engine::Excerpt;

use super::instance::Reading;
use super::material::{Material, Sources};
use super::rerun::{Configuration, rerun};
use super::verbs::Signed;
use super::{faulty, read_json, shown};
use crate::commands::key;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::io::Io;

/// A signature holds this long.
const EXPIRES_S: u64 = 3_600;

/// The claim, if there is one.
pub(super) fn claim_of<'a>(folder: &'a Reading, claim: &str) -> Result<&'a Claim, Failure> {
    folder.world.claims.get(claim).ok_or_else(|| {
        let name = Excerpt { text: claim, max: 80 };
        Failure::new(Exit::Rejected, format_args!("find claim `{name}`"), "unknown_claim: there is none")
    })
}

/// Where the results of a record come from.
#[derive(Clone, Copy)]
pub(super) enum Origin<'a> {
    /// They were measured elsewhere.
    File(&'a Path),
    /// The claim is run now, on a host of that kind.
    Running(&'a Sources, Configuration),
}

impl<'a> Origin<'a> {
    /// The file that is named, or a run.
    pub(super) fn of(results: Option<&'a Path>, sources: &'a Sources) -> Self {
        results.map_or(Self::Running(sources, Configuration::Ordinary), Self::File)
    }
}

/// The results, and what to call them.
fn results_of(
    folder: &Reading,
    claim: &Claim,
    origin: Origin<'_>,
    io: &mut Io<'_>,
) -> Result<(Value, String), Failure> {
    match origin {
        Origin::File(path) => Ok((read_json("results", path, io)?, shown(path))),
        Origin::Running(sources, configuration) => {
            let material = Material::gather(folder.path(), &claim.manifest, sources)?;
            let results = rerun(&claim.manifest, &material, claim.job, configuration, io)?;
            Ok((results, "the run".to_owned()))
        }
    }
}

/// A record of the agent from results, within the claim's manifest.
pub(super) fn assembled(
    folder: &Reading,
    claim: &str,
    role: Role,
    agent: &str,
    origin: Origin<'_>,
    io: &mut Io<'_>,
) -> Result<Record, Failure> {
    let claim = claim_of(folder, claim)?;
    let (value, name) = results_of(folder, claim, origin, io)?;
    // The reference is run by the instance's operator, who need not be an agent.
    let instance = &folder.world.instance.operator;
    let operator = folder.world.agents.get(agent).map_or(instance, |agent| &agent.operator);
    let (job, manifest) = (claim.job, &claim.manifest);
    let place = Place { claim: &claim.id, job, role, agent, operator, manifest };
    let record = assemble(&place, &value).and_then(|record| record.check(manifest).map(|()| record));
    record.map_err(|faults| faulty(Exit::Rejected, "make a record of", &name, faults))
}

/// A record that is kept until it is revealed.
pub(super) fn made(
    folder: &Reading,
    claim: &str,
    role: Role,
    agent: &str,
    origin: Origin<'_>,
    io: &mut Io<'_>,
) -> Result<Record, Failure> {
    let record = assembled(folder, claim, role, agent, origin, io)?;
    let place = folder.private_of("record", record.job, agent);
    files::write_private(&place, &json::canonical(record.value()), Existing::Replace)?;
    Ok(record)
}

/// The record that the agent keeps.
pub(super) fn kept(folder: &Reading, claim: &str, agent: &str) -> Result<Record, Failure> {
    let place = folder.private_of("record", claim_of(folder, claim)?.job, agent);
    let bytes = files::read(&place, super::DOCUMENT_BYTES_MAX)
        .map_err(|unread| unread.reading("record", &place).hint("make one with `arena claim run`"))?;
    Record::parse(&bytes).map_err(|why| Failure::new(Exit::Rejected, "read the record", why))
}

/// The commitment to a document.
pub(super) fn sealed(
    folder: &Reading,
    claim: &str,
    signed: &Signed,
    kind: Sealed,
    document: Digest,
) -> Result<Digest, Failure> {
    let job = claim_of(folder, claim)?.job;
    let secret = key::read(&signed.key)?;
    // A commitment under another key could never be opened, and its stake would be lost.
    let bound = folder.world.agents.get(&signed.by.agent).map(|agent| agent.key);
    if bound.is_some_and(|bound| bound != secret.public()) {
        let why = format!("the key in `{}` is not the one that is bound to the agent", shown(&signed.key));
        return Err(Failure::usage("make the commitment", why));
    }
    let seed = secret.seed();
    Ok(commitment(kind, job, &signed.by.agent, nonce(&seed, job, kind), document))
}

/// Where a document is kept that a commitment is made to: by the commitment, so that nothing else is ever written
/// over what must be revealed.
pub(super) fn place_of(folder: &Reading, kind: Sealed, commitment: Digest) -> PathBuf {
    let what = if kind == Sealed::Vote { "ballot" } else { "record" };
    folder.private(&format!("{what}-{commitment}"))
}

/// The bytes of the document that the agent is committed to.
fn committed(folder: &Reading, kind: Sealed, commitment: Digest) -> Result<Vec<u8>, Failure> {
    let place = place_of(folder, kind, commitment);
    files::read_regular(&place, super::DOCUMENT_BYTES_MAX).map_err(|unread| {
        unread.reading("committed document", &place).hint("it is kept where the commitment was made")
    })
}

/// What opens the agent's commitment. Where there is none, the claim refuses it by name.
pub(super) fn reveal(
    folder: &Reading,
    claim: &str,
    signed: &Signed,
    at: Option<&str>,
) -> Result<Command, Failure> {
    let (state, agent) = (claim_of(folder, claim)?, &signed.by.agent);
    let secret = key::read(&signed.key)?;
    let id = claim.to_owned();
    if matches!(state.phase, Phase::Opening { .. }) {
        let seats = state.panel().into_iter().flat_map(|panel| &panel.seats);
        let digest = seats.filter(|seat| seat.agent == *agent).find_map(|seat| seat.digest);
        let bytes = digest.map(|digest| committed(folder, Sealed::Vote, digest)).transpose()?;
        let ballot = bytes.map(|bytes| json::read(&bytes, bytes.len())).transpose();
        let ballot = ballot.map_err(|why| Failure::usage("read the ballot", why))?.unwrap_or_default();
        let nonce = nonce(&secret.seed(), state.job, Sealed::Vote);
        return Ok(Command::RevealVote { claim: id, nonce, ballot });
    }
    let (kind, digest) = match state.run.as_ref().filter(|run| run.runner == *agent) {
        Some(run) => (Sealed::Run, run.digest),
        None => (Sealed::Challenge, state.challenge(agent).map(|challenge| challenge.digest)),
    };
    let nonce = nonce(&secret.seed(), state.job, kind);
    let Some(digest) = digest else { return Ok(Command::Reveal { claim: id, nonce, envelope: Value::Null }) };
    let record = Record::parse(&committed(folder, kind, digest)?)
        .map_err(|why| Failure::new(Exit::Rejected, "read the record", why))?;
    let at = folder.time(at)?;
    let counter = folder.world.agents.get(agent).map_or(0, |agent| agent.counter) + 1;
    let scope =
        Scope { instance: folder.world.instance.id(), counter, expires: at.saturating_add(EXPIRES_S) };
    let envelope = sign(&record, scope, &secret);
    Ok(Command::Reveal { claim: id, nonce, envelope })
}
