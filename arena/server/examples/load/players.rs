//! Players of the campus, each an agent with a key and a connection of its own, who act turn after turn and begin
//! anew when an episode is over.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::wire::{ADMIN, Connection, head_of, request};
use crate::{Failed, tell};

pub(crate) const PACK: &[u8] = include_bytes!("../../../../scenarios/two-spikes.json");

/// Time between two actions of a player who has a pace.
const PACE: Duration = Duration::from_secs(1);

/// Players at their seats.
pub(crate) struct Seats {
    address: SocketAddr,
    players: Vec<Player>,
}

struct Player {
    connection: Connection,
    key: String,
    episode: String,
    turn: u64,
    acted: u64,
}

impl Player {
    async fn join(&mut self) -> Result<(), Failed> {
        let pack = json!({ "pack": "two-spikes", "version": "0.1.0" });
        let joined = self.connection.call("POST", "/api/v1/episodes", &self.key, "", &pack).await?;
        self.episode = joined["episode"].as_str().unwrap_or_default().to_owned();
        self.turn = 0;
        Ok(())
    }

    /// One action. Another episode is begun after the last turn, outside the time that is taken.
    async fn act(&mut self, due: Instant) -> Result<Duration, Failed> {
        self.acted += 1;
        let shed = [0.0, 0.5, 1.25, 2.0][(self.acted % 4) as usize];
        let accepts = self.acted.is_multiple_of(2);
        let action = json!({
            "curtail_mw": shed, "battery_mw": 1.5 - shed, "diesel_mw": 0, "accept_offer": accepts,
        });
        let path = format!("/api/v1/episodes/{}/turns/{}/action", self.episode, self.turn);
        let answer =
            self.connection.exchange(&request("PUT", &path, &self.key, "", &action.to_string())).await?;
        let took = due.elapsed();
        let answer: Value = serde_json::from_slice(&answer)?;
        self.turn += 1;
        if !answer["settlement"].is_null() {
            self.join().await?;
        }
        Ok(took)
    }
}

/// Makes players, and seats them.
pub(crate) async fn seat(address: SocketAddr, players: usize) -> Result<Seats, Failed> {
    let made: Vec<_> = (0..players)
        .map(|n| {
            tokio::spawn(async move {
                let mut connection = Connection::open(address).await?;
                let (id, scopes) = (format!("player-{n}"), json!({ "scopes": ["play"] }));
                let agent = json!({ "id": id, "operator": "load" });
                connection.call("POST", "/api/v1/agents", ADMIN, "", &agent).await?;
                let key =
                    connection.call("POST", &format!("/api/v1/agents/{id}/keys"), ADMIN, "", &scopes).await?;
                let key = key["key"].as_str().unwrap_or_default().to_owned();
                let mut player = Player { connection, key, episode: String::new(), turn: 0, acted: n as u64 };
                player.join().await?;
                Ok::<_, Failed>(player)
            })
        })
        .collect();
    let mut players = Vec::new();
    for player in made {
        players.push(player.await??);
    }
    Ok(Seats { address, players })
}

/// Every player acts once each [`PACE`], one after the other. The time of an action counts from when it was due.
pub(crate) async fn paced(seats: Seats, span: Duration) -> Result<Seats, Failed> {
    let (count, span) = (seats.players.len(), span.max(3 * PACE));
    let what = format!("{count} players, an action each {} s", PACE.as_secs());
    let since = tokio::time::Instant::now() + Duration::from_millis(100);
    let play = move |mut player: Player, n: usize| async move {
        let mut times = Vec::new();
        let mut every = tokio::time::interval_at(since + PACE * n as u32 / count as u32, PACE);
        while since.elapsed() < span {
            let due = every.tick().await;
            times.push(player.act(due.into_std()).await?);
        }
        Ok::<_, Failed>((player, times))
    };
    let (seats, mut times) = all(seats, play).await?;
    tell(&what, since.elapsed(), &mut times);
    Ok(seats)
}

/// Every player acts as soon as the last action was answered.
pub(crate) async fn hurried(seats: Seats, span: Duration) -> Result<Seats, Failed> {
    let what = format!("{} players, as fast as they can", seats.players.len());
    let since = Instant::now();
    let play = move |mut player: Player, _: usize| async move {
        let mut times = Vec::new();
        while since.elapsed() < span {
            times.push(player.act(Instant::now()).await?);
        }
        Ok::<_, Failed>((player, times))
    };
    let (seats, mut times) = all(seats, play).await?;
    tell(&what, since.elapsed(), &mut times);
    Ok(seats)
}

/// They play on until the journal has so many rows.
pub(crate) async fn fill(seats: Seats, rows: u64) -> Result<Seats, Failed> {
    let (address, is_full) = (seats.address, Arc::new(AtomicBool::new(false)));
    let told = Arc::clone(&is_full);
    let watch = tokio::spawn(async move {
        while head_of(address).await? < rows {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        told.store(true, Ordering::SeqCst);
        Ok::<_, Failed>(())
    });
    let play = move |mut player: Player, _: usize| {
        let is_full = Arc::clone(&is_full);
        async move {
            while !is_full.load(Ordering::SeqCst) {
                player.act(Instant::now()).await?;
            }
            Ok::<_, Failed>((player, Vec::new()))
        }
    };
    let (seats, _) = all(seats, play).await?;
    watch.await??;
    Ok(seats)
}

async fn all<F>(seats: Seats, play: impl Fn(Player, usize) -> F) -> Result<(Seats, Vec<Duration>), Failed>
where
    F: Future<Output = Result<(Player, Vec<Duration>), Failed>> + Send + 'static,
{
    let Seats { address, players } = seats;
    let playing: Vec<_> =
        players.into_iter().enumerate().map(|(n, player)| tokio::spawn(play(player, n))).collect();
    let (mut players, mut times) = (Vec::new(), Vec::new());
    for player in playing {
        let (player, its) = player.await??;
        players.push(player);
        times.extend(its);
    }
    Ok((Seats { address, players }, times))
}
