//! The desk of a round: forms for a company, those who judge, and whoever runs the platform. Each gives the command
//! that the API gives.

use std::collections::BTreeMap;

use arena_canon::Digest;
use arena_contests::sprint::round::{Command, Target};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use futures_util::{Stream, StreamExt as _};

use super::round_pages::{again, onward, see};
use super::rounds::{Upload, command, execute, found_artifact, store_artifact};
use super::web::page;
use crate::app::Shared;
use crate::auth::{Scope, Viewer};
use crate::http::arrival::Arrival;
use crate::http::body::{Form, check_token};
use crate::http::limit::{Class, Counted};
use crate::http::paging::Wanted;
use crate::http::parts::{Part, Parts};
use crate::http::who::Who;
use crate::instance::rounds::{Act, submission_id, visible};
use crate::pages::contests::Refused;
use crate::pages::rounds::{self as pages, ARTIFACT_FORM, DESK_COMMANDS};
use crate::problem::Problem;

/// Bytes of a small field of a form with a file.
const FIELD_BYTES_MAX: usize = 1_024;
const MEDIA_TYPE_BYTES_MAX: usize = 100;
/// What is said of a file where the browser does not know.
const UNKNOWN_TYPE: &str = "application/octet-stream";

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/rounds/{round}/desk", get(desk).post(act))
        .route("/rounds/{round}/desk/artifact", post(artifact))
}

fn shown(
    app: &Shared,
    (id, who, arrival): (&str, &Who, &Arrival),
    wanted: Option<&Wanted>,
    refused: Option<&Refused<'_>>,
) -> Result<Response, Problem> {
    app.look(|instance| {
        let seen = visible(instance, &who.viewer, id, arrival.at)?;
        let filled: pages::Filled<'_> = &|name| wanted.and_then(|wanted| wanted.filter(name));
        Ok(page(pages::desk_page(&see(who, arrival), &seen, filled, refused)))
    })?
}

async fn desk(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["target"])?;
    shown(&app, (&id, &who, &arrival), Some(&wanted), None)
}

/// Whoever may not act at all is told so, and nothing of what was sent.
fn check_known(who: &Who) -> Result<(), Problem> {
    match &who.viewer {
        Viewer::Anonymous => Err(Problem::new("unauthorized", "this needs a key or a session")),
        _ => Ok(()),
    }
}

/// What is not for whoever asks is told on a page of its own; everything else beside the form.
fn is_of_form(problem: &Problem) -> bool {
    !matches!(problem.code(), "unauthorized" | "scope_missing" | "wrong_actor" | "internal")
}

/// The command of a form, with what the address and the session say.
fn asked(
    app: &Shared,
    (id, who, arrival): (&str, &Who, &Arrival),
    fields: &BTreeMap<String, String>,
) -> Result<Act, Problem> {
    let name = pages::command_of(fields);
    if !DESK_COMMANDS.contains(&name) {
        return Err(Problem::new("form", "no form of ours asks for this"));
    }
    let command = command(name, &pages::members_of(fields), &[]);
    let company = fields.get("company").filter(|_| name == "register").map(|text| text.trim().to_owned());
    let company = company.filter(|company| !company.is_empty());
    if name == "register" && company.is_none() {
        let mut problem = command.err().unwrap_or_else(|| Problem::new("form", "the form is not filled in"));
        problem.push("/company", "form", "expected the name of the company");
        return Err(problem);
    }
    let command = command?;
    if let Command::PutEvidence { artifact, .. } | Command::GrantPublicRead { artifact } = &command {
        // Another's private artifact is not there.
        app.look(|instance| found_artifact(instance, who, arrival, artifact, Some(id)).map(|_| ()))??;
    }
    let is_versioned =
        matches!(command, Command::PublishKickoff { .. } | Command::PutIntent { .. } | Command::Submit(_));
    let if_match = Some(pages::version_of_form(fields).unwrap_or_default()).filter(|_| is_versioned);
    Ok(Act { round: id.to_owned(), company, command, text: None, if_match })
}

/// Where what was done is shown.
fn result_of(app: &Shared, (id, who, arrival): (&str, &Who, &Arrival), command: &Command) -> String {
    match command {
        Command::Hide { target: Target::Post(_), .. } => format!("/town?round={id}"),
        Command::Hide { target: Target::Artifact(digest), .. }
        | Command::GrantPublicRead { artifact: digest }
        | Command::PutEvidence { artifact: digest, .. } => format!("/locker/{digest}"),
        Command::Submit(package) => {
            let own = app.look(|instance| {
                let seen = visible(instance, &who.viewer, id, arrival.at).ok()?;
                seen.own.map(|own| submission_id(id, own, package.window))
            });
            own.ok().flatten().map_or_else(|| format!("/rounds/{id}/desk"), |it| format!("/submissions/{it}"))
        }
        _ => format!("/rounds/{id}/desk"),
    }
}

/// A submission at the desk is one as any other: as many a minute, and no more.
fn check_rate(app: &Shared, (who, arrival): (&Who, &Arrival), command: &Command) -> Result<(), Problem> {
    if !matches!(command, Command::Submit(_)) {
        return Ok(());
    }
    let (key, agent) = (who.key.as_deref(), who.viewer.agent());
    app.limiter.check(Class::Submit, Counted { key, agent, address: arrival.address })
}

/// Has it done; tells where what was done is shown.
async fn carry_out(
    app: &Shared,
    (id, who, arrival): (&str, &Who, &Arrival),
    fields: &BTreeMap<String, String>,
) -> Result<String, Problem> {
    let act = asked(app, (id, who, arrival), fields)?;
    check_rate(app, (who, arrival), &act.command)?;
    let command = act.command.clone();
    execute(app, who.viewer.clone(), arrival.at, act, None).await?;
    Ok(result_of(app, (id, who, arrival), &command))
}

