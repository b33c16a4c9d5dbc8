//! How often somebody may ask. Counted for each key, or for each address where there is no key; and for each agent
//! over all of its keys and sessions, so that a new key is no new allowance.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{PoisonError, RwLock};

use axum::http::Method;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::who::is_read;
use crate::auth::Viewer;
use crate::config::Limits;
use crate::problem::Problem;

/// What kind of request it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// A read without a key.
    AnonymousRead,
    /// Anything with a key, and writes without one.
    General,
    /// An action of a player.
    Play,
    /// A submission.
    Submit,
    /// An upload of a component.
    Upload,
    /// A key that an agent makes for itself.
    NewKey,
    /// A key, a token or a link that was wrong.
    Failure,
}

const CLASSES: [Class; 7] = [
    Class::AnonymousRead,
    Class::General,
    Class::Play,
    Class::Submit,
    Class::Upload,
    Class::NewKey,
    Class::Failure,
];

impl Class {
    /// The class of a request; none for what is not limited here.
    pub(crate) fn of(method: &Method, path: &str, viewer: &Viewer) -> Option<Self> {
        if path.starts_with("/assets/") || matches!(path, "/healthz" | "/readyz") {
            return None;
        }
        let is_play = path.starts_with("/api/v1/episodes") || path.starts_with("/play");
        Some(match is_read(method) {
            _ if is_play && *viewer != Viewer::Anonymous => Self::Play,
            true if *viewer == Viewer::Anonymous => Self::AnonymousRead,
            true => Self::General,
            false if matches!(path, "/api/v1/strategies" | "/strategies") => Self::Upload,
            false if is_new_key(path) && !viewer.is_admin() => Self::NewKey,
            false if path.ends_with("/submit") || path.ends_with("/submission") => Self::Submit,
            false => Self::General,
        })
    }
}

/// `/api/v1/agents/{id}/keys`.
fn is_new_key(path: &str) -> bool {
    let agent = path.strip_prefix("/api/v1/agents/").and_then(|rest| rest.strip_suffix("/keys"));
    agent.is_some_and(|agent| !agent.contains('/'))
}

/// Whom a request counts against.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted<'a> {
    /// The id of the key, where there is one.
    pub(crate) key: Option<&'a str>,
    /// The agent, whatever its key or session.
    pub(crate) agent: Option<&'a str>,
    pub(crate) address: IpAddr,
}

impl Counted<'static> {
    /// Whoever is at an address.
    pub(crate) const fn address(address: IpAddr) -> Self {
        Self { key: None, agent: None, address }
    }
}

/// How many keys an agent can use to the full: what it may do over all of them is so many times what it may do with
/// one.
const KEYS_COUNTED: u32 = 3;

/// What each of some names did.
struct Keyed {
    quota: Quota,
    names_max: usize,
    counts: RwLock<DefaultKeyedRateLimiter<String>>,
}

impl Keyed {
    fn new(quota: Quota, names_max: usize) -> Self {
        Self { quota, names_max, counts: RwLock::new(RateLimiter::keyed(quota)) }
    }

    fn take(&self, name: &str) -> Result<(), Problem> {
        let (taken, names) = {
            let counts = self.counts.read().unwrap_or_else(PoisonError::into_inner);
            (counts.check_key(&name.to_owned()), counts.len())
        };
        if names > self.names_max {
            self.make_room();
        }
        taken.map_err(|not_until| {
            let wait = not_until.wait_time_from(DefaultClock::default().now());
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            let detail = format_args!("too many requests; the next one in {seconds} s");
            Problem::new("rate_limited", detail).retry_after(seconds.max(1))
        })
    }

    /// Forgets who has not asked for a while; all of them if that leaves so little room that this would soon be to do
    /// again.
    fn make_room(&self) {
        let mut counts = self.counts.write().unwrap_or_else(PoisonError::into_inner);
        // Somebody may have been faster.
        if counts.len() <= self.names_max {
            return;
        }
        counts.retain_recent();
        if counts.len() > self.names_max / 2 {
            *counts = RateLimiter::keyed(self.quota);
        }
    }

    /// Forgets who has not asked for a while.
    fn sweep(&self) {
        let counts = self.counts.read().unwrap_or_else(PoisonError::into_inner);
        counts.retain_recent();
        counts.shrink_to_fit();
    }
}

/// One class: what each key or address did, and what each agent did over all of its keys.
struct Pair {
    each: Keyed,
    /// None where the agent is what is counted in the first place.
    agents: Option<Keyed>,
}

/// All counts.
pub(crate) struct Limiter {
    anonymous: Pair,
    general: Pair,
    play: Pair,
    submit: Pair,
    upload: Pair,
    new_key: Pair,
    failure: Pair,
}

/// Names that are counted at once in one class. More are an attack, and forgetting them all is no gain to it: who has
/// so many names has as many allowances.
const COUNTED_MAX: usize = 200_000;

