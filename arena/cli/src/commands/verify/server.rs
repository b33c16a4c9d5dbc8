//! Receipts held against a server: the log that it shows now has to begin with the one that it signed then, and all that
//! it signed has to be one log, whose times never fall.

use std::fmt;
use std::time::Duration;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_claims::log::{Checkpoint, Head, is_consistent, origin};
use arena_engine::Excerpt;
use arena_engine::campus::Finding;
use serde_json::json;

use crate::commands::agent::{Address, Relay, Trouble};
use crate::commands::claim;
use crate::exit::Exit;
use crate::failure::{Failure, place};
use crate::ink::Tone;
use crate::io::Io;

const PATIENCE: Duration = Duration::from_secs(30);
/// Neighbours of a proof: two for each level of the highest tree there can be.
const PROOF_MAX: usize = 130;

/// A log at a size, as it was signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Signed {
    head: Head,
    /// When, in Unix time.
    at: u64,
}

/// What a server shows of its log.
struct Present {
    instance: Digest,
    /// The key that it names.
    key: Digest,
    /// The signed note, if anything is signed yet.
    checkpoint: Option<Checkpoint>,
}

impl Present {
    /// What it signed; nothing if it shows no checkpoint.
    fn signed(&self, key: Digest) -> Result<Option<Signed>, String> {
        let Some(checkpoint) = &self.checkpoint else { return Ok(None) };
        let at = checkpoint.verify(&origin(self.instance), key);
        let at = at.map_err(|why| {
            format!("the checkpoint of {} events that it shows now: {why}", checkpoint.size)
        })?;
        Ok(Some(Signed { head: (checkpoint.size, checkpoint.root), at }))
    }
}

/// Where a receipt stands.
enum Standing {
    /// The present log begins with the one that was signed, or is the beginning of it.
    Holds { seq: u64, event: String, signed: Signed },
    /// What was signed is not there.
    LeftOut(String),
    /// Something else is there.
    WrittenAnew(String),
    /// It is no receipt of this server.
    Refused(Vec<Finding>),
    /// The server did not say.
    Unknown(Trouble),
}

/// A server that is asked, by the key that it is believed by.
struct Witness<'a> {
    relay: &'a Relay,
    instance: Digest,
    key: Digest,
    /// What it shows now, or what is wrong with that.
    shown: Result<Option<Signed>, String>,
}

