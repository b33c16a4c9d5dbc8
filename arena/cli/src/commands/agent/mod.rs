//! Programs that take part in the claims of a server: a runner, a challenger, and a party of its hash chain.
//!
//! What is owed is on disk before the server hears of it, and what is due follows from what the server says and from
//! what is on disk: a program that was killed goes on where it was. Absent: opinions; seats on panels are for people.

mod beacon;
mod folder;
mod http;
mod leave;
mod material;
mod party;
mod plan;
mod receipts;
pub(crate) mod rerun;
mod tell;
#[cfg(test)]
mod tests;
mod view;
mod work;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_claims::envelope::SecretKey;
use arena_ledger::Amount;
use serde_json::json;

use crate::commands::key;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::io::Io;
use folder::Folder;
use http::{Server, Token};
use leave::Leave;
use tell::Teller;
use view::{Instance, Me};
use work::{Bounds, Worker};

pub(crate) use beacon::{RELAYS_MAX, Relays, Wanted};
pub(crate) use http::{Address, Relay, Trouble};
pub(crate) use party::{Party, run as run_party};

/// Run claims of a server: take what one is drawn for, rerun it, commit, reveal
///
/// Accepts the runs and audits that the agent is drawn for, fetches what each claim pins and checks it against its
/// digests, reruns it in the sandbox, commits the record without showing it, and reveals it, signed, when the window is
/// closed. Whatever it owes is on disk first: killed at any moment and started again, it goes on and loses no stake.
/// Works until it is interrupted.
#[derive(Debug, clap::Args)]
#[command(after_help = RUNNER_HELP)]
pub(crate) struct Runner {
    #[command(flatten)]
    common: Common,

    /// What it can run, so that it is drawn for claims that ask for it [default: wasm]
    #[arg(long = "can", value_name = "TAG")]
    can: Vec<String>,
}

const RUNNER_HELP: &str = "\
The first start makes a key that records are signed by and binds it to the agent; keep the folder. What claims
pin comes from the server, under its digest, or from --inputs. Runs beyond the limits given are declined, with
the reason; so are seats on panels, unless they are kept for a person.

Examples:
  arena runner --server https://arena.example --key rex.key
  arena runner --server http://127.0.0.1:8080 --key rex.key --once --json
  arena runner --server https://arena.example --key rex.key --fuel-max 50000000000 --stake-max 12000";

/// Challenge runs of a server's claims, without a look at them
///
/// Looks for claims that were run and can be challenged, fetches what each pins and checks it against its digests, and
/// reruns it in the sandbox. Where its result is not what the claim says, it commits a sealed challenge and reveals it
/// in time; where it is, nobody hears of it. Audits that it is drawn for it does whatever comes out. It asks for nothing
/// of the run itself before its own record is revealed. Killed at any moment and started again, it goes on.
#[derive(Debug, clap::Args)]
#[command(after_help = CHALLENGER_HELP)]
pub(crate) struct Challenger {
    #[command(flatten)]
    common: Common,

    /// What it can run; with a tag it may be drawn for audits, and for runs, which it declines
    #[arg(long = "can", value_name = "TAG")]
    can: Vec<String>,
}

const CHALLENGER_HELP: &str = "\
A challenge locks a stake, which comes back unless the run turns out to be right or the challenge is not
revealed. The first start makes a key that records are signed by and binds it to the agent; keep the folder.

Examples:
  arena challenger --server https://arena.example --key dan.key
  arena challenger --server http://127.0.0.1:8080 --key dan.key --once --json
  arena challenger --server https://arena.example --key dan.key --stake-max 5000 --wall-max 600";

// What both have.
#[derive(Debug, clap::Args)]
struct Common {
    /// The server: https://host[:port], or http:// on this machine
    #[arg(long, value_name = "URL")]
    server: Address,

    /// The file with the agent's key for the server, ak_…
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    /// The folder with what it owes; made if it is not there [default: the key's name with .work]
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,

