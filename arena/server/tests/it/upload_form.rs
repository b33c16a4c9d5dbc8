//! The form that uploads a strategy: it does what the API does, tells every fault beside its field, and takes no file
//! in that is not of the session.

use std::sync::atomic::Ordering;

use axum::body::{Body, Bytes};
use futures_util::{StreamExt as _, stream};

use crate::audit::audit;
use crate::play::{Browser, csrf};
use crate::support::{Bench, Said, limitless, request};
use crate::workshop::{Script, component};

const NOW: &str = "2026-12-01T00:00:00Z";
const BOUNDARY: &str = "----WebKitFormBoundary7MA4YWxkTrZu0gW";

fn files(bench: &Bench, folder: &str) -> usize {
    fn below(folder: &std::path::Path) -> usize {
        let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.map(|path| if path.is_dir() { below(&path) } else { 1 }).sum()
    }
    below(&bench.folder().join(folder))
}

/// One part: its disposition after `form-data; `, and its content.
fn part(disposition: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; {disposition}\r\n");
    let kind = if disposition.contains("filename") { "Content-Type: application/wasm\r\n" } else { "" };
    [head.as_bytes(), kind.as_bytes(), b"\r\n", content, b"\r\n"].concat()
}

fn whole(parts: &[Vec<u8>]) -> Vec<u8> {
    [parts.concat(), format!("--{BOUNDARY}--\r\n").into_bytes()].concat()
}

/// What a browser sends.
fn form(token: &str, name: &str, version: &str, file: &[u8]) -> Vec<u8> {
    whole(&[
        part("name=\"csrf\"", token.as_bytes()),
        part("name=\"name\"", name.as_bytes()),
        part("name=\"version\"", version.as_bytes()),
        part("name=\"component\"; filename=\"my strategy.wasm\"", file),
    ])
}

struct Sender<'a> {
    bench: &'a Bench,
    cookie: String,
    token: String,
}

impl<'a> Sender<'a> {
    async fn new(bench: &'a Bench, agent: &str) -> Self {
        let mut browser = Browser::new(bench);
        browser.sign_in(agent).await.expect(303);
        let token = csrf(&browser.see("/strategies").await.expect(200).text);
        assert_eq!(token.len(), 64);
        Self { bench, cookie: browser.cookie.unwrap(), token }
    }

    async fn send_as(&self, kind: &str, site: &str, body: impl Into<Body>) -> Said {
        let request = request("POST", "/strategies", None)
            .header("accept", "text/html")
            .header("content-type", kind)
            .header("sec-fetch-site", site)
            .header("cookie", format!("__Host-arena={}", self.cookie));
        let said = self.bench.send(request.body(body.into()).unwrap()).await;
        if said.header("content-type").starts_with("text/html") {
            assert_eq!(audit(&said.text), [""; 0], "{}", said.text);
        }
        said
    }

    async fn send(&self, body: impl Into<Body>) -> Said {
        self.send_as(&format!("multipart/form-data; boundary={BOUNDARY}"), "same-origin", body).await
    }

    async fn upload(&self, name: &str, version: &str, text: &str) -> Said {
        self.send(form(&self.token, name, version, &component(text))).await
    }
}

async fn ready() -> (Bench, std::sync::Arc<Script>) {
    let bench = Bench::at(NOW);
    let script = Script::new();
    bench.bring(script.clone());
    bench.agent("bees", "hive", &["submit"]).await;
    (bench, script)
}

