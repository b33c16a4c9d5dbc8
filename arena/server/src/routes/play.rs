//! The human seat: sessions, the choice of a pack, and the form that acts. It acts through the same function
//! as the API.

use std::collections::BTreeMap;

use arena_engine::campus::{Given, RawAction};
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};

use super::web::{page, shown};
use crate::app::{App, Shared};
use crate::auth::{Key, Scope, Scopes, Viewer};
use crate::http::arrival::Arrival;
use crate::http::body::Form;
use crate::http::limit::{Class, Counted};
use crate::http::paging::Wanted;
use crate::http::who::{COOKIE, Who, is_same_site};
use crate::instance::episodes::{self, Record};
use crate::instance::{Command, agents};
use crate::pages::campus::{Faulty, Seat, chooser, key_page, pack_page, seat_page, token as token_of};
use crate::pages::{self, Mark, html};
use crate::play;
use crate::problem::Problem;

/// How long a browser keeps the cookie; the session itself does not live longer.
const COOKIE_SECONDS: u32 = 12 * 3_600;
/// Finished episodes that a page shows.
const SHOWN_MAX: usize = 20;
const TOKEN_BYTES_MAX: usize = 128;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/play", get(choose).post(start))
        .route("/play/key", post(key))
        .route("/play/{episode}", get(seat).post(act))
        .route("/packs", get(packs))
        .route("/packs/{pack}/{version}", get(pack))
        .route("/login", get(login).post(sign_in))
        .route("/logout", post(sign_out))
}

async fn packs() -> Redirect {
    Redirect::to("/play")
}

async fn choose(State(app): State<Shared>, who: Who, arrival: Arrival) -> Result<Response, Problem> {
    let (own, finished) = app.look(|instance| {
        let own = who.viewer.agent().into_iter().flat_map(|agent| instance.episodes.open_by(agent));
        let own: Vec<Record> = own.cloned().collect();
        let finished = instance.episodes.list(&Viewer::Anonymous, None, None);
        (own, finished.take(SHOWN_MAX).cloned().collect::<Vec<_>>())
    })?;
    let packs = app.known().packs.all();
    Ok(page(chooser(packs, &own, &finished, shown(&who), arrival.at.unix_ms())))
}

async fn pack(
    State(app): State<Shared>,
    Path((id, version)): Path<(String, String)>,
    who: Who,
    arrival: Arrival,
) -> Result<Response, Problem> {
    let published = app.known().packs.find(&id, &version).ok_or_else(super::episodes::no_pack)?;
    let finished: Vec<Record> = app.look(|instance| {
        instance.episodes.finished_on(published.pack.sha256()).take(SHOWN_MAX).cloned().collect()
    })?;
    Ok(page(pack_page(published, &finished, shown(&who), arrival.at.unix_ms())))
}

/// Starts an episode; whoever has no session becomes a guest.
async fn start(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let chosen = fields.get("pack").and_then(|pack| pack.rsplit_once('/'));
    let (pack, version) =
        chosen.map(|(pack, version)| (pack.to_owned(), version.to_owned())).ok_or_else(|| {
            let mut problem = Problem::new("form", "the form is not complete");
            problem.push("/pack", "form", "choose one of the packs");
            problem
        })?;
    let (viewer, cookie) = match &who.viewer {
        Viewer::Anonymous => {
            own_page(&headers)?;
            let (viewer, cookie) = guest(&app, &arrival).await?;
            (viewer, Some(cookie))
        }
        known => (known.clone(), None),
    };
    let command = Command::Episodes(episodes::Command::Join { pack, version });
    let joined = app.execute(viewer, arrival.at, command, None).await?;
    let id = joined.answer.body["episode"].as_str().unwrap_or_default().to_owned();
    let mut response = Redirect::to(&format!("/play/{id}")).into_response();
    if let Some(cookie) = cookie {
        put_cookie(&mut response, &cookie, COOKIE_SECONDS);
    }
    Ok(response)
}

/// A form that starts a session has no session whose token it could carry, so it has to come from a page of
/// ours.
fn own_page(headers: &HeaderMap) -> Result<(), Problem> {
    if is_same_site(headers) {
        return Ok(());
    }
    Err(Problem::new("scope_missing", "a page of another site sent this form"))
}

