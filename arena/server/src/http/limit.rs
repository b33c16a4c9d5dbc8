//! How often somebody may ask. Counted for each key, or for each address where there is no key.

use std::net::IpAddr;
use std::num::NonZeroU32;

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
    /// A key, a token or a link that was wrong.
    Failure,
}

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
            false if path == "/api/v1/strategies" => Self::Upload,
            false if path.ends_with("/submit") || path.ends_with("/submission") => Self::Submit,
            false => Self::General,
        })
    }
}

type Keyed = DefaultKeyedRateLimiter<String>;

/// All counts.
pub(crate) struct Limiter {
    anonymous: Keyed,
    general: Keyed,
    play: Keyed,
    submit: Keyed,
    upload: Keyed,
    failure: Keyed,
}

/// Names that are counted at once in one class. More are an attack, and forgetting them all is no gain to it.
const COUNTED_MAX: usize = 200_000;

fn count(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)
}

impl Limiter {
    /// With these limits.
    pub(crate) fn new(limits: &Limits) -> Self {
        let a_minute = |number: u32| Quota::per_minute(count(number));
        let play = Quota::per_second(count(limits.play_per_second)).allow_burst(count(limits.play_burst));
        let anonymous = Quota::per_second(count(limits.anonymous_per_second));
        let general = a_minute(limits.requests_per_minute).allow_burst(count(limits.burst));
        Self {
            anonymous: RateLimiter::keyed(anonymous),
            general: RateLimiter::keyed(general),
            play: RateLimiter::keyed(play),
            submit: RateLimiter::keyed(a_minute(limits.submits_per_minute)),
            upload: RateLimiter::keyed(Quota::per_hour(count(limits.uploads_per_hour))),
            failure: RateLimiter::keyed(a_minute(limits.failures_per_minute)),
        }
    }

    fn of(&self, class: Class) -> &Keyed {
        match class {
            Class::AnonymousRead => &self.anonymous,
            Class::General => &self.general,
            Class::Play => &self.play,
            Class::Submit => &self.submit,
            Class::Upload => &self.upload,
            Class::Failure => &self.failure,
        }
    }

    /// Counts one; refuses it if there were too many.
    pub(crate) fn check(&self, class: Class, key: Option<&str>, address: IpAddr) -> Result<(), Problem> {
        let name = key.map_or_else(|| address.to_string(), str::to_owned);
        let limiter = self.of(class);
        limiter.check_key(&name).map_err(|not_until| {
            let wait = not_until.wait_time_from(DefaultClock::default().now());
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            let detail = format_args!("too many requests; the next one in {seconds} s");
            Problem::new("rate_limited", detail).retry_after(seconds.max(1))
        })
    }

    /// Forgets who has not asked for a while.
    pub(crate) fn sweep(&self) {
        for class in
            [Class::AnonymousRead, Class::General, Class::Play, Class::Submit, Class::Upload, Class::Failure]
        {
            let limiter = self.of(class);
            limiter.retain_recent();
            if limiter.len() > COUNTED_MAX {
                limiter.retain_recent();
            }
            limiter.shrink_to_fit();
        }
    }
}