#[tokio::test]
async fn a_person_uploads_a_strategy_without_a_script() {
    let (bench, script) = ready().await;
    let mut anybody = Browser::new(&bench);
    let page = anybody.see("/strategies").await.expect(200).text;
    assert!(!page.contains("upload-form") && page.contains("--data-binary"), "{page}");
    let bees = Sender::new(&bench, "bees").await;
    let made = bees.upload(" Tit For Tat ", "1.2", "matrix copy").await.expect(303);
    assert_eq!(made.header("location"), "/strategies/s1");
    let mut owner = Browser::new(&bench);
    owner.sign_in("bees").await.expect(303);
    let page = owner.see("/strategies/s1").await.expect(200).text;
    for told in ["Tit For Tat", "1.2", "admitted", "700"] {
        assert!(page.contains(told), "{told}: {page}");
    }
    let form = owner.see("/strategies").await.expect(200).text;
    for told in ["enctype=\"multipart/form-data\"", "type=\"file\"", "accept=\"application/wasm,.wasm\""] {
        assert!(form.contains(told), "{told}: {form}");
    }
    // Sent again it is the same; without a version it has the one that the API gives.
    assert_eq!(
        bees.upload("Tit For Tat", "1.2", "matrix copy").await.expect(303).header("location"),
        "/strategies/s1"
    );
    assert_eq!(
        bees.upload("Other", "", "matrix copy").await.expect(303).header("location"),
        "/strategies/s2"
    );
    assert!(owner.see("/strategies/s2").await.expect(200).text.contains(">0<"));
    assert_eq!(script.looked.load(Ordering::SeqCst), 1);
    assert_eq!((files(&bench, "uploads"), files(&bench, "blobs")), (0, 1));
    bench.restart();
    bench.get("/api/v1/strategies/s1", None).await.expect(404);
}

#[tokio::test]
async fn everything_that_is_wrong_is_told_at_once_beside_its_field() {
    let (bench, _) = ready().await;
    let bees = Sender::new(&bench, "bees").await;
    let page = bees.upload("p0001", "", "nonsense").await.expect(422).text;
    for told in [
        "2 fields need another look",
        "value=\"p0001\"",
        "alias",
        "refused for 2 reasons",
        "admit.exports: it exports no player; hint: implement one",
        "admit.import: it imports `wasi:http/types`",
        "Choose it once more",
    ] {
        assert!(page.contains(told), "{told} is missing\n{page}");
    }
    let page = bees.upload("<b>\u{202e}", "\"2\"", "matrix copy").await.expect(422).text;
    assert!(page.contains("value=\"&lt;b&gt;") && page.contains("value=\"&quot;2&quot;\""), "{page}");
    let page = bees.upload("", "", "").await.expect(422).text;
    assert!(page.contains("Name: "), "{page}");
    // No file chosen: browsers send an empty one without a name.
    let empty = whole(&[
        part("name=\"csrf\"", bees.token.as_bytes()),
        part("name=\"name\"", b"A"),
        part("name=\"version\"", b""),
        part("name=\"component\"; filename=\"\"", b""),
    ]);
    let none = whole(&[part("name=\"csrf\"", bees.token.as_bytes()), part("name=\"name\"", b"A")]);
    for body in [empty, none] {
        let page = bees.send(body).await.expect(422).text;
        assert!(page.contains("Component: choose a file") && page.contains("value=\"A\""), "{page}");
    }
    let page = bees.send(form(&bees.token, "A", "", b"\x7fELF and more")).await.expect(422).text;
    assert!(page.contains("admit.not_wasm") && page.contains("value=\"A\""), "{page}");
    let said = bees.upload("A", "", "fault").await.expect(503);
    assert!(
        !said.header("retry-after").is_empty() && said.text.contains("the workshop could not look at it")
    );
    assert_eq!((files(&bench, "uploads"), files(&bench, "blobs")), (0, 0));
}

