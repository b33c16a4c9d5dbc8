//! A workshop by a script: components are texts, and matches are played in this process by strategies of a line.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use arena_canon::Digest;
use arena_engine::campus::{self, LogLevel, LogLine, Pack};
use arena_engine::matrix::{self, Move, Observation, Rules};
use arena_engine::{During, Forfeit, HostFault, Turn};
use arena_server::{Admission, Probe, Refused, Verdict, Workshop, WorkshopFault};
use arena_tournament::{
    CampusSeat, Clock, FolderShelf, InProcess, MatrixSeat, Pins, Roster, Run, Shelf as _, Usage, Used, Watch,
};
use axum::body::Body;

use crate::support::{Bench, Said, request};

/// What a test's component is: `\0asm`, then what the workshop is to make of it. A huge one is said to have 65 MiB.
pub(crate) fn component(text: &str) -> Vec<u8> {
    [b"\0asm", text.as_bytes()].concat()
}

/// How the next runs go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    /// To their end.
    Plays,
    /// They hang until they are told to stop.
    Hangs,
    /// The process ends without a word.
    Fails,
    /// What it plays with is lost under its hands.
    Loses,
}

/// The workshop.
pub(crate) struct Script {
    pub(crate) looked: AtomicUsize,
    pub(crate) looking: AtomicUsize,
    pub(crate) most_at_once: AtomicUsize,
    pub(crate) played: AtomicUsize,
    pub(crate) hold: AtomicBool,
    mood: Mutex<Mood>,
}

impl Script {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            looked: AtomicUsize::new(0),
            looking: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
            played: AtomicUsize::new(0),
            hold: AtomicBool::new(false),
            mood: Mutex::new(Mood::Plays),
        })
    }

    pub(crate) fn set(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }
}

fn refused(code: &str, message: &str, hint: Option<&str>) -> Refused {
    Refused { code: code.to_owned(), message: message.to_owned(), hint: hint.map(str::to_owned) }
}

impl Workshop for Script {
    fn pins(&self) -> Pins {
        Pins { limits_version: 1, wasmtime: "0.0.0".to_owned() }
    }

    fn admit(&self, component: &Path, patience: Duration) -> Result<Verdict, WorkshopFault> {
        self.looked.fetch_add(1, Ordering::SeqCst);
        let now = self.looking.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(now, Ordering::SeqCst);
        let started = Instant::now();
        while self.hold.load(Ordering::SeqCst) && started.elapsed() < patience {
            sleep(Duration::from_millis(5));
        }
        self.looking.fetch_sub(1, Ordering::SeqCst);
        let bytes = std::fs::read(component).unwrap();
        let text = String::from_utf8_lossy(&bytes[4..]).into_owned();
        let world = match text.split(' ').next().unwrap_or_default() {
            "experiment" => "arena:experiment/experiment@0.1.0",
            "campus" => "arena:campus/campus-strategy@0.1.0",
            "matrix" => "arena:matrix/matrix-strategy@0.1.0",
            "bomb" => {
                let why = "compiling it took more than this server gives";
                return Ok(Verdict::Refused(vec![refused("admit.too_costly", why, None)]));
            }
            "fault" => return Err(WorkshopFault { doing: "look", why: "the script says so".to_owned() }),
            _ => {
                return Ok(Verdict::Refused(vec![
                    refused("admit.exports", "it exports no player", Some("implement one")),
                    refused("admit.import", "it imports `wasi:http/types`", None),
                ]));
            }
        };
        Ok(Verdict::Admitted(Admission {
            sha256: Digest::of(&bytes),
            size_bytes: if text.contains("huge") { 65 << 20 } else { bytes.len() as u64 },
            world: world.to_owned(),
            imports: vec!["arena:matrix/host@0.1.0".to_owned()],
            linker: "lean".to_owned(),
            probe: Probe { fuel_max: 700, memory_bytes_max: 65_536, forfeit: serde_json::Value::Null },
        }))
    }

