//! What all requests share: the store, the limits, the sessions, the live feed.

use std::sync::Arc;

use arena_contests::Moment;
use arena_store::{Failed, Slot, Store};

use crate::auth::{AdminToken, Sessions, Viewer};
use crate::config::Config;
use crate::figures::Figures;
use crate::http::kept::KeptPages;
use crate::http::limit::Limiter;
use crate::http::log::Log;
use crate::instance::{Command, Instance, Known, Request};
use crate::keeper::{Answered, Keeper, Sent};
use crate::live::Live;
use crate::outside::Outside;
use crate::problem::Problem;
use crate::signing::InstanceKey;
use crate::texts::Texts;
use crate::workshop::Floor;

/// The server as its handlers see it.
pub struct App {
    pub(crate) config: Config,
    pub(crate) store: Store<Keeper>,
    pub(crate) known: Arc<Known>,
    pub(crate) outside: Arc<dyn Outside>,
    pub(crate) admin: AdminToken,
    /// By which it signs what it states.
    pub(crate) key: InstanceKey,
    pub(crate) sessions: Sessions,
    pub(crate) limiter: Limiter,
    pub(crate) live: Arc<Live>,
    /// Pages that are kept ready.
    pub(crate) kept: KeptPages,
    /// Where components are looked at and tournaments are played.
    pub(crate) floor: Floor,
    /// Places for downloads that are held in memory until their last byte is sent.
    pub(crate) downloads: Arc<tokio::sync::Semaphore>,
    /// What is counted for whoever runs it.
    pub(crate) figures: Figures,
    /// Where a line for each request goes.
    pub(crate) log: Option<Arc<Log>>,
    /// Told when the server ends, so that streams end too.
    pub(crate) ends: tokio::sync::watch::Sender<bool>,
}

/// Downloads at once that are held in memory.
pub(crate) const DOWNLOADS_MAX: usize = 32;

/// A handle of it.
pub type Shared = Arc<App>;

impl App {
    /// Looks at the instance as it was after the last commit.
    pub fn look<T>(&self, look: impl FnOnce(&Instance) -> T) -> Result<T, Problem> {
        self.store.look(look).map_err(|_| Problem::new("overloaded", "the store is not ready").retry_after(5))
    }

    /// Where texts of users are read.
    pub(crate) fn texts(&self) -> Texts<'_> {
        Texts(self.store.blobs())
    }

    /// What is known of the world outside.
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// The time now.
    pub fn now(&self) -> Moment {
        self.outside.now()
    }

    /// Has a command carried out for somebody. It is on disk when this returns.
    pub async fn execute(
        &self,
        by: Viewer,
        at: Moment,
        command: Command,
        slot: Option<Slot>,
    ) -> Result<Answered, Problem> {
        let request = Request { at, by, luck: self.outside.luck(), command };
        let pending = self.store.submit(Sent { request, slot });
        pending.await.map_err(|failed| match failed {
            Failed::Refused(problem) => problem,
            Failed::Busy { .. } => {
                self.figures.refused_by_queue();
                Problem::new("overloaded", "too many commands wait").retry_after(1)
            }
            Failed::Storage(_) | Failed::Panicked(_) | Failed::Stopped => {
                Problem::new("overloaded", "the store could not keep it; nothing happened").retry_after(5)
            }
        })
    }

    /// Does what is due by time alone, one thing after the other.
    pub async fn tick(&self) {
        // A bound, so that a fault in the rules is no endless loop.
        for _ in 0..10_000 {
            let now = self.now();
            if !self.look(|instance| instance.is_due(now)).unwrap_or(false) {
                return;
            }
            let by = Viewer::Admin { name: "the platform".to_owned() };
            if self.execute(by, now, Command::Tick, None).await.is_err() {
                return;
            }
        }
    }
}
