//! Which rounds of drand draws wait for: what a fetcher is to bring.

use arena_draw::beacon::{Schedule, Source};

use super::{Claims, open_draw};

/// A round that a draw waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundWanted {
    /// Which.
    pub round: u64,
    /// Whether only draws in secret take it: that it is wanted is nobody's business, nor that it is known.
    pub in_secret: bool,
}

impl Claims {
    /// The rounds that are due at a time in seconds and not known here, each once, the earliest first.
    pub fn rounds_wanted(&self, at: u64) -> Vec<RoundWanted> {
        let Some(world) = self.founded().filter(|world| world.instance.source == Source::DrandQuicknet)
        else {
            return Vec::new();
        };
        let mut wanted: Vec<RoundWanted> = Vec::new();
        for claim in world.claims.values().filter(|claim| !claim.phase.is_terminal()) {
            let Some(draw) = &claim.draw else { continue };
            let is_due = Schedule::QUICKNET.time_of(draw.round).is_some_and(|due| due <= at);
            if !is_due || self.rounds.contains_key(&draw.round) {
                continue;
            }
            let in_secret = open_draw(claim).is_none();
            match wanted.iter_mut().find(|other| other.round == draw.round) {
                Some(other) => other.in_secret &= in_secret,
                None => wanted.push(RoundWanted { round: draw.round, in_secret }),
            }
        }
        wanted.sort_by_key(|wanted| wanted.round);
        wanted
    }
}

#[cfg(test)]
mod tests {
    use arena_canon::Digest;
    use arena_claims::envelope::SecretKey;
    use arena_claims::life::{self, Event, Seen, Stamped};
    use arena_contests::Moment;
    use serde_json::{Value, json};

    use super::super::tests::{known_by, manifest};
    use super::super::{Command, FACT, Genesis, unhex, view};
    use super::*;
    use crate::auth::{Scope, Viewer};
    use crate::instance::{Instance, Known, Request, Row};

    const ROUND: u64 = 1_000;
    const SIGNATURE: &str =
        "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39";
    const EARLIER: (u64, &str) = (
        123,
        "b75c69d0b72a5d906e854e808ba7e2accb1542ac355ae486d591aa9d43765482e26cd02df835d3546d23c4b13e0dfc92",
    );
    /// When the draw that takes the round is committed.
    const AT: u64 = 1_692_806_330;

    /// A history to the secret draw of another auditor, with the job and the secret of its audits.
    fn history() -> (Vec<Event>, Digest, Digest) {
        let mut world = Genesis::new("test-rows", true).unwrap().world().clone();
        let salt = Digest::of(b"salt");
        let mut events = Vec::new();
        let mut at = AT - 7_200 - 100 - 100 - 1_801;
        let mut go = |world: &mut life::World, wait: u64, by: &str, command: life::Command| {
            at += wait;
            let seen = Seen { round: Schedule::QUICKNET.round_for(at) - 1, proof: Vec::new() };
            let stamped = Stamped { at, by: by.to_owned(), seen: Some(seen), salt: Some(salt), command };
            events.extend(life::execute(world, &stamped).unwrap());
        };
        for name in ["sue", "amy", "ben", "cat", "dan"] {
            let key = SecretKey::from_seed(Digest::of(name.as_bytes()).as_bytes()).public();
            let (operator, capabilities) = (format!("op-{name}"), vec!["wasm".to_owned()]);
            go(&mut world, 0, name, life::Command::Register { operator, key, capabilities });
            go(&mut world, 0, name, life::Command::Deposit { amount: "20000".parse().unwrap() });
        }
        let claim = || "c1".to_owned();
        let resolve = || life::Command::ResolveDraw { claim: claim(), proof: Vec::new() };
        let list = life::Command::List {
            claim: claim(),
            manifest: manifest("sue", world.params_sha256()),
            deposit: "4000".parse().unwrap(),
            canary: None,
        };
        go(&mut world, 7_200, "sue", list);
        go(&mut world, 100, "operator", resolve());
        let runner = world.claims["c1"].runner().unwrap().to_owned();
        go(&mut world, 0, &runner, life::Command::Accept { claim: claim() });
        go(&mut world, 0, &runner, life::Command::CheckInputs { claim: claim(), found: Vec::new() });
        go(&mut world, 0, &runner, life::Command::CommitRun { claim: claim(), digest: Digest::of(b"run") });
        go(&mut world, 100, "operator", resolve());
        // Who was drawn says nothing, and somebody else is drawn in secret.
        go(&mut world, 1_801, "operator", life::Command::Tick { claim: claim() });
        let job = world.claims["c1"].job;
        let Some(Event::DrawCommitted(draw)) = events.last_mut() else { panic!("no draw: {events:?}") };
        assert_eq!(draw.purpose, "audit");
        draw.round = ROUND;
        (events, job, salt)
    }

