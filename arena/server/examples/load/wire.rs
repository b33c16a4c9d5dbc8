//! Requests over a socket, and their answers.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufStream};
use tokio::net::TcpStream;

use crate::Failed;

pub(crate) const ADMIN: &str = "8d1f0c7e5b3a29461f7e0d9c8b5a4321";
const BODY_BYTES_MAX: usize = 16 << 20;

pub(crate) fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: load\r\n\r\n")
}

/// Makes an agent.
pub(crate) fn post(name: &str) -> String {
    let body = json!({ "id": name, "operator": "load" });
    let again = format!("idempotency-key: {name}\r\n");
    request("POST", "/api/v1/agents", ADMIN, &again, &body.to_string())
}

/// A request with a body; `key` is the admin's token or an agent's key.
pub(crate) fn request(method: &str, path: &str, key: &str, headers: &str, body: &str) -> String {
    let key = match key {
        ADMIN => format!("x-admin-token: {ADMIN}"),
        key => format!("authorization: Bearer {key}"),
    };
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: load\r\n{key}\r\ncontent-type: application/json\r\n{headers}content-length: \
         {length}\r\n\r\n{body}"
    )
}

/// The place of the last row of the journal.
pub(crate) async fn head_of(address: SocketAddr) -> Result<u64, Failed> {
    let said = Connection::open(address).await?.exchange(&get("/readyz")).await?;
    let said = String::from_utf8(said)?;
    Ok(said.trim().rsplit(' ').next().unwrap_or_default().parse()?)
}

/// A connection that is kept.
pub(crate) struct Connection(BufStream<TcpStream>);

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self, Failed> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self(BufStream::new(stream)))
    }

    pub(crate) async fn send(&mut self, request: &str) -> Result<(), Failed> {
        self.0.write_all(request.as_bytes()).await?;
        Ok(self.0.flush().await?)
    }

    /// Sends one request and reads its answer to the end.
    pub(crate) async fn exchange(&mut self, request: &str) -> Result<Vec<u8>, Failed> {
        self.send(request).await?;
        let (status, length) = self.head().await?;
        let length = length.ok_or("an answer without a length")?;
        if length > BODY_BYTES_MAX {
            return Err(format!("an answer of {length} bytes").into());
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await?;
        if status / 100 != 2 {
            return Err(format!("answered with {status}: {}", String::from_utf8_lossy(&body)).into());
        }
        Ok(body)
    }

    /// The same with documents.
    pub(crate) async fn call(
        &mut self,
        method: &str,
        path: &str,
        key: &str,
        headers: &str,
        body: &Value,
    ) -> Result<Value, Failed> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.exchange(&request(method, path, key, headers, &body)).await;
        let answer = answer.map_err(|why| format!("{method} {path}: {why}"))?;
        Ok(serde_json::from_slice(&answer)?)
    }

    /// Reads the head of an answer: its status, and the length of its body where it is told.
    pub(crate) async fn head(&mut self) -> Result<(u16, Option<usize>), Failed> {
        let (mut status, mut length, mut line) = (0, None, String::new());
        loop {
            line.clear();
            if self.0.read_line(&mut line).await? == 0 {
                return Err("the connection was closed".into());
            }
            let text = line.trim_end();
            if text.is_empty() {
                return Ok((status, length));
            }
            if text.starts_with("HTTP/") {
                status = text.split(' ').nth(1).unwrap_or_default().parse()?;
            }
            if let Some((name, value)) = text.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = Some(value.trim().parse()?);
            }
        }
    }

    /// One line of a stream; nothing once it was closed.
    pub(crate) async fn line(&mut self, line: &mut String) -> Result<bool, Failed> {
        line.clear();
        Ok(self.0.read_line(line).await? > 0)
    }
}
