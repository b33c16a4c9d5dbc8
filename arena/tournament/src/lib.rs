//! Tournaments: a frozen matrix, hidden identities, exactly one terminal class, and a scorecard that
//! anybody can recompute.
//!
//! Strategies are seated through [`Roster`]; nothing here knows how they are run. The files of a run
//! are written and read here, because what survives a crash is part of the rules.

mod beside;
mod budget;
mod bundle;
mod canonical;
mod commit;
mod ending;
mod executor;
mod fault;
mod finish;
mod folder;
mod frames;
mod freeze;
mod frozen;
mod identities;
mod interval;
mod job;
mod journal;
mod local;
mod names;
mod nats;
mod plan;
mod rating;
mod receipt;
mod record;
mod roster;
mod run;
mod scorecard;
mod seating;
mod secret;
mod standings;
mod table;
mod verify;

pub use bundle::{Bundle, BundleFault, CARD_BYTES_MAX, Part, TRAILER};
pub use ending::{Class, Ending};
pub use executor::{Body, Done, Executor, Finished, InProcess};
pub use fault::RunFault;
pub use folder::{
    COMMITMENTS, FROZEN, Folder, FolderShelf, IDENTITIES, JOURNAL, RECEIPT, SCORECARD, SCORECARD_MD, SECRET,
    component_name, match_name, open_regular, pack_name,
};
pub use freeze::{Component, FreezeFault, Pins, freeze};
pub use frozen::{
    BeaconPin, Budget, FROZEN_BYTES_MAX, FROZEN_SCHEMA, Frozen, FrozenFile, Game, Identity, Matchup,
    MatrixRules, MoveValidation, PackPin, PayoffTable, Protocol, Scenario, Scoring, SeatingPin, StrategyPin,
};
pub use identities::Disclosure;
pub use interval::Estimate;
pub use job::{Job, Jobs};
pub use local::{Local, Reply, WorkerCommand, serve, worker_arguments};
pub use names::{Alias, MATCHUPS_MAX, MatchId, NameError, STRATEGIES_MAX};
pub use nats::{
    Nats, NatsAddress, NatsFault, NatsOptions, RosterMaker, RunKey, RunKeyError, Worked, WorkerOptions, work,
};
pub use plan::{PLAN_BYTES_MAX, Pairing, Plan, PlannedScenarios, PlannedStrategy};
pub use rating::{Rating, Reason};
pub use receipt::{FileSize, Receipt};
pub use record::{
    Asked, CampusMove, Facts, ForfeitFact, FuelFact, Moves, Outcome, RECORD_BYTES_MAX, Record, RecordFault,
    Settled, Used,
};
pub use roster::{CampusSeat, MatrixSeat, Roster, Shelf, Usage};
pub use run::{Clock, Ended, Halted, Inputs, Run, Watch, run_id};
pub use seating::{Seating, SeatingFault};
pub use secret::Secret;
pub use standings::{Cell, Standing};
pub use table::{Played, Violation, play};
pub use verify::{Difference, Verification, Verified, verify};
