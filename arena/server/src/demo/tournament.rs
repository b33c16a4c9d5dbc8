//! A tournament of the matrix game: uploaded, drafted, frozen and started. Whoever opens the folder plays it.

use serde_json::json;

use super::DemoError;
use super::props::Props;
use super::stage::{By, Stage, lacks, text};

const ORGANISER: &str = "foundry";
/// Each pair so often, since a strategy among them tosses a coin.
const REPETITIONS: u32 = 5;
const ROUNDS: u32 = 200;
const MINUTE_MS: i64 = 60_000;

/// From the uploads to the start.
pub(super) async fn started(stage: &Stage, props: &Props<'_>) -> Result<(), DemoError> {
    if props.workshop.is_none() {
        return Ok(());
    }
    let by = By::Agent(ORGANISER);
    stage.until(stage.time(-3, 14, 0)).await;
    let mut strategies = Vec::new();
    for (name, component) in &props.strategies {
        let path = format!("/api/v1/strategies?name={name}");
        let made = stage.bring("POST", by, &path, "application/wasm", component).await?;
        strategies.push(text(&made, "strategy")?);
        stage.until(stage.clock().plus_ms(7 * MINUTE_MS)).await;
    }
    stage.until(stage.time(-1, 17, 30)).await;
    let plan = json!({
        "slug": "season-0-dilemma", "title": "The prisoners of season 0", "game": "matrix",
        "strategies": strategies,
        "matrix": {
            "kind": "round_robin", "self_play": true, "repetitions": REPETITIONS, "rounds": ROUNDS,
        },
    });
    let drafted = stage.post(by, "/api/v1/tournaments", plan).await?;
    if drafted["tournament"] != "t1" {
        return Err(lacks("tournament t1"));
    }
    // The secret is older than anything that is played, and nobody waits for the beginning.
    stage.until(stage.end().plus_ms(-10 * MINUTE_MS)).await;
    stage.bare(by, "/api/v1/tournaments/t1/freeze").await?;
    stage.until(stage.end().plus_ms(-MINUTE_MS)).await;
    stage.bare(by, "/api/v1/tournaments/t1/start").await.map(drop)
}