/// Holds receipts against a server and against each other, and tells where each stands.
pub(super) fn hold(
    (address, key): (&Address, Option<Digest>),
    receipts: &[(String, Value)],
    (results, io): (Option<&mut Vec<Value>>, &mut Io<'_>),
) -> Result<Exit, Failure> {
    let relay = Relay::new(address.clone(), PATIENCE)?;
    let mut shown = None;
    let standings = match present(&relay) {
        Ok(present) => {
            if key.is_none() {
                io.warn(format_args!(
                    "the key {} is the one that the server names now; give the one that you know with --log-key",
                    present.key
                ));
            }
            let key = key.unwrap_or(present.key);
            let instance = present.instance;
            let witness = Witness { relay: &relay, instance, key, shown: present.signed(key) };
            shown = witness.shown.clone().ok().flatten();
            witness.standings(receipts)
        }
        Err(trouble) => receipts.iter().map(|_| Standing::Unknown(trouble.clone())).collect(),
    };
    let mut exit = Exit::Success;
    let mut told = Vec::new();
    for ((file, _), standing) in receipts.iter().zip(&standings) {
        exit = exit.or_worse(standing.exit());
        match results {
            Some(_) => told.push(standing.json(file, address, shown)),
            None => standing.show(file, address, shown, io),
        }
    }
    if let Some(trouble) = standings.iter().find_map(Standing::trouble) {
        io.warn(format_args!("not all receipts are held against {address}: {trouble}"));
    }
    if let Some(results) = results {
        results.extend(told);
    }
    Ok(exit)
}

fn foreign(why: impl fmt::Display) -> Trouble {
    Trouble::Foreign(Excerpt { text: &why.to_string(), max: 200 }.to_string())
}

/// A document of the server's. That it will not say now is no word about a receipt; that it has no such thing may be.
fn see(relay: &Relay, path: &str) -> Result<Value, Trouble> {
    relay.see(path).map_err(|trouble| match trouble {
        Trouble::Refused { status, code, detail } if status != 404 => {
            Trouble::Away(format!("it refuses: {code}: {detail}"))
        }
        other => other,
    })
}

fn present(relay: &Relay) -> Result<Present, Trouble> {
    let about = see(relay, "/api/v1/log/checkpoint")?;
    let digest = |key: &str| about.get(key).and_then(Value::as_str).and_then(|text| text.parse().ok());
    let pair = digest("instance_id").zip(digest("public_key"));
    let (instance, key) = pair.ok_or_else(|| foreign("its log has no instance_id or no public_key"))?;
    let checkpoint = match about.get("checkpoint") {
        Some(Value::String(note)) => Some(Checkpoint::read(note).map_err(foreign)?),
        Some(Value::Null) => None,
        _ => return Err(foreign("its log has no checkpoint")),
    };
    Ok(Present { instance, key, checkpoint })
}

impl Witness<'_> {
    fn standings(&self, receipts: &[(String, Value)]) -> Vec<Standing> {
        let mut standings: Vec<Standing> = Vec::new();
        for (_, receipt) in receipts {
            // Who is away is not waited for again and again.
            let stood = match standings.iter().find_map(Standing::trouble) {
                Some(trouble) => Err(trouble.clone()),
                None => self.stand(receipt),
            };
            standings.push(stood.unwrap_or_else(Standing::Unknown));
        }
        self.stand_together(&mut standings);
        standings
    }

    /// Whether the server proves that one log begins another; nothing if it knows of no such thing.
    fn begins(&self, from: Head, to: Head) -> Result<Option<bool>, Trouble> {
        let query = format!("from={}&to={}&root={}", from.0, to.0, to.1);
        let said = match see(self.relay, &format!("/api/v1/log/consistency?{query}")) {
            Err(trouble) if trouble.is("not_found") => return Ok(None),
            said => said?,
        };
        let digests = said.get("proof").and_then(Value::as_array).filter(|proof| proof.len() <= PROOF_MAX);
        let digests: Option<Option<Vec<Digest>>> =
            digests.map(|proof| proof.iter().map(|digest| digest.as_str()?.parse().ok()).collect());
        let proof = digests.flatten().ok_or_else(|| foreign("its proof is none"))?;
        Ok(Some(is_consistent(from, to, &proof)))
    }

    /// Where a receipt stands to what the server shows.
    fn stand(&self, document: &Value) -> Result<Standing, Trouble> {
        let refused = |pointer: &str, message: String| {
            Standing::Refused(vec![Finding { pointer: pointer.to_owned(), message }])
        };
        let receipt = match claim::receipt_of(document) {
            Ok(receipt) => receipt,
            Err(findings) => return Ok(Standing::Refused(findings)),
        };
        if receipt.instance != self.instance {
            let why = format!("it is of the instance {}, the server is {}", receipt.instance, self.instance);
            return Ok(refused("/instance", why));
        }
        let signed = match receipt.signed(self.key) {
            Ok((checkpoint, at)) => Signed { head: (checkpoint.size, checkpoint.root), at },
            Err(fault) => return Ok(refused(fault.at, fault.why)),
        };
        if let Some(finding) = claim::out_of_time(document, self.key, signed.at) {
            return Ok(Standing::Refused(vec![finding]));
        }
        let size = signed.head.0;
        let shown = match &self.shown {
            Ok(Some(shown)) if shown.head.0 > 0 => shown.head,
            // Everything begins with nothing: that would prove nothing.
            Ok(_) => {
                let why = format!("it signed {size} events, and shows no checkpoint of any");
                return Ok(Standing::LeftOut(why));
            }
            Err(why) => return Ok(Standing::WrittenAnew(why.clone())),
        };
        let anew = |(from, to): (u64, u64)| {
            let why =
                format!("the log of {to} events does not begin with that of {from}, and it signed both");
            Standing::WrittenAnew(why)
        };
        let holds = Standing::Holds { seq: receipt.seq, event: receipt.event.clone(), signed };
        if size <= shown.0 {
            let leads = self.begins(signed.head, shown)? == Some(true);
            return Ok(if leads { holds } else { anew((size, shown.0)) });
        }
        // It shows less than it signed: while anything is sealed it may, if it knows of the rest.
        Ok(match self.begins(shown, signed.head)? {
            Some(true) => holds,
            Some(false) => anew((shown.0, size)),
            None => {
                let shown = shown.0;
                let why = format!(
                    "it signed {size} events, shows {shown}, and knows no log of {size} with that root"
                );
                Standing::LeftOut(why)
            }
        })
    }

    /// Holds what was signed against each other: each begins the next, and was signed no later.
    fn stand_together(&self, standings: &mut [Standing]) {
        let receipts = standings.iter().enumerate();
        let receipts = receipts.filter_map(|(place, standing)| Some((standing.signed()?, Some(place))));
        let shown = self.shown.iter().flatten().map(|shown| (*shown, None));
        let mut all: Vec<(Signed, Option<usize>)> = receipts.chain(shown).collect();
        all.sort_by_key(|(signed, place)| (signed.head.0, signed.at, *place));
        for pair in all.windows(2) {
            let (one, next) = (pair[0], pair[1]);
            let wrong = match self.wrong_between(one.0, next.0) {
                Ok(None) => continue,
                Ok(Some(why)) => Ok(why),
                Err(trouble) => Err(trouble),
            };
            for place in [one.1, next.1].into_iter().flatten() {
                standings[place] = match &wrong {
                    Ok(why) => Standing::WrittenAnew(why.clone()),
                    // What was found wrong stays found.
                    Err(_) if standings[place].signed().is_none() => continue,
                    Err(trouble) => Standing::Unknown(trouble.clone()),
                };
            }
        }
    }

    /// Why these two are not signed by one who only adds to a log; nothing if they are.
    fn wrong_between(&self, one: Signed, next: Signed) -> Result<Option<String>, Trouble> {
        let (size, more) = (one.head.0, next.head.0);
        if one.at > next.at {
            return Ok(Some(format!(
                "{more} events were signed at {}, and the {size} before them later, at {}",
                time(next.at),
                time(one.at)
            )));
        }
        if size == more {
            return Ok((one.head.1 != next.head.1).then(|| format!("it signed two logs of {size} events")));
        }
        // Each of what it shows was proven already, and so is what follows from that.
        let shown = self.shown.iter().flatten().next().map_or(0, |shown| shown.head.0);
        if more <= shown || size == shown || self.begins(one.head, next.head)? == Some(true) {
            return Ok(None);
        }
        Ok(Some(format!("it signed a log of {size} events and one of {more} that does not begin with it")))
    }
}