    /// The key that records are signed by, from `arena key new` [default: one of its own in the folder]
    #[arg(long, value_name = "FILE")]
    signing_key: Option<PathBuf>,

    /// A folder with pinned inputs, by their digest or their name; they count before the server's
    #[arg(long, value_name = "DIR")]
    inputs: Option<PathBuf>,

    /// Do what is due and leave
    #[arg(long)]
    once: bool,

    /// Seconds between two looks at the server
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    every: u64,

    /// Seconds that an answer of the server may take
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,

    /// Decline what pays less
    #[arg(long, value_name = "AMOUNT", default_value = "0")]
    fee_min: Amount,

    /// Most that may be at stake at once
    #[arg(long, value_name = "AMOUNT")]
    stake_max: Option<Amount>,

    /// Most fuel that a claim may allow itself
    #[arg(long, value_name = "FUEL")]
    fuel_max: Option<u64>,

    /// Most seconds that a claim may allow itself
    #[arg(long, value_name = "SECONDS")]
    wall_max: Option<u64>,

    /// A relay of drand, such as https://api.drand.sh: rounds that draws wait for are fetched there, checked, and shown
    /// to the server; several are tried in turn
    #[arg(long = "drand", value_name = "URL")]
    drand: Vec<Address>,

    /// Leave seats on panels for a person instead of declining them
    #[arg(long)]
    keep_seats: bool,

    /// Send the key over a network unencrypted, if the server is http:// and elsewhere
    #[arg(long)]
    allow_plain_http: bool,

    #[command(flatten)]
    output: crate::commands::Output,
}

pub(crate) fn run_runner(args: &Runner, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let can = if args.can.is_empty() { vec!["wasm".to_owned()] } else { args.can.clone() };
    work(&args.common, &can, false, io)
}

pub(crate) fn run_challenger(args: &Challenger, io: &mut Io<'_>) -> Result<Exit, Failure> {
    work(&args.common, &args.can, true, io)
}

/// Why a step, or a look, did not come to its end.
#[derive(Debug)]
enum Stop {
    /// Of the server's.
    Trouble(Trouble),
    /// Of this machine's.
    Failure(Failure),
}

impl From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trouble(trouble) => write!(f, "{trouble}"),
            Self::Failure(failure) => write!(f, "{}", failure.message()),
        }
    }
}

impl Stop {
    /// The same for somebody who started `doing` and sees it end.
    fn ending(self, doing: &str) -> Failure {
        match self {
            Self::Failure(failure) => failure,
            Self::Trouble(trouble) => {
                let exit = match &trouble {
                    Trouble::Away(_) | Trouble::Left => Exit::Stalled,
                    Trouble::Refused { .. } | Trouble::Foreign(_) => Exit::Rejected,
                };
                let failure = Failure::new(exit, doing, &trouble);
                match trouble.is("unauthorized") {
                    true => {
                        failure.hint("is it the whole key, and one of this server? its admin hands keys out")
                    }
                    false => failure,
                }
            }
        }
    }
}

fn read_token(path: &Path) -> Result<Token, Failure> {
    let bytes = files::read_named(path, 1_024).map_err(|unread| unread.reading("key", path))?;
    let doing = format!("read key `{}`", files::shown(path));
    // What was read may be a secret: nothing of it is told.
    let token = std::str::from_utf8(&bytes).ok().and_then(Token::read);
    token.ok_or_else(|| {
        Failure::usage(doing, "it is no key of a server, which begins with ak_")
            .hint("the server's admin hands keys out; the key that signs is another one, see --signing-key")
    })
}

/// How a program comes to its server.
struct Door<'a> {
    server: &'a Address,
    key: &'a Path,
    work: Option<&'a Path>,
    signing_key: Option<&'a Path>,
    once: bool,
    every: u64,
    timeout: u64,
    allow_plain_http: bool,
    json: bool,
}

