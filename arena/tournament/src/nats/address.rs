use std::fmt;
use std::str::FromStr;

use async_nats::{ConnectOptions, ServerAddr};

use super::fault::NatsFault;

/// Where a NATS server is, and who we say we are: `nats://[user:password@|token@]host[:port]`.
#[derive(Clone, PartialEq, Eq)]
pub struct NatsAddress(ServerAddr);

impl NatsAddress {
    pub(super) fn server(&self) -> &ServerAddr {
        &self.0
    }

    /// Options that say who we are, if the address does.
    pub(super) fn options(&self) -> ConnectOptions {
        let options = ConnectOptions::new();
        match (self.0.username(), self.0.password()) {
            (Some(user), Some(password)) => options.user_and_password(plain(user), plain(password)),
            (Some(token), None) => options.token(plain(token)),
            (None, _) => options,
        }
    }
}

impl FromStr for NatsAddress {
    type Err = NatsFault;

    fn from_str(text: &str) -> Result<Self, NatsFault> {
        let fault = |why: String| {
            let address = text.rsplit('@').next().unwrap_or_default().to_owned();
            NatsFault::Address { address, why }
        };
        let server: ServerAddr = text.parse().map_err(|why: std::io::Error| fault(why.to_string()))?;
        if server.scheme() != "nats" {
            return Err(fault(format!("it begins with {}://; nats:// is what is spoken", server.scheme())));
        }
        if server.host().is_empty() {
            return Err(fault("it names no host".to_owned()));
        }
        Ok(Self(server))
    }
}

/// Without the password.
impl fmt::Display for NatsAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0.host(), self.0.port())
    }
}

impl fmt::Debug for NatsAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NatsAddress({self})")
    }
}

/// A part of an address without its percent signs.
fn plain(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        let byte = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(b'%'));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{NatsAddress, plain};

    #[test]
    fn an_address_never_shows_its_password() {
        let address: NatsAddress = "nats://amy:s3cret@127.0.0.1:4223".parse().expect("an address");
        for shown in [address.to_string(), format!("{address:?}")] {
            assert!(shown.contains("127.0.0.1:4223") && !shown.contains("s3cret"), "{shown}");
        }
        let refused = "tls://amy:s3cret@host".parse::<NatsAddress>().expect_err("refused").to_string();
        assert!(refused.contains("`host`") && !refused.contains("s3cret"), "{refused}");
    }

    #[test]
    fn what_is_not_spoken_is_refused() {
        for wrong in ["", "tls://host", "wss://host", "http://host", "nats://", "nats://a b"] {
            assert!(wrong.parse::<NatsAddress>().is_err(), "{wrong}");
        }
        let short: NatsAddress = "host".parse().expect("an address");
        assert_eq!(short.to_string(), "host:4222");
    }

    #[test]
    fn percent_signs_of_an_address_are_read() {
        assert_eq!(plain("p%40ss%3aword"), "p@ss:word");
        assert_eq!(plain("100%"), "100%");
        assert_eq!(plain("%zz%4"), "%zz%4");
    }
}