/// A time for people.
fn time(at: u64) -> String {
    let stamp = i64::try_from(at).ok().and_then(|at| jiff::Timestamp::from_second(at).ok());
    stamp.map_or_else(|| at.to_string(), |stamp| stamp.to_string())
}

impl Standing {
    fn signed(&self) -> Option<Signed> {
        match self {
            Self::Holds { signed, .. } => Some(*signed),
            _ => None,
        }
    }

    fn trouble(&self) -> Option<&Trouble> {
        match self {
            Self::Unknown(trouble) => Some(trouble),
            _ => None,
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Holds { .. } => Exit::Success,
            Self::Unknown(Trouble::Away(_) | Trouble::Left) => Exit::Stalled,
            _ => Exit::Rejected,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Holds { .. } => "holds",
            Self::LeftOut(_) => "left out",
            Self::WrittenAnew(_) => "written anew",
            Self::Refused(_) => "rejected",
            Self::Unknown(_) => "unknown",
        }
    }

    fn findings(&self) -> Vec<Finding> {
        let finding = |pointer: &str, message: String| vec![Finding { pointer: pointer.to_owned(), message }];
        match self {
            Self::Holds { .. } => Vec::new(),
            Self::LeftOut(why) | Self::WrittenAnew(why) => finding("/checkpoint", why.clone()),
            Self::Refused(findings) => findings.clone(),
            Self::Unknown(trouble) => finding("", trouble.to_string()),
        }
    }

    fn json(&self, file: &str, address: &Address, shown: Option<Signed>) -> Value {
        let mut said = json!({
            "file": file, "server": address.to_string(), "verified": matches!(self, Self::Holds { .. }),
            "standing": self.name(), "shown": shown.map_or(0, |shown| shown.head.0).to_string(),
            "shown_signed_at": shown.map(|shown| time(shown.at)),
        });
        match self {
            Self::Holds { seq, event, signed } => {
                said["seq"] = json!(seq.to_string());
                said["event"] = json!(event);
                said["size"] = json!(signed.head.0.to_string());
                said["signed_at"] = json!(time(signed.at));
            }
            _ => said["findings"] = json!(self.findings()),
        }
        said
    }

    fn show(&self, file: &str, address: &Address, shown: Option<Signed>, io: &mut Io<'_>) {
        let ink = io.ink();
        let name = format!("{}:", self.name());
        let (size, at) = shown.map_or((0, 0), |shown| (shown.head.0, shown.at));
        match self {
            Self::Holds { seq, event, signed } => {
                let event = Excerpt { text: event, max: 60 };
                let (signed, at) = (signed.head.0, time(at));
                let now = match signed <= size {
                    true => {
                        format!(
                            "the log of {size} events that {address} shows, signed {at}, begins with them"
                        )
                    }
                    false => format!("{address} knows them, and shows {size} for now, signed {at}"),
                };
                io.print(format_args!(
                    "{} {file} · event {seq}, {event}, is among the {signed} that were signed; {now}",
                    ink.paint(Tone::Good, &name)
                ));
            }
            _ => {
                io.print(format_args!("{} {file}", ink.paint(Tone::Bad, &name)));
                for finding in self.findings() {
                    io.print(format_args!("  {}", place(file, &finding)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