/// A program that has met its server.
struct Joined {
    server: Server,
    folder: Folder,
    key: SecretKey,
    me: Me,
    instance: Instance,
    leave: Leave,
    teller: Teller,
}

const DOING: &str = "work for the server";

impl Door<'_> {
    /// The folder with what is owed.
    fn place(&self) -> PathBuf {
        self.work.map(Path::to_owned).unwrap_or_else(|| {
            let mut name = self.key.to_owned().into_os_string();
            name.push(".work");
            name.into()
        })
    }

    /// Asks until the server is there, if somebody waits for it. Nothing if somebody said before that it is enough.
    fn patiently<T>(
        &self,
        (leave, teller): (&Leave, &mut Teller),
        mut ask: impl FnMut() -> Result<T, Stop>,
        io: &mut Io<'_>,
    ) -> Result<Option<T>, Failure> {
        loop {
            match ask() {
                Ok(said) => return Ok(Some(said)),
                Err(Stop::Trouble(Trouble::Left)) => {}
                Err(stop @ Stop::Trouble(Trouble::Away(_))) if !self.once => {
                    teller.trouble("the server", &stop, io);
                    if leave.sleep(Duration::from_secs(self.every)) {
                        continue;
                    }
                }
                Err(stop) => return Err(stop.ending(DOING)),
            }
            left(io);
            return Ok(None);
        }
    }
}

/// A program whose server said what it is and who comes. Nothing is bound yet, and no folder is made.
struct Met {
    server: Server,
    /// The folder, if it was there.
    folder: Option<Folder>,
    /// What the server tells of its beacon.
    beacon: Value,
    me: Me,
    instance: Instance,
    leave: Leave,
    teller: Teller,
}

/// Meets the server. Nothing if somebody said before that it is enough.
fn meet(door: &Door<'_>, io: &mut Io<'_>) -> Result<Option<Met>, Failure> {
    if door.server.is_exposed() && !door.allow_plain_http {
        let why =
            format_args!("the key would go over the network unencrypted to {}", door.server).to_string();
        return Err(
            Failure::usage(DOING, why).hint("use https://, or --allow-plain-http if the network is yours")
        );
    }
    let token = read_token(door.key)?;
    // What is there is looked at before the server is; what is not, is made when the server took the key.
    let place = door.place();
    let folder = if place.exists() { Some(Folder::open(&place)?) } else { None };
    door.signing_key.map(key::read).transpose()?;
    let (leave, timeout) = (Leave::on_signals(), Duration::from_secs(door.timeout));
    let server = Server::new(door.server.clone(), token, timeout, leave.clone())?;
    let mut teller = Teller::new(door.json);
    let greet = || {
        let beacon = server.get("/api/v1/beacons")?;
        let instance = Instance::read(&beacon)?;
        Ok((Me::read(&server.get("/api/v1/me")?)?, instance, beacon))
    };
    let met = door.patiently((&leave, &mut teller), greet, io)?;
    Ok(met.map(|(me, instance, beacon)| Met { server, folder, beacon, me, instance, leave, teller }))
}

impl Met {
    /// Begins to work: makes the folder, and binds the signing key if none is bound.
    fn join(self, door: &Door<'_>, can: &[String], io: &mut Io<'_>) -> Result<Option<Joined>, Failure> {
        let Self { server, folder, me, instance, leave, mut teller, .. } = self;
        let place = door.place();
        let folder = folder.map_or_else(|| Folder::open(&place), Ok)?;
        let key = folder.signing_key(door.signing_key)?;
        folder.belongs_to(&instance, &me, &key)?;
        let bound = door.patiently((&leave, &mut teller), || bind(&server, &me, &key, can), io)?;
        if bound.is_none() {
            return Ok(None);
        }
        let name = arena_engine::Excerpt::line(&instance.name).to_string();
        io.talk(format_args!(
            "{} works for {} ({name}); what it owes is in `{}`",
            me.agent,
            door.server,
            files::shown(&place)
        ));
        Ok(Some(Joined { server, folder, key, me, instance, leave, teller }))
    }
}