fn count(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)
}

/// What happens at some rate, at once no more than `burst`.
fn pair(quota: Quota, names_max: usize) -> Pair {
    let times = count(KEYS_COUNTED);
    let wide = Quota::with_period(quota.replenish_interval() / KEYS_COUNTED);
    let wide = wide.map(|wide| wide.allow_burst(quota.burst_size().saturating_mul(times)));
    Pair { each: Keyed::new(quota, names_max), agents: wide.map(|wide| Keyed::new(wide, names_max)) }
}

/// What is counted by the agent alone.
fn alone(quota: Quota, names_max: usize) -> Pair {
    Pair { each: Keyed::new(quota, names_max), agents: None }
}

impl Limiter {
    /// With these limits.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self::of_names(limits, COUNTED_MAX)
    }

    fn of_names(limits: &Limits, names_max: usize) -> Self {
        let pair = |quota: Quota| pair(quota, names_max);
        let alone = |quota: Quota| alone(quota, names_max);
        let a_minute = |number: u32| Quota::per_minute(count(number));
        let an_hour = |number: u32| Quota::per_hour(count(number));
        let play = Quota::per_second(count(limits.play_per_second)).allow_burst(count(limits.play_burst));
        let general = a_minute(limits.requests_per_minute).allow_burst(count(limits.burst));
        Self {
            anonymous: alone(Quota::per_second(count(limits.anonymous_per_second))),
            general: pair(general),
            play: pair(play),
            submit: pair(a_minute(limits.submits_per_minute)),
            upload: alone(an_hour(limits.uploads_per_hour)),
            new_key: alone(an_hour(limits.keys_per_hour)),
            failure: alone(a_minute(limits.failures_per_minute)),
        }
    }

    fn of(&self, class: Class) -> &Pair {
        match class {
            Class::AnonymousRead => &self.anonymous,
            Class::General => &self.general,
            Class::Play => &self.play,
            Class::Submit => &self.submit,
            Class::Upload => &self.upload,
            Class::NewKey => &self.new_key,
            Class::Failure => &self.failure,
        }
    }

    /// Counts one; refuses it if there were too many, of the key or address or of the agent.
    pub(crate) fn check(&self, class: Class, by: Counted<'_>) -> Result<(), Problem> {
        let Pair { each, agents } = self.of(class);
        let key = if agents.is_none() { by.agent.or(by.key) } else { by.key };
        match key {
            Some(key) => each.take(key)?,
            None => each.take(&by.address.to_string())?,
        }
        match agents.as_ref().zip(by.agent) {
            Some((agents, agent)) => agents.take(agent),
            None => Ok(()),
        }
    }

    /// Forgets who has not asked for a while.
    pub(crate) fn sweep(&self) {
        self.all().for_each(Keyed::sweep);
    }

    fn all(&self) -> impl Iterator<Item = &Keyed> {
        CLASSES.iter().flat_map(|class| {
            let Pair { each, agents } = self.of(*class);
            std::iter::once(each).chain(agents)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use super::*;

    const NAMES_MAX: usize = 10;

    fn address(number: u32) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from_bits(number))
    }

    #[test]
    fn no_class_counts_more_names_than_it_may_whoever_asks() {
        let limiter = Limiter::of_names(&Limits::default(), NAMES_MAX);
        for number in 0..300 {
            let (key, agent) = (format!("key {number}"), format!("agent {number}"));
            for class in CLASSES {
                limiter.check(class, Counted::address(address(number))).unwrap();
                let by = Counted { key: Some(&key), agent: Some(&agent), address: address(number) };
                limiter.check(class, by).unwrap();
            }
            for counts in limiter.all().map(|keyed| keyed.counts.read().unwrap()) {
                assert!(counts.len() <= NAMES_MAX, "{number}: {}", counts.len());
            }
        }
    }

    #[test]
    fn what_is_forgotten_is_forgotten_only_when_there_are_too_many() {
        let counts = Keyed::new(Quota::per_hour(count(1)), NAMES_MAX);
        for number in 0..NAMES_MAX {
            counts.take(&number.to_string()).unwrap();
        }
        for number in 0..NAMES_MAX {
            assert_eq!(counts.take(&number.to_string()).unwrap_err().code(), "rate_limited", "{number}");
        }
        counts.take("one more").unwrap();
        counts.take("0").unwrap();
        assert!(counts.take("0").is_err());
    }

    #[test]
    fn who_asked_long_ago_makes_room_and_the_others_are_still_counted() {
        let counts = Keyed::new(Quota::with_period(Duration::from_secs(1)).unwrap(), NAMES_MAX);
        for number in 0..NAMES_MAX {
            counts.take(&number.to_string()).unwrap();
        }
        std::thread::sleep(Duration::from_millis(2_200));
        counts.take("one more").unwrap();
        assert!(counts.take("one more").is_err());
        assert_eq!(counts.counts.read().unwrap().len(), 1);
    }
}
