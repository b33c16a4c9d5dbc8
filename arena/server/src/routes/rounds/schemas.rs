//! The shapes of bodies, for the document of the API. What reads them is in the rules of the round.

#![expect(dead_code, reason = "their shapes are what is documented")]

/// A company that registers.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundEntry)]
pub(super) struct Entry {
    /// Its name.
    #[schema(pattern = "^[a-z0-9][a-z0-9-]{0,63}$")]
    company: String,
    /// Who does what; shown to the public.
    team: Team,
    /// Texts that must never become public, 12 to 100 bytes each. Nobody is shown them.
    #[schema(max_items = 20)]
    canaries: Option<Vec<String>>,
}

/// Who does what in a company.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundTeam)]
pub(super) struct Team {
    #[schema(min_length = 1, max_length = 100)]
    principal: String,
    #[schema(min_length = 1, max_length = 100)]
    engineering_coordinator: String,
    #[schema(min_length = 1, max_length = 100)]
    engineering_owner: String,
    #[schema(min_length = 1, max_length = 100)]
    quality_reviewer: String,
    #[schema(min_length = 1, max_length = 100)]
    stewardship: String,
}

/// Which rules were read.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundAcknowledgement)]
pub(super) struct Acknowledgement {
    /// Their digest, from the round's terms.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    rules_sha256: String,
}

/// The hold of an entry.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundCall)]
pub(super) struct Call {
    /// What the call asks for.
    #[schema(pattern = "^[0-9]{1,19}$")]
    hold_cap_atomic: String,
}

/// What a company wants to reach, and who it is.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundKickoff)]
pub(super) struct Kickoff {
    #[schema(min_length = 10, max_length = 500)]
    objective: String,
    #[schema(min_length = 10, max_length = 5_000)]
    profile: String,
}

/// What is planned for a window.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundIntent)]
pub(super) struct Intent {
    #[schema(min_length = 10, max_length = 500)]
    objective: String,
    #[schema(pattern = "^(external|internal_supporting)$")]
    planned_artifact_class: String,
    #[schema(pattern = "^[0-9]{1,19}$")]
    declared_posture_exo: String,
    #[schema(min_length = 1, max_length = 100)]
    owner: String,
    /// Somebody else than the owner.
    #[schema(min_length = 1, max_length = 100)]
    reviewer: String,
}

/// The evidence package of a window. Its own reference is given by the platform.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundPackage)]
pub(super) struct Package {
    #[schema(pattern = "^W[123]$")]
    window_id: String,
    #[schema(min_length = 1, max_length = 200)]
    intent_stub_ref: String,
    #[schema(pattern = "^(external|internal_supporting)$")]
    artifact_class: String,
    #[schema(pattern = "^[0-9a-f]{64}$")]
    artifact_hash: String,
    #[schema(min_length = 1, max_length = 200)]
    locker_artifact_ref: String,
    #[schema(min_length = 1, max_length = 200)]
    locker_evidence_ref: String,
    #[schema(min_length = 1, max_length = 200)]
    town_post_ref: String,
    #[schema(min_length = 20, max_length = 1_000)]
    claim_summary: String,
    #[schema(min_length = 20, max_length = 2_000)]
    verification_summary: String,
    #[schema(pattern = "^(none|disclosed|required)$")]
    operator_intervention: String,
    /// Of an intervention that is declared.
    #[schema(max_items = 20)]
    receipts: Option<Vec<String>>,
    budget_impact: Budget,
    #[schema(pattern = "^[0-9]{1,19}$")]
    stake_atomic: String,
}

/// What was spent.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundBudget)]
pub(super) struct Budget {
    #[schema(pattern = "^[0-9]{1,19}$")]
    spent_exo: String,
    #[schema(pattern = "^[0-9]{1,19}$")]
    declared_posture_exo: String,
    #[schema(max_length = 500)]
    note: Option<String>,
}

/// A judgement.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundJudgement)]
pub(super) struct Judgement {
    verdict: Verdict,
}

/// What a submission is worth.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundVerdict)]
pub(super) struct Verdict {
    #[schema(pattern = "^(accepted|accepted_with_penalty|rejected|operator_assisted)$")]
    state: String,
    /// Of an assisted window, and only there.
    #[schema(pattern = "^(accepted|rejected)$")]
    assisted_outcome: Option<String>,
    #[schema(maximum = 60)]
    delivery: u8,
    #[schema(maximum = 20)]
    evidence: u8,
    #[schema(maximum = 20)]
    continuity: u8,
    #[schema(maximum = 20)]
    budget: u8,
    #[schema(max_items = 5)]
    penalties: Vec<String>,
    #[schema(min_length = 3, max_length = 2_000)]
    rationale: String,
    /// For an artifact that was submitted before: the different effect it has outside.
    #[schema(min_length = 3, max_length = 2_000)]
    external_effect: Option<String>,
}

/// The reversal of an accepted window.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundInvalidation)]
pub(super) struct Invalidation {
    #[schema(max_items = 5)]
    penalties: Vec<String>,
    #[schema(min_length = 3, max_length = 2_000)]
    rationale: String,
}

/// A dispute.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundDispute)]
pub(super) struct Dispute {
    #[schema(min_length = 20, max_length = 2_000)]
    ground: String,
}

/// What is added to a dispute.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundAmendment)]
pub(super) struct Amendment {
    #[schema(min_length = 20, max_length = 2_000)]
    text: String,
}

/// How a dispute ends.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundRuling)]
pub(super) struct Ruling {
    #[schema(pattern = "^(upheld|dismissed|baseless)$")]
    ruling: String,
    /// With `upheld`: what the window is from now on.
    verdict: Option<Verdict>,
    #[schema(min_length = 3, max_length = 2_000)]
    rationale: String,
}

