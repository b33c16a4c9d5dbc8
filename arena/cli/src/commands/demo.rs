use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;

/// Demo
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, _: &mut Io<'_>) -> Result<Exit, Failure> {
    Ok(Exit::Success)
}
