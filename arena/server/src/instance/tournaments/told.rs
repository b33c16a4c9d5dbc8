//! What is told of a tournament. Before it has succeeded nothing here tells an alias from another.

use arena_canon::json::Value;
use serde_json::json;

use super::{Ended, Status, Tournament};
use crate::instance::Instance;
use crate::instance::stamp;
use crate::workshop::Card;

/// A tournament as whoever may see it is told. `progress`: matchups that have lasted, while it is played.
pub(crate) fn json(instance: &Instance, tournament: &Tournament, progress: Option<u64>) -> Value {
    let status = tournament.status();
    let end = tournament.end.as_ref();
    let completed = match status {
        Status::Over(_) => end.map_or(0, |(_, ended)| ended.completed),
        _ => progress.unwrap_or_default(),
    };
    let frozen = tournament.frozen.as_ref();
    let strategies: Vec<Value> =
        tournament.strategies.iter().enumerate().map(of_strategy(instance)).collect();
    json!({
        "tournament": tournament.id(),
        "owner": tournament.owner,
        "status": status.name(),
        "is_played_now": status == Status::Started && progress.is_some(),
        "slug": tournament.text("slug"),
        "title": tournament.text("title"),
        "game": tournament.text("game"),
        "strategies": strategies,
        "matrix": tournament.plan.get("matrix"),
        "protocol": tournament.plan.get("protocol"),
        "budget": tournament.plan.get("budget"),
        "matchups": { "planned": tournament.matchups, "completed": completed },
        "turns": tournament.turns,
        "drafted_at": stamp(tournament.at),
        "frozen_at": frozen.map(|frozen| stamp(frozen.at)),
        "frozen_sha256": frozen.map(|frozen| frozen.file.sha256),
        "secret_commit": frozen.map(|frozen| frozen.secret.commitment()),
        "started_at": tournament.started_at.map(stamp),
        "commitments_sha256": tournament.begun.map(|(_, pin)| pin.sha256),
        "ended_at": end.map(|(at, _)| stamp(*at)),
        "terminal": end.map(|(_, ended)| terminal(ended)),
    })
}

fn of_strategy(instance: &Instance) -> impl Fn((usize, &u64)) -> Value + '_ {
    |(index, number)| {
        let strategy = instance.strategies.get(*number);
        json!({
            "index": index,
            "strategy": format!("s{number}"),
            "name": strategy.map(|it| &it.name),
            "version": strategy.map(|it| &it.version),
            "sha256": strategy.map(|it| it.admission.sha256),
            "world": strategy.map(|it| &it.admission.world),
        })
    }
}

fn terminal(ended: &Ended) -> Value {
    json!({
        "class": ended.class, "reason": ended.reason, "matchup": ended.matchup,
        "completed": ended.completed, "record_digest": ended.record_digest,
        "run_is_kept": !ended.kept.is_empty(),
        "receipt_sha256": ended.receipt.map(|pin| pin.sha256),
        "scorecard_sha256": ended.scorecard.map(|pin| pin.sha256),
        "identities_sha256": ended.identities.map(|pin| pin.sha256),
    })
}

/// Who scored what against whom, of a tournament that has succeeded.
pub(crate) fn matrix_json(tournament: &Tournament, card: &Card) -> Value {
    let count = card.standings.len();
    let means = card.means();
    let rows: Vec<Value> = card
        .standings
        .iter()
        .enumerate()
        .map(|(row, standing)| {
            let scores = means.get(row * count..(row + 1) * count);
            json!({ "index": standing.index, "strategy": standing.strategy, "scores": scores })
        })
        .collect();
    let standings: Vec<Value> =
        card.standings.iter().map(|standing| serde_json::to_value(standing).unwrap_or_default()).collect();
    let identities: Vec<Value> = card
        .identities
        .iter()
        .map(|it| {
            json!({
                "alias": it.alias, "index": it.index, "strategy": it.strategy,
                "commitment": it.commitment, "verified": it.verified,
            })
        })
        .collect();
    json!({
        "tournament": tournament.id(), "unit": "mean score of the row against the column",
        "rows": rows, "standings": standings, "identities": identities,
    })
}

/// A match of a tournament that has succeeded: its record, and who sat where.
pub(crate) fn moves_json(tournament: &Tournament, card: &Card, record: &Value) -> Value {
    let seats = record.get("seats").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let seats: Vec<Value> = seats
        .iter()
        .map(|alias| {
            let known = card.identities.iter().find(|it| alias == &Value::String(it.alias.clone()));
            json!({
                "alias": alias, "index": known.map(|it| it.index), "strategy": known.map(|it| &it.strategy),
            })
        })
        .collect();
    let part = |member: &str| record.get(member);
    json!({
        "tournament": tournament.id(), "match": part("id"), "seats": seats, "scenario": part("scenario"),
        "repetition": part("repetition"), "moves": part("moves"), "outcome": part("outcome"),
        "scores": part("scores"), "settlements": part("settlements"), "forfeits": part("forfeits"),
        "fuel": part("fuel"), "turns": part("turns"), "digest": part("digest"),
    })
}
