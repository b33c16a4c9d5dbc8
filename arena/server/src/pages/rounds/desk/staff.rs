//! The forms of those who judge, and of whoever runs the platform, that stand on no other page.

use arena_contests::sprint::round::Stage;

use super::{Ask, Control, Filled, Kind, WINDOWS};
use crate::instance::rounds::Seen;
use crate::pages::rounds::See;

/// Penalties, with their names as a form has them.
pub(super) const PENALTIES: [(&str, &str); 5] = [
    ("duplicate", "Penalty: duplicate, 10"),
    ("claim_mismatch", "Penalty: claim mismatch, 15"),
    ("reversal", "Penalty: reversal, 20"),
    ("undisclosed_intervention", "Penalty: undisclosed intervention, 20"),
    ("disclosure_violation", "Penalty: disclosure violation, 25"),
];

const AFTER: &[(&str, &str)] = &[("W1", "after W1"), ("W2", "after W2"), ("W3", "after W3")];

fn company(label: &'static str) -> Control {
    Control::line("company", label, 64)
}

fn window() -> Control {
    Control::new("window", "Window", Kind::Choice(WINDOWS))
}

pub(super) fn asks<'a>(see: &See<'_>, seen: &Seen<'_>, filled: Filled<'_>) -> Vec<Ask<'a>> {
    let stage = seen.held.round.stage(see.now);
    let is_on = matches!(stage, Stage::Running | Stage::Closing);
    let mut asks = Vec::new();
    if is_on {
        asks.push(Ask::new(
            "record_intervention",
            "Make the intervention public",
            vec![
                company("In the work of")
                    .hint("A company of this round. The receipt counts for its eligibility."),
                window(),
                Control::text("text", "What was done", 2_000).hint("Public. From 3 characters on."),
            ],
        ));
    }
    if !matches!(stage, Stage::Draft) {
        let target = filled("target").unwrap_or_default();
        let hide = Ask::new(
            "hide",
            "Hide it",
            vec![
                Control::line("target", "Post, artifact or text", 100)
                    .hint("A post such as town:3, the SHA-256 of an artifact, or text: and the SHA-256 of another text. Its digest stays.")
                    .holds(target),
                Control::text("reason", "Why", 2_000).hint("Public. From 3 characters on."),
            ],
        );
        asks.push(hide.drastic());
    }
    if !see.is_admin {
        return asks;
    }
    if is_on {
        let mut controls = vec![company("Company"), window()];
        controls.extend(PENALTIES.map(|(name, label)| Control::tick(name, label)));
        controls.push(Control::text("rationale", "Why", 2_000).hint("Public. From 3 characters on."));
        asks.push(Ask::new("invalidate", "Reverse what was accepted", controls).drastic());
        let after = Control::choice("after", "Standings", AFTER);
        asks.push(Ask::new("take_snapshot", "Record the standings once more", vec![after]));
    }
    if stage == Stage::Final {
        asks.push(Ask::new("release_locked", "Give locked stakes back", Vec::new()));
    }
    asks
}
