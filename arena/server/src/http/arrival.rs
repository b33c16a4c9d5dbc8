//! When a request came, from where, and what it is called in the log.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use arena_contests::Moment;
use axum::http::HeaderMap;

/// The receipt of a request, taken before its body is read.
#[derive(Debug, Clone)]
pub(crate) struct Arrival {
    /// When.
    pub(crate) at: Moment,
    /// Whose limits it counts against where there is no key.
    pub(crate) address: IpAddr,
    /// What it is called.
    pub(crate) id: Arc<str>,
}

/// The other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// For whom a connection speaks: a proxy that is trusted says so, nobody else can.
pub(crate) fn client(peer: SocketAddr, headers: &HeaderMap, trusted: &[IpAddr]) -> IpAddr {
    let mut address = peer.ip();
    let forwarded = headers.get_all("x-forwarded-for");
    let named = forwarded.iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let mut named: Vec<&str> = named.map(str::trim).collect();
    while trusted.contains(&address) {
        match named.pop().and_then(|name| name.parse().ok()) {
            Some(next) => address = next,
            None => break,
        }
    }
    network(address)
}

/// Of IPv6 a whole /64 is one customer.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => IpAddr::V4(v4),
            None => {
                let [a, b, c, d, ..] = v6.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forwarded(list: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", list.parse().unwrap());
        headers
    }

    #[test]
    fn only_a_trusted_proxy_speaks_for_others() {
        let proxy: SocketAddr = "10.0.0.1:9".parse().unwrap();
        let trusted = [proxy.ip()];
        let said = forwarded("1.1.1.1, 2.2.2.2");
        assert_eq!(client(proxy, &said, &[]).to_string(), "10.0.0.1");
        assert_eq!(client(proxy, &said, &trusted).to_string(), "2.2.2.2");
        let chain = forwarded("1.1.1.1, 10.0.0.1");
        assert_eq!(client(proxy, &chain, &trusted).to_string(), "1.1.1.1");
        assert_eq!(client(proxy, &forwarded("nonsense"), &trusted).to_string(), "10.0.0.1");
    }

    #[test]
    fn a_network_of_ipv6_is_one_customer() {
        let peer: SocketAddr = "[2001:db8:1:2:3:4:5:6]:9".parse().unwrap();
        assert_eq!(client(peer, &HeaderMap::new(), &[]).to_string(), "2001:db8:1:2::");
        let mapped: SocketAddr = "[::ffff:9.8.7.6]:9".parse().unwrap();
        assert_eq!(client(mapped, &HeaderMap::new(), &[]).to_string(), "9.8.7.6");
    }
}