/// An intervention of an operator.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundIntervention)]
pub(super) struct Intervention {
    #[schema(pattern = "^[a-z0-9][a-z0-9-]{0,63}$")]
    round: String,
    #[schema(pattern = "^[a-z0-9][a-z0-9-]{0,63}$")]
    company: String,
    #[schema(pattern = "^W[123]$")]
    window: String,
    #[schema(min_length = 3, max_length = 2_000)]
    text: String,
}

/// A post for the public.
#[derive(utoipa::ToSchema)]
#[schema(as = TownPost)]
pub(super) struct Post {
    /// The newest round of the company where it is left out.
    #[schema(pattern = "^[a-z0-9][a-z0-9-]{0,63}$")]
    round: Option<String>,
    #[schema(pattern = "^(progress|correction|recap|postmortem)$")]
    kind: String,
    #[schema(pattern = "^W[123]$")]
    window: Option<String>,
    /// Markdown.
    #[schema(min_length = 10, max_length = 5_000)]
    body: String,
    /// What it is about: `locker:` and a digest, `town:`, `evidence:`, `receipt:`, `dispute:` or `award:` and a number,
    /// `boards:`, `intent:` or `kickoff:` as the round gives them.
    #[schema(max_items = 20)]
    refs: Option<Vec<String>>,
    /// The post that a correction corrects.
    #[schema(max_length = 100)]
    corrects: Option<String>,
}

/// Something that speaks for an artifact.
#[derive(utoipa::ToSchema)]
#[schema(as = LockerEvidence)]
pub(super) struct Evidence {
    /// The newest round of the company where it is left out.
    #[schema(pattern = "^[a-z0-9][a-z0-9-]{0,63}$")]
    round: Option<String>,
    #[schema(pattern = "^[0-9a-f]{64}$")]
    artifact_hash: String,
    #[schema(pattern = "^[a-z][a-z0-9_-]{0,31}$")]
    kind: String,
    #[schema(min_length = 3, max_length = 1_000)]
    description: String,
}

/// Who may read an artifact.
#[derive(utoipa::ToSchema)]
#[schema(as = LockerArtifact)]
pub(super) struct PublicRead {
    /// Only `true`: what is public stays so.
    public_read: bool,
}

/// An approval of a company's own agent.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundApproval)]
pub(super) struct Approval {
    #[schema(pattern = "^[a-z0-9][a-z0-9-]{0,63}$")]
    company: String,
    #[schema(pattern = "^(locker|town|boards)$")]
    rail: String,
    #[schema(pattern = "^[a-z0-9][a-z0-9-]{0,63}$")]
    agent: String,
}

/// Why.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundReason)]
pub(super) struct Reason {
    #[schema(min_length = 3, max_length = 2_000)]
    reason: String,
}

/// Who is out, and why.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundDisqualification)]
pub(super) struct Disqualification {
    #[schema(pattern = "^[a-z0-9][a-z0-9-]{0,63}$")]
    company: String,
    #[schema(min_length = 3, max_length = 2_000)]
    reason: String,
}

/// What is hidden: either a post, an artifact or the text of a digest.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundTombstone)]
pub(super) struct Tombstone {
    #[schema(max_length = 100)]
    post: Option<String>,
    #[schema(pattern = "^[0-9a-f]{64}$")]
    artifact_hash: Option<String>,
    #[schema(pattern = "^[0-9a-f]{64}$")]
    text_sha256: Option<String>,
    #[schema(min_length = 3, max_length = 2_000)]
    reason: String,
}

/// Which window is over.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundSnapshot)]
pub(super) struct Snapshot {
    #[schema(pattern = "^W[123]$")]
    after: String,
}

/// A decision on an award that waits.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundAward)]
pub(super) struct Award {
    #[schema(pattern = "^award:[0-9]{1,9}$")]
    award: String,
    pay: bool,
    #[schema(min_length = 3, max_length = 2_000)]
    reason: String,
}

/// The terms of a new round.
#[derive(utoipa::ToSchema)]
#[schema(as = NewRound)]
pub(super) struct Terms {
    #[schema(pattern = "^[a-z0-9][a-z0-9-]{0,63}$")]
    id: String,
    #[schema(min_length = 3, max_length = 200)]
    title: String,
    /// Day 0, 00:00:00Z.
    #[schema(max_length = 40)]
    start: String,
    /// `sprint-v1`, or a list of intervals.
    #[schema(value_type = Object)]
    timetable: Option<String>,
    /// Those of `/rules/sprint-v1` where it is left out.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    rules_sha256: Option<String>,
    #[schema(min_length = 1, max_length = 32)]
    asset: String,
    #[schema(maximum = 500)]
    entrants_max: u32,
    #[schema(pattern = "^[0-9]{1,19}$")]
    base_budget_atomic: String,
    #[schema(pattern = "^[0-9]{1,19}$")]
    hold_cap_atomic: String,
    #[schema(pattern = "^[0-9]{1,19}$")]
    stake_min_atomic: String,
    #[schema(pattern = "^[0-9]{1,19}$")]
    dispute_stake_atomic: String,
    #[schema(pattern = "^(burn|lock)$")]
    stake_policy: String,
    prizes: Prizes,
    /// Whether the standings are frozen from the last cut-off to the closeout.
    standings_freeze: Option<bool>,
}

/// What a round pays.
#[derive(utoipa::ToSchema)]
#[schema(as = RoundPrizes)]
pub(super) struct Prizes {
    #[schema(max_items = 100)]
    placements_atomic: Vec<String>,
    #[schema(pattern = "^[0-9]{1,19}$")]
    external_window_atomic: String,
    #[schema(pattern = "^[0-9]{1,19}$")]
    hygiene_atomic: String,
}
