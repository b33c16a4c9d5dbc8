//! What companies write.

use arena_canon::json::Value;
use serde_json::json;

use super::plan::Work;
use crate::demo::cast::Company;
use crate::demo::stage::lines;

pub(super) const EVIDENCE: [&str; 3] = [
    "The install log of two sites, with the commands that made it.",
    "Timings of ten runs on the same machine, with the script.",
    "Statements of three users, each with the version that they run.",
];

pub(super) const VERIFICATION: [&str; 3] = [
    "Run `verify.sh` in the artifact; it installs the release into an empty folder and prints both digests.",
    "Run the script ten times and compare the medians; the spread is in the last line of the report.",
    "Ask the three users whose posts are linked; each of them names the version.",
];

pub(super) const OWN_GROUND: &str = "The run was repeated with the script of the artifact and gives the numbers of the claim; an older file was judged.";
pub(super) const RIVAL_GROUND: &str =
    "The forecast of this window looks like the one that we published a day before, with another title.";
pub(super) const AMENDMENT: &str =
    "Amendment: the log of the second run, made on a machine that is not ours. The numbers are the same.";
pub(super) const TOO_MUCH: &str =
    "The city of Northhaven signed with us today, and its outage report goes live tomorrow morning.";
pub(super) const CORRECTION: &str =
    "A customer signed with us today. We named it before it had agreed to that, which was our mistake.";

pub(super) fn registration(company: &Company) -> Value {
    let person = |role: &str| format!("{} {role}", company.name);
    json!({
        "company": company.name,
        "team": {
            "principal": person("principal"), "engineering_coordinator": person("coordinator"),
            "engineering_owner": person("owner"), "quality_reviewer": person("reviewer"),
            "stewardship": person("steward"),
        },
        "canaries": [format!("canary-{}-5d2f", company.name)],
    })
}

pub(super) fn kickoff(Company { name, product, users }: &Company) -> Value {
    json!({
        "objective": format!("Ship {product}, and have {users} use it by the end of the round."),
        "profile": format!(
            "{name} builds {product}. Everything that it ships is public, can be installed by others, and says how to \
             verify it. Its first users are {users}."
        ),
    })
}

pub(super) fn intent(Company { product, users, .. }: &Company, day: usize, work: Work) -> Value {
    let objective = match day {
        1 => format!("Publish a first release of {product}, and have two {users} install it."),
        2 => format!("Make {product} twice as fast, and show it on the machine of somebody else."),
        _ => format!("Three {users} say in their own words what they use it for."),
    };
    json!({
        "objective": objective, "planned_artifact_class": work.class(), "declared_posture_exo": "1000",
        "owner": "the owner", "reviewer": "the reviewer",
    })
}

pub(super) fn claim(Company { product, users, .. }: &Company, day: usize) -> String {
    match day {
        1 => format!("Published {product}; two {users} installed the release by themselves."),
        2 => format!("Cut the time of a run from 40 seconds to 9, measured by others, for {product}."),
        _ => format!("Three {users} run the current version every day and say so under their own names."),
    }
}

pub(super) fn announcement(claim: &str, artifact: &str) -> String {
    format!("{claim}\n\nThe artifact is `{artifact}`. How to check it is in its first lines.")
}

pub(super) fn progress(Company { product, .. }: &Company, day: usize) -> String {
    match day {
        1 => format!("The release of {product} is built and *signed*; two people outside try it now."),
        2 => format!("Half of the time of {product} went into reading the same file again. Not any more."),
        _ => format!("We listened to users of {product} today. What they miss most is a shorter manual."),
    }
}

pub(super) fn report(company: &Company, round: &str, day: usize) -> String {
    let Company { name, product, .. } = company;
    let title = format!("# {name}, {round}, window {day}");
    let claim = claim(company, day);
    let seconds: Vec<String> =
        (0..10).map(|run| format!("run {run}: {} s", 8 + (run * 7 + day) % 3)).collect();
    lines(
        [title.as_str(), "", product, "", claim.as_str(), "", VERIFICATION[day - 1], ""]
            .into_iter()
            .chain(seconds.iter().map(String::as_str)),
    )
}

pub(super) fn recap(Company { product, users, .. }: &Company) -> String {
    format!(
        "**Recap.** We set out to ship {product}.\n\n- The first release was installed by {users}.\n- A run takes a quarter of \
         the time.\n- What we would do again: publish the script before the claim."
    )
}

pub(super) fn postmortem(Company { product, .. }: &Company) -> String {
    format!(
        "**Postmortem.** {product} had one outage of eleven minutes in this round. The cause was a full disk; there is an \
         alarm for it now."
    )
}
