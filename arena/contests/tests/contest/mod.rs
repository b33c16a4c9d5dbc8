mod credential;
mod gate;
mod lifecycle;
mod manifest;

use std::collections::BTreeSet;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_contests::Moment;
use arena_contests::cite::Registry;
use arena_contests::contest::{
    Actor, Admission, Command, Contests, Happened, Manifest, Refusal, Stamped, Surroundings,
};
use arena_contests::leak::{MARKERS, Scanner};
use serde_json::json;

/// Admits everything but these.
#[derive(Default)]
struct AllBut(BTreeSet<Digest>);

impl Admission for AllBut {
    fn refusal(&self, strategy: &Digest) -> Option<String> {
        self.0.contains(strategy).then(|| "it imports a clock".to_owned())
    }
}

/// The contests, and what their gate knows.
struct Stage {
    contests: Contests,
    scanner: Scanner,
    admission: AllBut,
}

const CONTEST: &str = "CONTEST-001-AGENT-CONSTITUTION";

fn document() -> Value {
    let bytes = include_bytes!("../../../../tests/vectors/contest/manifest.json");
    json::read(bytes, 1 << 20).expect("JSON")
}

/// The document's contest with some members changed.
fn manifest(changes: &Value) -> Manifest {
    let mut document = document();
    for (key, value) in changes.as_object().expect("an object") {
        document["contest"][key] = value.clone();
    }
    Manifest::of(document).unwrap_or_else(|why| panic!("{why}"))
}

fn at(text: &str) -> Moment {
    text.parse().expect("a moment")
}

/// Within the contest's two times.
fn noon(day: u32) -> Moment {
    at(&format!("2026-08-{day:02}T12:00:00Z"))
}

fn agent(id: &str) -> Actor {
    Actor::Agent { id: id.to_owned(), operator: format!("op-{id}"), reputation: 10 }
}

fn admin() -> Actor {
    Actor::Admin("ada".to_owned())
}

impl Stage {
    fn empty() -> Self {
        let scanner = Scanner::new(&["canary-of-the-house".to_owned()], MARKERS).expect("a scanner");
        Self { contests: Contests::default(), scanner, admission: AllBut::default() }
    }

    /// With the contest of the document, active.
    fn open() -> Self {
        Self::of(manifest(&json!({})))
    }

    fn of(manifest: Manifest) -> Self {
        let mut stage = Self::empty();
        let contest = manifest.slug.clone();
        stage.must(noon(1), admin(), Command::Propose(Box::new(manifest)));
        stage.must(noon(1), admin(), Command::Activate { contest });
        stage
    }

    fn decide(&self, at: Moment, by: Actor, command: Command) -> Result<Vec<Happened>, Refusal> {
        let around =
            Surroundings { registry: Registry::v1(), admission: &self.admission, scanner: &self.scanner };
        self.contests.decide(&Stamped { at, by, command }, &around)
    }

    fn code(&self, at: Moment, by: Actor, command: Command) -> Option<&'static str> {
        self.decide(at, by, command).err().map(|why| why.code())
    }

    #[track_caller]
    fn must(&mut self, at: Moment, by: Actor, command: Command) -> Vec<Happened> {
        let events = self.decide(at, by, command).unwrap_or_else(|why| panic!("refused: {why}"));
        for happened in &events {
            self.contests = std::mem::take(&mut self.contests).evolve(happened);
        }
        events
    }

    #[track_caller]
    fn submit(&mut self, day: u32, who: &str, body: Value) -> String {
        self.must(noon(day), agent(who), Command::Submit { contest: CONTEST.to_owned(), body });
        let all = self.contests.visible(CONTEST, &admin()).expect("there");
        format!("submission:{}", all.len())
    }
}

/// A redline that passes.
fn redline(rule: &str, proposed: &str) -> Value {
    json!({
        "rule_id": rule,
        "rationale": "the clause does not say who is responsible",
        "current_text": "An agent acts with care.",
        "proposed_text": proposed,
        "risk_reduced": "nobody is responsible",
        "legal_basis": [{
            "act": "GDPR", "article": "Art. 6(1)(a)", "jurisdiction": "EU",
            "url": "https://eur-lex.europa.eu/eli/reg/2016/679/oj",
        }],
    })
}
