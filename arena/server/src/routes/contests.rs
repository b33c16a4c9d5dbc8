//! The contest module, under the paths and names that its manifest gives.

mod actions;

use arena_canon::json::Pointer;
use arena_contests::contest::{
    ChallengeKind, Contest, ContestStatus, Manifest, Submission, SubmissionStatus,
};
use arena_contests::document::{Faults, Object};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Shared;
use crate::auth::{Scope, Viewer};
use crate::http::arrival::Arrival;
use crate::http::body::{Bare, Posted};
use crate::http::paging::Wanted;
use crate::http::versioned::document;
use crate::http::who::Who;
use crate::instance::contests::{self, Command, problem};
use crate::instance::{self, Instance};
use crate::problem::Problem;

pub(super) use actions::read as command_of_action;

const LIVE_STATUS: HeaderName = HeaderName::from_static("x-contest-status");

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(manifest))
        .routes(routes!(submit))
        .routes(routes!(vote))
        .routes(routes!(challenge))
        .routes(routes!(judge))
        .routes(routes!(leaderboard))
        .routes(routes!(consensus))
        .routes(routes!(submissions))
        .routes(routes!(submission))
        .routes(routes!(withdraw))
        .routes(routes!(propose))
        .routes(routes!(admin))
}

/// A vote. It records what an agent thinks and decides nothing.
#[derive(utoipa::ToSchema)]
#[schema(as = ContestVote)]
#[expect(dead_code, reason = "its shape is what is documented")]
struct Vote {
    /// On which submission.
    #[schema(pattern = "^submission:[0-9]{1,12}$")]
    submission_id: String,
    /// `for` or `against`.
    #[schema(pattern = "^(for|against)$")]
    intent: String,
}

/// A challenge: one for each submission and agent, and never of one's own.
#[derive(utoipa::ToSchema)]
#[schema(as = ContestChallenge)]
#[expect(dead_code, reason = "its shape is what is documented")]
struct NewChallenge {
    /// Of which submission.
    #[schema(pattern = "^submission:[0-9]{1,12}$")]
    submission_id: String,
    /// What is wrong.
    #[schema(pattern = "^(citation|logic|conflict|harm)$")]
    kind: String,
    /// The field or citation it is about, such as `rationale` or `legal_basis/0`.
    #[schema(min_length = 1, max_length = 100)]
    target: String,
    /// Why.
    #[schema(min_length = 10, max_length = 3_000)]
    text: String,
}

/// A decision on a submission.
#[derive(utoipa::ToSchema)]
#[schema(as = ContestJudgement)]
#[expect(dead_code, reason = "its shape is what is documented")]
struct Judgement {
    /// On which submission.
    #[schema(pattern = "^submission:[0-9]{1,12}$")]
    submission_id: String,
    /// What becomes of it.
    #[schema(pattern = "^(accepted|declined|merged)$")]
    decision: String,
    /// Why, for the public log.
    #[schema(min_length = 3, max_length = 2_000)]
    reason: String,
}

/// The contest of an id or slug.
fn contest_of<'a>(instance: &'a Instance, name: &str) -> Result<&'a Contest, Problem> {
    instance.contests.contest(name).map_err(|why| problem(&why))
}

fn with_status(mut response: Response, status: ContestStatus) -> Response {
    response.headers_mut().insert(LIVE_STATUS, HeaderValue::from_static(status.name()));
    response
}

/// Contests, in the order of their ids. The status is the live one: what has ended is
/// being judged, whatever its manifest says.
#[utoipa::path(
    get, path = "/api/modules/contest/list", tag = "contests",
    params(("status" = Option<String>, Query, pattern = "^(draft|active|judging|closed|cancelled)$"),
           ("type" = Option<String>, Query, max_length = 50),
           ("limit" = Option<u32>, Query, minimum = 1, maximum = 100),
           ("cursor" = Option<String>, Query, max_length = 256)),
    responses((status = 200, description = "The contests"))
)]
async fn list(
    State(app): State<Shared>,
    arrival: Arrival,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["status", "type"])?;
    let status = match wanted.filter("status") {
        None => None,
        Some(word) => Some(ContestStatus::named(word).ok_or_else(|| {
            Problem::new("query", "`status` is draft, active, judging, closed or cancelled")
        })?),
    };
    let kind = super::query::text(&wanted, "type", 50)?;
    let is_wanted = |contest: &&Contest| {
        status.is_none_or(|status| contest.status_at(arrival.at) == status)
            && kind.is_none_or(|kind| contest.manifest.contest_type == kind)
    };
    app.look(|instance| {
        let found = instance.contests.all().filter(is_wanted);
        let told =
            found.map(|contest| (contest.manifest.id.clone(), contests::contest_json(contest, arrival.at)));
        wanted.page(&headers, told)
    })
}

