//! `arena play`

use arena_canon::Digest;
use arena_cli::{Env, Exit};

use super::{Folder, Ran, arena_in, guests};

fn folder_with(name: &str, body: &str) -> Folder {
    let folder = Folder::new();
    folder.file(name, guests::component(body));
    folder
}

/// On a terminal of that width, without colours.
fn on_terminal(folder: &Folder, columns: usize, line: &str) -> Ran {
    let env = Env { columns: Some(columns), no_color: true, out_is_terminal: true, ..Env::default() };
    let here = folder.path().to_str().expect("a plain name");
    let mut ran = arena_in(env, b"", line.split(' ').map(|word| word.replace("{}", here)));
    ran.out = ran.out.replace(here, "{}");
    ran
}

#[test]
fn an_episode_is_a_table_and_a_score() {
    let folder = folder_with("trader.wasm", guests::TRADER);
    insta::assert_snapshot!(folder.arena("play two-spikes {}/trader.wasm").told());
}

#[test]
fn it_fits_a_narrow_terminal_with_its_chart() {
    let folder = folder_with("trader.wasm", guests::TRADER);
    let ran = on_terminal(&folder, 80, "play two-spikes {}/trader.wasm --chart ascii");
    let too_wide = ran.out.lines().find(|line| line.chars().count() > 80);
    assert_eq!(too_wide, None);
    insta::assert_snapshot!(ran.told());
}

#[test]
fn colours_are_for_terminals_and_for_who_asks() {
    let folder = folder_with("trader.wasm", guests::TRADER);
    let coloured = |env: Env, flag: &str| {
        let wasm = folder.at("trader.wasm");
        let args =
            ["play".into(), "two-spikes".into(), wasm.into_os_string(), format!("--color={flag}").into()];
        arena_in(env, b"", args).out.contains('\x1b')
    };
    let terminal = || Env { out_is_terminal: true, ..Env::default() };
    assert!(coloured(terminal(), "auto"));
    assert!(!coloured(terminal(), "never"));
    assert!(!coloured(Env { no_color: true, ..terminal() }, "auto"));
    assert!(coloured(Env { no_color: true, ..terminal() }, "always"));
    assert!(!coloured(Env::default(), "auto"));
}

#[test]
fn a_forfeit_tells_why_and_leaves_what_is_needed_to_repeat_it() {
    let folder = folder_with("broken.wasm", guests::BROKEN);
    let ran = folder.arena("play two-spikes {}/broken.wasm --log {}/broken.json");
    assert_eq!(ran.exit, Exit::Forfeited);
    insta::assert_snapshot!(ran.told());
    assert_eq!(folder.names(), ["broken-actions.json", "broken-turn7.json", "broken.json", "broken.wasm"]);
    let replay = folder.arena("replay --pack two-spikes --actions {}/broken-actions.json").json();
    let seen = std::fs::read(folder.at("broken-turn7.json")).expect("written");
    let seen: serde_json::Value = serde_json::from_slice(&seen).expect("JSON");
    assert_eq!(replay["turns"][7]["observation"], seen);
    assert_eq!(folder.arena("verify {}/broken.json --strategy {}/broken.wasm").exit, Exit::Success);
}

#[test]
fn spent_fuel_is_a_forfeit_too() {
    let folder = folder_with("loop.wasm", guests::LOOP);
    let ran = folder.arena("play sunny-sunday {}/loop.wasm --json");
    assert_eq!(ran.exit, Exit::Forfeited);
    let result = ran.json();
    assert_eq!(result["forfeit"]["ending"], "fuel_spent");
    assert_eq!(result["turn_fuel_max"], 20_000_000);
}

#[test]
fn what_is_not_a_number_is_told_as_a_clamp() {
    let folder = folder_with("lost.wasm", guests::LOST);
    let ran = folder.arena("play sunny-sunday {}/lost.wasm --log {}/log.json");
    assert_eq!(ran.exit, Exit::Success);
    assert!(ran.out.contains("NaN/∞") && ran.out.contains("not_finite 48"), "{}", ran.out);
    assert_eq!(folder.arena("verify {}/log.json").exit, Exit::Success);
}

#[test]
fn the_log_has_the_digest_that_is_printed() {
    let folder = folder_with("trader.wasm", guests::TRADER);
    let told = folder.arena("play two-spikes {}/trader.wasm --log {}/log.json --json").json();
    let bytes = std::fs::read(folder.at("log.json")).expect("written");
    assert_eq!(told["log"]["sha256"], Digest::of(&bytes).to_string());
    assert_eq!(told["log"]["path"], "{}/log.json");
}

