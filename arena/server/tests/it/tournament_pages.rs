//! The pages of tournaments and strategies: what each shows, to whom, and the forms.

use crate::play::{Browser, csrf};
use crate::support::{Bench, Said, limitless};
use crate::tournaments::{NOW, frozen, plan, played, post, ready, status};
use crate::workshop::{Mood, until, upload};

#[tokio::test]
async fn the_pages_are_there_before_anything_is() {
    let bench = Bench::at(NOW);
    let mut anybody = Browser::new(&bench);
    assert!(anybody.see("/tournaments").await.expect(200).text.contains("There is no tournament yet"));
    let page = anybody.see("/strategies").await.expect(200).text;
    assert!(page.contains("Sign in") && page.contains("--data-binary"), "{page}");
    for path in ["/tournaments/t1", "/tournaments/x", "/tournaments/t1/matches/m00001", "/strategies/s1"] {
        anybody.see(path).await.expect(404);
    }
    anybody.see("/tournaments?color=red").await.expect(400);
    for path in ["/tournaments", "/tournaments/t1/freeze", "/tournaments/t1/start"] {
        post(&bench, path, None).await.expect(415);
    }
    let mut guest = Browser::new(&bench);
    guest.post("/tournaments", &[]).await.expect(401);
}

#[tokio::test]
async fn strategies_are_shown_to_their_owner() {
    let (bench, _, bees) = ready(limitless()).await;
    upload(&bench, &bees, "%3Cb%3EBold", "matrix bold").await.expect(202);
    bench.agent("wasps", "nest", &["submit"]).await;
    let mut owner = Browser::new(&bench);
    owner.sign_in("bees").await.expect(303);
    let page = owner.see("/strategies").await.expect(200).text;
    for told in ["/strategies/s1", "Mean", "&lt;b&gt;Bold", "matrix"] {
        assert!(page.contains(told), "{told} is missing\n{page}");
    }
    let page = owner.see("/strategies/s2").await.expect(200).text;
    for told in ["Mean", "arena:matrix/matrix-strategy@0.1.0", "700", "admitted"] {
        assert!(page.contains(told), "{told} is missing\n{page}");
    }
    let mut other = Browser::new(&bench);
    other.sign_in("wasps").await.expect(303);
    let page = other.see("/strategies").await.expect(200).text;
    assert!(page.contains("no strategy here yet") && !page.contains("Mean"), "{page}");
    other.see("/strategies/s2").await.expect(404);
}

/// What the form of a tournament sends.
fn fields(token: &str, rounds: &str, strategies: &str) -> Vec<(&'static str, String)> {
    vec![
        ("csrf", token.to_owned()),
        ("slug", "friday".to_owned()),
        ("title", "Friday's <three>".to_owned()),
        ("strategies", strategies.to_owned()),
        ("rounds", rounds.to_owned()),
        ("repetitions", "2".to_owned()),
        ("self_play", "on".to_owned()),
    ]
}

async fn send(owner: &mut Browser<'_>, fields: &[(&str, String)]) -> Said {
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    owner.post("/tournaments", &fields).await
}

#[tokio::test]
async fn a_form_that_is_refused_comes_back_with_what_was_sent() {
    let (bench, _, _) = ready(limitless()).await;
    let mut owner = Browser::new(&bench);
    owner.sign_in("bees").await.expect(303);
    let token = csrf(&owner.see("/tournaments").await.expect(200).text);
    let wrong = send(&mut owner, &fields(&token, "many", "s1, s9")).await.expect(422).text;
    for told in
        ["2 fields need another look", "value=\"friday\"", "value=\"s1, s9\"", "it must be an integer"]
    {
        assert!(wrong.contains(told), "{told} is missing\n{wrong}");
    }
    let forged = [("csrf", "0".repeat(64)), ("slug", "x".to_owned())];
    send(&mut owner, &forged).await.expect(403);
    send(&mut owner, &fields(&token, "60", "s1")).await.expect(303);
    // What may not be done yet is told on the page itself.
    let page = owner.see("/tournaments/t1").await.expect(200).text;
    let act = [("csrf", csrf(&page))];
    let act = [("csrf", act[0].1.as_str())];
    let early = owner.post("/tournaments/t1/start", &act).await.expect(409);
    assert!(
        early.header("location").is_empty() && early.text.contains("its status is draft"),
        "{}",
        early.text
    );
}