async fn act(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    Form(fields): Form,
) -> Result<Response, Problem> {
    check_known(&who)?;
    let at = (id.as_str(), &who, &arrival);
    app.look(|instance| visible(instance, &who.viewer, &id, arrival.at).map(|_| ()))??;
    match carry_out(&app, at, &fields).await {
        Ok(path) => Ok(onward(&path)),
        Err(problem) if is_of_form(&problem) => {
            let told = pages::at_fields(&problem, &fields);
            let form = pages::sent_form(&fields);
            let refused = Refused { form: &form, fields: &fields, problem: &told };
            let mut response = again(&problem, shown(&app, at, None, Some(&refused)))?;
            // When to try again.
            problem.put_headers(&mut response);
            Ok(response)
        }
        Err(problem) => Err(problem),
    }
}

fn of_file(problem: &Problem) -> Problem {
    let mut told = problem.clone().without_errors();
    let errors = problem.errors().iter().map(|error| (error.code, error.detail.as_str()));
    let whole = (problem.code(), problem.detail());
    let all: Vec<_> = if problem.errors().is_empty() { vec![whole] } else { errors.collect() };
    all.into_iter().for_each(|(code, detail)| told.push("/file", code, detail));
    told
}

/// The bytes of a file that ends where its form ends. What is wrong after it breaks it off and is put into `wrong`, so
/// that nothing is kept of a form that is refused.
fn last<'a>(
    file: Part,
    parts: &'a mut Parts,
    wrong: &'a mut Option<Problem>,
) -> impl Stream<Item = Result<Bytes, multer::Error>> + Send + Unpin + 'a {
    let pieces =
        futures_util::stream::unfold((Some(file), parts, wrong), |(file, parts, wrong)| async move {
            let mut file = file?;
            if let Some(piece) = file.next().await {
                // After one that cannot be read there is none.
                let file = Some(file).filter(|_| piece.is_ok());
                return Some((piece, (file, parts, wrong)));
            }
            // The next part is not looked for before this one is gone.
            drop(file);
            let after = match parts.next().await {
                Ok(None) => return None,
                // What follows the file would be another one.
                Ok(Some(_)) => Problem::new("query", "one file at a time"),
                Err(problem) => problem,
            };
            *wrong = Some(after);
            Some((Err(multer::Error::IncompleteStream), (None, parts, wrong)))
        });
    Box::pin(pieces.fuse())
}

/// Stores the file of a form. One that is refused is read to its end all the same, if it is not too long: a browser
/// shows no answer before it has sent everything.
async fn take_in(
    app: &Shared,
    at: (&Who, &Arrival),
    upload: Upload<'_>,
    (file, parts): (Part, &mut Parts),
) -> Result<Digest, Problem> {
    let mut wrong = None;
    let stored = {
        let mut pieces = last(file, parts, &mut wrong);
        let stored = store_artifact(app, at, upload, &mut pieces).await;
        let mut left = Some(app.config.limits.blob_bytes).filter(|_| stored.is_err());
        while let Some(room) = left
            && let Some(Ok(piece)) = pieces.next().await
        {
            left = room.checked_sub(piece.len());
        }
        stored
    };
    match wrong {
        Some(wrong) => Err(wrong),
        None => stored.map_err(|why| of_file(&why)),
    }
}

/// Reads the parts of the form in their order: its token, whether everybody may read the file, the file.
async fn store(
    app: &Shared,
    (id, who, arrival): (&str, &Who, &Arrival),
    request: Request,
    fields: &mut BTreeMap<String, String>,
) -> Result<Digest, Problem> {
    let mut parts = Parts::of(request)?;
    let first = parts.next().await?.filter(|part| part.name() == "csrf");
    let token = match first {
        Some(part) => part.text(FIELD_BYTES_MAX).await?,
        None => String::new(),
    };
    check_token(who, &token)?;
    while let Some(part) = parts.next().await? {
        match part.name() {
            "public_read" if fields.is_empty() => {
                let value = part.text(FIELD_BYTES_MAX).await?;
                fields.insert("public_read".to_owned(), value);
            }
            "file" => {
                if part.is_nameless() {
                    return Err(of_file(&Problem::new("form", "choose a file")));
                }
                let public_read = fields.get("public_read").is_some_and(|value| value == "on");
                let media_type =
                    part.media_type(MEDIA_TYPE_BYTES_MAX).unwrap_or_else(|| UNKNOWN_TYPE.to_owned());
                let upload = Upload { round: id, digest: None, media_type, public_read };
                return take_in(app, (who, arrival), upload, (part, &mut parts)).await;
            }
            _ => return Err(Problem::new("query", "a field is not one of this form")),
        }
    }
    Err(of_file(&Problem::new("form", "choose a file")))
}

async fn artifact(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    request: Request,
) -> Result<Response, Problem> {
    who.viewer.agent_with(Scope::Submit)?;
    let at = (id.as_str(), &who, &arrival);
    app.look(|instance| visible(instance, &who.viewer, &id, arrival.at).map(|_| ()))??;
    let mut fields = BTreeMap::new();
    match store(&app, at, request, &mut fields).await {
        Ok(digest) => Ok(onward(&format!("/locker/{digest}"))),
        Err(problem) if is_of_form(&problem) => {
            let refused = Refused { form: ARTIFACT_FORM, fields: &fields, problem: &problem };
            again(&problem, shown(&app, at, None, Some(&refused)))
        }
        Err(problem) => Err(problem),
    }
}
