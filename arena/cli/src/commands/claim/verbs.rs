//! The verbs of a claim's life, with their arguments and their help.

use std::path::PathBuf;

use arena_canon::Digest;
use arena_ledger::Amount;

use super::material::Sources;
use crate::commands::Output;

/// Where and when.
#[derive(Debug, clap::Args)]
pub(crate) struct Here {
    /// The folder of the instance
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) dir: PathBuf,

    /// The time: Unix seconds or like 2026-11-30T17:08:00Z; the system's clock if not given
    #[arg(long, value_name = "TIME")]
    pub(super) at: Option<String>,

    /// A round of drand as its API gives it, where a draw is committed or resolved
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
    #[command(
        after_help = "Examples:\n  arena claim init --name test-lab --beacon test\n  arena claim init --name lab --dir lab"
    )]
    Init {
        /// The instance's name; a test beacon needs one that starts with `test-`
        #[arg(long, value_name = "NAME")]
        name: String,
        /// Where luck comes from
        #[arg(long = "beacon", value_name = "KIND", default_value = "drand-quicknet")]
        #[arg(value_parser = ["drand-quicknet", "test"])]
        source: String,
        /// Who runs it
        #[arg(long, value_name = "NAME", default_value = "operator")]
        operator: String,
        /// Parameters other than the published ones
        #[arg(long, value_name = "FILE")]
        params: Option<PathBuf>,
        /// The folder
        #[arg(long, value_name = "DIR", default_value = ".")]
        dir: PathBuf,
    },
    /// Make an agent known, with its operator and key
    #[command(after_help = "Examples:\n  arena claim agent rex --operator acme --key rex.key --can wasm")]
    Agent {
        /// The agent's name
        #[arg(value_name = "AGENT")]
        agent: String,
        /// Who runs it
        #[arg(long, value_name = "NAME")]
        operator: String,
        /// Its key, from `arena key new`
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// What it can do
        #[arg(long = "can", value_name = "TAG")]
        can: Vec<String>,
        #[command(flatten)]
        here: Here,
    },
    /// Bring money in
    #[command(after_help = "Examples:\n  arena claim deposit 20000 --as rex")]
    Deposit {
        /// How much
        #[arg(value_name = "AMOUNT")]
        amount: Amount,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        here: Here,
    },
    /// Take money out
    #[command(after_help = "Examples:\n  arena claim payout 500 --as rex")]
    Payout {
        /// How much
        #[arg(value_name = "AMOUNT")]
        amount: Amount,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        here: Here,
    },
    /// Say that the agent has a market position on a claim
    #[command(after_help = "Examples:\n  arena claim position c1 --as rex")]
    Position {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        here: Here,
    },
    /// Write a manifest for a component and what it is claimed to measure
    #[command(after_help = "\
Examples:
  arena claim new manifest.json --as sue --component run.wasm --metric elo=1532.25
  arena claim new manifest.json --as sue --component run.wasm --like claim.json --input prices.csv")]
    New {
        /// The manifest to write
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The component that is run
        #[arg(long, value_name = "FILE")]
        component: PathBuf,
        /// A claimed value; numbers are decimals with as many digits as are given
        #[arg(long = "metric", value_name = "NAME=VALUE", required_unless_present = "like")]
        metrics: Vec<String>,
        /// Take title, arguments, metrics and limits from this document
        #[arg(long, value_name = "FILE", conflicts_with = "metrics")]
        like: Option<PathBuf>,
        /// A pinned input
        #[arg(long = "input", value_name = "FILE")]
        inputs: Vec<PathBuf>,
        /// What it is about
        #[arg(long, value_name = "TEXT")]
        title: Option<String>,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        here: Here,
    },
    /// List a claim, if what it pins is admitted; its component and inputs are kept in the folder
    #[command(after_help = "\
