//! Builds every folder of `guest-examples/` into a component, with the product's own `arena build`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::digests::{self, Built, Digests, Verdict};
use crate::fault::{Fault, Outcome};
use crate::repo::Repo;
use crate::run::Run;
use crate::talk;
use crate::toolchain::{self, GuestToolchain};

/// Every example guest, built and hashed.
pub(crate) struct Guests {
    pub(crate) built: Built,
    spent: Duration,
}

/// Where a build's sources are, and where its components go.
pub(crate) struct Place<'a> {
    /// A folder that holds `guest-examples/`, `sdk/` and `wit/`.
    pub(crate) sources: &'a Path,
    pub(crate) components: &'a Path,
    /// Where cargo works, if not where it would by itself.
    pub(crate) cargo_target: Option<&'a Path>,
}

/// Builds the guests of the repository and compares them with the recorded digests.
pub(crate) fn build_and_compare(repo: &Repo, toolchain: &GuestToolchain, arena: &Path) -> Outcome<Verdict> {
    let guests = build(repo, toolchain, arena)?;
    let pinned = toolchain::pinned_release(repo)?;
    let verdict = Digests::read(&repo.root)?.check(toolchain, &pinned, &guests.built)?;
    let news = match &verdict {
        Verdict::Match => "digests match guest-examples/DIGESTS",
        Verdict::NotCompared(why) => why,
    };
    announce(&guests, news);
    Ok(verdict)
}

/// Builds the guests of the repository and records their digests for this compiler.
pub(crate) fn build_and_record(repo: &Repo, toolchain: &GuestToolchain, arena: &Path) -> Outcome {
    let guests = build(repo, toolchain, arena)?;
    let mut digests = Digests::read(&repo.root)?;
    let before = digests.recorded().get(&toolchain.compiler.commit).cloned().unwrap_or_default();
    digests.bless(toolchain, guests.built.clone())?;
    digests.write(&repo.root)?;
    match digests::differences(&before, &guests.built).len() {
        0 => announce(&guests, "guest-examples/DIGESTS stays as it was"),
        changed => announce(&guests, &format!("guest-examples/DIGESTS rewritten, {changed} changed")),
    }
    Ok(())
}

/// The Rust guests: folders of `guest-examples/` with a manifest. Other languages have folders without one.
pub(crate) fn names(guest_examples: &Path) -> Outcome<Vec<String>> {
    let entries = std::fs::read_dir(guest_examples).map_err(Fault::at("list", guest_examples))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().join("Cargo.toml").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    if names.is_empty() {
        return Err(Fault::new(format!("{} holds no guest", guest_examples.display())));
    }
    Ok(names)
}

/// Builds every guest of a place; gives their digests.
pub(crate) fn build_in(place: &Place<'_>, toolchain: &GuestToolchain, arena: &Path) -> Outcome<Built> {
    let guests = names(&place.sources.join("guest-examples"))?;
    let folders: Vec<PathBuf> = guests.iter().map(|guest| Path::new("guest-examples").join(guest)).collect();
    std::fs::create_dir_all(place.components).map_err(Fault::at("make", place.components))?;
    let mut run = Run::new(arena, place.sources)
        .args(["build"])
        .args(&folders)
        .args([Path::new("--out"), place.components])
        .envs(&toolchain.env());
    if let Some(folder) = place.cargo_target {
        run = run.env("CARGO_TARGET_DIR", folder);
    }
    run.pass_talk()?;
    remove_orphans(place.components, &guests)?;
    digests::measure(place.components, &guests)
}

fn build(repo: &Repo, toolchain: &GuestToolchain, arena: &Path) -> Outcome<Guests> {
    let started = Instant::now();
    let components = repo.guests_built();
    let place = Place { sources: &repo.root, components: &components, cargo_target: None };
    let built = build_in(&place, toolchain, arena)?;
    Ok(Guests { built, spent: started.elapsed() })
}

/// A guest that was renamed or deleted must not go on playing.
fn remove_orphans(components: &Path, guests: &[String]) -> Outcome {
    let entries = std::fs::read_dir(components).map_err(Fault::at("list", components))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if path.extension().is_some_and(|it| it == "wasm") && !guests.iter().any(|guest| *guest == name) {
            std::fs::remove_file(&path).map_err(Fault::at("remove", &path))?;
        }
    }
    Ok(())
}

fn announce(guests: &Guests, news: &str) {
    talk::note("guests", &format!("{} built in {}, {news}", guests.built.len(), talk::seconds(guests.spent)));
}
