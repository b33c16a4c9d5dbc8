//! The packs that are part of the product, and packs from files.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use arena_canon::{Digest, json};
use arena_engine::Excerpt;
use arena_engine::campus::{DOCUMENT_BYTES_MAX, Pack};

use crate::exit::Exit;
use crate::failure::{Failure, place};
use crate::files;
use crate::io::Io;

/// A pack that is part of the product.
pub(crate) struct BuiltIn {
    /// Its name on the command line, which is its id.
    pub(crate) name: &'static str,
    /// At most six letters, for the head of a column.
    pub(crate) short: &'static str,
    text: &'static str,
}

macro_rules! built_in {
    ($($name:literal $short:literal),* $(,)?) => {
        [$(BuiltIn {
            name: $name,
            short: $short,
            text: include_str!(concat!("../../../scenarios/", $name, ".json")),
        }),*]
    };
}

/// In rising order of how far prices go.
pub(crate) const BUILT_IN: [BuiltIn; 6] = built_in![
    "sunny-sunday" "sunny",
    "deep-freeze-appeal" "freeze",
    "dunkelflaute" "dunkel",
    "two-spikes" "spikes",
    "christmas-eve-alley" "alley",
    "cap-to-floor" "floor",
];

impl BuiltIn {
    /// The pack itself.
    pub(crate) fn pack(&self) -> Arc<Pack> {
        Pack::parse(self.text.as_bytes()).expect("a pack of the product is valid")
    }
}

/// The documents of all of them, for whoever offers them.
pub(crate) fn documents() -> Vec<Vec<u8>> {
    BUILT_IN.iter().map(|pack| pack.text.as_bytes().to_vec()).collect()
}

/// A pack with the name it was called by.
pub(crate) struct Named {
    /// For messages: cut and escaped.
    pub(crate) shown: String,
    pub(crate) pack: Arc<Pack>,
}

/// The pack a person means: a file if there is one, else a built-in name.
pub(crate) fn find(asked: &OsStr) -> Result<Named, Failure> {
    let path = Path::new(asked);
    if path.exists() && !path.is_dir() {
        return from_file(path);
    }
    match BUILT_IN.iter().find(|pack| asked == pack.name) {
        Some(built_in) => Ok(Named { shown: built_in.name.to_owned(), pack: built_in.pack() }),
        None => Err(unknown(asked)),
    }
}

/// The pack in a file; its faults told all at once.
pub(crate) fn from_file(path: &Path) -> Result<Named, Failure> {
    let shown = files::shown(path);
    let bytes =
        files::read(path, DOCUMENT_BYTES_MAX as u64).map_err(|unread| unread.reading("pack", path))?;
    match Pack::parse(&bytes) {
        Ok(pack) => Ok(Named { shown, pack }),
        Err(faults) => Err(Failure::faults(Exit::Usage, format_args!("use pack `{shown}`"), &shown, faults)),
    }
}

/// The canonical document of the pack a person means, which [`find`] has found to be valid.
pub(crate) fn source(asked: &OsStr) -> Result<Vec<u8>, Failure> {
    let path = Path::new(asked);
    let bytes = match BUILT_IN.iter().find(|pack| asked == pack.name) {
        Some(built_in) if !path.exists() => built_in.text.as_bytes().to_vec(),
        _ => files::read(path, DOCUMENT_BYTES_MAX as u64).map_err(|unread| unread.reading("pack", path))?,
    };
    let document = json::read(&bytes, DOCUMENT_BYTES_MAX)
        .map_err(|why| Failure::usage(format_args!("use pack `{}`", files::shown(path)), why))?;
    Ok(json::canonical(&document))
}

/// The head of the pack's column.
pub(crate) fn short(id: &str) -> String {
    let built_in = BUILT_IN.iter().find(|built_in| built_in.name == id);
    built_in.map_or_else(|| id.chars().take(6).collect(), |built_in| built_in.short.to_owned())
}

/// Where the pack stands among others: built-in ones in their own order, then the rest.
pub(crate) fn position(id: &str) -> usize {
    BUILT_IN.iter().position(|built_in| built_in.name == id).unwrap_or(BUILT_IN.len())
}

/// The built-in pack with this digest.
pub(crate) fn with_digest(sha256: Digest) -> Option<Named> {
    let packs = BUILT_IN.iter().map(|built_in| (built_in, built_in.pack()));
    let (built_in, pack) = packs.into_iter().find(|(_, pack)| pack.sha256() == sha256)?;
    Some(Named { shown: built_in.name.to_owned(), pack })
}

/// The built-in pack with this id and, if given, this version.
pub(crate) fn with_id(id: &str, version: Option<&str>) -> Option<Named> {
    let built_in = BUILT_IN.iter().find(|built_in| built_in.name == id)?;
    let pack = built_in.pack();
    let same = version.is_none_or(|version| version == pack.document().pack_version);
    same.then(|| Named { shown: built_in.name.to_owned(), pack })
}

impl Named {
    /// Tells what the validator found odd.
    pub(crate) fn warn(&self, io: &mut Io<'_>) {
        for warning in self.pack.warnings() {
            io.warn(place(&self.shown, warning));
        }
    }
}

fn unknown(asked: &OsStr) -> Failure {
    let text = asked.to_string_lossy();
    let doing = format!("read pack `{}`", Excerpt::line(&text));
    let is_path = text.contains(['/', '\\']) || text.ends_with(".json") || Path::new(asked).is_dir();
    let why = if Path::new(asked).is_dir() {
        "it is a folder"
    } else if is_path {
        "no such file"
    } else {
        "no such file, and no built-in pack has this name"
    };
    let names = BUILT_IN.map(|pack| pack.name).join(", ");
    Failure::usage(doing, why).hint(match nearest(&text) {
        Some(name) => format!("did you mean `{name}`? built in: {names}"),
        None => format!("built in: {names}"),
    })
}

fn nearest(text: &str) -> Option<&'static str> {
    if text.len() > 64 {
        return None;
    }
    let wanted = text.rsplit('/').next().unwrap_or_default().trim_end_matches(".json").to_lowercase();
    let likeness = |pack: &&BuiltIn| (strsim::jaro_winkler(&wanted, pack.name) * 1000.0) as u32;
    let best = BUILT_IN.iter().max_by_key(likeness)?;
    (likeness(&best) >= 750).then_some(best.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_pack_is_valid_and_called_by_its_id() {
        for built_in in &BUILT_IN {
            let pack = built_in.pack();
            assert_eq!(pack.document().pack_id, built_in.name);
            assert_eq!(pack.warnings(), [], "{}", built_in.name);
            assert!(built_in.short.len() <= 6);
        }
    }

    #[test]
    fn a_misspelt_name_is_recognized_and_nonsense_is_not() {
        for (asked, meant) in [
            ("tow-spikes", Some("two-spikes")),
            ("two_spikes.json", Some("two-spikes")),
            ("scenarios/dunkelflautte.json", Some("dunkelflaute")),
            ("xyz", None),
            ("", None),
        ] {
            assert_eq!(nearest(asked), meant, "{asked}");
        }
    }
}
