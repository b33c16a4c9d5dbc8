//! What becomes of a command whose output goes nowhere.

use std::io::{self, Write};

use arena_cli::{Env, Exit, Io};

use super::{Folder, guests};

/// Takes some bytes, then fails in its own way.
struct Breaks {
    after: usize,
    how: io::ErrorKind,
}

impl Write for Breaks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.after == 0 {
            return Err(self.how.into());
        }
        let taken = bytes.len().min(self.after);
        self.after -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn run_into(out: Breaks, args: &[&str]) -> (Exit, String) {
    let mut err = Vec::new();
    let args = ["arena"].iter().chain(args).map(Into::into);
    let exit = arena_cli::run(args, &mut Io::new(io::empty(), out, &mut err, Env::default()));
    (exit, String::from_utf8(err).expect("UTF-8"))
}

/// `arena play … | head -1`: the work is done, the exit code is the same, and nothing is said.
#[test]
fn a_closed_pipe_is_no_error() {
    let folder = Folder::new();
    let wasm = folder.file("broken.wasm", guests::component(guests::BROKEN));
    let log = folder.at("log.json");
    let (wasm, log) = (wasm.to_str().expect("plain"), log.to_str().expect("plain"));
    let closed = |after| Breaks { after, how: io::ErrorKind::BrokenPipe };
    let (exit, err) = run_into(closed(100), &["play", "two-spikes", wasm, "--log", log]);
    assert_eq!((exit, err.as_str()), (Exit::Forfeited, ""));
    assert!(folder.at("log.json").exists());
    for args in [&["pack", "show", "two-spikes"][..], &["--help"], &["schema", "pack"], &["limits", "--json"]]
    {
        let (exit, err) = run_into(closed(0), args);
        assert_eq!((exit, err.as_str()), (Exit::Success, ""), "{args:?}");
    }
}

/// `arena limits > /dev/full`
#[test]
fn a_full_disk_is() {
    let (exit, err) = run_into(Breaks { after: 10, how: io::ErrorKind::StorageFull }, &["limits"]);
    assert_eq!(exit, Exit::Internal);
    assert!(err.starts_with("error: cannot write the result: "), "{err}");
}
