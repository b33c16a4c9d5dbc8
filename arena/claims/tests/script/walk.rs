//! Random lives: whatever is tried, refusals leave no trace, money is conserved, a replay gives the same state, and
//! by time alone everything ends with every stake back.

use std::collections::BTreeSet;

use arena_claims::life::{Phase, World};
use arena_claims::luck::SplitMix;
use proptest::prelude::{ProptestConfig, any, prop, proptest};

use super::Script;
use super::chain::Chain;

const AGENTS: [&str; 18] =
    ["sue", "fay", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "operator"];

/// What decides a walk: a seed, or choices one by one, so that a life that breaks a law becomes a short one.
enum Luck {
    Seeded(SplitMix),
    Chosen(std::vec::IntoIter<u64>),
}

impl Luck {
    fn below(&mut self, bound: u64) -> u64 {
        match self {
            Self::Seeded(seeded) => seeded.below(bound),
            Self::Chosen(choices) => choices.next().unwrap_or_default() % bound,
        }
    }
}

struct Walk {
    script: Script,
    luck: Luck,
    seconds: u64,
    lines: Vec<String>,
}

impl Walk {
    fn pick<'a>(&mut self, among: &[&'a str]) -> &'a str {
        among[self.luck.below(among.len() as u64) as usize]
    }

    fn line(&mut self, verb: &str, actor: &str, words: &str) -> String {
        let (hours, rest) = (self.seconds / 3_600, self.seconds % 3_600);
        let line = format!("{verb} c1 {actor} {hours}:{:02}:{:02} {words}", rest / 60, rest % 60);
        let result = self.script.run(&line);
        self.lines.push(format!("{line} -> {result}"));
        result
    }

    /// What fits the phase, most of the time.
    fn step(&mut self, phase: Phase) {
        let values = ["x=10.0 fuel=7", "x=10.0 fuel=8", "x=11.0 fuel=7", "spec_issue fuel=7"];
        let verdicts =
            ["runner_right", "runner_wrong confirms=@auditor", "runner_wrong", "spec_issue", "abstain"];
        let value = self.pick(&values);
        let seat = format!("@seat{}", 1 + self.luck.below(7));
        let somebody = self.pick(&AGENTS);
        match phase {
            Phase::Drawing | Phase::Seating { .. } => self.line("draw", "-", ""),
            Phase::Offered => match self.luck.below(5) {
                0 => self.line("decline", "@runner", ""),
                _ => self.line("accept", "@runner", ""),
            },
            Phase::Running => {
                let words = if self.luck.below(12) == 0 { "bad" } else { "" };
                self.line("inputs", "@runner", words);
                self.line("run", "@runner", value)
            }
            Phase::Committed => match self.luck.below(5) {
                0 => self.line("draw", "-", ""),
                1 => self.line("accept", "@auditor", ""),
                2 => self.line("challenge", "@auditor", value),
                3 => self.line("decline", "@auditor", "reason=busy"),
                _ => self.line("challenge", somebody, value),
            },
            Phase::Revealing => match self.luck.below(3) {
                0 => self.line("reveal", "@runner", ""),
                1 => self.line("reveal", "@auditor", ""),
                _ => self.line("reveal", somebody, ""),
            },
            Phase::Voting { .. } => match self.luck.below(8) {
                0 => self.line("decline", &seat, ""),
                1 => self.line("draw", "-", ""),
                _ => {
                    let verdict = self.pick(&verdicts);
                    self.line("vote", &seat, verdict)
                }
            },
            Phase::Opening { .. } => self.line("open", &seat, ""),
            Phase::Appealable => {
                let party = self.pick(&["@runner", "@auditor", "a"]);
                self.line("appeal", party, "")
            }
            Phase::Reference => {
                let second = self.pick(&["", "second=11.0"]);
                self.line("reference", "operator", &format!("{value} {second}"))
            }
            Phase::Funding | Phase::Settled(_) | Phase::Withdrawn(_) => self.line("tick", "-", ""),
        };
    }

    /// What fits nothing.
    fn stray(&mut self) {
        let verbs = [
            "fund",
            "withdraw",
            "draw",
            "commit_draw",
            "accept",
            "decline",
            "inputs",
            "run",
            "challenge",
            "reveal",
            "vote",
            "open",
            "appeal",
            "reference",
            "tick",
            "position",
            "payout",
        ];
        let (verb, actor) = (self.pick(&verbs), self.pick(&AGENTS));
        let words = match verb {
            "vote" => "runner_right",
            "fund" | "payout" => "10",
            _ => "",
        };
        self.line(verb, actor, words);
    }
}

