//! Every check of the repository, one after the other, and a table of how each ended.

use std::time::{Duration, Instant};

use crate::fault::{Fault, Outcome};
use crate::repo::{Profile, Repo};
use crate::talk::{self, Tone};
use crate::toolchain::GuestToolchain;
use crate::{digests, docs, guests, reproduce, setup, tidy, verifier};

/// What the caller asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) fast: bool,
    pub(crate) keep_going: bool,
}

/// How a step that did not fail ended.
enum Done {
    Passed,
    /// It says nothing about this machine, for this reason.
    DoesNotApply(String),
}

#[derive(PartialEq, Eq)]
enum Ending {
    Passed,
    Failed,
    DoesNotApply(String),
    Skipped(&'static str),
}

/// A step that is over.
struct Taken {
    name: &'static str,
    ending: Ending,
    spent: Duration,
}

struct Step {
    name: &'static str,
    when: When,
    run: fn(&mut Session<'_>) -> Outcome<Done>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// Left out with `--fast`.
    Thorough,
    /// A developer's tree may change while the tests run.
    CiOnly,
}

/// What earlier steps leave for later ones.
struct Session<'a> {
    repo: &'a Repo,
    options: Options,
    toolchain: Option<GuestToolchain>,
    /// The tree as it was before the first step.
    tree: String,
}

const STEPS: &[Step] = &[
    Step { name: "format", when: When::Always, run: format },
    Step { name: "tidy", when: When::Always, run: house_rules },
    Step { name: "guest toolchain", when: When::Always, run: guest_toolchain },
    Step { name: "verifier", when: When::Always, run: build_verifier },
    Step { name: "lint", when: When::Always, run: lint },
    Step { name: "build", when: When::Always, run: build },
    Step { name: "guests", when: When::Always, run: build_guests },
    Step { name: "guest tests", when: When::Always, run: guest_tests },
    Step { name: "tests", when: When::Always, run: tests },
    Step { name: "doctests", when: When::Always, run: doctests },
    Step { name: "reproducible", when: When::Thorough, run: reproducible },
    Step { name: "benches", when: When::Thorough, run: benches },
    Step { name: "docs", when: When::Thorough, run: documentation },
    Step { name: "tree unchanged", when: When::CiOnly, run: tree_unchanged },
];

/// Runs every step that applies; an error means that one failed.
pub(crate) fn run(repo: &Repo, options: Options) -> Outcome {
    if repo.ci && options.fast {
        return Err(Fault::new("--fast leaves checks out, and with CI set nothing may be left out"));
    }
    let mut session = Session { repo, options, toolchain: None, tree: tree(repo) };
    let mut endings = Vec::new();
    for step in STEPS {
        let taken = take(step, &mut session);
        let stop = taken.ending == Ending::Failed && !options.keep_going;
        endings.push(taken);
        if stop {
            break;
        }
    }
    talk::result("");
    table(&endings).iter().for_each(|line| talk::result(line));
    verdict(&endings)
}

fn take(step: &Step, session: &mut Session<'_>) -> Taken {
    if let Some(why) = left_out(step.when, session.options.fast, session.repo.ci) {
        talk::note("skipped", &format!("{}: {why}", step.name));
        return Taken { name: step.name, ending: Ending::Skipped(why), spent: Duration::ZERO };
    }
    talk::say(&talk::tint(Tone::Quiet, &format!("── {}", step.name)));
    let started = Instant::now();
    let ending = match (step.run)(session) {
        Ok(Done::Passed) => Ending::Passed,
        Ok(Done::DoesNotApply(why)) => Ending::DoesNotApply(why),
        Err(fault) => {
            talk::say(&format!("{} {fault}", talk::tint(Tone::Bad, "error:")));
            Ending::Failed
        }
    };
    let spent = started.elapsed();
    let word = talk::tint(ending.tone(), ending.word());
    talk::say(&format!("── {} {word} in {}", step.name, talk::seconds(spent)));
    Taken { name: step.name, ending, spent }
}

fn left_out(when: When, fast: bool, ci: bool) -> Option<&'static str> {
    match when {
        When::Thorough if fast => Some("left out by --fast"),
        When::CiOnly if !ci => Some("only with CI set"),
        When::Always | When::Thorough | When::CiOnly => None,
    }
}

