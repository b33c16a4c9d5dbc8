//! The attacks of the table in ARCHITECTURE.md, one test each, by their numbers: each plays the attack and sees it
//! fail. What an attacker can do is a script; what it could gain is arithmetic over settlements.

mod documents;
mod draws;
mod money;
mod panels;
mod results;
mod window;

use arena_canon::json::Value;
use arena_claims::life::{Claim, Command, Event, Stamped};
use arena_claims::simulate::stamped;
use serde_json::json;

use super::script::{START, Script};

/// A claim whose job is open and whose runner is about to be drawn.
const OPENED: &str = "\
list c1 sue 02:00 500 -> claim_listed claim_funded
fund c1 fay 02:01 3500 -> claim_funded job_opened draw_committed:runner:0
";

/// The same, with a runner that has checked its inputs.
const RUNNING: &str = "\
list c1 sue 02:00 500 -> claim_listed claim_funded
fund c1 fay 02:01 3500 -> claim_funded job_opened draw_committed:runner:0
draw c1 - 02:02 -> draw_resolved:1
accept c1 @runner 02:03 -> run_accepted
inputs c1 @runner 02:03 -> inputs_checked
";

/// What follows once a run is committed; the window closes at 26:04.
const AUDITED: &str = "\
draw c1 - 02:05 -> coin_tossed:audit
";

/// A minute of the scripts.
fn at(minutes: u64) -> u64 {
    START + minutes * 60
}

impl Script {
    /// Plays lines, which must go as they say.
    #[track_caller]
    fn plays(&mut self, lines: &str) {
        let (played, wrong) = self.play(lines);
        assert!(wrong.is_empty(), "{}\n=====\n{played}=====", wrong.join("\n"));
    }

    /// A script that has gone so far.
    #[track_caller]
    fn after(parts: &[&str]) -> Self {
        let mut script = Self::default();
        script.plays(&parts.concat());
        script
    }

    fn claim(&self, id: &str) -> &Claim {
        &self.world.claims[id]
    }

    /// The code of the refusal that a command meets.
    #[track_caller]
    fn refused(&mut self, stamped: &Stamped) -> &'static str {
        match self.execute(stamped) {
            Ok(events) => panic!("not refused: {events:?}"),
            Err(refusal) => refusal.code(),
        }
    }

    #[track_caller]
    fn does(&mut self, by: &str, at: u64, command: Command) {
        self.execute(&stamped(by, at, command)).unwrap_or_else(|why| panic!("{by}: {why}"));
    }

    fn avail(&self, agent: &str) -> u64 {
        self.world.avail(agent).units()
    }

    /// What everybody may read of the events so far: what is sealed is a digest alone.
    fn public(&self) -> Vec<Value> {
        let open = self.history.iter().map(|(_, event)| event).filter(|event| !event.is_sealed());
        open.map(|event| json!(event)).collect()
    }

    /// The last event that `pick` knows.
    #[track_caller]
    fn last<T>(&self, pick: impl Fn(&Event) -> Option<T>) -> T {
        self.history.iter().rev().find_map(|(_, event)| pick(event)).expect("it happened")
    }
}