async fn guest(app: &App, arrival: &Arrival) -> Result<(Viewer, String), Problem> {
    let command = Command::Agents(agents::Command::Guest);
    let made = app.execute(Viewer::Anonymous, arrival.at, command, None).await?;
    let id = made.answer.body["id"].as_str().unwrap_or_default().to_owned();
    let scopes = Scopes::from([Scope::Read, Scope::Play]);
    let viewer = app.look(|instance| instance.agents.viewer_of(&id, scopes.clone()))?;
    let viewer = viewer.ok_or_else(Problem::internal)?;
    let cookie = app.sessions.start(Some(id), scopes, &app.outside.luck(), arrival.at.unix_ms());
    Ok((viewer, cookie))
}

fn put_cookie(response: &mut Response, value: &str, seconds: u32) {
    let cookie = format!("{COOKIE}={value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age={seconds}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}

/// A key for the agent of the session, with no more power than playing takes. A guest comes back with it, and a
/// program plays on with it.
async fn key(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    Form(_): Form,
) -> Result<Response, Problem> {
    let agent = who.viewer.agent_with(Scope::Play)?.to_owned();
    let may = |scope: &Scope| matches!(&who.viewer, Viewer::Agent { scopes, .. } if scopes.contains(scope));
    let scopes: Scopes = [Scope::Read, Scope::Play].into_iter().filter(may).collect();
    let command = Command::Agents(agents::Command::IssueKey { agent, scopes, expires_at: None });
    let made = app.execute(who.viewer.clone(), arrival.at, command, None).await?.answer;
    let key = made.once.as_ref().and_then(|once| once["key"].as_str()).unwrap_or_default().to_owned();
    Ok(page(key_page(&key, shown(&who))))
}

/// The seat is for whoever plays; everybody else is shown the episode, if it is theirs to see.
async fn seat(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["stale"])?;
    let stale = wanted.filter("stale").map(super::episodes::read_turn).transpose()?;
    show(&app, &who, &id, stale, &Faulty::default()).await
}

async fn show(
    app: &Shared,
    who: &Who,
    id: &str,
    stale: Option<u32>,
    faulty: &Faulty,
) -> Result<Response, Problem> {
    let story = play::story(app, &who.viewer, id).await?;
    if who.viewer.agent() != Some(&story.record.agent) {
        return Ok(Redirect::to(&format!("/episodes/{id}")).into_response());
    }
    Ok(page(seat_page(&Seat { story: &story, viewer: shown(who), stale, faulty })))
}

/// One action. A turn that was played before is shown as it was played, which is no error.
async fn act(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let turn = fields.get("turn").map(String::as_str).unwrap_or_default();
    let turn = super::episodes::read_turn(turn)?;
    let action = match read_action(&fields) {
        Ok(action) => action,
        Err(faulty) => {
            // Whose it is, is asked first: what is another's shows nothing, not even a fault.
            let mut response = show(&app, &who, &id, None, &faulty).await?;
            if response.status() == StatusCode::OK {
                *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
            }
            return Ok(response);
        }
    };
    let path = match play::commit(&app, &who.viewer, arrival.at, &id, turn, action).await {
        Ok(_) => format!("/play/{id}"),
        Err(problem) if matches!(problem.code(), "turn_already_committed" | "not_this_turn") => {
            format!("/play/{id}?stale={turn}")
        }
        Err(problem) => return Err(problem),
    };
    Ok(Redirect::to(&path).into_response())
}

/// The fields of the form, as the action that a program would send.
fn read_action(fields: &BTreeMap<String, String>) -> Result<RawAction, Faulty> {
    let mut faulty = Faulty::default();
    let mut number = |name: &'static str| {
        let given = fields.get(name).map_or("", |text| text.trim());
        faulty.given.push((name.to_owned(), given.chars().take(64).collect()));
        if given.is_empty() {
            return Given::Missing;
        }
        match given.replace('\u{2212}', "-").parse::<f64>() {
            Ok(value) if value.is_finite() => Given::Value(value),
            _ => {
                let why = if given.contains(',') {
                    "write the number with a point, such as 1.5"
                } else {
                    "this is not a number in MW"
                };
                faulty.faults.push((name, why.to_owned()));
                Given::Missing
            }
        }
    };
    let (curtail_mw, battery_mw, diesel_mw) =
        (number("curtail_mw"), number("battery_mw"), number("diesel_mw"));
    let is_accepted = fields.get("accept_offer").is_some_and(|value| value == "on");
    if is_accepted {
        faulty.given.push(("accept_offer".to_owned(), "on".to_owned()));
    }
    if !faulty.faults.is_empty() {
        return Err(faulty);
    }
    Ok(RawAction { curtail_mw, battery_mw, diesel_mw, accept_offer: Given::Value(is_accepted) })
}

