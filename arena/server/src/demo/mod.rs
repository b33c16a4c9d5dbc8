//! A played season, so that whoever comes by sees a living site.
//!
//! Nothing here is written by hand: the season is acted out by companies, evaluators and an admin who send requests
//! to a real server, on a clock that walks through the past up to now. The same moment and the same props give the
//! same journal. No key that was used is good at its end.
//!
//! Absent: playing the tournament. The season ends when it is started; whoever opens the folder afterwards plays it,
//! so that its receipt says when that was.

mod cast;
mod claims;
mod clock;
mod contests;
mod episodes;
mod props;
mod sprint;
mod stage;
mod tournament;

use std::path::Path;
use std::sync::Arc;

use arena_contests::Moment;

use crate::auth::AdminToken;
use crate::config::{Claims, ClaimsBeacon, Config};
use crate::outside::Outside;
use crate::serve::{ServeError, Server, Setup};
use clock::Walk;
use stage::{Stage, Story};

pub use props::{Experiment, Lab, Props};

const DAY_MS: i64 = 86_400_000;
/// Days before the present one on which a season begins.
pub const SEASON_DAYS: u32 = 14;

/// Why there is no demo.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The server does not start.
    #[error("{0}")]
    Serve(#[from] ServeError),
    /// The server answered otherwise than the season expects: a fault of this program.
    #[error("the season stops at {at}: {method} {path} was answered {status}: {said}")]
    Refused {
        /// When.
        at: String,
        /// What was asked.
        method: &'static str,
        /// Of what.
        path: String,
        /// What came.
        status: u16,
        /// With which words.
        said: String,
    },
    /// An answer lacks what the season needs of it: a fault of this program.
    #[error("the season stops: an answer has no `{what}`")]
    Lacks {
        /// What.
        what: String,
    },
}

/// A page to look at first, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sight {
    /// Its path.
    pub path: &'static str,
    /// What is to be seen there.
    pub what: &'static str,
}

/// Where to look first.
pub const SIGHTS: [Sight; 10] = [
    Sight { path: "/", what: "what runs now, and what happened last" },
    Sight { path: "/rounds/season-0-round-2", what: "a sprint that runs: standings and their arithmetic" },
    Sight { path: "/rounds/season-0-round-1", what: "a sprint that is over, with its awards" },
    Sight { path: "/town", what: "what companies say" },
    Sight { path: "/treasury", what: "money that moved" },
    Sight { path: "/contests", what: "a contest that is over and one that is open" },
    Sight { path: "/play", what: "an episode to play yourself" },
    Sight { path: "/episodes/e1", what: "an episode to step through" },
    Sight { path: "/tournaments/t1", what: "a tournament: matrix, standings, and who was who" },
    Sight { path: "/claims", what: "a claim that was reproduced, and one that may be challenged" },
];

/// Acts a season out in an empty folder, up to `now`.
pub async fn fill(folder: &Path, props: &Props<'_>, key: [u8; 64], now: Moment) -> Result<(), DemoError> {
    let today = Moment::from_unix_ms(now.unix_ms() - now.unix_ms().rem_euclid(DAY_MS));
    let start = today.plus_ms(-i64::from(SEASON_DAYS) * DAY_MS);
    let walk = Arc::new(Walk::from(start, key));
    let token = stage::token(&key);
    let setup = Setup {
        config: config(),
        // Made of bytes that nobody else has, and gone when this returns.
        admin: AdminToken::new(&token).map_err(|_| DemoError::Lacks { what: "admin token".to_owned() })?,
        outside: Arc::clone(&walk) as Arc<dyn Outside>,
        packs: props.packs.clone(),
        log: None,
    };
    let server = Server::open_to_fill(folder, setup)?;
    if let Some(workshop) = &props.workshop {
        // It looks at components, and plays nothing yet.
        server.app().floor.bring(Arc::clone(workshop));
    }
    let stage = Stage::new(&server, walk, token, (today, now));
    (props.on_day)(0);
    cast::gather(&stage).await?;
    let stories: Vec<Story<'_>> = vec![
        Box::pin(sprint::first(&stage)),
        Box::pin(sprint::second(&stage)),
        Box::pin(sprint::third(&stage)),
        Box::pin(contests::constitution(&stage)),
        Box::pin(contests::privacy(&stage)),
        Box::pin(contests::modules(&stage)),
        Box::pin(episodes::played(&stage)),
        Box::pin(claims::both(&stage, props)),
        Box::pin(tournament::started(&stage, props)),
    ];
    stage::act_out(&stage, stories, props.on_day).await
}

/// Nobody else asks meanwhile, so nothing is limited. The luck of claims is a test's, since the past has no other.
fn config() -> Config {
    let mut config = Config {
        claims: Claims { beacon: ClaimsBeacon::Test, name: "test-demo".to_owned(), ..Claims::default() },
        ..Config::default()
    };
    let limits = &mut config.limits;
    for rate in [
        &mut limits.requests_per_minute,
        &mut limits.burst,
        &mut limits.anonymous_per_second,
        &mut limits.play_per_second,
        &mut limits.play_burst,
        &mut limits.submits_per_minute,
        &mut limits.failures_per_minute,
        &mut limits.uploads_per_hour,
        &mut limits.keys_per_hour,
    ] {
        *rate = u32::MAX;
    }
    config
}
