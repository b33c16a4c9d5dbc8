//! What is told of a tournament's run that holds.

use arena_tournament::Class;
use serde_json::{Value, json};

use crate::commands::tournament::{Checked, names};
use crate::ink::Tone;
use crate::io::Io;

pub(super) fn json(file: &str, checked: &Checked) -> Value {
    let Checked { verified, absent, unplayable } = checked;
    let absent =
        absent.iter().map(|pin| json!({ "index": pin.index, "name": pin.name, "sha256": pin.sha256 }));
    json!({
        "file": file, "verified": true, "terminal": verified.class, "records": verified.records,
        "replayed": verified.replayed, "not_playable": unplayable, "absent_components": absent.collect::<Vec<_>>(),
    })
}

pub(super) fn show(file: &str, checked: &Checked, io: &mut Io<'_>) {
    let Checked { verified, absent, unplayable } = checked;
    let parts = if verified.class == Class::Success { "scorecard, identities, receipt" } else { "receipt" };
    let replayed = match verified.replayed {
        0 => "none re-executed".to_owned(),
        1 => "1 match re-executed, equal".to_owned(),
        some => format!("{some} matches re-executed, all equal"),
    };
    let (ok, records) = (io.ink().paint(Tone::Good, "ok:"), verified.records);
    let class = verified.class.name();
    io.print(format_args!("{ok} {file} · {class} · {records} records, {parts}; {replayed}"));
    if absent.is_empty() {
        return;
    }
    let not = io.ink().paint(Tone::Warn, "not checked:");
    let names = names(absent);
    io.print(format_args!(
        "{not} whether {unplayable} of {records} matches are what the components play: those of {names} are not there"
    ));
    let hint = io.ink().paint(Tone::Strong, "hint:");
    io.print(format_args!("  {hint} name them with --component FILE; a server does not hand them out"));
}
