//! The work itself: one look at the server, and everything that is due, one step after the other.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use arena_canon::Digest;
use arena_claims::commitment::{Sealed as Kind, commitment, nonce};
use arena_claims::envelope::{Scope, SecretKey, sign};
use arena_claims::record::{Outcome, Place, Record, Role, assemble};
use arena_engine::Excerpt;
use arena_ledger::Amount;
use serde_json::json;

use super::Stop;
use super::beacon::Relays;
use super::folder::{Folder, Kept, Signed, Wish};
use super::http::{Server, Trouble};
use super::leave::Leave;
use super::material::{Gathered, Sources};
use super::plan::{Part, Step, next};
use super::rerun::rerun;
use super::tell::Teller;
use super::view::{Assignment, Duty, Instance, Me, Sealed, Seen};
use crate::commands::claim;
use crate::failure::Failure;
use crate::io::Io;

/// A signature holds this long.
const EXPIRES_S: u64 = 3_600;
/// A signature that is about to expire is made anew.
const SLACK_S: u64 = 60;
/// Steps of one part at one look: none has more.
const STEPS_MAX: usize = 8;
const PAGES_MAX: usize = 20;
/// How long it is believed that a claim is no reason to challenge, or waits for no draw.
pub(super) const PASSED: Duration = Duration::from_secs(600);

/// What is taken on.
#[derive(Debug, Clone)]
pub(super) struct Bounds {
    /// Whether it challenges of its own will; it runs nothing then.
    pub(super) challenges: bool,
    /// Whether seats on panels are left for a person.
    pub(super) keeps_seats: bool,
    pub(super) fee_min: Amount,
    pub(super) stake_max: Option<Amount>,
    pub(super) fuel_max: Option<u64>,
    pub(super) wall_max: Option<u64>,
    pub(super) inputs: Option<PathBuf>,
    /// Time between two looks.
    pub(super) every: Duration,
}

/// A program at work.
pub(super) struct Worker {
    pub(super) server: Server,
    pub(super) folder: Folder,
    pub(super) key: SecretKey,
    pub(super) me: Me,
    pub(super) instance: Instance,
    pub(super) bounds: Bounds,
    pub(super) leave: Leave,
    pub(super) teller: Teller,
    /// Where rounds of drand come from, if it brings them.
    pub(super) relays: Relays,
    /// Claims that are no reason to challenge, and since when that is known: they are not asked for at every look.
    pub(super) passed: BTreeMap<String, Instant>,
    /// Claims that take challenges, so that they wait for no draw, and since when that is known.
    pub(super) undrawn: BTreeMap<String, Instant>,
}

/// Most bytes of a record that is committed. It has to fit, signed, into what a server takes, and two of them into what
/// the reference publishes.
const REVEALABLE_BYTES_MAX: usize = 120 << 10;
/// Between two runs, whatever has its record already goes on after so many looks' time, and after so long.
const KEPT_UP_LOOKS: u32 = 6;
const KEPT_UP_MAX: Duration = Duration::from_secs(60);

fn role_of(part: Part) -> Role {
    match part {
        Part::Drawn(Duty::Runner, _) => Role::Runner,
        Part::Drawn(Duty::Reviewer, _) => Role::Reviewer,
        Part::Drawn(Duty::Auditor, _) | Part::Volunteer => Role::Challenger,
    }
}

/// Bytes of a record as it is signed.
fn json_bytes(record: &Record) -> usize {
    arena_canon::json::canonical(record.value()).len()
}

fn kind_of(role: Role) -> Kind {
    if role == Role::Runner { Kind::Run } else { Kind::Challenge }
}