fn verdict(endings: &[Taken]) -> Outcome {
    let failed: Vec<_> = endings.iter().filter(|it| it.ending == Ending::Failed).map(|it| it.name).collect();
    if failed.is_empty() { Ok(()) } else { Err(Fault::new(format!("failed: {}", failed.join(", ")))) }
}

/// One line a step, what was not reached, and the count.
fn table(endings: &[Taken]) -> Vec<String> {
    let mut lines: Vec<_> = endings.iter().map(Taken::line).collect();
    let not_reached = STEPS.len().saturating_sub(endings.len());
    if not_reached > 0 {
        lines.push(format!("{not_reached} more were not reached; --keep-going runs them all"));
    }
    let count = |wanted: &Ending| endings.iter().filter(|it| it.ending == *wanted).count();
    lines.push(format!("steps: {} passed, {} failed", count(&Ending::Passed), count(&Ending::Failed)));
    lines
}

impl Taken {
    fn line(&self) -> String {
        let (ending, spent) = (&self.ending, talk::seconds(self.spent));
        let why = ending.why().map_or(String::new(), |why| format!("  {why}"));
        let word = talk::tint_result(ending.tone(), &format!("{:<15}", ending.word()));
        format!("{:<16} {word} {spent:>12}{why}", self.name)
    }
}

impl Ending {
    fn word(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::DoesNotApply(_) => "does not apply",
            Self::Skipped(_) => "skipped",
        }
    }

    fn tone(&self) -> Tone {
        match self {
            Self::Passed => Tone::Good,
            Self::Failed => Tone::Bad,
            Self::DoesNotApply(_) | Self::Skipped(_) => Tone::Quiet,
        }
    }

    fn why(&self) -> Option<&str> {
        match self {
            Self::Passed | Self::Failed => None,
            Self::DoesNotApply(why) => Some(why),
            Self::Skipped(why) => Some(why),
        }
    }
}

impl Session<'_> {
    fn toolchain(&self) -> Outcome<&GuestToolchain> {
        self.toolchain.as_ref().ok_or_else(|| Fault::new("there is no guest toolchain to build with"))
    }

    /// Cargo with its tests all run even when one fails, where every failure is wanted.
    fn cargo_test(&self, args: &[&str]) -> Outcome<Done> {
        let go_on: &[&str] = if self.options.keep_going { &["--no-fail-fast"] } else { &[] };
        self.repo.cargo(["test"]).args(args).args(go_on).pass()?;
        Ok(Done::Passed)
    }
}

/// The guests' workspace is checked like our own.
const GUESTS: [&str; 2] = ["--manifest-path", "guest-examples/Cargo.toml"];

fn format(session: &mut Session<'_>) -> Outcome<Done> {
    let fmt = |place: &[&str]| session.repo.cargo(["fmt", "--all", "--check"]).args(place).pass();
    fmt(&[]).and_then(|()| fmt(&GUESTS)).map_err(|fault| {
        fault.hint("cargo fmt --all && cargo fmt --all --manifest-path guest-examples/Cargo.toml")
    })?;
    Ok(Done::Passed)
}

fn house_rules(session: &mut Session<'_>) -> Outcome<Done> {
    tidy::run(session.repo)?;
    Ok(Done::Passed)
}

fn lint(session: &mut Session<'_>) -> Outcome<Done> {
    let clippy = |place: &[&str]| {
        let run = session.repo.cargo(["clippy", "--workspace", "--all-targets"]).args(place);
        run.args(["--", "-D", "warnings"]).pass()
    };
    clippy(&[])?;
    clippy(&GUESTS)?;
    Ok(Done::Passed)
}

/// Everything at once, so that the binary, the tests and the benches share one build of every dependency.
fn build(session: &mut Session<'_>) -> Outcome<Done> {
    session.repo.cargo(["build", "--workspace", "--all-targets"]).pass()?;
    Ok(Done::Passed)
}

fn guest_toolchain(session: &mut Session<'_>) -> Outcome<Done> {
    session.toolchain = Some(setup::ensure(session.repo)?);
    Ok(Done::Passed)
}

