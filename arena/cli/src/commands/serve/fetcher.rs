//! Fetches what draws wait for from relays of drand that the operator named, and takes it in through the same door as
//! anybody's: by its signature. A server without it waits for programs to bring rounds, and for nobody to bring those of
//! draws in secret.
//!
//! It works on a thread of its own, asks only the relays of the command line, and nothing waits for it. Absent: a
//! request that names a relay, or a round.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use arena_claims::life::Seen;
use arena_draw::beacon::{Kind, Schedule};
use arena_server::auth::Viewer;
use arena_server::instance::claims::RoundWanted;
use arena_server::instance::{Command, claims};
use arena_server::{App, Server};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::commands::agent::{Address, RELAYS_MAX, Relays, Wanted};
use crate::failure::Failure;
use crate::io::Io;

/// Between two looks at what is wanted.
const LOOK: Duration = Duration::from_secs(1);
/// After a failure, doubled with each that follows.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// Longest that one relay is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest that relays are asked at one look.
const LOOK_MAX: Duration = Duration::from_secs(20);
/// Rounds of one look.
const ROUNDS_MAX: usize = 16;
/// How old the newest round of a relay may be, in seconds.
const FRESH_S: u64 = 60;
/// Lines that may wait to be said, and that are remembered.
const LINES_MAX: usize = 64;
const DOING: &str = "fetch rounds of drand";

/// Whether these may be asked.
pub(super) fn check(relays: &[Address]) -> Result<(), Failure> {
    if relays.len() > RELAYS_MAX {
        let why = format_args!("{} relays are named, the limit is {RELAYS_MAX}", relays.len()).to_string();
        return Err(Failure::usage(DOING, why));
    }
    match relays.iter().find(|relay| relay.is_exposed()) {
        Some(relay) => {
            Err(Failure::usage(DOING, format_args!("{relay} is neither https:// nor on this machine")))
        }
        None => Ok(()),
    }
}

/// Starts it; gives what it has to say. Without relays, nothing is.
pub(super) fn start(relays: &[Address], server: &Server) -> Result<Receiver<String>, Failure> {
    let (says, said) = channel(LINES_MAX);
    if relays.is_empty() {
        return Ok(said);
    }
    let app = server.app();
    let kind = app.look(|instance| instance.claims.world(app.known()).instance.source.kind());
    let kind = kind.map_err(|why| Failure::internal(DOING, why.detail()))?;
    if kind != Kind::DrandQuicknet {
        let why = format_args!("the claims of this folder have the beacon {kind}; relays are of drand alone");
        return Err(Failure::usage(DOING, why.to_string()).hint("leave --drand out"));
    }
    let relays = Relays::new(relays, PATIENCE)?;
    let fetcher =
        Fetcher { app: Arc::downgrade(app), relays, handle: Handle::current(), says, said: BTreeSet::new() };
    let thread = std::thread::Builder::new().name("drand".to_owned());
    thread.spawn(|| fetcher.run()).map_err(|why| Failure::internal(DOING, crate::files::plain(&why)))?;
    Ok(said)
}

/// Says what the fetcher says until `running` ends.
pub(super) async fn tell(running: impl Future<Output = ()>, mut said: Receiver<String>, io: &mut Io<'_>) {
    let mut running = std::pin::pin!(running);
    loop {
        tokio::select! {
            () = &mut running => return,
            Some(line) = said.recv() => {
                io.warn(line);
                io.flush();
            }
        }
    }
}

struct Fetcher {
    /// Not held: the folder is free once the server has ended.
    app: Weak<App>,
    relays: Relays,
    handle: Handle,
    says: Sender<String>,
    said: BTreeSet<String>,
}

/// What is asked for, and whether nobody may know.
type Asked = (Wanted, bool);

/// What is asked for when draws wait for these rounds.
fn asked(rounds: Vec<RoundWanted>, knows_any: bool, now: u64) -> Vec<Asked> {
    let rounds = rounds.into_iter().map(|wanted| (Wanted::This(wanted.round), wanted.in_secret));
    let mut asked: Vec<Asked> = rounds.take(ROUNDS_MAX).collect();
    // A draw shows the latest round that was known when it was committed: there has to be one.
    if !knows_any {
        let least = Schedule::QUICKNET.round_for(now.saturating_sub(FRESH_S));
        asked.push((Wanted::Newest(least), false));
    }
    asked
}