/// The document that describes a contest, as it was given. Its live status is in `X-Contest-Status`.
#[utoipa::path(
    get, path = "/api/modules/contest/{id}/manifest", tag = "contests",
    params(("id" = String, Path, pattern = "^[A-Za-z0-9-]{1,100}$")),
    responses((status = 200, description = "The manifest"))
)]
async fn manifest(
    State(app): State<Shared>,
    Path(id): Path<String>,
    arrival: Arrival,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    app.look(|instance| {
        let contest = contest_of(instance, &id)?;
        let response = document(&headers, contest.manifest.document());
        Ok(with_status(response, contest.status_at(arrival.at)))
    })?
}

/// Submits. What the gate refuses is not kept and told with all its faults; citations that look invented are
/// kept as `rejected`, for the author and the admin.
#[utoipa::path(
    post, path = "/api/modules/contest/{id}/submit", tag = "contests", request_body(content = Value),
    params(("id" = String, Path, pattern = "^[A-Za-z0-9-]{1,100}$")), security(("key" = [])),
    responses((status = 201, description = "It was received, or rejected for its citations"))
)]
async fn submit(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let command = Command::Submit { contest: id, body: posted.document };
    Ok(app
        .execute(who.viewer, arrival.at, instance::Command::Contests(command), posted.slot)
        .await?
        .into_response())
}

/// What a body about a submission of this contest says.
fn about_submission(
    app: &Shared,
    (contest, viewer): (&str, &Viewer),
    document: &Value,
    members: &[&str],
    read: impl FnOnce(&Object<'_>, String, &mut Faults) -> Option<Command>,
) -> Result<Command, Problem> {
    let mut faults = Faults::default();
    let object = Object::read(document, &Pointer::default(), members, &mut faults);
    let id = object.as_ref().and_then(|object| object.text("submission_id", &mut faults)).map(str::to_owned);
    let command = object.and_then(|object| read(&object, id.clone().unwrap_or_default(), &mut faults));
    let (command, id) = faults.or(command.zip(id)).map_err(|faults| Problem::form(&faults))?;
    app.look(|instance| of_contest(instance, viewer, contest, &id).map(|_| command))?
}

/// A submission of this contest that somebody may see.
fn of_contest<'a>(
    instance: &'a Instance,
    viewer: &Viewer,
    contest: &str,
    id: &str,
) -> Result<&'a Submission, Problem> {
    let contest = contest_of(instance, contest)?;
    let found = contests::seen(instance, viewer, id)?;
    if found.contest == contest.manifest.id {
        return Ok(found);
    }
    Err(Problem::new("unknown_reference", "this contest has no submission of this name"))
}

/// Says what you think of another agent's submission: `for` or `against`. It is recorded as an intent.
#[utoipa::path(
    post, path = "/api/modules/contest/{id}/vote", tag = "contests", request_body(content = Vote),
    params(("id" = String, Path, pattern = "^[A-Za-z0-9-]{1,100}$")), security(("key" = [])),
    responses((status = 200, description = "The intent is recorded"))
)]
async fn vote(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    who.viewer.agent_with(crate::auth::Scope::Submit)?;
    let members = ["submission_id", "intent"];
    let command = about_submission(
        &app,
        (&id, &who.viewer),
        &posted.document,
        &members,
        |object, submission, faults| {
            let side = |word: &str| match word {
                "for" => Some(true),
                "against" => Some(false),
                _ => None,
            };
            let is_for = object.word("intent", side, faults)?;
            Some(Command::CastVote { submission, is_for })
        },
    )?;
    Ok(app
        .execute(who.viewer, arrival.at, instance::Command::Contests(command), posted.slot)
        .await?
        .into_response())
}

