//! The verbs of a claim's life, with their arguments and their help.

use std::path::PathBuf;

use arena_canon::Digest;
use arena_claims::life::Party;
use arena_draw::beacon::Kind;
use arena_ledger::Amount;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::material::Sources;
use crate::commands::{Output, chain};

/// Who runs an instance unless it says otherwise.
const OPERATOR: &str = "operator";

/// Where and when.
#[derive(Debug, clap::Args)]
pub(crate) struct Here {
    /// The folder of the instance
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) dir: PathBuf,

    /// The time: Unix seconds or like 2026-11-30T17:08:00Z; the system's clock if not given
    #[arg(long, value_name = "TIME")]
    pub(super) at: Option<String>,

    /// A round of the beacon, where a draw is committed or resolved: drand's JSON, or what was revealed
    #[arg(long, value_name = "FILE")]
    pub(super) beacon: Option<PathBuf>,

    #[command(flatten)]
    pub(super) output: Output,
}

/// Who.
#[derive(Debug, clap::Args)]
pub(crate) struct By {
    /// The agent that acts
    #[arg(long = "as", value_name = "AGENT")]
    pub(super) agent: String,
}

/// Who, with the key that seals and signs.
#[derive(Debug, clap::Args)]
pub(crate) struct Signed {
    #[command(flatten)]
    pub(super) by: By,

    /// The agent's key, from `arena key new`
    #[arg(long, value_name = "FILE")]
    pub(super) key: PathBuf,
}

/// One verb for each command of the state machine, and those that prepare one.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Act {
    /// Make a new instance in a folder
    #[command(after_help = "\
Beacons:
  drand-quicknet  the public network drand; its rounds are given with --beacon FILE
  ecvrf-operator  a key that is made in the folder, for a place without a network
  hashchain       a chain that is made in the folder, and one of each outside party; with
                  --party for each, who keeps its round back loses a stake
  test            anybody can compute it; for names that start with `test-`

Examples:
  arena claim init --name lab --dir lab
  arena claim init --name lab --beacon ecvrf-operator
  arena claim init --name test-lab --beacon test")]
    Init(Init),
    /// Make an agent known, with its operator and key
    #[command(after_help = "Examples:\n  arena claim agent rex --operator acme --key rex.key --can wasm")]
    Agent(Agent),
    /// Bring money in
    #[command(after_help = "Examples:\n  arena claim deposit 20000 --as rex")]
    Deposit(Money),
    /// Take money out
    #[command(after_help = "Examples:\n  arena claim payout 500 --as rex")]
    Payout(Money),
    /// Say that the agent has a market position on a claim
    #[command(after_help = "Examples:\n  arena claim position c1 --as rex")]
    Position(OnClaim),
    /// Write a manifest: a component or a tournament, and what it is claimed to come to
    #[command(after_help = "\
Examples:
  arena claim new manifest.json --as sue --component run.wasm --metric elo=1532.25
  arena claim new manifest.json --as sue --component run.wasm --like claim.json --input prices.csv
  arena claim new manifest.json --as sue --tournament run")]
    New(New),
    /// List a claim, if what it pins is admitted; its component and inputs are kept in the folder
    #[command(after_help = "\
Examples:
  arena claim list c1 manifest.json --deposit 500 --as sue --component run.wasm --inputs data
  arena claim list c2 manifest.json --deposit 500 --as sue --frozen run/frozen.json")]
    List(List),
    /// Add to a claim's pool; at its minimum, the job opens
    #[command(after_help = "Examples:\n  arena claim fund c1 3500 --as fay")]
    Fund(Fund),
    /// Take contributions back from a claim that has not opened
    #[command(after_help = "Examples:\n  arena claim withdraw c1 --as fay")]
    Withdraw(OnClaim),
    /// Reveal what a party's chain gives in a round, where the parties of a hash chain have stakes
    #[command(after_help = "\