Examples:
  arena claim list c1 manifest.json --deposit 500 --as sue --component run.wasm --inputs data")]
    List {
        /// The claim's id
        #[arg(value_name = "CLAIM")]
        claim: String,
        /// Its manifest
        #[arg(value_name = "MANIFEST")]
        manifest: PathBuf,
        /// What the submitter puts in
        #[arg(long, value_name = "AMOUNT")]
        deposit: Amount,
        /// Mark it as a canary that this secret opens: 64 hexadecimal digits
        #[arg(long, value_name = "SECRET")]
        canary: Option<Digest>,
        #[command(flatten)]
        sources: Sources,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        here: Here,
    },
    /// Add to a claim's pool; at its minimum, the job opens
    #[command(after_help = "Examples:\n  arena claim fund c1 3500 --as fay")]
    Fund {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        /// How much
        #[arg(value_name = "AMOUNT")]
        amount: Amount,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        here: Here,
    },
    /// Take contributions back from a claim that has not opened
    #[command(after_help = "Examples:\n  arena claim withdraw c1 --as fay")]
    Withdraw {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        here: Here,
    },
    /// Commit the draw that a claim waits for, before its round exists
    #[command(after_help = "Examples:\n  arena claim open c1 --beacon latest.json")]
    Open {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        #[command(flatten)]
        here: Here,
    },
    /// Resolve the committed draw with its round's proof
    #[command(after_help = "Examples:\n  arena claim assign c1 --beacon round.json")]
    Assign {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        #[command(flatten)]
        here: Here,
    },
    /// Accept the run, or the audit
    #[command(after_help = "Examples:\n  arena claim accept c1 --as rex")]
    Accept {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        here: Here,
    },
    /// Decline a role one was drawn for
    #[command(after_help = "Examples:\n  arena claim decline c1 --as rex --reason busy")]
    Decline {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        /// Why; without a reason it costs standing
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        here: Here,
    },
    /// Check the pinned inputs; a mismatch ends the claim
    #[command(after_help = "Examples:\n  arena claim inputs c1 --as rex --from data")]
    Inputs {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        /// The folder with the inputs
        #[arg(long, value_name = "DIR", default_value = ".")]
        from: PathBuf,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        here: Here,
    },
    /// Run what the claim pins, after its inputs were checked, and make the runner's record; nothing is
    /// published
    #[command(
        after_help = "Examples:\n  arena claim run c1 --as rex\n  arena claim run c1 --as rex --results results.json"
    )]
    Run {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        /// What was measured elsewhere: metrics, fuel, log_sha256, outputs; nothing is run then
        #[arg(long, value_name = "FILE")]
        results: Option<PathBuf>,
        #[command(flatten)]
        sources: Sources,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        here: Here,
    },
    /// Commit the runner's record without showing it
    #[command(after_help = "Examples:\n  arena claim commit c1 --as rex --key rex.key")]
    Commit {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        #[command(flatten)]
        signed: Signed,
        #[command(flatten)]
        here: Here,
    },
    /// Run what the claim pins and commit the record as a challenge, without showing it
    #[command(after_help = "\
Examples:
  arena claim challenge c1 --as dan --key dan.key
  arena claim challenge c1 --as dan --key dan.key --results results.json")]
    Challenge {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        /// What was measured elsewhere: metrics, fuel, log_sha256, outputs; nothing is run then
        #[arg(long, value_name = "FILE")]
        results: Option<PathBuf>,
        #[command(flatten)]
        sources: Sources,
        #[command(flatten)]
        signed: Signed,
        #[command(flatten)]
        here: Here,
    },
    /// Reveal what was committed: a run, a challenge or a vote
    #[command(after_help = "Examples:\n  arena claim reveal c1 --as rex --key rex.key")]
    Reveal {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        #[command(flatten)]
        signed: Signed,
        #[command(flatten)]
        here: Here,
    },
    /// Say whether a run is audited and by whom; for the operator alone
    #[command(after_help = "Examples:\n  arena claim audit c1")]
    Audit {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        #[command(flatten)]
        here: Here,
    },
    /// Commit a vote on a dispute without showing it
    #[command(after_help = "\
A ballot:
  {\"verdict\": \"runner_wrong\", \"confirms\": [\"dan\"], \"rerun_sha256\": null,
   \"rationale\": [{\"cmp\": \"C3\", \"metric\": \"elo\"}]}

Examples:
  arena claim review c1 --as rae --key rae.key --ballot ballot.json")]
    Review {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        /// The ballot
        #[arg(long, value_name = "FILE")]
        ballot: PathBuf,
        #[command(flatten)]
        signed: Signed,
        #[command(flatten)]
        here: Here,
    },
    /// Ask for the reference against a panel's verdict, for a bond
    #[command(after_help = "Examples:\n  arena claim appeal c1 --as rex")]
    Appeal {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        here: Here,
    },
    /// Run what the claim pins on two host configurations and publish the reference's two records
    #[command(
        after_help = "Examples:\n  arena claim reference c1\n  arena claim reference c1 pooled.json on-demand.json"
    )]
    Reference {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        /// What each configuration measured elsewhere; nothing is run then
        #[arg(value_name = "RESULTS", num_args = 2)]
        results: Vec<PathBuf>,
        #[command(flatten)]
        sources: Sources,
        #[command(flatten)]
        here: Here,
    },
    /// List a flagged claim again, corrected
    #[command(after_help = "Examples:\n  arena claim relist c1 corrected.json --deposit 500 --as sue")]
    Relist {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        /// The corrected manifest
        #[arg(value_name = "MANIFEST")]
        manifest: PathBuf,
        /// What the submitter puts in
        #[arg(long, value_name = "AMOUNT")]
        deposit: Amount,
        #[command(flatten)]
        sources: Sources,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        here: Here,
    },
    /// Open a canary after its end
    #[command(after_help = "\
Examples:
  arena claim canary c1 00000000000000000000000000000000000000000000000000000000000000aa")]
    Canary {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        /// The secret it was marked with
        #[arg(value_name = "SECRET")]
        secret: Digest,
        #[command(flatten)]
        here: Here,
    },
    /// Let time pass: deadlines, and what follows from them
    #[command(
        after_help = "Examples:\n  arena claim tick c1\n  arena claim tick c1 --at 2026-12-01T18:00:00Z"
    )]
    Tick {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: String,
        #[command(flatten)]
        here: Here,
    },
}