fn work(args: &Common, can: &[String], challenges: bool, io: &mut Io<'_>) -> Result<Exit, Failure> {
    if args.drand.len() > RELAYS_MAX {
        let why = format_args!("{} relays are named, the limit is {}", args.drand.len(), RELAYS_MAX);
        return Err(Failure::usage(DOING, why.to_string()));
    }
    let relays = Relays::new(&args.drand, Duration::from_secs(args.timeout))?;
    let door = Door {
        server: &args.server,
        key: &args.key,
        work: args.work.as_deref(),
        signing_key: args.signing_key.as_deref(),
        once: args.once,
        every: args.every,
        timeout: args.timeout,
        allow_plain_http: args.allow_plain_http,
        json: args.output.json,
    };
    let Some(met) = meet(&door, io)? else { return Ok(Exit::Success) };
    let Some(joined) = met.join(&door, can, io)? else { return Ok(Exit::Success) };
    let Joined { server, folder, key, me, instance, leave, teller } = joined;
    let bounds = Bounds {
        challenges,
        keeps_seats: args.keep_seats,
        fee_min: args.fee_min,
        stake_max: args.stake_max,
        fuel_max: args.fuel_max,
        wall_max: args.wall_max,
        inputs: args.inputs.clone(),
        every: Duration::from_secs(args.every),
    };
    let (passed, undrawn, ends) = (BTreeMap::new(), BTreeMap::new(), leave.clone());
    let worker =
        Worker { server, folder, key, me, instance, bounds, leave: ends, teller, relays, passed, undrawn };
    go_on(worker, &door, &leave, io)
}

/// Who looks at the server again and again, and does what is due.
trait Looks {
    fn look(&mut self, io: &mut Io<'_>) -> Result<(), Stop>;
    fn teller(&mut self) -> &mut Teller;
}

impl Looks for Worker {
    fn look(&mut self, io: &mut Io<'_>) -> Result<(), Stop> {
        Self::look(self, io)
    }

    fn teller(&mut self) -> &mut Teller {
        &mut self.teller
    }
}

fn left(io: &mut Io<'_>) -> Exit {
    io.talk("left; what is owed is on disk, and the next start goes on with it");
    Exit::Success
}

fn go_on(mut worker: impl Looks, door: &Door<'_>, leave: &Leave, io: &mut Io<'_>) -> Result<Exit, Failure> {
    loop {
        match worker.look(io) {
            Ok(()) => {}
            Err(Stop::Trouble(Trouble::Left)) => return Ok(left(io)),
            Err(stop) if door.once => return Err(stop.ending("do everything that is due")),
            Err(stop) => worker.teller().trouble("the server", &stop, io),
        }
        io.flush();
        if door.once {
            return Ok(Exit::Success);
        }
        if !leave.sleep(Duration::from_secs(door.every)) {
            return Ok(left(io));
        }
    }
}

/// Binds the signing key to the agent, if none is bound, and sees that it is the one that is.
fn bind(server: &Server, me: &Me, key: &SecretKey, can: &[String]) -> Result<(), Stop> {
    let bound = match server.get(&format!("/api/v1/claims/agents/{}", me.agent)) {
        Err(trouble) if trouble.is("not_found") => {
            let body = json!({ "key": key.public(), "capabilities": can });
            server.post("/api/v1/claims/agents", Some(&body), &Digest::of(b"bind"))?
        }
        other => other?,
    };
    if bound["key"].as_str().and_then(|text| text.parse::<Digest>().ok()) == Some(key.public()) {
        return Ok(());
    }
    let shown = bound.get("key").and_then(Value::as_str).unwrap_or_default();
    let why = format!("the agent's records are signed by {}", arena_engine::Excerpt { text: shown, max: 64 });
    Err(Failure::usage("sign for the agent", why)
        .hint("name the key that is bound with --signing-key; it cannot be changed")
        .into())
}
