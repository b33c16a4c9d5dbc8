//! The campus in words: what a field, a limit, a status or a metric is called.

use arena_engine::campus::{Amount, Clamp, ClampReason, Field, MetricId, MetricValue, Status, VisibleKind};
use maud::{Markup, html};

use crate::pages::chart::number::decimal;
use crate::pages::{Mark, chip};

/// A quantity with as many decimals as it needs, at most `most`.
pub(super) fn short(value: f64, most: usize) -> String {
    let text = decimal(value, most);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

pub(super) fn mw(value: f64) -> String {
    format!("{} MW", short(value, 3))
}

pub(super) fn mwh(value: f64) -> String {
    format!("{} MWh", short(value, 3))
}

pub(super) fn dollars(value: f64) -> String {
    format!("{} $", decimal(value, 2))
}

/// `18:15`, with the date where an episode takes longer than a day.
pub(super) fn clock(local_time: &str, days: bool) -> String {
    let part = |range: std::ops::Range<usize>| local_time.get(range).unwrap_or_default();
    if days { format!("{} {}", part(5..10), part(11..16)) } else { part(11..16).to_owned() }
}

pub(super) fn field(field: Field) -> &'static str {
    match field {
        Field::CurtailMw => "Shed load",
        Field::BatteryMw => "Battery",
        Field::DieselMw => "Generator",
        Field::AcceptOffer => "Accept the appeals",
    }
}

pub(super) fn reason(reason: ClampReason) -> &'static str {
    match reason {
        ClampReason::NotFinite => "it was no finite number",
        ClampReason::BelowZero => "it starts at zero",
        ClampReason::ItDemand => "no more load than there is can be shed",
        ClampReason::PowerLimit => "the battery has no more power",
        ClampReason::SocEmpty => "the battery holds no more energy",
        ClampReason::SocFull => "the battery has no more room",
        ClampReason::Capacity => "the generator has no more capacity",
        ClampReason::NoExport => "nothing is exported: the campus needs no more",
        ClampReason::PermitHours => "the permit has less time left than a turn takes",
        ClampReason::NoActiveOffer => "no appeal was active",
    }
}

pub(super) fn amount(amount: Amount) -> String {
    match amount {
        Amount::Mw(value) => mw(value),
        Amount::Offer(yes) => if yes { "yes" } else { "no" }.to_owned(),
        Amount::NotFinite(()) => "not a number".to_owned(),
    }
}

/// What a limit did: `40 MW became 36.2 MW: the battery holds no more energy`.
pub(super) fn clamp(clamp: &Clamp) -> String {
    format!("{} became {}: {}", amount(clamp.requested), amount(clamp.applied), reason(clamp.reason))
}

pub(super) fn status(status: Status) -> Markup {
    match status {
        Status::Normal => chip(Mark::Accepted, "normal"),
        Status::Watch => chip(Mark::Appeal, "watch"),
        Status::Emergency => chip(Mark::Order, "emergency"),
    }
}

/// What an event asks or offers.
pub(super) fn event(kind: &VisibleKind) -> String {
    match kind {
        VisibleKind::CurtailmentOrder { requested_mw } => {
            format!("{} less than the IT demand", mw(*requested_mw))
        }
        VisibleKind::ConservationAppeal { credit_usd_per_mwh, .. } => {
            format!("pays {} $/MWh of reduction", short(*credit_usd_per_mwh, 2))
        }
    }
}

pub(super) fn event_mark(kind: &VisibleKind) -> Markup {
    match kind {
        VisibleKind::CurtailmentOrder { .. } => chip(Mark::Order, "ORDER"),
        VisibleKind::ConservationAppeal { accepted: true, .. } => {
            html! { (chip(Mark::Appeal, "APPEAL")) " " (chip(Mark::Accepted, "accepted")) }
        }
        VisibleKind::ConservationAppeal { .. } => chip(Mark::Appeal, "APPEAL"),
    }
}

pub(super) fn metric(id: MetricId) -> &'static str {
    match id {
        MetricId::CostUsdPerMwh => "Cost",
        MetricId::ReliefShare => "Relief",
        MetricId::ItServedShare => "IT load served",
    }
}

pub(super) fn metric_value(id: MetricId, value: Option<f64>) -> String {
    match (id, value) {
        (_, None) => "no value".to_owned(),
        (MetricId::CostUsdPerMwh, Some(value)) => format!("{} $/MWh", decimal(value, 2)),
        (_, Some(value)) => decimal(value, 3),
    }
}

/// What is divided by what.
pub(super) fn quotient(metric: &MetricValue) -> String {
    match metric.id {
        MetricId::CostUsdPerMwh => {
            format!("{} ÷ {} of IT demand", dollars(metric.numerator), mwh(metric.denominator))
        }
        MetricId::ReliefShare if metric.denominator == 0.0 => {
            "nothing was asked, which counts as 1".to_owned()
        }
        MetricId::ReliefShare => {
            format!("{} delivered ÷ {} asked by orders", mwh(metric.numerator), mwh(metric.denominator))
        }
        MetricId::ItServedShare => {
            format!("{} served ÷ {} demanded", mwh(metric.numerator), mwh(metric.denominator))
        }
    }
}

/// `★★☆`, with its words.
pub(super) fn stars(earned: u8) -> Markup {
    let drawn: String = (1..=3).map(|k| if k <= earned { '★' } else { '☆' }).collect();
    html! { span aria-hidden="true" { (drawn) } span.visually-hidden { (earned) " of 3 stars" } }
}
