//! Receipts of what was done, kept beside what is owed: with one, the server can be held to what it signed. That none
//! came is no reason to do less.

use arena_canon::json::Value;
use arena_claims::log::Receipt;

use super::http::Trouble;
use super::work::Worker;
use crate::failure::Failure;

const PLACE: &str = "/api/v1/log/receipts/";

/// The number of the event whose receipt an answer names.
fn number(done: &Value) -> Option<u64> {
    let number = done.get("receipt")?.as_str()?.strip_prefix(PLACE)?;
    number.parse::<u64>().ok().filter(|read| read.to_string() == number)
}

impl Worker {
    /// Fetches the receipt that an answer names, and keeps it if it is one for this event.
    pub(super) fn keep_receipt(&self, done: &Value) -> Result<(), Failure> {
        let Some(seq) = number(done) else { return Ok(()) };
        let fetched: Result<Value, Trouble> = self.server.get(&format!("{PLACE}{seq}"));
        let receipt = fetched.ok().filter(|receipt| {
            Receipt::read(receipt).is_ok_and(|read| read.seq == seq && read.instance == self.instance.id)
        });
        receipt.map_or(Ok(()), |receipt| self.folder.keep_receipt(seq, &receipt))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::number;

    #[test]
    fn nothing_but_a_number_is_taken_from_an_answer() {
        assert_eq!(number(&json!({ "receipt": "/api/v1/log/receipts/812" })), Some(812));
        for receipt in
            ["/api/v1/log/receipts/", "/api/v1/log/receipts/+1", "/api/v1/log/receipts/1/../2", "812"]
        {
            assert_eq!(number(&json!({ "receipt": receipt })), None, "{receipt}");
        }
        assert_eq!(number(&json!({})), None);
    }
}
