//! The command `arena`: reads files, calls the other crates, shows what they say.
//!
//! No rule of any game or of the sandbox is decided here. [`run`] takes its arguments and streams
//! as values, so that a test needs no process.
//!
//! Every command is one file under `commands/`: a `clap` struct `Args` with its help and examples,
//! and
//!
//! ```ignore
//! pub fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure>
//! ```
//!
//! A command prints its result with [`Io::print`] or [`Io::print_json`], talks with [`Io::talk`] and
//! [`Io::warn`], and returns how it ended; an input it cannot use is a [`Failure`].

mod clock;
mod commands;
mod exit;
mod failure;
mod files;
mod ink;
mod io;
mod luck;
mod packs;
mod roster;
mod strategies;
mod toolchain;
mod view;
mod yardstick;

use std::ffi::OsString;

pub use commands::command;
pub use exit::Exit;
pub use failure::Failure;
pub use ink::{Colour, Ink, Tone};
pub use io::{Env, Io};
pub use toolchain::stand_in_for_rustc;

/// Runs one command line, the program's name included, and says how it ended.
pub fn run(args: impl IntoIterator<Item = OsString>, io: &mut Io<'_>) -> Exit {
    let args: Vec<OsString> = args.into_iter().collect();
    io.set_colour(commands::colour_wanted(&args));
    let ended = commands::dispatch(&args, io).and_then(|exit| io.finish().map(|()| exit));
    ended.unwrap_or_else(|failure| {
        io.fail(&failure);
        failure.exit()
    })
}