#[tokio::test]
async fn a_person_drafts_freezes_starts_and_reads_the_result() {
    let (bench, script, _) = ready(limitless()).await;
    let mut owner = Browser::new(&bench);
    owner.sign_in("bees").await.expect(303);
    let token = csrf(&owner.see("/tournaments").await.expect(200).text);
    let made = send(&mut owner, &fields(&token, "60", "s1 s2 s3")).await.expect(303);
    assert_eq!(made.header("location"), "/tournaments/t1");
    let draft = owner.see("/tournaments/t1").await.expect(200).text;
    assert!(draft.contains("Only you see this draft") && draft.contains("Freeze it"), "{draft}");
    let mut anybody = Browser::new(&bench);
    anybody.see("/tournaments/t1").await.expect(404);
    let act = [("csrf", token.as_str())];
    owner.post("/tournaments/t1/freeze", &act).await.expect(303);
    let page = anybody.see("/tournaments/t1").await.expect(200).text;
    assert!(page.contains("frozen, not started") && page.contains("no mapping to aliases"), "{page}");
    assert!(!page.contains("Start it"), "{page}");
    script.set(Mood::Hangs);
    owner.post("/tournaments/t1/start", &act).await.expect(303);
    until("it is played", async || status(&bench, "t1").await["is_played_now"] == true).await;
    let page = anybody.see("/tournaments/t1").await.expect(200).text;
    for told in ["being played", "0 of 12", "<progress", "data-live=\"/api/v1/events?topic=tournaments/t1\""]
    {
        assert!(page.contains(told), "{told} is missing\n{page}");
    }
    for hidden in ["p0000", "p0001", "p0002", "m00001"] {
        assert!(!page.contains(hidden), "{hidden}\n{page}");
    }
    anybody.see("/tournaments/t1/matches/m00001").await.expect(409);
    anybody.see("/tournaments").await.expect(200);
    script.set(Mood::Plays);
    until("it is over", async || status(&bench, "t1").await["status"] == "success").await;
    let page = anybody.see("/tournaments/t1").await.expect(200).text;
    for told in [
        "Friday's &lt;three&gt;",
        "Standings",
        "Mean score, row against column",
        "/tournaments/t1/matches/m00012",
        "p0002",
        "opens",
        "Check it yourself",
        "12 of 12",
    ] {
        assert!(page.contains(told), "{told} is missing\n{page}");
    }
    let shorter = anybody.see("/tournaments/t1?limit=5").await.expect(200).text;
    assert!(shorter.contains("m00005") && !shorter.contains("/matches/m00006"), "{shorter}");
    // A score stays on one line, however narrow its column.
    let rows = shorter.split("<tr").filter(|row| row.contains("/matches/m"));
    let is_whole = |row: &str| row.contains("<span class=\"nowrap\">") && row.contains(" : ");
    assert!(rows.clone().count() > 0 && rows.clone().all(is_whole), "{shorter}");
    for n in 1..=12 {
        let page = anybody.see(&format!("/tournaments/t1/matches/m{n:05}")).await.expect(200).text;
        assert!(page.contains("51 to 60") && page.contains(" as <code>p000"), "{page}");
    }
    anybody.see("/strategies/s1").await.expect(200);
}

#[tokio::test]
async fn other_endings_are_told_in_words_and_can_be_mended_where_that_helps() {
    let (bench, script, bees) = ready(limitless()).await;
    let mut short = plan();
    short["budget"] = serde_json::json!({ "matchups": 5 });
    let id = frozen(&bench, &bees, &short).await;
    played(&bench, &bees, &id).await;
    let mut anybody = Browser::new(&bench);
    let page = anybody.see(&format!("/tournaments/{id}")).await.expect(200).text;
    for told in ["exhausted", "5 of 12", "There is no scorecard", "identities stay hidden"] {
        assert!(page.contains(told), "{told} is missing\n{page}");
    }
    assert!(!page.contains("p0000"), "{page}");
    script.set(Mood::Fails);
    let id = frozen(&bench, &bees, &plan()).await;
    played(&bench, &bees, &id).await;
    let mut owner = Browser::new(&bench);
    owner.sign_in("bees").await.expect(303);
    let page = owner.see(&format!("/tournaments/{id}")).await.expect(200).text;
    assert!(page.contains("stalled") && page.contains("Start it again"), "{page}");
    script.set(Mood::Plays);
    let token = csrf(&page);
    owner.post(&format!("/tournaments/{id}/start"), &[("csrf", token.as_str())]).await.expect(303);
    until("it is over", async || status(&bench, &id).await["status"] == "success").await;
}

#[tokio::test]
async fn a_campus_match_shows_its_actions() {
    let (bench, _, bees) = ready(limitless()).await;
    for name in ["Idle", "Sloth"] {
        upload(&bench, &bees, name, &format!("campus {name}")).await.expect(202);
    }
    let plan = serde_json::json!({
        "slug": "campus", "title": "Two idlers", "game": "campus", "strategies": ["s4", "s5"],
        "matrix": { "packs": ["two-spikes"] },
    });
    let id = frozen(&bench, &bees, &plan).await;
    played(&bench, &bees, &id).await;
    let mut anybody = Browser::new(&bench);
    anybody.see(&format!("/tournaments/{id}")).await.expect(200);
    let page = anybody.see(&format!("/tournaments/{id}/matches/m00001")).await.expect(200).text;
    for told in ["two-spikes", "Stars", "nothing"] {
        assert!(page.contains(told), "{told} is missing\n{page}");
    }
}
