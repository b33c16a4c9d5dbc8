use std::fmt::{self, Write as _};

use super::event::EventKind;
use super::pack::{Metric, MetricId, Pack};
use crate::ENGINE_VERSION;
use crate::limits::Limits;

/// The briefing a competitor reads before the first turn, in Markdown: the pack's own words, both
/// metrics with their denominators, the stars' thresholds and every limit. Nothing is scored that
/// it does not say.
pub fn brief(pack: &Pack, limits: &Limits) -> String {
    let mut text = String::new();
    write(&mut text, pack, limits).expect("a String takes any text");
    text
}

fn write(out: &mut String, pack: &Pack, limits: &Limits) -> fmt::Result {
    let document = pack.document();
    writeln!(out, "# {}\n\n{}\n", document.name, document.brief_md.trim())?;
    writeln!(out, "## The episode\n")?;
    writeln!(out, "- Pack {pack}, engine {ENGINE_VERSION}")?;
    let time = &document.time;
    writeln!(out, "- {} turns of {} minutes from {}", time.turns, time.step_minutes, time.start_local)?;
    write_site(out, pack)?;
    let slope = document.grid.price_slope_usd_per_mwh_per_mw.is_some();
    let response = if slope { "your own draw moves the price you pay" } else { "you are a price taker" };
    writeln!(out, "- Grid: {response}")?;
    write_events(out, pack)?;
    writeln!(out, "\n## What is scored (score {})\n", document.score_version)?;
    for metric in &document.scoring.metrics {
        write_metric(out, metric)?;
    }
    writeln!(out, "\nA star is earned when both metrics meet its threshold and every lower star is earned.")?;
    writeln!(out, "\n## What a sandboxed strategy may use (limits {})\n", limits.version)?;
    write_limits(out, limits)
}

fn write_site(out: &mut String, pack: &Pack) -> fmt::Result {
    let site = &pack.document().site;
    let peak = site.it_demand_mw.iter().copied().fold(0.0, super::numbers::max);
    writeln!(out, "- IT demand up to {peak} MW; shedding costs {} $/MWh", site.sla_usd_per_mwh)?;
    let battery = &site.battery;
    writeln!(
        out,
        "- Battery: {} MWh, {} MW, round trip {} (all of the loss is paid on filling), {} MWh at the start",
        battery.capacity_mwh, battery.power_mw, battery.round_trip_efficiency, battery.initial_soc_mwh
    )?;
    let generator = &site.generator;
    writeln!(
        out,
        "- Natural-gas generator: {} MW, fuel {} $/MWh, {} permit hours (any output uses the whole turn)",
        generator.capacity_mw, generator.fuel_usd_per_mwh, generator.permit_hours
    )?;
    writeln!(out, "- Nothing is exported: battery and generator serve the campus' own load")
}

fn write_events(out: &mut String, pack: &Pack) -> fmt::Result {
    let orders = pack.orders().len();
    let appeals = pack.appeals().len();
    debug_assert_eq!(orders + appeals, pack.document().events.len());
    let has = |kind: fn(&EventKind) -> bool| pack.document().events.iter().any(|event| kind(&event.kind));
    if has(|kind| matches!(kind, EventKind::CurtailmentOrder { .. })) {
        writeln!(out, "- Orders are mandatory: what you fall short of counts against relief")?;
    }
    if has(|kind| matches!(kind, EventKind::ConservationAppeal { .. })) {
        writeln!(
            out,
            "- Appeals are voluntary: accept one and it pays for reduction beyond what orders ask"
        )?;
    }
    Ok(())
}

fn write_metric(out: &mut String, metric: &Metric) -> fmt::Result {
    let (quotient, sign) = match metric.id {
        MetricId::CostUsdPerMwh => {
            ("cost ÷ IT demand, in $/MWh (demand, not served load); lower is better", "≤")
        }
        MetricId::ReliefShare => {
            ("relief delivered ÷ relief asked by orders, 1 when nothing is asked; higher is better", "≥")
        }
        MetricId::ItServedShare => ("IT load served ÷ IT demand; higher is better", "≥"),
    };
    let [one, two, three] = metric.stars;
    writeln!(out, "- `{}`: {quotient}. ★ {sign} {one}, ★★ {sign} {two}, ★★★ {sign} {three}", metric.id.name())
}

fn write_limits(out: &mut String, limits: &Limits) -> fmt::Result {
    writeln!(out, "- component: {} bytes", limits.component_bytes_max)?;
    writeln!(
        out,
        "- memory: {} bytes; tables: {} elements",
        limits.memory_bytes_max, limits.table_elements_max
    )?;
    writeln!(out, "- fuel of the brief, start-up included: {}", limits.brief_fuel_max)?;
    writeln!(out, "- fuel of a turn: {} (unused fuel does not carry over)", limits.turn_fuel_max)?;
    writeln!(out, "- fuel of all turns: {}", limits.episode_fuel_max)?;
    writeln!(
        out,
        "- log: {} bytes a turn, {} an episode; the rest is dropped and counted",
        limits.turn_log_bytes_max, limits.episode_log_bytes_max
    )?;
    writeln!(out, "- fuel of a call into the host: {} and one more a byte", limits.host_call_fuel)?;
    writeln!(out, "- other texts and lists: {} bytes", limits.guest_text_bytes_max)?;
    writeln!(out, "- safety stop: {} s of CPU time in one call", limits.call_cpu_seconds_max)
}
