//! The object store of a run, in the layout that NATS gives such stores, so that its tools can read it:
//! a message of metadata for each object, and its bytes in chunks. The client library has its own, which
//! brings a second SHA-256 in C.

use arena_canon::Digest;
use async_nats::HeaderMap;
use async_nats::jetstream::context::GetStreamErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, DirectGetErrorKind, DiscardPolicy, StorageType, Stream};
use async_nats::jetstream::{self, Context, ErrorCode};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};

use super::link::{Link, text};

/// Bytes of one chunk.
const CHUNK_BYTES: usize = 128 << 10;
/// Chunks that are under way at once.
const CHUNKS_AT_ONCE: usize = 32;
/// Largest object: as large as the largest record.
pub(super) const OBJECT_BYTES_MAX: usize = crate::record::RECORD_BYTES_MAX;

/// An object store.
#[derive(Debug, Clone)]
pub(super) struct Objects {
    jetstream: Context,
    bucket: String,
}

/// Why there is no object, or no removal of one.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ObjectFault {
    /// The server did not answer as it should; it may do so later.
    #[error("{0}")]
    Server(String),
    /// What is there is no object.
    #[error("{0}")]
    Wrong(String),
}

/// What the store says of an object.
#[derive(Debug, Serialize, Deserialize)]
struct Info {
    name: String,
    bucket: String,
    nuid: String,
    size: u64,
    chunks: u64,
    digest: String,
    #[serde(default)]
    deleted: bool,
}

impl Objects {
    pub(super) fn new(jetstream: &Context, bucket: String) -> Self {
        Self { jetstream: jetstream.clone(), bucket }
    }

    pub(super) fn stream_name(&self) -> String {
        format!("OBJ_{}", self.bucket)
    }

    pub(super) fn config(&self) -> Config {
        let bucket = &self.bucket;
        Config {
            name: self.stream_name(),
            subjects: vec![format!("$O.{bucket}.C.>"), format!("$O.{bucket}.M.>")],
            discard: DiscardPolicy::New,
            storage: StorageType::File,
            num_replicas: 1,
            allow_rollup: true,
            allow_direct: true,
            ..Config::default()
        }
    }

    /// Stores `bytes`. `nonce` is a word that no other upload has.
    pub(super) async fn put(&self, name: &str, nonce: &str, bytes: &[u8]) -> Result<(), String> {
        let chunk = self.chunks_of(nonce);
        let pieces: Vec<&[u8]> = bytes.chunks(CHUNK_BYTES).collect();
        for group in pieces.chunks(CHUNKS_AT_ONCE) {
            let mut stored = Vec::with_capacity(group.len());
            for piece in group {
                let sent = self.jetstream.publish(chunk.clone(), piece.to_vec().into()).await;
                stored.push(sent.map_err(text)?.into_future());
            }
            try_join_all(stored).await.map_err(text)?;
        }
        let info = Info {
            name: name.to_owned(),
            bucket: self.bucket.clone(),
            nuid: nonce.to_owned(),
            size: bytes.len() as u64,
            chunks: pieces.len() as u64,
            digest: digest_text(Digest::of(bytes)),
            deleted: false,
        };
        let mut headers = HeaderMap::new();
        // Of the metadata of one name, only the last is kept.
        headers.insert("Nats-Rollup", "sub");
        let payload = serde_json::to_vec(&info).map_err(text)?;
        let message = PublishMessage::build().headers(headers).payload(payload.into());
        let sent = self.jetstream.send_publish(self.metadata_of(name), message).await.map_err(text)?;
        sent.await.map_err(text)?;
        Ok(())
    }

    /// The bytes of an object of at most `limit`. A server that is away is waited for; a store that the
    /// end of its run took with it is not.
    pub(super) fn fetch(&self, link: &Link, name: &str, limit: usize) -> Result<Vec<u8>, String> {
        let found = link.persist("reading an object", async || match self.get(name, limit).await {
            Err(ObjectFault::Server(_)) if self.is_gone().await => Ok(Err("the run is over".to_owned())),
            Err(ObjectFault::Server(why)) => Err(why),
            Err(ObjectFault::Wrong(why)) => Ok(Err(why)),
            Ok(found) => Ok(found.ok_or_else(|| format!("the store has no object {name}"))),
        });
        found.map_err(text)?
    }