/// Before anything else is compiled, since the server has it inside.
fn build_verifier(session: &mut Session<'_>) -> Outcome<Done> {
    verifier::build(session.repo, session.toolchain()?)?;
    Ok(Done::Passed)
}

fn build_guests(session: &mut Session<'_>) -> Outcome<Done> {
    let arena = session.repo.arena(Profile::Dev)?;
    // That digests are not compared is said in its line; that the guests were built is what counts here.
    match guests::build_and_compare(session.repo, session.toolchain()?, &arena)? {
        digests::Verdict::Match | digests::Verdict::NotCompared(_) => Ok(Done::Passed),
    }
}

fn guest_tests(session: &mut Session<'_>) -> Outcome<Done> {
    session.cargo_test(&["--workspace", GUESTS[0], GUESTS[1]])
}

fn tests(session: &mut Session<'_>) -> Outcome<Done> {
    setup::ensure_nats_server(session.repo);
    setup::ensure_browser(session.repo);
    session.cargo_test(&["--workspace", "--lib", "--bins", "--tests", "--examples"])
}

fn doctests(session: &mut Session<'_>) -> Outcome<Done> {
    session.cargo_test(&["--workspace", "--doc"])
}

fn reproducible(session: &mut Session<'_>) -> Outcome<Done> {
    let arena = session.repo.arena(Profile::Dev)?;
    Ok(match reproduce::check(session.repo, session.toolchain()?, &arena)? {
        reproduce::Verdict::Same => Done::Passed,
        reproduce::Verdict::DoesNotApply(why) => Done::DoesNotApply(why),
    })
}

/// Every bench body once, without measuring.
fn benches(session: &mut Session<'_>) -> Outcome<Done> {
    session.cargo_test(&["--workspace", "--bench", "*"])
}

fn documentation(session: &mut Session<'_>) -> Outcome<Done> {
    docs::build(session.repo, false)?;
    Ok(Done::Passed)
}

/// A lock file out of date, or a test that writes into the tree, shows here.
fn tree_unchanged(session: &mut Session<'_>) -> Outcome<Done> {
    let now = tree(session.repo);
    if now == session.tree {
        return Ok(Done::Passed);
    }
    Err(Fault::new(format!("the checks changed files of the repository:\n{now}"))
        .hint("commit them if they are generated, or make the test write elsewhere"))
}

/// What git sees as changed; nothing in a checkout without git.
fn tree(repo: &Repo) -> String {
    let git = |args: &[&str]| crate::run::Run::new("git", &repo.root).args(args).text().unwrap_or_default();
    git(&["status", "--porcelain"]) + &git(&["diff", "HEAD"])
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn fast_leaves_out_the_thorough_steps_only() {
        assert!(left_out(When::Thorough, true, false).is_some());
        assert!(left_out(When::Thorough, false, false).is_none());
        assert!(left_out(When::Always, true, false).is_none());
    }

    #[test]
    fn with_ci_set_nothing_is_left_out() {
        for step in STEPS {
            assert!(left_out(step.when, false, true).is_none(), "{}", step.name);
        }
    }

    fn taken(name: &'static str, ending: Ending) -> Taken {
        Taken { name, ending, spent: Duration::from_secs(3) }
    }

    #[test]
    fn every_step_passed_ok() {
        let endings: Vec<_> = STEPS.iter().map(|step| taken(step.name, Ending::Passed)).collect();
        assert!(verdict(&endings).is_ok());
        assert_eq!(table(&endings).len(), STEPS.len() + 1);
    }

    #[test]
    fn a_failed_step_fails_by_name() {
        let does_not_apply = Ending::DoesNotApply("another compiler".to_owned());
        let endings = [taken("reproducible", does_not_apply), taken("tests", Ending::Failed)];
        assert_eq!(verdict(&endings).expect_err("one failed").to_string(), "failed: tests");
        let table = table(&endings).join("\n");
        assert!(table.contains("does not apply") && table.contains("another compiler"), "{table}");
        assert!(
            table
                .ends_with("12 more were not reached; --keep-going runs them all\nsteps: 0 passed, 1 failed")
        );
    }
}
