//! The campus world: what the engine has, as the guest is told it.

use arena_engine::campus::{
    Amount, Clamp, ClampReason, EventKind, Field, Metric, MetricId, Notice, Observation, Pack, Status,
};
use arena_engine::limits::Limits;

wasmtime::component::bindgen!({
    inline: "
        package arena:seat;
        world campus {
            export arena:campus/player@0.1.0;
        }
    ",
    path: "../../wit/campus",
    world: "arena:seat/campus",
    ownership: Borrowing { duplicate_if_necessary: true },
});

pub(crate) use arena::campus::types;

/// Everything static, as the guest is told it.
pub(crate) fn brief<'p>(pack: &'p Pack, limits: &Limits) -> types::Brief<'p> {
    let document = pack.document();
    let (battery, generator) = (&document.site.battery, &document.site.generator);
    let [first, second] = &document.scoring.metrics;
    types::Brief {
        pack_id: &document.pack_id,
        pack_version: &document.pack_version,
        name: &document.name,
        brief_md: &document.brief_md,
        start_local: &document.time.start_local,
        turns: document.time.turns,
        step_minutes: document.time.step_minutes,
        battery: types::Battery {
            capacity_mwh: battery.capacity_mwh,
            power_mw: battery.power_mw,
            round_trip_efficiency: battery.round_trip_efficiency,
            initial_soc_mwh: battery.initial_soc_mwh,
        },
        generator: types::Generator {
            capacity_mw: generator.capacity_mw,
            fuel_usd_per_mwh: generator.fuel_usd_per_mwh,
            permit_hours: generator.permit_hours,
        },
        sla_usd_per_mwh: document.site.sla_usd_per_mwh,
        has_price_slope: document.grid.price_slope_usd_per_mwh_per_mw.is_some(),
        first_metric: metric(first),
        second_metric: metric(second),
        engine_version: arena_engine::ENGINE_VERSION,
        score_version: &document.score_version,
        limits: types::Limits {
            version: limits.version,
            brief_fuel: limits.brief_fuel_max,
            turn_fuel: limits.turn_fuel_max,
            episode_fuel: limits.episode_fuel_max,
            component_bytes: limits.component_bytes_max,
            memory_bytes: limits.memory_bytes_max,
            table_elements: limits.table_elements_max,
            turn_log_bytes: limits.turn_log_bytes_max,
            episode_log_bytes: limits.episode_log_bytes_max,
            guest_text_bytes: limits.guest_text_bytes_max,
            call_cpu_seconds: limits.call_cpu_seconds_max,
            host_call_fuel: limits.host_call_fuel,
        },
    }
}

fn metric(metric: &Metric) -> types::Metric {
    let [one_star, two_stars, three_stars] = metric.stars;
    let id = match metric.id {
        MetricId::CostUsdPerMwh => types::MetricId::CostUsdPerMwh,
        MetricId::ReliefShare => types::MetricId::ReliefShare,
        MetricId::ItServedShare => types::MetricId::ItServedShare,
    };
    types::Metric { id, one_star, two_stars, three_stars }
}

/// One turn as a flat record: nothing of it touches the guest's memory.
pub(crate) fn observation(seen: &Observation<'_>) -> types::Observation {
    let ahead = |turns| seen.forecast(turns).unwrap_or((0.0, Status::Normal));
    let ((one_price, one), (two_price, two), (three_price, three)) = (ahead(1), ahead(2), ahead(3));
    let ledger = seen.ledger();
    types::Observation {
        turn: seen.turn(),
        price_usd_per_mwh: seen.price_usd_per_mwh(),
        forecast_one_usd_per_mwh: one_price,
        forecast_two_usd_per_mwh: two_price,
        forecast_three_usd_per_mwh: three_price,
        system_status: status(seen.system_status()),
        forecast_one_status: status(one),
        forecast_two_status: status(two),
        forecast_three_status: status(three),
        it_demand_mw: seen.it_demand_mw(),
        soc_mwh: seen.soc_mwh(),
        permit_hours_remaining: seen.permit_hours_remaining(),
        cost_usd: ledger.cost_usd,
        shed_mwh: ledger.shed_mwh,
        relief_delivered_mwh: ledger.relief_delivered_mwh,
        relief_asked_mwh: ledger.relief_asked_mwh,
    }
}

fn status(status: Status) -> types::SystemStatus {
    match status {
        Status::Normal => types::SystemStatus::Normal,
        Status::Watch => types::SystemStatus::Watch,
        Status::Emergency => types::SystemStatus::Emergency,
    }
}

/// One change, as the guest is told it.
pub(crate) fn notice<'e>(notice: &Notice<'e>) -> types::Notice<'e> {
    match *notice {
        Notice::Ended(index) => types::Notice::Ended(index),
        Notice::Started(index) => types::Notice::Started(index),
        Notice::Accepted(index) => types::Notice::Accepted(index),
        Notice::Clamped(clamp) => types::Notice::Clamped(self::clamp(clamp)),
        Notice::Visible(index, event) => types::Notice::Visible(types::Event {
            index,
            id: &event.id,
            kind: match event.kind {
                EventKind::ConservationAppeal { credit_usd_per_mwh } => {
                    types::EventKind::ConservationAppeal(credit_usd_per_mwh)
                }
                EventKind::CurtailmentOrder { requested_mw } => {
                    types::EventKind::CurtailmentOrder(requested_mw)
                }
            },
            start_turn: event.start_turn,
            end_turn: event.end_turn,
        }),
    }
}

fn clamp(clamp: Clamp) -> types::Clamp {
    let amount = |amount| match amount {
        Amount::Mw(mw) => mw,
        Amount::Offer(yes) => f64::from(u8::from(yes)),
        Amount::NotFinite(()) => f64::NAN,
    };
    types::Clamp {
        field: match clamp.field {
            Field::CurtailMw => types::ActionField::CurtailMw,
            Field::BatteryMw => types::ActionField::BatteryMw,
            Field::DieselMw => types::ActionField::DieselMw,
            Field::AcceptOffer => types::ActionField::AcceptOffer,
        },
        requested: amount(clamp.requested),
        applied: amount(clamp.applied),
        reason: reason(clamp.reason),
    }
}

fn reason(reason: ClampReason) -> types::ClampReason {
    match reason {
        ClampReason::NotFinite => types::ClampReason::NotFinite,
        ClampReason::BelowZero => types::ClampReason::BelowZero,
        ClampReason::ItDemand => types::ClampReason::ItDemand,
        ClampReason::PowerLimit => types::ClampReason::PowerLimit,
        ClampReason::SocEmpty => types::ClampReason::SocEmpty,
        ClampReason::SocFull => types::ClampReason::SocFull,
        ClampReason::Capacity => types::ClampReason::Capacity,
        ClampReason::NoExport => types::ClampReason::NoExport,
        ClampReason::PermitHours => types::ClampReason::PermitHours,
        ClampReason::NoActiveOffer => types::ClampReason::NoActiveOffer,
    }
}