Examples:
  arena claim contribute --as dan --chain dan.chain
  arena claim contribute --as dan --chain dan.chain --round 7")]
    Contribute(Contribute),
    /// Commit the draw that a claim waits for, before its round exists
    #[command(after_help = "Examples:\n  arena claim open c1 --beacon latest.json")]
    Open(OfClaim),
    /// Resolve the committed draw with its round's proof
    #[command(after_help = "Examples:\n  arena claim assign c1 --beacon round.json")]
    Assign(OfClaim),
    /// Accept the run, or the audit
    #[command(after_help = "Examples:\n  arena claim accept c1 --as rex")]
    Accept(OnClaim),
    /// Decline a role one was drawn for
    #[command(after_help = "Examples:\n  arena claim decline c1 --as rex --reason busy")]
    Decline(Decline),
    /// Check the pinned inputs; a mismatch ends the claim
    #[command(after_help = "Examples:\n  arena claim inputs c1 --as rex --from data")]
    Inputs(Inputs),
    /// Run what the claim pins, after its inputs were checked, and make the runner's record; nothing is
    /// published
    #[command(
        after_help = "Examples:\n  arena claim run c1 --as rex\n  arena claim run c1 --as rex --results results.json"
    )]
    Run(Run),
    /// Commit the runner's record without showing it
    #[command(after_help = "Examples:\n  arena claim commit c1 --as rex --key rex.key")]
    Commit(Sealing),
    /// Run what the claim pins and commit the record as a challenge, without showing it
    #[command(after_help = "\
Examples:
  arena claim challenge c1 --as dan --key dan.key
  arena claim challenge c1 --as dan --key dan.key --results results.json")]
    Challenge(Challenge),
    /// Reveal what was committed: a run, a challenge or a vote
    #[command(after_help = "Examples:\n  arena claim reveal c1 --as rex --key rex.key")]
    Reveal(Sealing),
    /// Say whether a run is audited and by whom; for the operator alone
    #[command(after_help = "Examples:\n  arena claim audit c1")]
    Audit(OfClaim),
    /// Sign a receipt for an event of the journal: who holds it can show that the event was left out or changed
    #[command(after_help = "\
Examples:
  arena claim receipt > receipt.json
  arena claim receipt --seq 12 --dir lab
  arena verify lab --receipt receipt.json")]
    Receipt(GiveReceipt),
    /// Commit a vote on a dispute without showing it
    #[command(after_help = "\
A ballot:
  {\"verdict\": \"runner_wrong\", \"confirms\": [\"dan\"], \"rerun_sha256\": null,
   \"rationale\": [{\"cmp\": \"C3\", \"metric\": \"elo\"}]}

Examples:
  arena claim review c1 --as rae --key rae.key --ballot ballot.json")]
    Review(Review),
    /// Ask for the reference against a panel's verdict, for a bond
    #[command(after_help = "Examples:\n  arena claim appeal c1 --as rex")]
    Appeal(OnClaim),
    /// Run what the claim pins on two host configurations and publish the reference's two records
    #[command(
        after_help = "Examples:\n  arena claim reference c1\n  arena claim reference c1 pooled.json on-demand.json"
    )]
    Reference(Reference),
    /// List a flagged claim again, corrected
    #[command(after_help = "Examples:\n  arena claim relist c1 corrected.json --deposit 500 --as sue")]
    Relist(Relist),
    /// Open a canary after its end
    #[command(after_help = "\
Examples:
  arena claim canary c1 00000000000000000000000000000000000000000000000000000000000000aa")]
    Canary(Canary),
    /// Let time pass: deadlines, and what follows from them
    #[command(
        after_help = "Examples:\n  arena claim tick c1\n  arena claim tick c1 --at 2026-12-01T18:00:00Z"
    )]
    Tick(OfClaim),
}

// A new instance.
#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    /// The instance's name; a test beacon needs one that starts with `test-`
    #[arg(long, value_name = "NAME")]
    pub(super) name: String,
    /// Where luck comes from
    #[arg(long = "beacon", value_name = "KIND", default_value = Kind::DrandQuicknet.name())]
    #[arg(value_parser = PossibleValuesParser::new(Kind::ALL.map(Kind::name)).try_map(|text| text.parse::<Kind>()))]
    pub(super) source: Kind,
    /// The anchor of an outside party's chain, from `arena key chain`; a hashchain needs one at least
    #[arg(long = "anchor", value_name = "SHA256")]
    pub(super) anchors: Vec<Digest>,
    /// A party of the chain with its stake, the operator's first and then one for each anchor: an agent and what is
    /// held of it while a job is open; it loses `party_slash` of the parameters for each round that it keeps back.
    /// Of an outside party it is told how many rounds its chain has, if they are other than 10000: no job is begun that
    /// could need more
    #[arg(long = "party", value_name = "AGENT=STAKE[:ROUNDS]", value_parser = super::parties::parse)]
    pub(super) parties: Vec<Party>,
    /// How many rounds the operator's own chain is good for
    #[arg(long, value_name = "N", default_value_t = chain::ROUNDS, value_parser = chain::rounds())]
    pub(super) rounds: u64,
    /// Who runs it
    #[arg(long, value_name = "NAME", default_value = OPERATOR)]
    pub(super) operator: String,
    /// Parameters other than the published ones
    #[arg(long, value_name = "FILE")]
    pub(super) params: Option<PathBuf>,
    /// The folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) dir: PathBuf,
}

