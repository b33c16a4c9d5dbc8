//! Set-up, guests, demo, tests and house rules of this repository, from one command: `cargo xtask`.
//! It depends on no crate of ours: what it checks may be broken.

mod audit;
mod bless;
mod cli;
mod demo;
mod digests;
mod docs;
mod fault;
mod guests;
mod repo;
mod reproduce;
mod run;
mod setup;
mod talk;
mod test;
mod tidy;
mod toolchain;
mod verifier;

use std::process::ExitCode;

use cli::Command;
use fault::Outcome;
use repo::{Profile, Repo};
use talk::Tone;

const FAILED: u8 = 1;
const MISUSED: u8 = 2;

fn main() -> ExitCode {
    let args: Vec<String> =
        std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let error = talk::tint(Tone::Bad, "error:");
    let command = match cli::parse(&args) {
        Ok(Some(command)) => command,
        Ok(None) => {
            talk::result(cli::HELP.trim_end());
            return ExitCode::SUCCESS;
        }
        Err(why) => {
            talk::say(&format!("{error} {why}\n  hint: cargo xtask --help"));
            return ExitCode::from(MISUSED);
        }
    };
    match perform(&command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            talk::say(&format!("{error} {fault}"));
            ExitCode::from(FAILED)
        }
    }
}

fn perform(command: &Command) -> Outcome {
    let repo = Repo::find()?;
    match *command {
        Command::Audit => audit::run(&repo),
        Command::Bless => bless::run(&repo),
        Command::Ci { keep_going } => {
            test::run(&repo.with_nobody_watching(), test::Options { fast: false, keep_going })
        }
        Command::Demo => demo::run(&repo),
        Command::Docs { open } => docs::build(&repo, open),
        Command::Guests { release, twice } => build_guests(&repo, release, twice),
        Command::Setup => {
            setup::ensure_nats_server(&repo);
            setup::ensure_browser(&repo);
            setup::ensure(&repo).map(|_| ())
        }
        Command::Test(options) => test::run(&repo, options),
        Command::Tidy => tidy::run(&repo),
    }
}

fn build_guests(repo: &Repo, release: bool, twice: bool) -> Outcome {
    let toolchain = setup::ensure(repo)?;
    verifier::build(repo, &toolchain)?;
    let arena = repo.build_arena(if release { Profile::Release } else { Profile::Dev })?;
    guests::build_and_compare(repo, &toolchain, &arena)?;
    if twice {
        reproduce::check(repo, &toolchain, &arena)?;
    }
    Ok(())
}