#[tokio::test]
async fn a_file_that_is_not_of_this_session_is_not_taken_in() {
    let (bench, script) = ready().await;
    let bees = Sender::new(&bench, "bees").await;
    let file = || part("name=\"component\"; filename=\"a.wasm\"", &component("matrix copy"));
    let name = || part("name=\"name\"", b"A");
    let token = |token: &str| part("name=\"csrf\"", token.as_bytes());
    let forged = [
        whole(&[token(&"0".repeat(64)), name(), file()]),
        whole(&[name(), file()]),
        whole(&[]),
        // Its token is there, and too late.
        whole(&[name(), file(), token(&bees.token)]),
        whole(&[file(), token(&bees.token), name()]),
    ];
    for body in forged {
        bees.send(body).await.expect(403);
    }
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    let good = || form(&bees.token, "A", "", &component("matrix copy"));
    bees.send_as(&kind, "cross-site", good()).await.expect(403);
    // A file that never ends is not waited for.
    let head = [token("no"), name()].concat();
    let endless = stream::iter([Ok::<_, std::io::Error>(Bytes::from(head))]).chain(stream::pending());
    let refused = bees.send(Body::from_stream(endless));
    tokio::time::timeout(std::time::Duration::from_secs(10), refused).await.expect("an answer").expect(403);
    let signed_out = Sender { bench: &bench, cookie: "0".repeat(64), token: bees.token.clone() };
    signed_out.send(good()).await.expect(401);
    assert_eq!(script.looked.load(Ordering::SeqCst), 0);
    assert_eq!((files(&bench, "uploads"), files(&bench, "blobs")), (0, 0));
}

#[tokio::test]
async fn hostile_forms_are_refused_and_leave_nothing() {
    let (bench, script) = ready().await;
    let bees = Sender::new(&bench, "bees").await;
    let good = || form(&bees.token, "A", "", &component("matrix copy"));
    let long = "b".repeat(71);
    for kind in [
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=\"\"",
        &format!("multipart/form-data; boundary={long}"),
        "multipart/mixed; boundary=x",
        "application/x-www-form-urlencoded",
        "application/wasm",
    ] {
        bees.send_as(kind, "same-origin", good()).await.expect(415);
    }
    let token = || part("name=\"csrf\"", bees.token.as_bytes());
    let file = || part("name=\"component\"; filename=\"a.wasm\"", &component("matrix copy"));
    let name = || part("name=\"name\"", b"A");
    let cut = good();
    let two = whole(&[token(), name(), file(), file()]);
    let many = whole(&std::iter::once(token()).chain((0..40).map(|_| name())).collect::<Vec<_>>());
    for (what, body) in [
        ("two files", two),
        ("a name twice", whole(&[token(), name(), name(), file()])),
        ("another field", whole(&[token(), part("name=\"color\"", b"red"), file()])),
        ("no name", whole(&[token(), part("x=\"y\"", b"red"), file()])),
        ("no boundary", b"hello".to_vec()),
        ("another boundary", good().iter().map(|byte| if *byte == b'7' { b'8' } else { *byte }).collect()),
        ("a part without an end", cut[..cut.len() - 30].to_vec()),
        ("a head without an end", format!("--{BOUNDARY}\r\nContent-Dis").into_bytes()),
        ("many parts", many),
        ("nothing", Vec::new()),
    ] {
        let said = bees.send(body).await;
        assert_eq!(said.status.as_u16(), 400, "{what}: {}", said.text);
    }
    let latin = whole(&[token(), part("name=\"name\"", b"\xe9"), file()]);
    bees.send(latin).await.expect(422);
    let lengthy = whole(&[token(), part("name=\"name\"", &[b'a'; 5_000]), file()]);
    bees.send(lengthy).await.expect(422);
    assert_eq!(script.looked.load(Ordering::SeqCst), 0);
    assert_eq!((files(&bench, "uploads"), files(&bench, "blobs")), (0, 0));
}

