use crate::{Exit, Failure, Io};

/// Written by a colleague; this hook keeps the signature.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_: &Args, _: &mut Io<'_>) -> Result<Exit, Failure> {
    Err(Failure::internal("do this", "it is being written"))
}
