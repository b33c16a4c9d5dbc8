use arena_canon::Digest;
use arena_canon::json::Value;
use arena_ledger::Amount;

use crate::envelope::PublicKey;
use crate::manifest::Input;

/// A command with everything that it depends on and that no rule can know.
#[derive(Debug, Clone)]
pub struct Stamped {
    /// Unix time. It never goes back.
    pub at: u64,
    /// Who commands: an agent, or the operator of the instance.
    pub by: String,
    /// The latest round of the beacon, where a draw is to be committed. Without it, draws wait.
    pub seen: Option<Seen>,
    /// A fresh secret of the instance, where an audit is to be committed. Without it, audits wait.
    pub salt: Option<Digest>,
    /// What is to be done.
    pub command: Command,
}

/// A round of the beacon that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Its number.
    pub round: u64,
    /// Its proof.
    pub proof: Vec<u8>,
}

/// What can be done. Each is one verb of the command line.
#[derive(Debug, Clone)]
pub enum Command {
    /// Makes an agent known, with its operator, its key and what it can do.
    Register {
        /// Who runs it.
        operator: String,
        /// What its records are signed by.
        key: PublicKey,
        /// Capability tags.
        capabilities: Vec<String>,
    },
    /// Brings money in.
    Deposit {
        /// How much.
        amount: Amount,
    },
    /// Takes money out.
    PayOut {
        /// How much.
        amount: Amount,
    },
    /// Says that the agent has a position on the claim in some market.
    DeclarePosition {
        /// The claim.
        claim: String,
    },
    /// Lists a claim.
    List {
        /// Its id.
        claim: String,
        /// Its manifest.
        manifest: Value,
        /// What the submitter puts in.
        deposit: Amount,
        /// What marks it as a canary once it is opened.
        canary: Option<Digest>,
    },
    /// Adds to the pool.
    Fund {
        /// The claim.
        claim: String,
        /// How much.
        amount: Amount,
    },
    /// Takes contributions back from a claim that has not opened.
    Withdraw {
        /// The claim.
        claim: String,
    },
    /// Reveals what a party's chain gives in a round.
    RevealRound {
        /// The round.
        round: u64,
        /// What it gives.
        preimage: Digest,
    },
    /// Commits the draw that the claim waits for.
    CommitDraw {
        /// The claim.
        claim: String,
    },
    /// Resolves the draw that is committed.
    ResolveDraw {
        /// The claim.
        claim: String,
        /// The round's proof.
        proof: Vec<u8>,
    },
    /// Accepts the run, or the audit.
    Accept {
        /// The claim.
        claim: String,
    },
    /// Declines a role before anything is committed.
    Decline {
        /// The claim.
        claim: String,
        /// Why; nothing lowers standing.
        reason: Option<String>,
    },
    /// Says what the inputs are. They are checked before anything is run.
    CheckInputs {
        /// The claim.
        claim: String,
        /// As they were found.
        found: Vec<Input>,
    },
    /// Commits the run.
    CommitRun {
        /// The claim.
        claim: String,
        /// The commitment.
        digest: Digest,
    },
    /// Commits a challenge.
    CommitChallenge {
        /// The claim.
        claim: String,
        /// The commitment.
        digest: Digest,
    },
    /// Reveals a run or a challenge.
    Reveal {
        /// The claim.
        claim: String,
        /// The nonce of the commitment.
        nonce: Digest,
        /// The signed record.
        envelope: Value,
    },
    /// Commits a vote.
    CommitVote {
        /// The claim.
        claim: String,
        /// The commitment.
        digest: Digest,
    },
    /// Reveals a vote.
    RevealVote {
        /// The claim.
        claim: String,
        /// The nonce of the commitment.
        nonce: Digest,
        /// The ballot.
        ballot: Value,
    },
    /// Asks for the reference against a panel.
    Appeal {
        /// The claim.
        claim: String,
    },
    /// Publishes the reference's records.
    PublishReference {
        /// The claim.
        claim: String,
        /// One for each host configuration.
        records: Vec<Value>,
    },
    /// Lists a flagged claim again, corrected.
    Relist {
        /// The claim.
        claim: String,
        /// The corrected manifest.
        manifest: Value,
        /// What the submitter puts in.
        deposit: Amount,
    },
    /// Opens a canary after it was settled.
    OpenCanary {
        /// The claim.
        claim: String,
        /// What its mark was made with.
        salt: Digest,
    },
    /// Nothing but the passing of time.
    Tick {
        /// The claim.
        claim: String,
    },
}

impl Command {
    /// The claim it is about.
    pub fn claim(&self) -> Option<&str> {
        match self {
            Self::Register { .. } | Self::Deposit { .. } | Self::PayOut { .. } | Self::RevealRound { .. } => {
                None
            }
            Self::DeclarePosition { claim }
            | Self::List { claim, .. }
            | Self::Fund { claim, .. }
            | Self::Withdraw { claim }
            | Self::CommitDraw { claim }
            | Self::ResolveDraw { claim, .. }
            | Self::Accept { claim }
            | Self::Decline { claim, .. }
            | Self::CheckInputs { claim, .. }
            | Self::CommitRun { claim, .. }
            | Self::CommitChallenge { claim, .. }
            | Self::Reveal { claim, .. }
            | Self::CommitVote { claim, .. }
            | Self::RevealVote { claim, .. }
            | Self::Appeal { claim }
            | Self::PublishReference { claim, .. }
            | Self::Relist { claim, .. }
            | Self::OpenCanary { claim, .. }
            | Self::Tick { claim } => Some(claim),
        }
    }
}