#[test]
fn in_a_folder_a_log_names_itself_and_may_be_there_already() {
    let folder = folder_with("trader.wasm", guests::TRADER);
    let play = || folder.arena("play two-spikes {}/trader.wasm --log {}/logs/ --json");
    let first = play().json();
    let sha256 = first["log"]["sha256"].as_str().expect("a digest").to_owned();
    assert_eq!(first["log"]["path"], format!("{{}}/logs/two-spikes-{}.json", &sha256[..8]));
    assert_eq!(play().exit, Exit::Success);
    assert_eq!(std::fs::read_dir(folder.at("logs")).expect("made").count(), 1);
}

#[test]
fn nothing_is_overwritten_unless_it_is_asked_for() {
    let folder = folder_with("broken.wasm", guests::BROKEN);
    folder.file("log.json", "mine");
    let refused = folder.arena("play two-spikes {}/broken.wasm --log {}/log.json");
    assert_eq!((refused.exit, refused.out.as_str()), (Exit::Usage, ""));
    insta::assert_snapshot!(refused.told());
    assert_eq!(std::fs::read(folder.at("log.json")).expect("there"), b"mine");
    // What is in the way of the files beside the log is told, and stays; the log is written.
    folder.file("other-turn7.json", "mine");
    let told = folder.arena("play two-spikes {}/broken.wasm --log {}/other.json");
    assert_eq!(told.exit, Exit::Forfeited);
    assert!(told.told().contains("other-turn7.json"));
    assert_eq!(std::fs::read(folder.at("other-turn7.json")).expect("there"), b"mine");
    let names = ["broken.wasm", "log.json", "other-actions.json", "other-turn7.json", "other.json"];
    assert_eq!(folder.names(), names);
    // One name for two files is no name for either.
    let both = folder.arena("play two-spikes {}/broken.wasm --log {}/x.json --chart svg={}/./x.json");
    assert_eq!(both.exit, Exit::Usage);
    assert_eq!(folder.names(), names);
    let forced = folder.arena("play two-spikes {}/broken.wasm --log {}/log.json --force");
    assert_eq!(forced.exit, Exit::Forfeited);
    assert_ne!(std::fs::read(folder.at("log.json")).expect("there"), b"mine");
}

#[test]
fn the_seed_is_recorded() {
    let folder = folder_with("trader.wasm", guests::TRADER);
    let seed = |arg: &str| {
        folder.arena(&format!("play two-spikes {{}}/trader.wasm --json{arg}")).json()["seed"].clone()
    };
    assert_eq!(seed(""), seed(" --seed 0"));
    assert_ne!(seed(""), seed(" --seed 1"));
    let hex = "ab".repeat(32);
    assert_eq!(seed(&format!(" --seed {hex}")), *hex);
}

#[test]
fn a_chart_is_drawn_where_it_is_wanted() {
    let folder = folder_with("trader.wasm", guests::TRADER);
    let ran = folder.arena("play two-spikes {}/trader.wasm --chart svg={}/chart.svg");
    assert_eq!(ran.exit, Exit::Success);
    assert!(std::fs::read_to_string(folder.at("chart.svg")).expect("written").ends_with("</svg>\n"));
    assert_eq!(folder.arena("play two-spikes {}/trader.wasm --chart png").exit, Exit::Usage);
}

#[test]
fn what_a_strategy_logs_is_talk() {
    let folder = folder_with("trader.wasm", guests::TRADER);
    let quiet = folder.arena("play two-spikes {}/trader.wasm");
    let loud = folder.arena("play two-spikes {}/trader.wasm --guest-log");
    assert_eq!(quiet.out, loud.out);
    assert!(loud.err.contains("guest, turn 23, info: I expected 24 prices, got 3\n"), "{}", loud.err);
}

#[test]
fn what_is_not_admitted_does_not_play() {
    let folder = Folder::new();
    folder.file("text.wasm", "(module)");
    let ran = folder.arena("play two-spikes {}/text.wasm --log {}/log.json");
    assert_eq!(ran.exit, Exit::Rejected);
    insta::assert_snapshot!(ran.told());
    assert_eq!(folder.names(), ["text.wasm"]);
}