/// One life; `watch` sees every state that it goes through. Gives the phase it came to.
fn walk(name: &str, luck: Luck, watch: &mut dyn FnMut(&World)) -> String {
    walk_with(name, luck, false, watch)
}

/// The same, if so with parties that have stakes, and that are often silent.
fn walk_with(name: &str, mut luck: Luck, staked: bool, watch: &mut dyn FnMut(&World)) -> String {
    let mut script = Script::default();
    let fast = luck.below(3) == 0;
    let slash = if staked { ",\"party_slash\":6000" } else { "" };
    script.given(&format!("given params={{\"fast_referee\":{fast}{slash}}}"));
    if staked {
        script.given("given parties=p:9000,q:6000");
        script.given("given agents=p,q stake=15000");
    }
    script.given("given agents=sue,fay,a,b,c,d,e,f,g,h,i,j,k,l,m@op-l,n@op-l,o");
    let mut walk = Walk { script, luck, seconds: 7_200, lines: Vec::new() };
    walk.line("list", "sue", "500");
    watch(&walk.script.world);
    walk.line("commit_draw", "-", "");
    walk.line("fund", "fay", "3500");
    for _ in 0..60 {
        let phase = walk.script.world.claims["c1"].phase;
        watch(&walk.script.world);
        if phase.is_terminal() {
            break;
        }
        let pauses = [31, 60, 60, 600, 3_700, 23_000, 87_000, 700_000];
        let long = if walk.luck.below(4) == 0 { 8 } else { 4 };
        walk.seconds += pauses[walk.luck.below(long) as usize];
        walk.line("tick", "-", "");
        for party in ["p", "q"].iter().filter(|_| staked) {
            let round = walk.script.world.latest_drawn.max(1);
            if walk.luck.below(8) != 0 {
                walk.line("contribute", party, &round.to_string());
            }
        }
        let phase = walk.script.world.claims["c1"].phase;
        if walk.luck.below(6) == 0 { walk.stray() } else { walk.step(phase) }
    }
    walk.line("commit_draw", "-", "");
    let name = format!("{name}\n{}", walk.lines.join("\n"));
    walk.script.check_laws(&name);
    format!("{:?}", walk.script.world.claims["c1"].phase)
}

fn seeded(seed: u64, watch: &mut dyn FnMut(&World)) -> String {
    walk(&format!("seed {seed}"), Luck::Seeded(SplitMix::new(seed)), watch)
}

#[test]
fn random_lives_keep_the_laws() {
    let endings: BTreeSet<String> = (0..250).map(|seed| seeded(seed, &mut |_| {})).collect();
    // The walks reach every end there is but the one without funds.
    let want = [
        "Settled(InputMismatch)",
        "Settled(NotReproduced)",
        "Settled(Reproduced)",
        "Settled(SpecIssue)",
        "Withdrawn(NoRunner)",
        "Withdrawn(Withheld)",
    ];
    assert_eq!(endings.iter().map(String::as_str).collect::<Vec<_>>(), want);
}

#[test]
fn random_lives_with_parties_keep_the_laws() {
    let mut luck = |seed| {
        let mut slashed = false;
        let luck = Luck::Seeded(SplitMix::new(seed));
        let end = walk_with(&format!("seed {seed}"), luck, true, &mut |world| {
            let held: u64 = ["p", "q"].iter().map(|party| world.avail(party).units()).sum();
            slashed |= world.claims["c1"].phase.is_terminal() && held < 30_000;
        });
        (end, slashed)
    };
    let ends: Vec<(String, bool)> = (0..150).map(&mut luck).collect();
    let paid = ends.iter().filter(|(_, slashed)| *slashed).count();
    assert!((20..130).contains(&paid), "{paid} of 150 lives cost a party money");
    let endings: BTreeSet<&str> = ends.iter().map(|(end, _)| end.as_str()).collect();
    assert!(endings.len() >= 5, "{endings:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 32, ..ProptestConfig::default() })]

    /// The same of lives that nobody has seen yet.
    #[test]
    fn any_life_keeps_the_laws(choices in prop::collection::vec(any::<u64>(), 0..300)) {
        walk("choices", Luck::Chosen(choices.into_iter()), &mut |_| {});
    }
}

/// From wherever a life comes, doing nothing leads to an end: with a silent beacon, and with one that speaks.
#[test]
fn time_alone_ends_every_state() {
    let mut chain = Chain::default();
    for seed in 0..30 {
        seeded(seed, &mut |world| chain.follow(world, "c1"));
    }
    chain.check();
}