#[tokio::test]
async fn the_name_of_a_file_is_nobodys_business() {
    let (bench, _) = ready().await;
    let bees = Sender::new(&bench, "bees").await;
    let before = files(&bench, ".");
    for (n, name) in
        ["../../../etc/passwd", "C:\\\\x.wasm", "a\u{202e}b", "\\\"; name=\\\"csrf", "<script>.wasm", ""]
            .iter()
            .enumerate()
    {
        let body = whole(&[
            part("name=\"csrf\"", bees.token.as_bytes()),
            part("name=\"name\"", format!("N{n}").as_bytes()),
            part(&format!("name=\"component\"; filename=\"{name}\""), &component(&format!("matrix {n}"))),
        ]);
        let said = bees.send(body).await.expect(303);
        assert_eq!(said.header("location"), format!("/strategies/s{}", n + 1), "{name}");
    }
    let refused = whole(&[
        part("name=\"csrf\"", bees.token.as_bytes()),
        part("name=\"name\"", b"A"),
        part("name=\"component\"; filename=\"secret-folder/x.wasm\"", &component("nonsense")),
    ]);
    assert!(!bees.send(refused).await.expect(422).text.contains("secret-folder"));
    assert_eq!(files(&bench, "."), before + 6, "a blob each and nothing else");
}

#[tokio::test]
async fn a_form_is_as_large_as_a_component_and_never_in_memory() {
    let mut config = limitless();
    config.limits.component_bytes = 200_000;
    let bench = Bench::with(NOW, config);
    bench.bring(Script::new());
    bench.agent("bees", "hive", &["submit"]).await;
    let bees = Sender::new(&bench, "bees").await;
    let sized = |bytes: usize| component(&format!("matrix {}", "x".repeat(bytes - 11)));
    bees.send(form(&bees.token, "A", "", &sized(200_000))).await.expect(303);
    let page = bees.send(form(&bees.token, "B", "", &sized(200_001))).await.expect(413).text;
    assert!(page.contains("a component may have 200000 bytes") && page.contains("value=\"B\""), "{page}");
    // In pieces of any size, with the boundary cut anywhere, it is the same.
    let body = form(&bees.token, "C", "", &component("matrix \r\n--\r\r\n------WebKit"));
    for size in [1, 2, 7, 64, 1_000] {
        let pieces: Vec<_> =
            body.chunks(size).map(|piece| Ok::<_, std::io::Error>(Bytes::from(piece.to_vec()))).collect();
        let said = bees.send(Body::from_stream(stream::iter(pieces))).await.expect(303);
        assert_eq!(said.header("location"), "/strategies/s2", "{size}");
    }
    // What stands before a part, or is the head of one, is not collected for ever.
    let token = part("name=\"csrf\"", bees.token.as_bytes());
    let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"component\"; x=\"");
    for start in [b"preamble".to_vec(), [token, head.into_bytes()].concat()] {
        let sent = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counted = sent.clone();
        let rest = stream::repeat_with(move || {
            counted.fetch_add(1, Ordering::SeqCst);
            Ok(Bytes::from_static(&[b'a'; 1_000]))
        });
        let body = stream::iter([Ok::<_, std::io::Error>(Bytes::from(start))]).chain(rest);
        bees.send(Body::from_stream(body)).await.expect(400);
        assert!(sent.load(Ordering::SeqCst) < 100, "{} KB were read", sent.load(Ordering::SeqCst));
    }
    assert_eq!(files(&bench, "uploads"), 0);
}

#[tokio::test]
async fn forms_and_the_api_share_one_hour() {
    let mut config = limitless();
    config.limits.uploads_per_hour = 3;
    let bench = Bench::with(NOW, config);
    bench.bring(Script::new());
    let key = bench.agent("bees", "hive", &["submit"]).await;
    let bees = Sender::new(&bench, "bees").await;
    bees.upload("A", "", "matrix a").await.expect(303);
    crate::workshop::upload(&bench, &key, "B", "matrix b").await.expect(202);
    bees.upload("C", "", "nonsense").await.expect(422);
    bees.upload("D", "", "matrix d").await.expect(429);
    crate::workshop::upload(&bench, &key, "E", "matrix e").await.expect(429);
}
