//! The command line of `cargo xtask`. Parsed by hand: it is small, and it is compiled before anything else
//! can start.

use crate::test;

pub(crate) const HELP: &str = "\
Set-up, demo, checks and house-keeping of this repository.

usage: cargo xtask COMMAND [OPTIONS]

Start here
  demo            set up, build the example strategies and let them play every scenario pack
  test            every check there is: format, house rules, lints, guests, tests, docs, benches
    --fast          leave out the slow ones (reproducible guests, benches, docs), each by name
    --keep-going    go on after a failed step

While you work
  tidy            the house rules only (a second)
  guests          build guest-examples/ into target/guests/, compare with guest-examples/DIGESTS;
                  before it the module by which the server's pages verify replays
    --release       with a release build of arena
    --twice         build them in other folders, too: the bytes must be the same
  bless           rewrite what is generated: digests, schemas, golden files, snapshots
  docs            the API documentation
    --open          and show it in the browser

Now and then
  setup           get the toolchain for WebAssembly guests: rustup's target, else Debian's packages;
                  and the NATS server and Chromium that some tests need, as root on Debian
  audit           licences and known vulnerabilities of the dependencies (needs cargo-deny and the network)
  ci              what the continuous integration runs: test, and nothing may be skipped

Environment: CI=true makes every skip a failure; NO_COLOR and CARGO_TERM_COLOR decide about colours.
Exit code: 0 done, 1 a check or a step failed, 2 the command line was wrong.
";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Audit,
    Bless,
    Ci { keep_going: bool },
    Demo,
    Docs { open: bool },
    Guests { release: bool, twice: bool },
    Setup,
    Test(test::Options),
    Tidy,
}

/// Reads the arguments after `cargo xtask`: a command, nothing where help is wanted, or what is wrong with
/// them.
pub(crate) fn parse(args: &[String]) -> Result<Option<Command>, String> {
    let Some((name, rest)) = args.split_first() else { return Ok(None) };
    if name == "help" || args.iter().any(|arg| arg == "--help" || arg == "-h") {
        return Ok(None);
    }
    let mut flags = Flags { command: name, left: rest.iter().map(String::as_str).collect() };
    let command = match name.as_str() {
        "audit" => Command::Audit,
        "bless" => Command::Bless,
        "ci" => Command::Ci { keep_going: flags.take("--keep-going") },
        "demo" => Command::Demo,
        "docs" => Command::Docs { open: flags.take("--open") },
        "guests" => Command::Guests { release: flags.take("--release"), twice: flags.take("--twice") },
        "setup" => Command::Setup,
        "test" => Command::Test(test::Options {
            fast: flags.take("--fast"),
            keep_going: flags.take("--keep-going"),
        }),
        "tidy" => Command::Tidy,
        _ => return Err(format!("there is no command `{name}`")),
    };
    flags.finish()?;
    Ok(Some(command))
}

struct Flags<'a> {
    command: &'a str,
    left: Vec<&'a str>,
}

impl Flags<'_> {
    fn take(&mut self, flag: &str) -> bool {
        let before = self.left.len();
        self.left.retain(|arg| *arg != flag);
        self.left.len() < before
    }

    fn finish(self) -> Result<(), String> {
        match self.left.first() {
            Some(stranger) => Err(format!("`{}` does not take `{stranger}`", self.command)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Option<Command>, String> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn commands_with_their_flags_ok() {
        assert_eq!(read("guests --twice"), Ok(Some(Command::Guests { release: false, twice: true })));
        assert_eq!(
            read("test --keep-going --fast"),
            Ok(Some(Command::Test(test::Options { fast: true, keep_going: true })))
        );
        assert_eq!(read(""), Ok(None));
        assert_eq!(read("test --help"), Ok(None));
    }

    #[test]
    fn strangers_fails_by_name() {
        assert_eq!(read("tset"), Err("there is no command `tset`".to_owned()));
        assert_eq!(read("tidy --fast"), Err("`tidy` does not take `--fast`".to_owned()));
    }

    #[test]
    fn every_command_is_in_the_help() {
        for name in ["audit", "bless", "ci", "demo", "docs", "guests", "setup", "test", "tidy"] {
            assert!(HELP.contains(&format!("\n  {name} ")), "{name}");
        }
    }
}