impl Worker {
    /// One look at everything; does what is due. What goes wrong with one claim is told, and is no reason to let
    /// another wait: the first of it is given back.
    pub(super) fn look(&mut self, io: &mut Io<'_>) -> Result<(), Stop> {
        let mut first = Ok(());
        self.keep_up(&mut first, io)?;
        let mut kept_up = Instant::now();
        let assignments = Assignment::all(&self.server.get("/api/v1/assignments")?)?;
        let mut seen: Vec<String> = Vec::new();
        for assignment in &assignments {
            self.keep_up_after(&mut kept_up, &mut first, io)?;
            seen.push(assignment.claim.clone());
            let part = Part::Drawn(assignment.duty, assignment.accepted);
            self.attend(&assignment.claim, part, Some(assignment), &mut first, io)?;
        }
        // What was committed is seen to its end, whether or not it is still asked for.
        let (open, damaged) = self.folder.open_parts()?;
        if let Some(damaged) = damaged.map(Stop::from) {
            self.teller.trouble("its folder", &damaged, io);
            first = first.and(Err(damaged));
        }
        for kept in open {
            if !seen.contains(&kept.claim) {
                let runs = kept.role == Role::Runner;
                let part = if runs { Part::Drawn(Duty::Runner, true) } else { Part::Volunteer };
                self.attend(&kept.claim, part, None, &mut first, io)?;
                seen.push(kept.claim);
            }
        }
        // What is owed comes before what anybody could do.
        self.speak_for_the_beacon(&mut first, io)?;
        if self.bounds.challenges {
            self.passed.retain(|_, since| since.elapsed() < PASSED);
            for claim in self.claims_in("committed")? {
                self.keep_up_after(&mut kept_up, &mut first, io)?;
                if !seen.contains(&claim)
                    && !self.passed.contains_key(&claim)
                    && self.attend(&claim, Part::Volunteer, None, &mut first, io)?
                {
                    self.passed.insert(claim, Instant::now());
                }
            }
        }
        first
    }

    /// Goes on with what has its record already: a reveal must not wait behind a run.
    fn keep_up(&mut self, first: &mut Result<(), Stop>, io: &mut Io<'_>) -> Result<(), Stop> {
        let (open, _) = self.folder.open_parts()?;
        for kept in open.into_iter().filter(|kept| kept.record.is_some()) {
            let runs = kept.role == Role::Runner;
            let part = if runs { Part::Drawn(Duty::Runner, true) } else { Part::Volunteer };
            self.attend(&kept.claim, part, None, first, io)?;
        }
        Ok(())
    }

    fn keep_up_after(
        &mut self,
        last: &mut Instant,
        first: &mut Result<(), Stop>,
        io: &mut Io<'_>,
    ) -> Result<(), Stop> {
        if last.elapsed() > (self.bounds.every * KEPT_UP_LOOKS).min(KEPT_UP_MAX) {
            self.keep_up(first, io)?;
            *last = Instant::now();
        }
        Ok(())
    }

    /// Goes on with one part; whether nothing more comes of it for now. Only what concerns the server as a whole ends
    /// the look.
    fn attend(
        &mut self,
        claim: &str,
        part: Part,
        assignment: Option<&Assignment>,
        first: &mut Result<(), Stop>,
        io: &mut Io<'_>,
    ) -> Result<bool, Stop> {
        match self.follow(claim, part, assignment, io) {
            Ok(is_done) => Ok(is_done),
            Err(stop) => self.tells(claim, stop, first, io).map(|()| false),
        }
    }

    /// Tells what went wrong, and keeps the first of it; what concerns the server as a whole is given back.
    pub(super) fn tells(
        &mut self,
        about: &str,
        stop: Stop,
        first: &mut Result<(), Stop>,
        io: &mut Io<'_>,
    ) -> Result<(), Stop> {
        if matches!(stop, Stop::Trouble(Trouble::Away(_) | Trouble::Left)) {
            return Err(stop);
        }
        self.teller.trouble(about, &stop, io);
        if first.is_ok() {
            *first = Err(stop);
        }
        Ok(())
    }

    pub(super) fn see(&self, claim: &str) -> Result<Seen, Stop> {
        let value = self.server.get(&format!("/api/v1/claims/{claim}"))?;
        let seen = Seen::read(&value, &self.instance, &self.me.agent)?;
        if seen.claim != claim {
            return Err(Trouble::Foreign(format!("asked for {claim}, it gives {}", seen.claim)).into());
        }
        Ok(seen)
    }

