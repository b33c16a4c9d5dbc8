//! The worlds of the games: typed calls into the guest, and the one function it may call back.

pub(crate) mod campus;
pub(crate) mod experiment;
pub(crate) mod matrix;

use arena_engine::campus::LogLevel;
use wasmtime::component::{ComponentType, Lift, Linker, WasmStr};

use crate::cell::{Cell, charge};
use crate::ending::Stop;
use crate::game::Game;
use crate::log::prefix;

/// The level of a log line. Every world has an enum of their own with these names.
#[derive(ComponentType, Lift, Clone, Copy)]
#[component(enum)]
#[repr(u8)]
#[expect(dead_code, reason = "the runtime makes the values")]
enum Level {
    #[component(name = "debug")]
    Debug,
    #[component(name = "info")]
    Info,
    #[component(name = "warn")]
    Warn,
    #[component(name = "error")]
    Error,
}

/// Defines the host's half of every world.
pub(crate) fn add_hosts(linker: &mut Linker<Cell>) -> wasmtime::Result<()> {
    Game::ALL.into_iter().try_for_each(|game| add_host(linker, game.host()))?;
    experiment::add_host(linker)
}

/// Defines one `host`. The text stays in the guest's memory until its allowance is known.
fn add_host(linker: &mut Linker<Cell>, host: &str) -> wasmtime::Result<()> {
    linker.instance(host)?.func_wrap("log", |mut store, (level, text): (Level, WasmStr)| {
        let room = store.data().log.room();
        let (kept, offered) = {
            let text = text.to_str(&store).map_err(|why| Stop::Unreadable(format!("log text: {why}")))?;
            (prefix(&text, room).to_owned(), text.len())
        };
        charge(&mut store, offered)?;
        store.data_mut().say(level.into(), &kept, offered);
        Ok(())
    })
}

impl From<Level> for LogLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Debug => Self::Debug,
            Level::Info => Self::Info,
            Level::Warn => Self::Warn,
            Level::Error => Self::Error,
        }
    }
}