// A new agent.
#[derive(Debug, clap::Args)]
pub(crate) struct Agent {
    /// The agent's name
    #[arg(value_name = "AGENT")]
    pub(super) agent: String,
    /// Who runs it
    #[arg(long, value_name = "NAME")]
    pub(super) operator: String,
    /// Its key, from `arena key new`
    #[arg(long, value_name = "FILE")]
    pub(super) key: PathBuf,
    /// What it can do
    #[arg(long = "can", value_name = "TAG")]
    pub(super) can: Vec<String>,
    #[command(flatten)]
    pub(super) here: Here,
}

// An agent and an amount.
#[derive(Debug, clap::Args)]
pub(crate) struct Money {
    /// How much
    #[arg(value_name = "AMOUNT")]
    pub(super) amount: Amount,
    #[command(flatten)]
    pub(super) by: By,
    #[command(flatten)]
    pub(super) here: Here,
}

// An agent and a claim.
#[derive(Debug, clap::Args)]
pub(crate) struct OnClaim {
    /// The claim
    #[arg(value_name = "CLAIM")]
    pub(super) claim: String,
    #[command(flatten)]
    pub(super) by: By,
    #[command(flatten)]
    pub(super) here: Here,
}

// A new manifest.
#[derive(Debug, clap::Args)]
pub(crate) struct New {
    /// The manifest to write
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// The component that is run
    #[arg(long, value_name = "FILE", required_unless_present = "tournament")]
    pub(super) component: Option<PathBuf>,
    /// The folder of a finished tournament: what is claimed is its scorecard, and its secret is opened
    #[arg(long, value_name = "DIR", conflicts_with_all = ["component", "inputs", "metrics", "like"])]
    pub(super) tournament: Option<PathBuf>,
    /// A claimed value; numbers are decimals with as many digits as are given
    #[arg(long = "metric", value_name = "NAME=VALUE", required_unless_present_any = ["like", "tournament"])]
    pub(super) metrics: Vec<String>,
    /// Take title, arguments, metrics and limits from this document
    #[arg(long, value_name = "FILE", conflicts_with = "metrics")]
    pub(super) like: Option<PathBuf>,
    /// A pinned input
    #[arg(long = "input", value_name = "FILE")]
    pub(super) inputs: Vec<PathBuf>,
    /// What it is about
    #[arg(long, value_name = "TEXT")]
    pub(super) title: Option<String>,
    #[command(flatten)]
    pub(super) by: By,
    #[command(flatten)]
    pub(super) here: Here,
}

// A manifest to list.
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// The claim's id
    #[arg(value_name = "CLAIM")]
    pub(super) claim: String,
    /// Its manifest
    #[arg(value_name = "MANIFEST")]
    pub(super) manifest: PathBuf,
    /// What the submitter puts in
    #[arg(long, value_name = "AMOUNT")]
    pub(super) deposit: Amount,
    /// Mark it as a canary that this secret opens: 64 hexadecimal digits
    #[arg(long, value_name = "SECRET")]
    pub(super) canary: Option<Digest>,
    #[command(flatten)]
    pub(super) sources: Sources,
    #[command(flatten)]
    pub(super) by: By,
    #[command(flatten)]
    pub(super) here: Here,
}

// A round, of a party.
#[derive(Debug, clap::Args)]
pub(crate) struct Contribute {
    /// The party's chain, from `arena key chain`; the operator's own in the folder, if not given
    #[arg(long, value_name = "FILE")]
    pub(super) chain: Option<PathBuf>,
    /// The round; the one that the latest draw waits for, if not given
    #[arg(long, value_name = "N")]
    pub(super) round: Option<u64>,
    #[command(flatten)]
    pub(super) by: By,
    #[command(flatten)]
    pub(super) here: Here,
}

// A contribution.
#[derive(Debug, clap::Args)]
pub(crate) struct Fund {
    /// The claim
    #[arg(value_name = "CLAIM")]
    pub(super) claim: String,
    /// How much
    #[arg(value_name = "AMOUNT")]
    pub(super) amount: Amount,
    #[command(flatten)]
    pub(super) by: By,
    #[command(flatten)]
    pub(super) here: Here,
}

// A claim, for the operator.
#[derive(Debug, clap::Args)]
pub(crate) struct OfClaim {
    /// The claim
    #[arg(value_name = "CLAIM")]
    pub(super) claim: String,
    #[command(flatten)]
    pub(super) here: Here,
}

