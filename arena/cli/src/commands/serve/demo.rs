//! The folder of a demo: filled once, known again by a file, and never one in which something else is.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arena_canon::json::Value;
use arena_contests::Moment;
use arena_server::auth::Viewer;
use arena_server::demo::{SEASON_DAYS, SIGHTS, fill};
use arena_server::instance::{Command, agents};
use arena_server::{Server, Workshop};
use indicatif::ProgressBar;
use serde_json::json;

use super::props::{Bench, props};
use super::workshop::Processes;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::io::Io;
use crate::luck;

const MARK: &str = "demo.json";
/// How long nothing is said.
const QUIET: Duration = Duration::from_secs(2);

/// Fills the folder, if it is empty. One that was filled before is served as it is.
pub(super) async fn prepare(data: &Path, now: Moment, workers: u16, io: &mut Io<'_>) -> Result<(), Failure> {
    let doing = format!("fill `{}`", files::shown(data));
    let mark = data.join(MARK);
    if mark.exists() {
        io.talk("the season of this folder was played before; it is served as it is");
        return Ok(());
    }
    let mut there = data.read_dir().map_err(|why| Failure::usage(&doing, files::plain(&why)))?;
    if there.next().is_some() {
        return Err(Failure::usage(doing, "it is not empty, and what is in it is no demo")
            .hint("name an empty folder, or none"));
    }
    let begun = Instant::now();
    let program = io.env().program.clone();
    let workshop = program.map(|program| Processes::new(program, data, workers)).transpose()?;
    let workshop = workshop.map(|it| Arc::new(it) as Arc<dyn Workshop>);
    io.talk(format_args!("a season of {SEASON_DAYS} days is played first, as requests to this server"));
    let progress = Progress::of(io);
    let bench = Bench(RefCell::new(io));
    let on_day = |day| progress.tell(day, &bench);
    let filled = fill(data, &props(workshop, &bench, &on_day)?, luck::stretched(), now).await;
    progress.bar.finish_and_clear();
    filled.map_err(|why| Failure::internal(&doing, why))?;
    let Bench(io) = bench;
    let io = io.into_inner();
    let about = json!({ "v": "arena-demo/v1", "until": now.to_string() });
    files::write(&mark, format!("{about}\n").as_bytes(), Existing::Keep)?;
    io.talk(format_args!("a season was played in {:.1} s", begun.elapsed().as_secs_f64()));
    Ok(())
}

/// How far the season is: a bar on a terminal, a line now and then anywhere else.
struct Progress {
    bar: ProgressBar,
    told: Cell<Instant>,
}

impl Progress {
    fn of(io: &Io<'_>) -> Self {
        Self { bar: io.progress("season", SEASON_DAYS.into()), told: Cell::new(Instant::now()) }
    }

    fn tell(&self, day: u32, Bench(io): &Bench<'_, '_>) {
        self.bar.set_position(day.into());
        if self.bar.is_hidden() && self.told.get().elapsed() >= QUIET {
            self.told.set(Instant::now());
            io.borrow_mut().talk(format_args!("{day} of {SEASON_DAYS} days are played"));
        }
    }
}

/// What a newcomer is told.
pub(super) struct Tour {
    /// A path that makes a browser the admin's, once.
    login: String,
}

impl Tour {
    /// Makes the link.
    pub(super) async fn of(server: &Server) -> Result<Self, Failure> {
        let app = server.app();
        let (by, command) = (
            Viewer::Admin { name: "admin".to_owned() },
            Command::Agents(agents::Command::IssueLogin { agent: None }),
        );
        let answered = app.execute(by, app.now(), command, None).await;
        let answered = answered.map_err(|why| Failure::internal("make a login", why.detail()))?;
        let path = answered.answer.once.as_ref().and_then(|once| once["path"].as_str());
        let login = path.ok_or_else(|| Failure::internal("make a login", "it has no path"))?.to_owned();
        Ok(Self { login })
    }

    pub(super) fn json(&self) -> Value {
        let pages: Vec<Value> =
            SIGHTS.iter().map(|sight| json!({ "path": sight.path, "what": sight.what })).collect();
        json!({ "pages": pages, "admin_login": self.login })
    }

    pub(super) fn print(&self, address: &SocketAddr, io: &mut Io<'_>) {
        let width = SIGHTS.iter().map(|sight| sight.path.len()).max().unwrap_or(0);
        io.print("look at");
        for sight in &SIGHTS {
            io.print(format_args!("  http://{address}{:width$}  {}", sight.path, sight.what));
        }
        io.print("be the admin in your browser, once, within 15 minutes");
        io.print(format_args!("  http://{address}{}", self.login));
    }
}
