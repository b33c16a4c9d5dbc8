//! Receipts held against a server: the log that it shows now has to begin with the one that it signed then.

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
const DOING: &str = "hold the receipt against the server";
/// Neighbours of a proof: two for each level of the highest tree there can be.
const PROOF_MAX: usize = 130;

/// What a server shows of its log.
struct Present {
    instance: Digest,
    /// The key that it names.
    key: Digest,
    head: Head,
    /// The signed note, if anything is signed yet.
    checkpoint: Option<Checkpoint>,
}

/// Where a receipt stands.
enum Standing {
    /// The present log begins with the one that was signed.
    Holds { seq: u64, event: String, size: u64 },
    /// What was signed is not there.
    LeftOut(String),
    /// Something else is there.
    WrittenAnew(String),
    /// It is no receipt of this server.
    Refused(Vec<Finding>),
}

/// Holds receipts against a server, and tells where each stands.
pub(super) fn hold(
    (address, key): (&Address, Option<Digest>),
    receipts: &[(String, Value)],
    (results, io): (Option<&mut Vec<Value>>, &mut Io<'_>),
) -> Result<Exit, Failure> {
    let relay = Relay::new(address.clone(), PATIENCE)?;
    let present = present(&relay).map_err(ending)?;
    if key.is_none() {
        io.warn(format_args!(
            "the key {} is the one that the server names now; give the one that you know with --log-key",
            present.key
        ));
    }
    let (mut exit, mut told) = (Exit::Success, Vec::new());
    for (file, receipt) in receipts {
        let standing = stand(&relay, &present, key.unwrap_or(present.key), receipt).map_err(ending)?;
        if !matches!(standing, Standing::Holds { .. }) {
            exit = exit.or_worse(Exit::Rejected);
        }
        match results {
            Some(_) => told.push(standing.json(file, address, present.head.0)),
            None => standing.show(file, address, present.head.0, io),
        }
    }
    if let Some(results) = results {
        results.extend(told);
    }
    Ok(exit)
}

fn ending(trouble: Trouble) -> Failure {
    let exit = match trouble {
        Trouble::Away(_) | Trouble::Left => Exit::Stalled,
        Trouble::Refused { .. } | Trouble::Foreign(_) => Exit::Rejected,
    };
    Failure::new(exit, DOING, trouble)
}

fn foreign(why: impl fmt::Display) -> Trouble {
    Trouble::Foreign(Excerpt { text: &why.to_string(), max: 200 }.to_string())
}

fn present(relay: &Relay) -> Result<Present, Trouble> {
    let about = relay.see("/api/v1/log/checkpoint")?;
    let digest = |key: &str| about.get(key).and_then(Value::as_str).and_then(|text| text.parse().ok());
    let pair = digest("instance_id").zip(digest("public_key"));
    let (instance, key) = pair.ok_or_else(|| foreign("its log has no instance_id or no public_key"))?;
    let checkpoint = match about.get("checkpoint") {
        Some(Value::String(note)) => Some(Checkpoint::read(note).map_err(foreign)?),
        Some(Value::Null) => None,
        _ => return Err(foreign("its log has no checkpoint")),
    };
    let nothing = (0, Digest::of(b""));
    let head = checkpoint.as_ref().map_or(nothing, |checkpoint| (checkpoint.size, checkpoint.root));
    Ok(Present { instance, key, head, checkpoint })
}

/// The proof that a server gives; nothing if it has none.
fn proof(relay: &Relay, query: &str) -> Result<Option<Vec<Digest>>, Trouble> {
    let said = match relay.see(&format!("/api/v1/log/consistency?{query}")) {
        Err(trouble) if trouble.is("not_found") => return Ok(None),
        said => said?,
    };
    let digests = said.get("proof").and_then(Value::as_array).filter(|proof| proof.len() <= PROOF_MAX);
    let digests: Option<Option<Vec<Digest>>> =
        digests.map(|proof| proof.iter().map(|digest| digest.as_str()?.parse().ok()).collect());
    digests.flatten().map(Some).ok_or_else(|| foreign("its proof is none"))
}

fn stand(relay: &Relay, present: &Present, key: Digest, document: &Value) -> Result<Standing, Trouble> {
    let refused = |pointer: &str, message: String| {
        Standing::Refused(vec![Finding { pointer: pointer.to_owned(), message }])
    };
    let receipt = match claim::receipt_of(document) {
        Ok(receipt) => receipt,
        Err(findings) => return Ok(Standing::Refused(findings)),
    };
    if receipt.instance != present.instance {
        let why = format!("it is of the instance {}, the server is {}", receipt.instance, present.instance);
        return Ok(refused("/instance", why));
    }
    let signed = match receipt.signed(key) {
        Ok((checkpoint, _)) => (checkpoint.size, checkpoint.root),
        Err(fault) => return Ok(refused(fault.at, fault.why)),
    };
    let (size, shown) = (signed.0, present.head.0);
    if let Some(Err(why)) = present.checkpoint.as_ref().map(|it| it.verify(&origin(present.instance), key)) {
        return Ok(Standing::WrittenAnew(format!(
            "the checkpoint of {shown} events that it shows now: {why}"
        )));
    }
    let anew = |(from, to): (u64, u64)| {
        let why = format!("the log of {to} events does not begin with that of {from}, and it signed both");
        Standing::WrittenAnew(why)
    };
    let holds = Standing::Holds { seq: receipt.seq, event: receipt.event.clone(), size };
    if size <= shown {
        let proof = proof(relay, &format!("from={size}&to={shown}"))?;
        let leads = proof.is_some_and(|proof| is_consistent(signed, present.head, &proof));
        return Ok(if leads { holds } else { anew((size, shown)) });
    }
    // It shows less than it signed: while anything is sealed it may, if it knows of the rest.
    Ok(match proof(relay, &format!("from={shown}&to={size}&root={}", signed.1))? {
        Some(proof) if is_consistent(present.head, signed, &proof) => holds,
        Some(_) => anew((shown, size)),
        None => {
            let why =
                format!("it signed {size} events, shows {shown}, and knows no log of {size} with that root");
            Standing::LeftOut(why)
        }
    })
}

impl Standing {
    fn name(&self) -> &'static str {
        match self {
            Self::Holds { .. } => "holds",
            Self::LeftOut(_) => "left out",
            Self::WrittenAnew(_) => "written anew",
            Self::Refused(_) => "rejected",
        }
    }

    fn findings(&self) -> Vec<Finding> {
        match self {
            Self::Holds { .. } => Vec::new(),
            Self::LeftOut(why) | Self::WrittenAnew(why) => {
                vec![Finding { pointer: "/checkpoint".to_owned(), message: why.clone() }]
            }
            Self::Refused(findings) => findings.clone(),
        }
    }

    fn json(&self, file: &str, address: &Address, shown: u64) -> Value {
        let mut said = json!({
            "file": file, "server": address.to_string(), "verified": matches!(self, Self::Holds { .. }),
            "standing": self.name(), "shown": shown.to_string(),
        });
        match self {
            Self::Holds { seq, event, size } => {
                said["seq"] = json!(seq.to_string());
                said["event"] = json!(event);
                said["size"] = json!(size.to_string());
            }
            _ => said["findings"] = json!(self.findings()),
        }
        said
    }

    fn show(&self, file: &str, address: &Address, shown: u64, io: &mut Io<'_>) {
        let ink = io.ink();
        let name = format!("{}:", self.name());
        match self {
            Self::Holds { seq, event, size } => {
                let event = Excerpt { text: event, max: 60 };
                let now = match size <= &shown {
                    true => format!("the log of {shown} events that {address} shows begins with them"),
                    false => format!("{address} knows them, and shows {shown} for now"),
                };
                io.print(format_args!(
                    "{} {file} · event {seq}, {event}, is among the {size} that were signed; {now}",
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