// A role that is not taken.
#[derive(Debug, clap::Args)]
pub(crate) struct Decline {
    /// The claim
    #[arg(value_name = "CLAIM")]
    pub(super) claim: String,
    /// Why; without a reason it costs standing
    #[arg(long, value_name = "TEXT")]
    pub(super) reason: Option<String>,
    #[command(flatten)]
    pub(super) by: By,
    #[command(flatten)]
    pub(super) here: Here,
}

// Inputs to check.
#[derive(Debug, clap::Args)]
pub(crate) struct Inputs {
    /// The claim
    #[arg(value_name = "CLAIM")]
    pub(super) claim: String,
    /// The folder with the inputs
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) from: PathBuf,
    #[command(flatten)]
    pub(super) by: By,
    #[command(flatten)]
    pub(super) here: Here,
}

// A run to make.
#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// The claim
    #[arg(value_name = "CLAIM")]
    pub(super) claim: String,
    /// What was measured elsewhere: metrics, fuel, log_sha256, outputs; nothing is run then
    #[arg(long, value_name = "FILE")]
    pub(super) results: Option<PathBuf>,
    #[command(flatten)]
    pub(super) sources: Sources,
    #[command(flatten)]
    pub(super) by: By,
    #[command(flatten)]
    pub(super) here: Here,
}

// A claim, for an agent with its key.
#[derive(Debug, clap::Args)]
pub(crate) struct Sealing {
    /// The claim
    #[arg(value_name = "CLAIM")]
    pub(super) claim: String,
    #[command(flatten)]
    pub(super) signed: Signed,
    #[command(flatten)]
    pub(super) here: Here,
}

// A challenge to make.
#[derive(Debug, clap::Args)]
pub(crate) struct Challenge {
    /// The claim
    #[arg(value_name = "CLAIM")]
    pub(super) claim: String,
    /// What was measured elsewhere: metrics, fuel, log_sha256, outputs; nothing is run then
    #[arg(long, value_name = "FILE")]
    pub(super) results: Option<PathBuf>,
    #[command(flatten)]
    pub(super) sources: Sources,
    #[command(flatten)]
    pub(super) signed: Signed,
    #[command(flatten)]
    pub(super) here: Here,
}

// An event of the log.
#[derive(Debug, clap::Args)]
pub(crate) struct GiveReceipt {
    /// The event's number, from 1; the last one, if not given
    #[arg(long, value_name = "N")]
    pub(super) seq: Option<u64>,
    /// The folder of the instance
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) dir: PathBuf,
    /// The time: Unix seconds or like 2026-11-30T17:08:00Z; the system's clock if not given
    #[arg(long, value_name = "TIME")]
    pub(super) at: Option<String>,
    #[command(flatten)]
    pub(super) output: Output,
}

// A ballot to commit.
#[derive(Debug, clap::Args)]
pub(crate) struct Review {
    /// The claim
    #[arg(value_name = "CLAIM")]
    pub(super) claim: String,
    /// The ballot
    #[arg(long, value_name = "FILE")]
    pub(super) ballot: PathBuf,
    #[command(flatten)]
    pub(super) signed: Signed,
    #[command(flatten)]
    pub(super) here: Here,
}

// Two runs to make.
#[derive(Debug, clap::Args)]
pub(crate) struct Reference {
    /// The claim
    #[arg(value_name = "CLAIM")]
    pub(super) claim: String,
    /// What each configuration measured elsewhere; nothing is run then
    #[arg(value_name = "RESULTS", num_args = 2)]
    pub(super) results: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) sources: Sources,
    #[command(flatten)]
    pub(super) here: Here,
}

// A corrected manifest.
#[derive(Debug, clap::Args)]
pub(crate) struct Relist {
    /// The claim
    #[arg(value_name = "CLAIM")]
    pub(super) claim: String,
    /// The corrected manifest
    #[arg(value_name = "MANIFEST")]
    pub(super) manifest: PathBuf,
    /// What the submitter puts in
    #[arg(long, value_name = "AMOUNT")]
    pub(super) deposit: Amount,
    #[command(flatten)]
    pub(super) sources: Sources,
    #[command(flatten)]
    pub(super) by: By,
    #[command(flatten)]
    pub(super) here: Here,
}

// A canary's secret.
#[derive(Debug, clap::Args)]
pub(crate) struct Canary {
    /// The claim
    #[arg(value_name = "CLAIM")]
    pub(super) claim: String,
    /// The secret it was marked with
    #[arg(value_name = "SECRET")]
    pub(super) secret: Digest,
    #[command(flatten)]
    pub(super) here: Here,
}