    fn request(at: u64, by: Viewer, command: Command) -> Request {
        let at = Moment::from_unix_ms(i64::try_from(at).unwrap() * 1_000);
        Request { at, by, luck: [3; 64], command: crate::instance::Command::Claims(command) }
    }

    fn admin() -> Viewer {
        Viewer::Admin { name: "the platform".to_owned() }
    }

    /// The same on drand, with an earlier round that everybody knows.
    fn waiting(known: &Known) -> Instance {
        let (events, job, salt) = history();
        let body = json!({
            "by": "operator", "events": events, "genesis": known.claims.to_json(), "salt": { "job": job, "salt": salt },
            "seen": { "round": EARLIER.0.to_string(), "proof": EARLIER.1 },
        });
        let at = Moment::from_unix_ms(i64::try_from(AT).unwrap() * 1_000);
        let mut instance = Instance::default();
        instance.evolve(&Row::fact(at, "claims", FACT, body), known).unwrap();
        instance
    }

    fn take(instance: &mut Instance, known: &Known, request: &Request) -> Vec<Row> {
        let decision = instance.decide(request, known).unwrap();
        for row in &decision.rows {
            instance.evolve(row, known).unwrap();
        }
        decision.rows
    }

    fn told(instance: &Instance, known: &Known) -> Value {
        let world = instance.claims.world(known);
        let beacon = view::beacon_json(&Viewer::Anonymous, &instance.claims, world);
        let mut draws = view::draws(&Viewer::Anonymous, &instance.claims, world, &world.claims["c1"]);
        // This history was written down without its log, which begins with the next row.
        draws.as_object_mut().unwrap().remove("log_key");
        json!([beacon, draws, view::seen(&Viewer::Anonymous, None, world, &world.claims["c1"])])
    }

    #[test]
    fn a_round_of_a_draw_in_secret_is_wanted_brought_and_never_told() {
        let known = known_by(Genesis::new("rows", false).unwrap());
        let mut instance = waiting(&known);
        let due = Schedule::QUICKNET.time_of(ROUND).unwrap();
        assert_eq!(instance.claims.rounds_wanted(due - 1), []);
        assert_eq!(instance.claims.rounds_wanted(due), [RoundWanted { round: ROUND, in_secret: true }]);
        let before = told(&instance, &known);
        assert_eq!(before[0]["latest"]["round"], EARLIER.0.to_string());
        let seen = Seen { round: ROUND, proof: unhex(SIGNATURE).unwrap() };
        // Only the server itself brings one quietly, once it is due, and by its signature alone.
        let scopes = [Scope::Submit, Scope::Read].into();
        let amy = Viewer::Agent { id: "amy".to_owned(), operator: "op-amy".to_owned(), scopes };
        assert!(instance.decide(&request(due, amy.clone(), Command::Bring(seen.clone())), &known).is_err());
        let early = instance.decide(&request(due - 1, admin(), Command::Bring(seen.clone())), &known);
        assert_eq!(early.unwrap_err().code(), "round_not_due");
        let forged = Seen { proof: unhex(EARLIER.1).unwrap(), ..seen.clone() };
        let forged = instance.decide(&request(due, admin(), Command::Bring(forged)), &known);
        assert_eq!(forged.unwrap_err().code(), "draw_refused");
        // What an agent posts is the latest, whoever waits for it: nobody finds out by posting.
        let mut posted = instance.clone();
        take(&mut posted, &known, &request(due, amy, Command::Beacon(seen.clone())));
        assert_eq!(told(&posted, &known)[0]["latest"]["round"], ROUND.to_string());
        let mut rows = take(&mut instance, &known, &request(due, admin(), Command::Bring(seen)));
        assert_eq!((rows.len(), instance.claims.rounds_wanted(due).len()), (1, 0));
        assert_eq!(told(&instance, &known), before);
        // What is due resolves it; nothing that everybody sees has changed.
        let tick =
            Request { command: crate::instance::Command::Tick, ..request(due + 1, admin(), Command::Found) };
        rows.extend(take(&mut instance, &known, &tick));
        let claim = &instance.claims.world(&known).claims["c1"];
        assert!(claim.draw.is_none() && claim.audit.auditor.is_some());
        assert_eq!(told(&instance, &known), before);
        assert!(rows.iter().all(|row| row.is_sealed), "{rows:?}");
    }
}