    /// Claims of a status.
    pub(super) fn claims_in(&self, status: &str) -> Result<Vec<String>, Stop> {
        let mut claims = Vec::new();
        let first = format!("/api/v1/claims?status={status}&limit=100");
        let mut path = first.clone();
        for _ in 0..PAGES_MAX {
            let page = self.server.get(&path)?;
            for line in page["items"].as_array().into_iter().flatten() {
                claims.push(super::view::claim_name(line["claim"].as_str().unwrap_or_default())?);
            }
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            match page["next_cursor"]
                .as_str()
                .filter(|cursor| cursor.len() <= 256 && cursor.bytes().all(plain))
            {
                Some(cursor) => path = format!("{first}&cursor={cursor}"),
                None => break,
            }
        }
        Ok(claims)
    }

    /// Steps on until something has to be waited for; whether nothing has to be.
    fn follow(
        &mut self,
        claim: &str,
        part: Part,
        assignment: Option<&Assignment>,
        io: &mut Io<'_>,
    ) -> Result<bool, Stop> {
        let role = role_of(part);
        let mut part = part;
        for _ in 0..STEPS_MAX {
            let seen = self.see(claim)?;
            let kept = self.folder.kept(seen.job, role)?;
            if part == Part::Volunteer && kept.is_none() && !self.may_challenge(&seen)? {
                return Ok(true);
            }
            let step = next(&seen, part, &self.me.agent, kept.as_ref());
            let goes_on = match step {
                Step::Answer => self.answer(&seen, &mut part, assignment, io)?,
                Step::CheckInputs => self.check_inputs(&seen, io)?,
                Step::Run => self.run(&seen, part, io)?,
                Step::Commit => self.commit(&seen, role, kept, io)?,
                Step::Reveal => self.reveal(&seen, role, kept, io)?,
                Step::LeaveSeat => self.leave_seat(&seen, assignment, io)?,
                Step::Wait => false,
                Step::Done => self.close(&seen, kept, io)?,
            };
            if !goes_on {
                return Ok(step == Step::Done);
            }
        }
        Ok(false)
    }

    /// Why one does not take this on, if one does not.
    fn unfit(&self, seen: &Seen, duty: Option<Duty>) -> Option<String> {
        let Bounds { fuel_max, wall_max, fee_min, .. } = &self.bounds;
        let (limits, params) = (&seen.manifest.limits, &self.instance.params);
        if self.bounds.challenges && duty == Some(Duty::Runner) {
            return Some("this agent only challenges".to_owned());
        }
        let fee = if duty == Some(Duty::Runner) { params.fee } else { params.auditor_fee };
        if duty.is_some() && fee < *fee_min {
            return Some(format!("the fee is {fee}; this agent works for {fee_min} or more"));
        }
        if let Some(most) = fuel_max.filter(|most| limits.fuel > *most) {
            return Some(format!("it may use {} fuel; this agent runs up to {most}", limits.fuel));
        }
        if let Some(most) = wall_max.filter(|most| limits.wall_seconds > *most) {
            return Some(format!("it may take {} s; this agent runs up to {most} s", limits.wall_seconds));
        }
        // Nothing else is done while it runs, and what is committed elsewhere has to be revealed in time.
        let patience = params.clocks.reveal_s / 2;
        if limits.wall_seconds > patience {
            let took = limits.wall_seconds;
            return Some(format!(
                "it may take {took} s; beyond {patience} s other reveals would wait too long"
            ));
        }
        claim::check_engine(&seen.manifest).err()
    }

    /// Why no more is put at stake, if it is not. A runner's stake is locked already.
    fn overstaked(&self, duty: Option<Duty>) -> Result<Option<String>, Stop> {
        let Some(most) = self.bounds.stake_max else { return Ok(None) };
        let about = self.server.get(&format!("/api/v1/claims/agents/{}", self.me.agent))?;
        let locked =
            about["locked"].as_str().and_then(|text| text.parse::<Amount>().ok()).unwrap_or(Amount::MAX);
        let more =
            if duty == Some(Duty::Runner) { Amount::ZERO } else { self.instance.params.challenger_stake };
        let sum = locked.checked_add(more).unwrap_or(Amount::MAX);
        Ok((sum > most).then(|| format!("{sum} would be at stake; this agent stakes up to {most}")))
    }