/// How a round is brought: that of a draw in secret without a word to anybody.
fn command(seen: Seen, in_secret: bool) -> claims::Command {
    if in_secret { claims::Command::Bring(seen) } else { claims::Command::Beacon(seen) }
}

impl Fetcher {
    fn run(mut self) {
        let mut pause = LOOK;
        // The server has ended when nobody listens any more.
        while !self.says.is_closed() {
            let Some(asked) = self.wanted() else { return };
            pause = match asked.is_empty() || self.bring(&asked) {
                true => LOOK,
                false => (pause * 2).clamp(FIRST_PAUSE, PAUSE_MAX),
            };
            std::thread::sleep(pause);
        }
    }

    fn wanted(&self) -> Option<Vec<Asked>> {
        let app = self.app.upgrade()?;
        let now = u64::try_from(app.now().unix_ms()).unwrap_or_default() / 1_000;
        let looked = app.look(|instance| {
            asked(instance.claims.rounds_wanted(now), instance.claims.latest().is_some(), now)
        });
        Some(looked.unwrap_or_default())
    }

    /// Brings what is asked for; whether all of it came.
    fn bring(&mut self, asked: &[Asked]) -> bool {
        let (mut silent, until) = (Vec::new(), Instant::now() + LOOK_MAX);
        let mut is_whole = true;
        for (wanted, in_secret) in asked {
            let fetched = self.relays.fetch(*wanted, &mut silent, until);
            for fault in fetched.faults {
                self.say(format!("the beacon: {fault}"));
            }
            let took = fetched.round.map(|(round, from)| {
                let seen = Seen { round: round.number(), proof: round.proof() };
                self.take(command(seen, *in_secret))
                    .map_err(|why| self.say(format!("the beacon: {from}: {why}")))
                    .is_ok()
            });
            is_whole &= took.unwrap_or_default();
        }
        if is_whole {
            self.said.clear();
        }
        is_whole
    }

    /// Through the door that is open to everybody, where the signature is checked once more.
    fn take(&self, command: claims::Command) -> Result<(), String> {
        let app = self.app.upgrade().ok_or("the server has ended")?;
        let by = Viewer::Admin { name: "the platform".to_owned() };
        let done = app.execute(by, app.now(), Command::Claims(command), None);
        self.handle.block_on(done).map(drop).map_err(|why| why.detail().to_owned())
    }

    /// Says something once, until everything came again.
    fn say(&mut self, line: String) {
        if self.said.len() < LINES_MAX && self.said.insert(line.clone()) {
            self.says.try_send(line).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_776_643_200;
    const ROUND: u64 = 27_946_612;

    #[test]
    fn every_round_that_a_draw_waits_for_is_asked_for_and_those_in_secret_stay_so() {
        let open = RoundWanted { round: 1_000, in_secret: false };
        let quiet = RoundWanted { round: 1_001, in_secret: true };
        let found = asked(vec![open, quiet], true, NOW);
        assert_eq!(found, [(Wanted::This(1_000), false), (Wanted::This(1_001), true)]);
        assert_eq!(asked(vec![quiet], true, NOW), [(Wanted::This(1_001), true)]);
        assert_eq!(asked(Vec::new(), true, NOW), []);
        // Where none is known, one of the last minute will do; nobody waits for it in secret.
        let newest = (Wanted::Newest(ROUND - 20), false);
        assert_eq!(asked(Vec::new(), false, NOW), [newest]);
        assert_eq!(asked(vec![quiet], false, NOW), [(Wanted::This(1_001), true), newest]);
        let many = (1..=40).map(|round| RoundWanted { round, in_secret: true }).collect();
        assert_eq!(asked(many, true, NOW).len(), ROUNDS_MAX);
    }

    #[test]
    fn the_round_of_a_draw_in_secret_is_brought_by_the_quiet_command() {
        let seen = || Seen { round: 1_000, proof: vec![7; 48] };
        assert!(matches!(command(seen(), true), claims::Command::Bring(brought) if brought == seen()));
        assert!(matches!(command(seen(), false), claims::Command::Beacon(brought) if brought == seen()));
    }
}
