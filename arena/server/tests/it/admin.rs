//! The admin's pages: who may see them, and that what is shown once is shown once.

use axum::body::Body;
use serde_json::{Value, json};

use crate::audit::audit;
use crate::support::{ADMIN, Bench, Said, request};

const NOW: &str = "2026-12-01T00:00:00Z";

/// A browser with a session.
struct Browser<'a> {
    bench: &'a Bench,
    cookie: String,
}

impl<'a> Browser<'a> {
    async fn sign_in(bench: &'a Bench, agent: Value) -> Self {
        let made =
            bench.post("/api/v1/logins", Some(ADMIN), &json!({ "agent": agent })).await.expect(201).json();
        Self::with(bench, made["path"].as_str().unwrap()).await
    }

    async fn with(bench: &'a Bench, link: &str) -> Self {
        let token = link.split("token=").nth(1).unwrap();
        let asked =
            request("POST", "/login", None).header("content-type", "application/x-www-form-urlencoded");
        let said = bench.send(asked.body(Body::from(format!("token={token}"))).unwrap()).await.expect(303);
        let cookie = said.header("set-cookie").split(';').next().unwrap().to_owned();
        Self { bench, cookie }
    }

    async fn get(&self, path: &str) -> Said {
        let asked = request("GET", path, None).header("cookie", &self.cookie).header("accept", "text/html");
        self.bench.send(asked.body(Body::empty()).unwrap()).await
    }

    async fn page(&self, path: &str) -> String {
        let said = self.get(path).await.expect(200);
        assert_eq!(audit(&said.text), [""; 0], "{path}");
        said.text
    }

    async fn post(&self, path: &str, form: &str) -> Said {
        let csrf = self.page("/").await;
        let csrf = csrf.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        self.post_raw(path, &format!("csrf={csrf}&{form}")).await
    }

    async fn post_raw(&self, path: &str, form: &str) -> Said {
        let asked = request("POST", path, None)
            .header("cookie", &self.cookie)
            .header("accept", "text/html")
            .header("content-type", "application/x-www-form-urlencoded");
        self.bench.send(asked.body(Body::from(form.to_owned())).unwrap()).await
    }
}

#[tokio::test]
async fn the_pages_and_forms_are_for_the_admin_alone() {
    let bench = Bench::at(NOW);
    bench.agent("bees", "hive", &["read"]).await;
    bench.get("/admin", None).await.expect(401);
    let agent = Browser::sign_in(&bench, json!("bees")).await;
    for path in ["/admin", "/admin/agents/bees"] {
        agent.get(path).await.expect(403);
    }
    let admin = Browser::sign_in(&bench, Value::Null).await;
    for (path, form) in [
        ("/admin/agents", "id=wasps&operator=nest"),
        ("/admin/agents/bees/keys", "read=on"),
        ("/admin/agents/bees/revoke", "key=aaaaaaaaaa"),
        ("/admin/agents/bees/login", ""),
        ("/admin/login", ""),
    ] {
        agent.post(path, form).await.expect(403);
        assert!(
            admin.post_raw(path, form).await.expect(403).text.contains("not one of this session"),
            "{path}"
        );
        let asked = request("POST", path, None).header("content-type", "application/x-www-form-urlencoded");
        bench.send(asked.body(Body::from(form)).unwrap()).await.expect(401);
    }
    let state = admin.page("/admin").await;
    assert!(state.contains("bees") && !state.contains("wasps"));
}

#[tokio::test]
async fn an_agent_a_key_and_a_link_are_made_by_forms_and_secrets_are_shown_once() {
    let bench = Bench::at(NOW);
    let admin = Browser::sign_in(&bench, Value::Null).await;
    assert!(admin.page("/").await.contains("href=\"/admin\""));
    assert!(admin.page("/admin").await.contains("No agent is known yet"));
    let made = admin.post("/admin/agents", "id=bees&operator=hive").await.expect(303);
    assert_eq!(made.header("location"), "/admin/agents/bees");
    assert!(admin.page("/admin/agents/bees").await.contains("It has no key"));
    let shown = admin.post("/admin/agents/bees/keys", "read=on&play=on").await.expect(200);
    assert_eq!(audit(&shown.text), [""; 0]);
    assert_eq!(shown.header("cache-control"), "no-store");
    let key = format!("ak_{}", shown.text.split(">ak_").nth(1).unwrap().split('<').next().unwrap());
    assert_eq!(bench.get("/api/v1/me", Some(&key)).await.expect(200).json()["id"], "bees");
    let page = admin.page("/admin/agents/bees").await;
    assert!(
        page.contains(&key[3..13]) && !page.contains(&key[14..]) && page.contains("read, play"),
        "{page}"
    );
    assert!(!bench.logged().iter().any(|line| line.contains(&key[14..])));
    admin.post("/admin/agents/bees/revoke", &format!("key={}", &key[3..13])).await.expect(303);
    bench.get("/api/v1/me", Some(&key)).await.expect(401);
    assert!(admin.page("/admin/agents/bees").await.contains("revoked"));
    for (path, name) in [("/admin/agents/bees/login", "bees"), ("/admin/login", "admin")] {
        let shown = admin.post(path, "").await.expect(200);
        assert_eq!(audit(&shown.text), [""; 0]);
        let link = shown.text.split("<code>").nth(1).unwrap().split('<').next().unwrap();
        let browser = Browser::with(&bench, link).await;
        assert!(browser.page("/").await.contains(&format!("<bdi class=\"agent\">{name}</bdi>")), "{path}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_form_is_told_at_its_field() {
    let bench = Bench::at(NOW);
    bench.agent("bees", "hive", &["read"]).await;
    let admin = Browser::sign_in(&bench, Value::Null).await;
    let said = admin.post("/admin/agents", "id=%3Cb%3E&operator=").await.expect(422);
    assert_eq!(audit(&said.text), [""; 0]);
    assert!(said.text.contains("2 fields need another look") && said.text.contains("value=\"&lt;b&gt;\""));
    let said = admin.post("/admin/agents", "id=bees&operator=hive").await.expect(409);
    assert!(
        said.text.contains("One field needs another look") && said.text.contains("there is an agent `bees`")
    );
    admin.post("/admin/agents/bees/keys", "").await.expect(422);
    admin.post("/admin/agents/nobody/keys", "read=on").await.expect(404);
    admin.get("/admin/agents/nobody").await.expect(404);
}