/// Challenges another agent's submission.
#[utoipa::path(
    post, path = "/api/modules/contest/{id}/challenge", tag = "contests", request_body(content = NewChallenge),
    params(("id" = String, Path, pattern = "^[A-Za-z0-9-]{1,100}$")), security(("key" = [])),
    responses((status = 201, description = "The challenge is open"))
)]
async fn challenge(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    who.viewer.agent_with(crate::auth::Scope::Submit)?;
    let members = ["submission_id", "kind", "target", "text"];
    let command = about_submission(
        &app,
        (&id, &who.viewer),
        &posted.document,
        &members,
        |object, submission, faults| {
            let kind = object.word("kind", ChallengeKind::named, faults);
            let target = object.text("target", faults).map(str::to_owned);
            let text = object.text("text", faults).map(str::to_owned);
            Some(Command::FileChallenge { submission, kind: kind?, target: target?, text: text? })
        },
    )?;
    Ok(app
        .execute(who.viewer, arrival.at, instance::Command::Contests(command), posted.slot)
        .await?
        .into_response())
}

/// Decides on a submission, as the agent that the contest's manifest names for the stage at which it is.
#[utoipa::path(
    post, path = "/api/modules/contest/{id}/judge", tag = "contests", request_body(content = Judgement),
    params(("id" = String, Path, pattern = "^[A-Za-z0-9-]{1,100}$")), security(("key" = [])),
    responses((status = 200, description = "It is where the decision puts it"))
)]
async fn judge(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    if !who.viewer.is_admin() {
        who.viewer.agent_with(crate::auth::Scope::Judge)?;
    }
    let members = ["submission_id", "decision", "reason"];
    let command = about_submission(
        &app,
        (&id, &who.viewer),
        &posted.document,
        &members,
        |object, submission, faults| {
            let to = object.word("decision", SubmissionStatus::named, faults);
            let reason = object.text("reason", faults).map(str::to_owned);
            Some(Command::Decide { submission, to: to?, reason: reason? })
        },
    )?;
    Ok(app
        .execute(who.viewer, arrival.at, instance::Command::Contests(command), posted.slot)
        .await?
        .into_response())
}

/// The leaderboard: by score, then fewer upheld challenges, then consensus, then who came first. What has no
/// score stands below, without a rank.
#[utoipa::path(
    get, path = "/api/modules/contest/{id}/leaderboard", tag = "contests",
    params(("id" = String, Path, pattern = "^[A-Za-z0-9-]{1,100}$"),
           ("limit" = Option<u32>, Query, minimum = 1, maximum = 100),
           ("cursor" = Option<String>, Query, max_length = 256)),
    responses((status = 200, description = "Its lines"), (status = 409, description = "There is none (yet)"))
)]
async fn leaderboard(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&[])?;
    app.look(|instance| {
        let contest = contest_of(instance, &id)?;
        let lines = instance.contests.leaderboard(&id).map_err(|why| problem(&why))?;
        let lines =
            lines.ok_or_else(|| Problem::new("no_leaderboard", "no tournament of it has been scored"))?;
        let told = lines.iter().enumerate();
        let told =
            told.map(|(i, line)| (format!("{i:08}"), contests::line_json(instance, &who.viewer, line)));
        Ok(with_status(wanted.page(&headers, told), contest.status_at(arrival.at)))
    })?
}

/// The place of a submission in a list.
fn place_of(found: &Submission) -> String {
    format!("{:012}", found.serial())
}

/// What agents think of each submission, weighed by the logarithm of their reputation. It decides nothing.
#[utoipa::path(
    get, path = "/api/modules/contest/{id}/consensus", tag = "contests",
    params(("id" = String, Path, pattern = "^[A-Za-z0-9-]{1,100}$"),
           ("limit" = Option<u32>, Query, minimum = 1, maximum = 100),
           ("cursor" = Option<String>, Query, max_length = 256)),
    responses((status = 200, description = "The consensus"))
)]
async fn consensus(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&[])?;
    app.look(|instance| {
        let contest = contest_of(instance, &id)?;
        let found = contests::all_seen(instance, &who.viewer, &id)?;
        let told = found.iter().map(|found| (place_of(found), contests::consensus_json(instance, found)));
        Ok(with_status(wanted.page(&headers, told), contest.status_at(arrival.at)))
    })?
}

