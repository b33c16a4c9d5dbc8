//! Whole episodes as pages to read. A score moves only with a new version of what makes it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use arena_canon::Digest;
use arena_engine::campus::{Clamp, EpisodeLog, Field, Given, Pack, TurnRecord};
use arena_tests::{committed, packs, repository};

use super::laws::actions;
use super::scripts::{play, script};

/// Who is written down on every pack.
const WHO: [&str; 3] = ["obey", "peaks", "wild"];
/// Guests that are written down as well, with the pack they play; `guests.rs` lets them play.
pub(crate) const GUESTS: [(&str, &str); 1] = [("two-spikes", "greedy")];

#[test]
fn every_playthrough_is_as_it_was() {
    for (name, bytes) in packs() {
        let pack = Pack::parse(&bytes).expect("a shipped pack is valid");
        for who in WHO {
            check(&name, who, &pack, &play(&pack, script(who)));
        }
    }
}

#[test]
fn every_playthrough_is_played() {
    let of_scripts = packs().into_iter().flat_map(|(pack, _)| WHO.map(|who| file(&pack, who)));
    let played: BTreeSet<String> =
        of_scripts.chain(GUESTS.iter().map(|(pack, who)| file(pack, who))).collect();
    let folder = std::fs::read_dir(repository().join("tests/golden")).expect("the playthroughs are here");
    let names = folder.map(|entry| entry.expect("a readable folder").file_name());
    let kept = names.map(|name| format!("tests/golden/{}", name.to_string_lossy()));
    let kept: BTreeSet<String> = kept.filter(|name| name.contains("/play-")).collect();
    assert_eq!(kept, played);
}

fn file(pack: &str, who: &str) -> String {
    format!("tests/golden/play-{pack}-{who}.txt")
}

/// Compares an episode with its page.
#[track_caller]
pub(crate) fn check(name: &str, who: &str, pack: &Arc<Pack>, log: &EpisodeLog) {
    let path = file(name, who);
    let page = page(who, pack, log);
    let stored = std::fs::read_to_string(repository().join(&path)).unwrap_or_default();
    if let Err(why) = may_replace(&stored, &page) {
        panic!("{path}: {why}");
    }
    committed(&path, &page);
}

/// The first line says what was played under which versions, the second what it scored. Blessing
/// does not help where only the second moved.
fn may_replace(stored: &str, page: &str) -> Result<(), String> {
    let head = |text: &str| {
        let mut lines = text.lines().map(str::to_owned);
        (lines.next(), lines.next())
    };
    let ((old_versions, old_score), (versions, score)) = (head(stored), head(page));
    if old_versions.is_some() && old_versions == versions && old_score != score {
        return Err(format!(
            "the score changed without a changed engine version\n  from {}\n  to   {}",
            old_score.unwrap_or_default(),
            score.unwrap_or_default()
        ));
    }
    Ok(())
}

#[test]
fn a_score_may_not_move_alone() {
    let page = |engine: u32, score: f64| format!("pack p 1 engine {engine}\nscore {score}\nt0\n");
    assert_eq!(may_replace("", &page(1, 3.5)), Ok(()));
    assert_eq!(may_replace(&page(1, 3.5), &page(1, 3.5)), Ok(()));
    assert_eq!(may_replace(&page(1, 3.5), &page(2, 3.6)), Ok(()));
    let why = may_replace(&page(1, 3.5), &page(1, 3.6)).expect_err("the score moved alone");
    assert!(why.starts_with("the score changed without a changed engine version"), "{why}");
}

fn page(who: &str, pack: &Arc<Pack>, log: &EpisodeLog) -> String {
    let mut out = String::new();
    write(&mut out, who, pack, log).expect("a String takes any text");
    out
}

fn write(out: &mut String, who: &str, pack: &Arc<Pack>, log: &EpisodeLog) -> std::fmt::Result {
    writeln!(
        out,
        "pack {pack} {}  engine {}  score {}  competitor {who}",
        pack.sha256().short(),
        log.engine_version,
        log.score_version
    )?;
    let settled = &log.settlement;
    write!(out, "stars {}", settled.stars)?;
    for metric in &settled.metrics {
        let value = metric.value.map_or("none".to_owned(), |value| value.to_string());
        write!(out, "  {} {value}", metric.id.name())?;
    }
    writeln!(out, "\n")?;
    for turn in &log.turns {
        write_turn(out, turn)?;
    }
    let ledger = &settled.ledger;
    writeln!(
        out,
        "\nsettle cost {:.2} usd over {:.3} mwh of demand  relief {:.3}/{:.3} mwh  shed {:.3} mwh",
        ledger.cost_usd,
        settled.totals.demand_mwh,
        ledger.relief_delivered_mwh,
        ledger.relief_asked_mwh,
        ledger.shed_mwh
    )?;
    let nothing = &settled.do_nothing;
    writeln!(
        out,
        "clamps {}  generator turns {}  soc {:.3} mwh  do nothing: {:.2} usd, {} stars",
        settled.clamp_count, settled.generator_turns, settled.final_soc_mwh, nothing.cost_usd, nothing.stars
    )?;
    // Fuel and the component's digest depend on the compiler, the actions do not.
    let (actions, nonfinite) = actions(log);
    let replay = EpisodeLog::replay(pack, &actions, nonfinite);
    writeln!(out, "replay sha256 {}", Digest::of(&replay.to_bytes()))
}

fn write_turn(out: &mut String, turn: &TurnRecord) -> std::fmt::Result {
    let (seen, done) = (&turn.observation, &turn.resolution);
    write!(
        out,
        "t{:02} {} {:9.2} {:9}",
        turn.turn,
        &seen.local_time[11..16],
        seen.price_usd_per_mwh,
        seen.system_status.name()
    )?;
    let number = |given| if let Given::Value(value) = given { value } else { f64::NAN };
    let asked = [turn.action.curtail_mw, turn.action.battery_mw, turn.action.diesel_mw].map(number);
    let applied = [done.applied.curtail_mw, done.applied.battery_mw, done.applied.diesel_mw];
    for ((field, word), (asked, applied)) in
        Field::ALL.into_iter().zip(["curtail", "battery", "gas"]).zip(asked.into_iter().zip(applied))
    {
        write!(out, " | {word} {:.3}", asked + 0.0)?;
        let mine = |clamp: &&Clamp| clamp.field == field;
        let reasons: Vec<_> = done.clamps.iter().filter(mine).map(|clamp| clamp.reason.name()).collect();
        if !reasons.is_empty() {
            write!(out, " -> {:.3} ({})", applied + 0.0, reasons.join(", "))?;
        }
    }
    match (turn.action.accept_offer == Given::Value(true), done.applied.accept_offer) {
        (true, true) => write!(out, " | accepts")?,
        (true, false) => write!(out, " | accepts -> nothing (no_active_offer)")?,
        _ => {}
    }
    write!(out, " | import {:.3} at {:.2}", done.grid_import_mw, done.effective_price_usd_per_mwh)?;
    if done.relief.asked_mw > 0.0 {
        write!(out, " | relief {:.3}/{:.3}", done.relief.delivered_mw, done.relief.asked_mw)?;
    }
    if done.credit_usd != 0.0 {
        write!(out, " | credit {:.2}", done.credit_usd)?;
    }
    writeln!(out, " | cost {:.2} | soc {:.3}", done.turn_cost_usd, done.soc_mwh)
}
