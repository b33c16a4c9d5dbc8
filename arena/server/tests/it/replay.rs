//! The replay viewer: a page for each turn, two episodes side by side, and the check of the stored log.

use arena_canon::Digest;
use serde_json::json;

use crate::episodes::{act, greedy, join, play_to_the_end};
use crate::play::Browser;
use crate::support::Bench;

const NOW: &str = "2026-12-01T00:00:00Z";
const TURNS: u32 = 24;

#[tokio::test]
async fn every_turn_has_a_page_with_the_way_on() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let id = play_to_the_end(&bench, &key, greedy).await;
    let mut browser = Browser::new(&bench);
    for turn in 0..TURNS {
        let page = browser.see(&format!("/episodes/{id}/turns/{turn}")).await.expect(200).text;
        let to = |turn: u32, rel: &str| format!("href=\"/episodes/{id}/turns/{turn}\" rel=\"{rel}\"");
        for (there, link) in [
            (turn > 0, to(0, "first")),
            (turn > 0, to(turn.saturating_sub(1), "prev")),
            (turn + 1 < TURNS, to(turn + 1, "next")),
            (turn + 1 < TURNS, to(TURNS - 1, "last")),
        ] {
            assert_eq!(page.contains(&link), there, "{link} on {turn}");
        }
        let told = bench.get(&format!("/api/v1/episodes/{id}/turns/{turn}"), None).await.expect(200).json();
        for clamp in told["resolution"]["clamps"].as_array().unwrap() {
            assert!(page.contains(&format!("({})", clamp["reason"].as_str().unwrap())), "{clamp} on {turn}");
        }
        for wanted in ["Drawn from the grid", "Cost of the turn", "IT demand", "Check it yourself"] {
            assert!(page.contains(wanted), "{wanted} on {turn}");
        }
    }
    for wrong in ["24", "x", "00", "-1"] {
        browser.see(&format!("/episodes/{id}/turns/{wrong}")).await.expect(404);
    }
    assert_eq!(browser.see("/episodes").await.expect(303).header("location"), "/play");
}

#[tokio::test]
async fn the_check_shows_both_scores_and_both_digests() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let id = play_to_the_end(&bench, &key, greedy).await;
    let log = bench.get(&format!("/api/v1/episodes/{id}/log"), None).await.expect(200).text;
    let digest = Digest::of(log.as_bytes()).to_string();
    let mut browser = Browser::new(&bench);
    let page = browser.see(&format!("/episodes/{id}")).await.expect(200).text;
    assert!(page.contains("The stored score is the score of the replay"));
    // Title and text, stored and replayed.
    assert_eq!(page.matches(&digest).count(), 4, "{page}");
    for link in [format!("/api/v1/episodes/{id}/log"), "/api/v1/packs/two-spikes/0.1.0".to_owned()] {
        assert!(page.contains(&format!("href=\"{link}\"")));
        bench.get(&link, None).await.expect(200);
    }
    // Of an open one there is nothing to check yet.
    let open = join(&bench, &key).await;
    let mut owner = Browser::new(&bench);
    owner.sign_in("bees").await.expect(303);
    assert!(
        owner.see(&format!("/episodes/{open}")).await.expect(200).text.contains("sealed when the last turn")
    );
}

#[tokio::test]
async fn a_log_that_was_changed_on_disk_is_not_shown_as_true() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let id = play_to_the_end(&bench, &key, greedy).await;
    let about = bench.get(&format!("/api/v1/episodes/{id}"), None).await.expect(200).json();
    let sha256 = about["log_sha256"].as_str().unwrap();
    let path = bench.folder().join("blobs").join(&sha256[..2]).join(sha256);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("\"stars\":", "\"stars\":1", 1)).unwrap();
    for path in [
        format!("/api/v1/episodes/{id}/log"),
        format!("/api/v1/episodes/{id}/settlement"),
        format!("/episodes/{id}"),
    ] {
        bench.get(&path, None).await.expect(500);
    }
}

#[tokio::test]
async fn two_episodes_stand_side_by_side() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let a = play_to_the_end(&bench, &key, greedy).await;
    let same = play_to_the_end(&bench, &key, greedy).await;
    let other = join(&bench, &key).await;
    for turn in 0..TURNS {
        let action = if turn == 5 { json!({ "curtail_mw": 9 }) } else { greedy(turn) };
        act(&bench, &key, &other, turn, &action).await.expect(200);
    }
    let mut browser = Browser::new(&bench);
    let page = browser.see(&format!("/episodes/{a}")).await.expect(200).text;
    assert!(
        page.contains(&format!("/episodes/{a}/versus/{other}/turns/0"))
            && !page.contains(&format!("versus/{a}/"))
    );
    // From a turn the way leads to the same turn.
    let page = browser.see(&format!("/episodes/{a}/turns/9")).await.expect(200).text;
    assert!(page.contains(&format!("/episodes/{a}/versus/{other}/turns/9")));
    let page = browser.see(&format!("/episodes/{a}/versus/{same}/turns/3")).await.expect(200).text;
    assert!(page.contains("They are the same on every turn"));
    for (turn, wanted) in
        [(4, "They are the same up to here"), (5, "They part on this turn, 5"), (6, "They have parted")]
    {
        let page = browser.see(&format!("/episodes/{a}/versus/{other}/turns/{turn}")).await.expect(200).text;
        assert!(page.contains(wanted), "{wanted}");
        if turn != 5 {
            assert!(page.contains(&format!("/episodes/{a}/versus/{other}/turns/5\">turn 5")), "{page}");
        }
    }
    browser.see(&format!("/episodes/{a}/versus/{other}/turns/24")).await.expect(404);
    browser.see(&format!("/episodes/{a}/versus/e99/turns/0")).await.expect(404);
    // What is open is nobody's to compare with.
    let open = join(&bench, &key).await;
    browser.see(&format!("/episodes/{a}/versus/{open}/turns/0")).await.expect(404);
    let mut owner = Browser::new(&bench);
    owner.sign_in("bees").await.expect(303);
    owner.see(&format!("/episodes/{a}/versus/{open}/turns/0")).await.expect(200);
}

#[tokio::test]
async fn the_chart_of_a_finished_episode_may_be_shown_elsewhere() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let id = play_to_the_end(&bench, &key, greedy).await;
    let chart = bench.get(&format!("/episodes/{id}/chart.svg"), None).await.expect(200);
    assert_eq!(chart.header("content-type"), "image/svg+xml");
    assert_eq!(chart.header("cross-origin-resource-policy"), "cross-origin");
    let policy = chart.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(chart.text.starts_with("<svg xmlns=") && chart.text.contains("35 MW less"), "{}", chart.text);
    for banned in ["<script", "href=", "onload", "url("] {
        assert!(!chart.text.contains(banned), "{banned}");
    }
    // Everything else stays ours.
    let page = bench.get(&format!("/episodes/{id}"), None).await.expect(200);
    assert_eq!(page.header("cross-origin-resource-policy"), "same-origin");
    assert!(page.header("content-security-policy").contains("style-src 'self'"));
    assert!(page.text.contains(&format!("href=\"/episodes/{id}/chart.svg\"")));
    // Of an open one there is none, and nobody else learns that there is an episode.
    let open = join(&bench, &key).await;
    bench.get(&format!("/episodes/{open}/chart.svg"), None).await.expect(404);
    assert_eq!(
        bench.get(&format!("/episodes/{open}/chart.svg"), Some(&key)).await.expect(409).code(),
        "not_over"
    );
}