    /// The bytes of an object of at most `limit`; nothing if there is none.
    pub(super) async fn get(&self, name: &str, limit: usize) -> Result<Option<Vec<u8>>, ObjectFault> {
        let wrong = |why: String| Err(ObjectFault::Wrong(format!("object {name} {why}")));
        let stream = self.stream().await?;
        let Some(info) = self.info(&stream, name).await? else { return Ok(None) };
        if info.size > limit as u64 {
            return wrong(format!("has {} bytes; the limit is {limit}", info.size));
        }
        let chunks = self.chunks_of(&info.nuid);
        let mut bytes = Vec::with_capacity(info.size as usize);
        let mut sequence = 1;
        while (bytes.len() as u64) < info.size {
            let chunk = match stream.direct_get_next_for_subject(chunks.clone(), Some(sequence)).await {
                Ok(chunk) => chunk,
                Err(why) if why.kind() == DirectGetErrorKind::NotFound => {
                    return wrong("misses a piece".to_owned());
                }
                Err(why) => return Err(ObjectFault::Server(text(why))),
            };
            if chunk.sequence < sequence || chunk.payload.is_empty() {
                return wrong("has its pieces out of order".to_owned());
            }
            bytes.extend_from_slice(&chunk.payload);
            sequence = chunk.sequence + 1;
        }
        if bytes.len() as u64 != info.size || digest_text(Digest::of(&bytes)) != info.digest {
            return wrong("is not what the store says of it".to_owned());
        }
        Ok(Some(bytes))
    }

    /// Removes an object, if it is there.
    pub(super) async fn delete(&self, name: &str) -> Result<(), ObjectFault> {
        let stream = self.stream().await?;
        let Some(info) = self.info(&stream, name).await? else { return Ok(()) };
        stream.purge().filter(self.metadata_of(name)).await.map_err(server)?;
        stream.purge().filter(self.chunks_of(&info.nuid)).await.map_err(server)?;
        Ok(())
    }

    async fn is_gone(&self) -> bool {
        let asked = self.jetstream.get_stream(self.stream_name()).await;
        let not_found = |why: &jetstream::Error| why.error_code() == ErrorCode::STREAM_NOT_FOUND;
        asked.is_err_and(|why| matches!(why.kind(), GetStreamErrorKind::JetStream(why) if not_found(&why)))
    }

    async fn stream(&self) -> Result<Stream<()>, ObjectFault> {
        self.jetstream.get_stream_no_info(self.stream_name()).await.map_err(server)
    }

    async fn info(&self, stream: &Stream<()>, name: &str) -> Result<Option<Info>, ObjectFault> {
        let message = match stream.direct_get_last_for_subject(self.metadata_of(name)).await {
            Ok(message) => message,
            Err(why) if why.kind() == DirectGetErrorKind::NotFound => return Ok(None),
            Err(why) => return Err(server(why)),
        };
        // The nuid becomes part of a subject, where some letters mean more than themselves.
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let is_plain = |nuid: &str| (1..=64).contains(&nuid.len()) && nuid.bytes().all(plain);
        match serde_json::from_slice::<Info>(&message.payload) {
            Ok(info) if is_plain(&info.nuid) => Ok((!info.deleted).then_some(info)),
            _ => Err(ObjectFault::Wrong(format!("what the store says of object {name} cannot be read"))),
        }
    }

    fn metadata_of(&self, name: &str) -> String {
        format!("$O.{}.M.{}", self.bucket, URL_SAFE.encode(name))
    }

    fn chunks_of(&self, nonce: &str) -> String {
        format!("$O.{}.C.{nonce}", self.bucket)
    }
}

fn server(why: impl std::fmt::Display) -> ObjectFault {
    ObjectFault::Server(why.to_string())
}

fn digest_text(digest: Digest) -> String {
    format!("SHA-256={}", URL_SAFE.encode(digest.as_bytes()))
}
