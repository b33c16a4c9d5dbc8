//! As much of HTTP as a WebDriver and our own API need: one request, one document of JSON.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// No request here takes longer.
const PATIENCE: Duration = Duration::from_secs(40);
const BODY_BYTES_MAX: u64 = 64 << 20;

/// An answer.
pub(crate) struct Said {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// One request to a port of this machine.
pub(crate) fn ask(
    port: u16,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<&Value>,
) -> std::io::Result<Said> {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let body = body.map(Value::to_string).unwrap_or_default();
    let mut request = format!("{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n");
    if !body.is_empty() {
        request += "content-type: application/json\r\n";
    }
    for (name, value) in headers {
        request += &format!("{name}: {value}\r\n");
    }
    request += &format!("content-length: {}\r\n\r\n{body}", body.len());
    (&stream).write_all(request.as_bytes())?;
    read(BufReader::new(&stream))
}

fn read(mut answer: BufReader<&TcpStream>) -> std::io::Result<Said> {
    let wrong = |why: &str| std::io::Error::other(why.to_owned());
    let mut line = String::new();
    answer.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| wrong("no status"))?;
    let mut length = None;
    loop {
        line.clear();
        answer.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let mut bytes = Vec::new();
    answer.take(length.unwrap_or(BODY_BYTES_MAX)).read_to_end(&mut bytes)?;
    Ok(Said { status, body: serde_json::from_slice(&bytes).unwrap_or_default() })
}