/// The link itself does nothing: something that looks at links must not use it up.
async fn login(who: Who, wanted: Wanted) -> Result<Response, Problem> {
    wanted.only(&["token"])?;
    let token = wanted.filter("token").filter(|token| token.len() <= TOKEN_BYTES_MAX);
    let hidden: Vec<(&str, &str)> = token.map(|token| ("token", token)).into_iter().collect();
    let field = pages::Field::text("token", "Token of your link, or a key", TOKEN_BYTES_MAX).required();
    let body = html! {
        @match token {
            Some(_) => {
                @let body = html! { p { "It is used up when you press the button." } };
                (pages::notice(Mark::Plain, "This link signs you in once", body))
            }
            None => {
                p {
                    "Who runs this server gives out links that sign you in, each of them once; a key signs you in too. "
                    "To play, no account is needed: "
                    a href="/play" { "start an episode" } "."
                }
            }
        }
        (pages::form(&pages::Form {
            id: "login",
            action: "/login",
            csrf: Some(token_of(shown(&who))),
            submit: "Sign in",
            fields: if token.is_some() { Vec::new() } else { vec![field] },
            hidden: &hidden,
            drastic: false,
        }))
    };
    Ok(page(pages::Page::new("Sign in", "/login", body).viewer(shown(&who)).render()))
}

async fn sign_in(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    Form(fields): Form,
) -> Result<Response, Problem> {
    own_page(&headers)?;
    let token = fields.get("token").map(|token| token.trim().to_owned()).unwrap_or_default();
    let found = if token.starts_with("ak_") {
        by_key(&app, &token, &arrival)
    } else {
        by_link(&app, token, &arrival).await
    };
    let (agent, scopes) = match found {
        Ok(found) => found,
        Err(problem) => {
            app.limiter.check(Class::Failure, Counted::address(arrival.address))?;
            return Err(problem);
        }
    };
    if let Some(old) = &who.cookie {
        app.sessions.end(old);
    }
    let cookie = app.sessions.start(agent, scopes, &app.outside.luck(), arrival.at.unix_ms());
    let mut response = Redirect::to("/play").into_response();
    put_cookie(&mut response, &cookie, COOKIE_SECONDS);
    Ok(response)
}

async fn by_link(app: &App, token: String, arrival: &Arrival) -> Result<(Option<String>, Scopes), Problem> {
    let command = Command::Agents(agents::Command::UseLogin { token });
    let used = app.execute(Viewer::Anonymous, arrival.at, command, None).await?.answer.body;
    let names = used["scopes"].as_array().into_iter().flatten().filter_map(|name| name.as_str());
    Ok((used["agent"].as_str().map(str::to_owned), names.filter_map(Scope::named).collect()))
}

/// A session by a key has what the key has.
fn by_key(app: &App, token: &str, arrival: &Arrival) -> Result<(Option<String>, Scopes), Problem> {
    let wrong = || Problem::new("unauthorized", "the key is unknown, revoked or expired");
    let key = Key::parse(token).map_err(|_| wrong())?;
    match app.look(|instance| instance.agents.viewer(&key, arrival.at))? {
        Some(Viewer::Agent { id, scopes, .. }) => Ok((Some(id), scopes)),
        _ => Err(wrong()),
    }
}

async fn sign_out(State(app): State<Shared>, who: Who, Form(_): Form) -> Response {
    if let Some(cookie) = &who.cookie {
        app.sessions.end(cookie);
    }
    let mut response = Redirect::to("/play").into_response();
    put_cookie(&mut response, "", 0);
    response
}