    /// Whether one could challenge this of one's own will.
    fn may_challenge(&self, seen: &Seen) -> Result<bool, Stop> {
        let is_free = matches!(seen.part.as_deref(), None | Some("challenger" | "auditor"));
        // What is committed already is seen to its end.
        let goes_on = seen.own.is_some_and(|own| !own.revealed);
        Ok(is_free && (goes_on || (self.unfit(seen, None).is_none() && self.overstaked(None)?.is_none())))
    }

    fn sources(&self) -> Sources<'_> {
        Sources { folder: &self.folder, server: &self.server, inputs: self.bounds.inputs.as_deref() }
    }

    pub(super) fn about(&self, seen: &Seen, step: &str) -> Digest {
        Digest::of_parts(&[seen.job.as_bytes(), step.as_bytes()])
    }

    fn answer(
        &mut self,
        seen: &Seen,
        part: &mut Part,
        assignment: Option<&Assignment>,
        io: &mut Io<'_>,
    ) -> Result<bool, Stop> {
        let (Part::Drawn(duty, _), Some(assignment)) = (*part, assignment) else { return Ok(false) };
        let mut unfit = self.unfit(seen, Some(duty));
        if unfit.is_none() {
            unfit = self.overstaked(Some(duty))?;
        }
        if unfit.is_none()
            && let Gathered::Missing(missing) = self.sources().gather(&seen.manifest)?
        {
            // Whoever listed it may still be bringing it.
            let now = self.server.read("/api/v1/beacons")?.1;
            let half = self.instance.params.clocks.accept_s / 2;
            let is_early = assignment.until.zip(now).is_some_and(|(until, now)| now + half < until);
            let what = format!("{} of what it pins are not on the server, as {}", missing.len(), missing[0]);
            if is_early {
                self.teller.waits(&seen.claim, &what, io);
                return Ok(false);
            }
            unfit = Some(what);
        }
        let name = assignment.id.as_str();
        match unfit {
            Some(why) => {
                self.decline(seen, name, &why, io)?;
                self.teller.did(seen, "declined", &why, io);
                Ok(false)
            }
            None => {
                let about = self.about(seen, "accept");
                let path = format!("/api/v1/assignments/{name}/accept");
                let done = self.server.post(&path, None, &about)?;
                self.keep_receipt(&seen.claim, &done, None, io)?;
                *part = Part::Drawn(duty, true);
                let what = if duty == Duty::Runner { "the run" } else { "the audit" };
                self.teller.did(seen, "accepted", what, io);
                Ok(true)
            }
        }
    }

    fn decline(&mut self, seen: &Seen, assignment: &str, why: &str, io: &mut Io<'_>) -> Result<(), Stop> {
        const REASON_BYTES_MAX: usize = 240;
        let reason = &why[..why.floor_char_boundary(REASON_BYTES_MAX)];
        let (path, about) =
            (format!("/api/v1/assignments/{assignment}/decline"), self.about(seen, "decline"));
        let done = self.server.post(&path, Some(&json!({ "reason": reason })), &about)?;
        Ok(self.keep_receipt(&seen.claim, &done, None, io)?)
    }

    fn leave_seat(
        &mut self,
        seen: &Seen,
        assignment: Option<&Assignment>,
        io: &mut Io<'_>,
    ) -> Result<bool, Stop> {
        let Some(assignment) = assignment.filter(|_| !self.bounds.keeps_seats) else {
            self.teller.waits(&seen.claim, "a seat on its panel waits for your vote", io);
            return Ok(false);
        };
        match self.decline(seen, &assignment.id, "this agent does not review", io) {
            Ok(()) => self.teller.did(seen, "declined", "the seat on the panel", io),
            // Who has voted by hand is not disturbed.
            Err(Stop::Trouble(trouble)) if trouble.is("already_committed") => {}
            Err(stop) => return Err(stop),
        }
        Ok(false)
    }

    fn check_inputs(&mut self, seen: &Seen, io: &mut Io<'_>) -> Result<bool, Stop> {
        let found = match self.sources().gather(&seen.manifest)? {
            Gathered::All => seen.manifest.inputs.clone(),
            Gathered::Others(found) => found,
            Gathered::Missing(missing) => {
                let why = format!("{} of what it pins are nowhere, as {}", missing.len(), missing[0]);
                self.teller.waits(&seen.claim, &why, io);
                return Ok(false);
            }
        };
        let told = found.iter().map(
            |input| json!({ "name": input.name, "sha256": input.sha256, "bytes": input.bytes.to_string() }),
        );
        let body = json!({ "claim": seen.claim, "inputs": told.collect::<Vec<_>>() });
        let done = self.server.post("/api/v1/runs", Some(&body), &self.about(seen, "inputs"))?;
        self.keep_receipt(&seen.claim, &done, None, io)?;
        match found == seen.manifest.inputs {
            true => self.teller.did(seen, "checked", &format!("{} inputs, as pinned", found.len()), io),
            false => {
                self.teller.did(seen, "input_mismatch", "an input is not what is pinned; nothing runs", io)
            }
        }
        Ok(true)
    }

    /// Runs it and keeps the record, before anybody hears of it.
    fn run(&mut self, seen: &Seen, part: Part, io: &mut Io<'_>) -> Result<bool, Stop> {
        let role = role_of(part);
        match self.sources().gather(&seen.manifest)? {
            Gathered::All => {}
            Gathered::Missing(_) | Gathered::Others(_) => {
                self.teller.waits(&seen.claim, "not all of what it pins is at hand", io);
                return Ok(false);
            }
        }
        self.teller.waits(&seen.claim, "runs it in the sandbox", io);
        let results = rerun(self.folder.path(), &seen.manifest, seen.job, &self.leave, io)?;
        let place = Place {
            claim: &seen.claim,
            job: seen.job,
            role,
            agent: &self.me.agent,
            operator: &self.me.operator,
            manifest: &seen.manifest,
        };
        let record =
            assemble(&place, &results).and_then(|record| record.check(&seen.manifest).map(|()| record));
        let record = record.map_err(|faults| Failure::internal("make a record of the run", faults))?;
        self.matches(seen, role, &record)?;
        let outcome = record.results.outcome;
        // What is too long to be sent could be committed and never be revealed.
        let bytes = json_bytes(&record);
        let is_too_long = bytes > REVEALABLE_BYTES_MAX && seen.own.is_none();
        // Who challenges of its own will has a reason to, or nobody hears of it.
        let is_vain = part == Part::Volunteer && seen.own.is_none() && outcome == Outcome::Reproduced;
        let is_quiet = is_too_long || is_vain;
        let wish = if is_quiet { Wish::Pass } else { Wish::Commit };
        let (claim, record) = (seen.claim.clone(), Some(record));
        self.folder.keep(&Kept { claim, job: seen.job, role, wish, record, envelope: None })?;
        let why = match wish {
            Wish::Pass if is_too_long => format!("its record has {bytes} bytes and could never be revealed"),
            Wish::Pass => format!("{outcome}, as is claimed: no reason to challenge"),
            _ => outcome.to_string(),
        };
        self.teller.did(seen, "ran", &why, io);
        Ok(!is_quiet)
    }

    fn opening(&self, seen: &Seen, role: Role, record: &Record) -> (Digest, Digest) {
        let kind = kind_of(role);
        let nonce = nonce(&self.key.seed(), seen.job, kind);
        (nonce, commitment(kind, seen.job, &self.me.agent, nonce, record.digest))
    }

    /// What was committed for this agent has to be what it would commit.
    fn matches(&self, seen: &Seen, role: Role, record: &Record) -> Result<(), Stop> {
        let sealed = match role {
            Role::Runner => seen.run.as_ref().map(|run| run.sealed),
            _ => seen.own,
        };
        let theirs = sealed.and_then(|Sealed { commitment, .. }| commitment);
        let (_, ours) = self.opening(seen, role, record);
        match theirs.filter(|theirs| *theirs != ours) {
            None => Ok(()),
            Some(theirs) => {
                let why =
                    format_args!("{theirs} is committed for this agent, and its record here makes {ours}")
                        .to_string();
                Err(Failure::internal(format_args!("go on with {}", seen.claim), why)
                    .hint("does another program use the same key?")
                    .into())
            }
        }
    }

    fn commit(&mut self, seen: &Seen, role: Role, kept: Option<Kept>, io: &mut Io<'_>) -> Result<bool, Stop> {
        let Some(record) = kept.and_then(|kept| kept.record) else { return Ok(false) };
        let (_, digest) = self.opening(seen, role, &record);
        let path = match role {
            Role::Runner => format!("/api/v1/runs/{}/commitment", seen.claim),
            _ => format!("/api/v1/runs/{}/challenges", seen.claim),
        };
        match self.server.post(&path, Some(&json!({ "commitment": digest })), &self.about(seen, "commit")) {
            Ok(done) => {
                self.keep_receipt(&seen.claim, &done, Some(("digest", digest)), io)?;
                self.teller.did(seen, "committed", &digest.to_string(), io);
            }
            // An answer was lost; what was committed is looked at in the next step.
            Err(trouble) if trouble.is("already_committed") => {}
            Err(trouble) => return Err(trouble.into()),
        }
        self.matches(&self.see(&seen.claim)?, role, &record)?;
        Ok(true)
    }

    fn reveal(&mut self, seen: &Seen, role: Role, kept: Option<Kept>, io: &mut Io<'_>) -> Result<bool, Stop> {
        let Some(mut kept) = kept else { return Ok(false) };
        let Some(record) = kept.record.clone() else { return Ok(false) };
        self.matches(seen, role, &record)?;
        let (nonce, _) = self.opening(seen, role, &record);
        let now = self.now()?;
        let holds = |signed: &Signed| signed.counter > seen.counter && signed.expires > now + SLACK_S;
        let signed = match kept.envelope.clone().filter(holds) {
            Some(signed) => signed,
            None => {
                let (counter, expires) = (seen.counter + 1, now + EXPIRES_S);
                let scope = Scope { instance: self.instance.id, counter, expires };
                Signed { counter, expires, envelope: sign(&record, scope, &self.key) }
            }
        };
        kept.envelope = Some(signed.clone());
        self.folder.keep(&kept)?;
        let body = json!({ "nonce": nonce, "envelope": signed.envelope });
        let path = format!("/api/v1/runs/{}/reveal", seen.claim);
        match self.server.post(&path, Some(&body), &self.about(seen, "reveal")) {
            Ok(done) => {
                self.keep_receipt(&seen.claim, &done, None, io)?;
                self.teller.did(seen, "revealed", &record.results.outcome.to_string(), io);
                Ok(true)
            }
            Err(trouble) if trouble.is("already_revealed") => Ok(true),
            Err(trouble @ Trouble::Refused { .. }) => {
                // It is signed anew next time: its counter may have been used meanwhile.
                kept.envelope = None;
                self.folder.keep(&kept)?;
                Err(trouble.into())
            }
            Err(trouble) => Err(trouble.into()),
        }
    }

    fn now(&self) -> Result<u64, Stop> {
        let told = self.server.read("/api/v1/beacons")?.1;
        told.ok_or_else(|| Trouble::Foreign("it does not say what time it is".to_owned()).into())
    }

    /// Nothing more comes of a part.
    fn close(&mut self, seen: &Seen, kept: Option<Kept>, io: &mut Io<'_>) -> Result<bool, Stop> {
        if let Some(mut kept) = kept.filter(|kept| kept.wish == Wish::Commit) {
            kept.wish = Wish::Over;
            self.folder.keep(&kept)?;
            let outcome = seen.outcome.as_deref().unwrap_or("without us");
            self.teller.did(
                seen,
                "over",
                &format!("{} {outcome}", Excerpt { text: &seen.status, max: 20 }),
                io,
            );
        }
        Ok(false)
    }
}
