//! A refusal is read by its sender, however much of the body is still on its way: over sockets, as a browser does it.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use arena_server::Config;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::play::Browser;
use crate::support::{Bench, limitless};

const NOW: &str = "2026-12-01T00:00:00Z";
/// Of a file: more than the buffers between two sockets hold.
const FILE_BYTES: usize = 12 << 20;
const PATIENCE: Duration = Duration::from_secs(20);

fn config() -> Config {
    Config { listen: ([127, 0, 0, 1], 0).into(), ..limitless() }
}

struct Running {
    address: SocketAddr,
    end: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl Running {
    async fn of(bench: &Bench) -> Self {
        let server = bench.take();
        let doors = server.listen().await.unwrap();
        let address = doors.public.local_addr().unwrap();
        let (end, ended) = oneshot::channel::<()>();
        let running = tokio::spawn(server.run(doors, async {
            let _ = ended.await;
        }));
        Self { address, end, running }
    }

    async fn end(self) -> Duration {
        let since = Instant::now();
        self.end.send(()).unwrap();
        self.running.await.unwrap();
        since.elapsed()
    }
}

/// The head of an answer, and its body by its length.
async fn answer(stream: &mut TcpStream) -> (String, String) {
    let mut said = Vec::new();
    let end = loop {
        if let Some(end) = said.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        let read = stream.read_buf(&mut said).await.expect("an answer, and no broken connection");
        assert!(read > 0, "closed without an answer: {}", String::from_utf8_lossy(&said));
    };
    let mut body = said.split_off(end + 4);
    let head = String::from_utf8(said).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let length: usize = length.parse().unwrap();
    while body.len() < length {
        assert!(stream.read_buf(&mut body).await.expect("the whole answer") > 0, "the answer is cut off");
    }
    assert_eq!(body.len(), length);
    (head, String::from_utf8(body).unwrap())
}

/// Sends all of a request, as a browser does, and only then reads what came of it.
async fn send(address: SocketAddr, head: &str, body: &[u8]) -> (TcpStream, String, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("{head}host: x\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body).await.expect("all of it is taken");
    let (head, said) = answer(&mut stream).await;
    (stream, head, said)
}

/// A form as a browser sends it, with a file in it.
fn form(token: &str, file_bytes: usize) -> Vec<u8> {
    let start = format!(
        "--B\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{token}\r\n\
         --B\r\nContent-Disposition: form-data; name=\"component\"; filename=\"a.wasm\"\r\n\
         Content-Type: application/wasm\r\n\r\n\0asm"
    );
    [start.into_bytes(), vec![7; file_bytes], b"\r\n--B--\r\n".to_vec()].concat()
}

const FORM: &str = "accept: text/html\r\ncontent-type: multipart/form-data; boundary=B\r\n";

#[tokio::test]
async fn whoever_sends_a_large_body_in_vain_reads_why() {
    let bench = Bench::with(NOW, config());
    bench.agent("bees", "hive", &["read", "submit"]).await;
    let mut browser = Browser::new(&bench);
    browser.sign_in("bees").await.expect(303);
    let cookie = browser.cookie.unwrap();
    let server = Running::of(&bench).await;
    let session = format!("cookie: __Host-arena={cookie}\r\n");
    let (forged, file) = (form(&"0".repeat(64), FILE_BYTES), vec![b'7'; FILE_BYTES]);
    let json = "content-type: application/json\r\n";
    let wasm = "content-type: application/wasm\r\n";
    for (line, headers, body, status, told) in [
        ("POST /strategies", format!("{FORM}{session}"), &forged, 403, "not one of this session"),
        (
            "POST /strategies",
            format!("{FORM}{session}sec-fetch-site: cross-site\r\n"),
            &forged,
            403,
            "another site",
        ),
        ("POST /strategies", FORM.to_owned(), &forged, 401, "</html>"),
        ("POST /nowhere", FORM.to_owned(), &forged, 404, "</html>"),
        ("POST /api/v1/strategies", wasm.to_owned(), &file, 401, "unauthorized"),
        ("POST /api/v1/episodes", json.to_owned(), &file, 413, "body_too_large"),
        ("POST /api/v1/episodes", "content-type: text/plain\r\n".to_owned(), &file, 415, "media_type"),
        ("PUT /api/v1/episodes", json.to_owned(), &file, 405, "method_not_allowed"),
    ] {
        let head = format!("{line} HTTP/1.1\r\n{headers}");
        let sent = send(server.address, &head, body);
        let (mut stream, head, said) = tokio::time::timeout(PATIENCE, sent).await.expect(line);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{line}: {head}{said}");
        assert!(said.contains(told), "{line}: {said}");
        // All of it was taken, so the connection is good for the next request.
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let (head, _) = answer(&mut stream).await;
        assert!(head.starts_with("HTTP/1.1 200 "), "{line}: {head}");
    }
    server.end().await;
}

/// Writes for ever; tells how much was taken until the connection was cut.
async fn flood(stream: &mut (impl tokio::io::AsyncWrite + Unpin)) -> usize {
    let head = "POST /api/v1/episodes HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let chunk = [b"10000\r\n".as_slice(), &[7; 0x1_0000], b"\r\n"].concat();
    let mut sent = 0;
    while stream.write_all(&chunk).await.is_ok() {
        sent += chunk.len();
    }
    sent
}

#[tokio::test]
async fn whoever_writes_for_ever_is_answered_and_cut_off() {
    let mut config = config();
    let limits = &mut config.limits;
    (limits.component_bytes, limits.blob_bytes, limits.replay_bytes) = (8 << 20, 1 << 20, 1 << 20);
    let bench = Bench::with(NOW, config);
    let server = Running::of(&bench).await;
    let (mut read, mut write) = TcpStream::connect(server.address).await.unwrap().into_split();
    let reading = tokio::spawn(async move {
        let mut said = Vec::new();
        // Cut off in the end, after the answer was read.
        while read.read_buf(&mut said).await.is_ok_and(|read| read > 0) {}
        String::from_utf8_lossy(&said).into_owned()
    });
    let sent = tokio::time::timeout(PATIENCE, flood(&mut write)).await.expect("it is cut off");
    let said = tokio::time::timeout(PATIENCE, reading).await.unwrap().unwrap();
    assert!(said.starts_with("HTTP/1.1 415 ") && said.contains("media_type"), "{said}");
    // The largest body, a form around it, and what the system had in its buffers.
    assert!((9 << 20..40 << 20).contains(&sent), "{sent}");
    server.end().await;
}

#[tokio::test]
async fn nobody_who_writes_for_ever_keeps_the_server_from_ending() {
    let bench = Bench::with(NOW, Config { ..config() });
    let server = Running::of(&bench).await;
    let address = server.address;
    let writing = tokio::spawn(async move {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = "POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 9000000\r\n\r\n0123456789";
        stream.write_all(head.as_bytes()).await.unwrap();
        let (head, _) = answer(&mut stream).await;
        assert!(head.starts_with("HTTP/1.1 404 "), "{head}");
        // The rest never comes, and the server waits for it: until it ends.
        let mut rest = Vec::new();
        (Instant::now(), stream.read_to_end(&mut rest).await.map(|_| rest.len()))
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!writing.is_finished(), "it is waited for");
    let took = server.end().await;
    assert!(took < Duration::from_secs(5), "{took:?}");
    let (_, rest) = tokio::time::timeout(PATIENCE, writing).await.unwrap().unwrap();
    assert!(rest.is_err() || rest.is_ok_and(|bytes| bytes == 0));
}

/// Whoever asks before it sends is answered, and sends nothing.
#[tokio::test]
async fn nobody_is_asked_for_a_body_that_is_refused() {
    let bench = Bench::with(NOW, config());
    let server = Running::of(&bench).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = "POST /api/v1/episodes HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\n\
                content-length: 9000000\r\nexpect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut said = String::new();
    tokio::time::timeout(PATIENCE, stream.read_to_string(&mut said)).await.unwrap().unwrap();
    assert!(said.starts_with("HTTP/1.1 415 ") && !said.contains("100 Continue"), "{said}");
    server.end().await;
}