    fn play(&self, folder: &Path, _: Duration, pulse: &mut dyn FnMut() -> bool) -> Result<(), WorkshopFault> {
        self.played.fetch_add(1, Ordering::SeqCst);
        let fault = |why: String| WorkshopFault { doing: "play", why };
        let mood = *self.mood.lock().unwrap();
        match mood {
            // It says where it was, as programs do.
            Mood::Fails => return Err(fault(format!("killed in `{}`", folder.display()))),
            Mood::Hangs => {
                while pulse() {
                    sleep(Duration::from_millis(5));
                    if *self.mood.lock().unwrap() != Mood::Hangs {
                        break;
                    }
                }
                if *self.mood.lock().unwrap() != Mood::Plays {
                    return Err(fault("broken off".to_owned()));
                }
            }
            Mood::Plays | Mood::Loses => {}
        }
        let run = Run::resume(folder, &self.pins()).map_err(|why| fault(why.to_string()))?;
        if mood == Mood::Loses {
            // A folder in place of the file is told with its path.
            for component in std::fs::read_dir(folder.join("components")).unwrap() {
                let path = component.unwrap().path();
                std::fs::remove_file(&path).unwrap();
                std::fs::create_dir(&path).unwrap();
            }
        }
        let ended = match run {
            Ok(run) => run.play(&mut InProcess::new(Lines(FolderShelf::new(folder))), &mut Quiet, &Zero),
            Err(halted) => halted.end(&Zero),
        };
        ended.map(|_| ()).map_err(|why| fault(why.to_string()))
    }
}

struct Quiet;

impl Watch for Quiet {
    fn progress(&mut self, _: usize, _: usize, _: Used) {}
    fn talk(&mut self, _: &str) {}
}

struct Zero;

impl Clock for Zero {
    fn unix_ms(&self) -> u64 {
        1_796_060_712_345
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

/// Strategies of a line: `matrix defect …` defects, `matrix copy …` copies the other, anything else cooperates.
/// `matrix talk 7 …` says seven letters, too.
struct Lines(FolderShelf);

enum Seat {
    Always(Move),
    Copies,
    Talks(usize),
}

impl Roster for Lines {
    fn pack(&mut self, sha256: Digest) -> Result<Arc<Pack>, HostFault> {
        let bytes = self.0.pack(sha256)?;
        Pack::parse(&bytes).map_err(|why| HostFault { doing: "reading", source: why.to_string().into() })
    }

    fn campus(&mut self, _: Digest, _: Digest, _: usize, _: &Pack) -> Result<Box<dyn CampusSeat>, HostFault> {
        Ok(Box::new(Idle))
    }

    fn matrix(&mut self, strategy: Digest, _: Digest, _: usize) -> Result<Box<dyn MatrixSeat>, HostFault> {
        let bytes = self.0.component(strategy)?;
        let text = String::from_utf8_lossy(&bytes[4..]).into_owned();
        Ok(Box::new(match text.split(' ').nth(1) {
            Some("defect") => Seat::Always(Move::Defect),
            Some("copy") => Seat::Copies,
            Some("talk") => Seat::Talks(text.split(' ').nth(2).unwrap().parse().unwrap()),
            _ => Seat::Always(Move::Cooperate),
        }))
    }
}

impl matrix::Competitor for Seat {
    fn brief(&mut self, _: &Rules) -> Result<Option<(During, Forfeit)>, HostFault> {
        Ok(None)
    }

    fn act(&mut self, seen: &Observation) -> Result<Turn<Move>, HostFault> {
        Ok(Turn::Acted(match self {
            Self::Always(what) => *what,
            Self::Copies => seen.other_last,
            Self::Talks(_) => Move::Cooperate,
        }))
    }
}

impl MatrixSeat for Seat {
    fn usage(self: Box<Self>, turns: u32) -> Usage {
        let line = |letters| LogLine { turn: 0, level: LogLevel::Info, text: "a".repeat(letters) };
        let log = if let Self::Talks(letters) = *self { vec![line(letters)] } else { Vec::new() };
        Usage { brief_fuel: 10, fuel: vec![7; turns as usize], log, ..Usage::default() }
    }
}

struct Idle;

impl campus::Competitor for Idle {
    fn brief(&mut self, _: &Pack) -> Result<Option<(During, Forfeit)>, HostFault> {
        Ok(None)
    }

    fn act(&mut self, _: &campus::Observation<'_>) -> Result<Turn<campus::Action>, HostFault> {
        Ok(Turn::Acted(campus::Action::default()))
    }
}

impl CampusSeat for Idle {
    fn usage(self: Box<Self>, turns: u32) -> Usage {
        Usage { brief_fuel: 10, fuel: vec![7; turns as usize], ..Usage::default() }
    }
}

/// Uploads a component under a name.
pub(crate) async fn upload(bench: &Bench, key: &str, name: &str, text: &str) -> Said {
    let path = format!("/api/v1/strategies?name={name}");
    let request = request("POST", &path, Some(key)).header("content-type", "application/wasm");
    bench.send(request.body(Body::from(component(text))).unwrap()).await
}

/// Waits until something holds; the clock of the bench stands still meanwhile.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..600 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it never came: {what}");
}