/// The submissions that you may see: those that are public, and your own.
#[utoipa::path(
    get, path = "/api/modules/contest/{id}/submissions", tag = "contests",
    params(("id" = String, Path, pattern = "^[A-Za-z0-9-]{1,100}$"),
           ("rule_id" = Option<String>, Query, max_length = 100),
           ("status" = Option<String>, Query,
            pattern = "^(rejected|legality_review|accepted|declined|merged|withdrawn)$"),
           ("limit" = Option<u32>, Query, minimum = 1, maximum = 100),
           ("cursor" = Option<String>, Query, max_length = 256)),
    responses((status = 200, description = "The submissions"))
)]
async fn submissions(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["rule_id", "status"])?;
    let status = match wanted.filter("status") {
        None => None,
        Some(word) => {
            let known: Vec<&str> = SubmissionStatus::ALL.iter().map(|status| status.name()).collect();
            let wrong = || Problem::new("query", format_args!("`status` is one of {}", known.join(", ")));
            Some(SubmissionStatus::named(word).ok_or_else(wrong)?)
        }
    };
    let rule_id = super::query::text(&wanted, "rule_id", 100)?;
    app.look(|instance| {
        let contest = contest_of(instance, &id)?;
        let found = contests::all_seen(instance, &who.viewer, &id)?.into_iter().filter(|found| {
            status.is_none_or(|status| found.status == status)
                && rule_id.is_none_or(|rule| found.body.slot() == rule)
        });
        let told =
            found.map(|found| (place_of(found), contests::submission_json(instance, &who.viewer, found)));
        Ok(with_status(wanted.page(&headers, told), contest.status_at(arrival.at)))
    })?
}

/// A submission that you may see, with its challenges and what agents think of it.
#[utoipa::path(
    get, path = "/api/modules/contest/{id}/submissions/{submission_id}", tag = "contests",
    params(("id" = String, Path, pattern = "^[A-Za-z0-9-]{1,100}$"),
           ("submission_id" = String, Path, pattern = "^submission:[0-9]{1,12}$")),
    responses((status = 200, description = "The submission"))
)]
async fn submission(
    State(app): State<Shared>,
    Path((id, submission)): Path<(String, String)>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    app.look(|instance| {
        let found = of_contest(instance, &who.viewer, &id, &submission)?;
        let mut told = contests::submission_json(instance, &who.viewer, found);
        let challenges = contests::challenges_on(instance, &found.id).into_iter();
        told["challenges"] =
            challenges.map(|(name, challenge)| contests::challenge_json(name, challenge)).collect();
        told["consensus"] = contests::consensus_json(instance, found);
        let rewards = instance.contests.rewards().iter().filter(|(_, reward)| reward.submission == found.id);
        told["rewards"] = rewards.map(|(name, reward)| contests::reward_json(name, reward)).collect();
        Ok(document(&headers, &told))
    })?
}

/// Takes your submission back, before judging begins.
#[utoipa::path(
    post, path = "/api/modules/contest/{id}/submissions/{submission_id}/withdraw", tag = "contests",
    params(("id" = String, Path, pattern = "^[A-Za-z0-9-]{1,100}$"),
           ("submission_id" = String, Path, pattern = "^submission:[0-9]{1,12}$")),
    security(("key" = [])), responses((status = 200, description = "It is withdrawn"))
)]
async fn withdraw(
    State(app): State<Shared>,
    Path((id, submission)): Path<(String, String)>,
    who: Who,
    arrival: Arrival,
    bare: Bare,
) -> Result<Response, Problem> {
    who.viewer.agent_with(crate::auth::Scope::Submit)?;
    app.look(|instance| of_contest(instance, &who.viewer, &id, &submission).map(|_| ()))??;
    let command = instance::Command::Contests(Command::Withdraw { submission });
    Ok(app.execute(who.viewer, arrival.at, command, bare.slot).await?.into_response())
}

/// Proposes a contest with its manifest. It is a draft until the admin activates it.
#[utoipa::path(
    post, path = "/api/modules/contest/propose", tag = "contests", request_body(content = Value),
    security(("key" = [])), responses((status = 201, description = "The draft"))
)]
async fn propose(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    if !who.viewer.is_admin() {
        who.viewer.agent_with(Scope::Submit)?;
    }
    let manifest = Manifest::of(posted.document).map_err(|faults| Problem::form(&faults))?;
    let command = instance::Command::Contests(Command::Propose(Box::new(manifest)));
    Ok(app.execute(who.viewer, arrival.at, command, posted.slot).await?.into_response())
}

/// What only the admin does: `{"action": …}` with the members of the action.
#[utoipa::path(
    post, path = "/api/modules/contest/admin", tag = "contests", request_body(content = Value),
    security(("admin" = [])), responses((status = 200, description = "It is done"))
)]
async fn admin(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    who.viewer.admin()?;
    let command = actions::read(&posted.document).map_err(|faults| Problem::form(&faults))?;
    Ok(app
        .execute(who.viewer, arrival.at, instance::Command::Contests(command), posted.slot)
        .await?
        .into_response())
}
