use std::path::PathBuf;

use arena_claims::life::{Claim, World};
use arena_engine::Excerpt;
use serde_json::{Value, json};

use super::instance::Reading;
use super::log;
use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ink::Tone;
use crate::io::Io;
use crate::view::table::{Cell, Column, Table};

/// Show an instance: its claims and agents
///
/// The journal is replayed from its first line; what is shown is what follows from it.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// One claim
    #[arg(value_name = "CLAIM")]
    claim: Option<String>,

    /// The folder of the instance
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena claim show
  arena claim show c1 --json";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let folder = Reading::open(&args.dir, io)?;
    let world = &folder.world;
    let wanted = |claim: &&Claim| args.claim.as_ref().is_none_or(|id| *id == claim.id);
    let claims: Vec<&Claim> = world.claims.values().filter(wanted).collect();
    if let (Some(id), true) = (&args.claim, claims.is_empty()) {
        let name = Excerpt { text: id, max: 80 };
        return Err(Failure::new(
            Exit::Rejected,
            format_args!("show claim `{name}`"),
            "unknown_claim: there is none",
        ));
    }
    if args.output.json {
        let agents = world.agents.keys().map(|agent| (agent.clone(), agent_json(world, agent)));
        io.print_json(&json!({
            "instance": world.instance.name, "now": world.now.to_string(), "events": world.seq.to_string(),
            "claims": claims.iter().map(|claim| claim_json(&folder, claim)).collect::<Vec<_>>(),
            "agents": agents.collect::<serde_json::Map<_, _>>(),
        }));
        return Ok(Exit::Success);
    }
    show_claims(&folder, &claims, io);
    if args.claim.is_none() {
        io.print("");
        show_agents(world, io);
    }
    Ok(Exit::Success)
}

fn claim_json(folder: &Reading, claim: &Claim) -> Value {
    let draws = claim.transcripts.iter().filter(|_| claim.phase.is_terminal());
    let draws = draws.map(|transcript| log::carried(folder, transcript));
    let until = (!claim.phase.is_terminal()).then(|| claim.until.to_string());
    let outcome = match claim.phase {
        arena_claims::life::Phase::Settled(outcome) => Some(outcome.name()),
        arena_claims::life::Phase::Withdrawn(why) => Some(why.name()),
        _ => None,
    };
    json!({
        "claim": claim.id, "phase": claim.phase.name(), "outcome": outcome, "until": until,
        "submitter": claim.submitter, "manifest_sha256": claim.manifest.digest, "job": claim.job,
        "pool": claim.pooled(), "runner": claim.runner(), "challenges": claim.challenges.len(),
        "boundary": claim.boundary, "wide_tolerance": claim.manifest.rules.badge(),
        "draws": draws.collect::<Vec<_>>(),
    })
}

fn agent_json(world: &World, agent: &str) -> Value {
    let about = &world.agents[agent];
    json!({
        "operator": about.operator, "key": about.key, "avail": world.avail(agent),
        "standing": about.standing_on(world.now), "capabilities": about.capabilities,
    })
}

fn show_claims(folder: &Reading, claims: &[&Claim], io: &mut Io<'_>) {
    let columns = [
        Column::left("claim").after(0),
        Column::left("phase"),
        Column::left("outcome"),
        Column::right("pool"),
        Column::left("runner"),
        Column::right("challenges"),
        Column::left("title"),
    ];
    let mut table = Table::new(columns);
    for claim in claims {
        let about = claim_json(folder, claim);
        let outcome = about["outcome"].as_str().unwrap_or_default().to_owned();
        table.push([
            Cell::toned(Tone::Strong, Excerpt::line(&claim.id).to_string()),
            claim.phase.name().into(),
            outcome.into(),
            claim.pooled().to_string().into(),
            Excerpt::line(claim.runner().unwrap_or_default()).to_string().into(),
            claim.challenges.len().to_string().into(),
            Excerpt::line(&claim.manifest.title).to_string().into(),
        ]);
    }
    for line in table.lines(io.columns(), io.ink()) {
        io.print(line);
    }
}

fn show_agents(world: &World, io: &mut Io<'_>) {
    let columns = [
        Column::left("agent").after(0),
        Column::left("operator"),
        Column::right("free"),
        Column::right("standing"),
    ];
    let mut table = Table::new(columns);
    for (name, about) in &world.agents {
        table.push([
            Cell::toned(Tone::Strong, Excerpt::line(name).to_string()),
            Excerpt::line(&about.operator).to_string().into(),
            world.avail(name).to_string().into(),
            about.standing_on(world.now).to_string().into(),
        ]);
    }
    for line in table.lines(io.columns(), io.ink()) {
        io.print(line);
    }
}
