//! Where honesty stops being best, axis by axis.

use std::path::Path;

use arena_claims::params::PPM;
use arena_claims::simulate::{Axis, Config, Point, Sweep, sweep};
use serde_json::{Value, json};

use super::field::Field;
use super::{estimated, percent, picture, units};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::ink::Tone;
use crate::io::Io;
use crate::view::blocks;
use crate::view::chart::{Band, Chart, Mark};
use crate::view::lines::wrapped;
use crate::view::numbers::count;
use crate::view::table::{Cell, Column, Table};

/// `--svg FILE`, and whether it replaces what is there.
type Picture<'a> = Option<(&'a Path, bool)>;

pub(super) fn run(
    config: &Config,
    axes: &str,
    agents: Option<&Field>,
    svg: Picture<'_>,
    as_json: bool,
    io: &mut Io<'_>,
) -> Result<Exit, Failure> {
    if let Some((path, force)) = svg {
        files::may_write(path, Existing::replace_if(force))?;
    }
    let axes: Vec<Axis> = Axis::ALL.into_iter().filter(|axis| axes == "all" || axes == axis.name()).collect();
    let steps: usize = axes.iter().map(|axis| axis.grid().len()).sum();
    let bar = io.progress("simulating", config.claims.saturating_mul(steps as u64));
    let mut sweeps = Vec::new();
    for axis in axes {
        let before = bar.position();
        let swept = sweep(config, axis, agents, &mut |claims| bar.set_position(before + claims));
        sweeps.push(swept.map_err(|refusal| Failure::internal("simulate", refusal))?);
    }
    bar.finish_and_clear();
    if let Some((path, force)) = svg {
        files::write(path, picture::svg(&sweeps).as_bytes(), Existing::replace_if(force))?;
        io.talk(format_args!("wrote {}", files::shown(path)));
    }
    if as_json {
        io.print_json(&document(config, &sweeps));
    } else {
        sweeps.iter().for_each(|sweep| show(sweep, config, io));
    }
    Ok(Exit::Success)
}

fn document(config: &Config, sweeps: &[Sweep]) -> Value {
    let axes = sweeps.iter().map(|sweep| {
        let mut axis = sweep.to_json();
        axis["here"] = json!(sweep.axis.value(config));
        axis
    });
    json!({
        "seed": config.seed, "params_sha256": config.params.digest(), "reviewer_ppm": config.reviewer_ppm,
        "axes": axes.collect::<Vec<_>>(),
    })
}

fn show(sweep: &Sweep, config: &Config, io: &mut Io<'_>) {
    let (ink, columns) = (io.ink(), io.columns());
    let axis = sweep.axis;
    let agents: Vec<String> =
        sweep.populations.iter().map(|(population, n)| format!("{}={n}", population.name())).collect();
    io.print(ink.paint(Tone::Strong, format!("{}: {}", axis.title(), axis.measure())));
    io.print(format_args!(
        "agents {}; {} rounds at each value, seed {}, operators with long records",
        agents.join(","),
        count(sweep.claims),
        config.seed
    ));
    for line in table(sweep).lines(columns, ink) {
        io.print(line);
    }
    io.print("");
    for line in blocks::draw(&chart(sweep), columns, ink) {
        io.print(line);
    }
    for line in wrapped(&crossing(sweep), columns) {
        io.print(ink.paint(Tone::Strong, line));
    }
    for line in wrapped(&predicted(sweep, config), columns) {
        io.print(line);
    }
    io.print("");
}

fn table(sweep: &Sweep) -> Table {
    let columns = [
        Column::right(sweep.axis.name()).after(0),
        Column::right("honest per seat"),
        Column::right("best other"),
        Column::left(""),
        Column::right("honest per review"),
        Column::right("margin"),
    ];
    let mut table = Table::new(columns);
    for point in &sweep.points {
        let none = || "-".to_owned();
        let standing = point.standing;
        let margin = point.margin(sweep.axis).zip(point.margin_half(sweep.axis));
        let told =
            margin.map_or_else(none, |(mean, half)| format!("{} ± {}", units(mean, 0), units(half, 0)));
        table.push([
            Cell::toned(Tone::Strong, percent(point.value, sweep.axis.whole())),
            standing.map_or_else(none, |standing| estimated(standing.honest)).into(),
            standing.map_or_else(none, |standing| estimated(standing.best)).into(),
            standing.map_or("", |standing| standing.other.name()).into(),
            point.review.map_or_else(none, estimated).into(),
            Cell::toned(tone(point, sweep.axis), told),
        ]);
    }
    table
}

/// Good above 0, bad below, and a warning where the interval has both.
pub(super) fn tone(point: &Point, axis: Axis) -> Tone {
    match (point.margin(axis), point.margin_half(axis)) {
        (Some(margin), Some(half)) if margin > half => Tone::Good,
        (Some(margin), Some(half)) if margin < -half => Tone::Bad,
        (Some(_), _) => Tone::Warn,
        (None, _) => Tone::Quiet,
    }
}

fn chart(sweep: &Sweep) -> Chart {
    let axis = sweep.axis;
    let ticks =
        sweep.points.iter().map(|point| percent(point.value, axis.whole()).replace(' ', "")).collect();
    let values = sweep.points.iter().map(|point| whole(point.margin(axis).unwrap_or_default())).collect();
    let mark = |point: &Point| match tone(point, axis) {
        tone @ Tone::Warn => Mark::Half(tone),
        Tone::Quiet => Mark::None,
        tone => Mark::Full(tone),
    };
    let band = Band {
        label: "0 is below (green), within or above (red) the 95 % interval".to_owned(),
        legend: Vec::new(),
        marks: sweep.points.iter().map(mark).collect(),
    };
    let chart = Chart::of_values(String::new(), format!("margin: {}", axis.measure()), values, ticks);
    Chart { bands: vec![band], ..chart }
}

/// Hundredths as whole units and a part, to draw.
#[expect(clippy::cast_precision_loss, reason = "only drawn")]
pub(super) fn whole(hundredths: i128) -> f64 {
    hundredths as f64 / 100.0
}

/// Between which values it stops.
fn crossing(sweep: &Sweep) -> String {
    let axis = sweep.axis;
    let told = |value: u64| percent(value, axis.whole());
    let clear = sweep.points.iter().rposition(|point| tone(point, axis) != Tone::Good);
    let clear = match clear {
        None => sweep.points.first(),
        Some(last) => sweep.points.get(last + 1),
    };
    let clear = clear.map_or_else(
        || "its interval is nowhere clear of 0".to_owned(),
        |point| format!("its whole interval is above 0 from {} on", told(point.value)),
    );
    match sweep.crossing() {
        Some((below, above)) => {
            format!("the margin goes above 0 between {} and {}; {clear}", told(below), told(above))
        }
        None if sweep.never_breaks() => format!("the margin is above 0 on the whole grid; {clear}"),
        None => "the margin does not stay above 0 anywhere on the grid".to_owned(),
    }
}

/// What the conditions say of it.
fn predicted(sweep: &Sweep, config: &Config) -> String {
    let axis = sweep.axis;
    let told = |value: Option<u64>| {
        value.map_or_else(|| "more than there is".to_owned(), |value| percent(value, axis.whole()))
    };
    let q = percent(config.params.assumptions.q_ppm, PPM);
    let sure = match axis {
        Axis::Audit | Axis::Slash => format!(
            " with checks that are right {q} of the time, for {} with sure ones, as nearly all of these are",
            told(sweep.predicted.with_sure_checks)
        ),
        Axis::Accuracy => String::new(),
    };
    let here = percent(axis.value(config), axis.whole());
    format!(
        "condition {} asks for {}{sure}; here it is {here}",
        sweep.predicted.id,
        told(sweep.predicted.least)
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use arena_claims::simulate::{Estimate, Population, Predicted, Standing};

    use super::*;

    pub(crate) fn sample(margins: &[(i128, i128)]) -> Sweep {
        let point = |(i, (mean, half)): (usize, &(i128, i128))| {
            let honest = Estimate { mean: *mean, half: *half };
            let best = Estimate { mean: 0, half: 0 };
            let standing = Standing { honest, other: Population::Patient, best };
            Point { value: i as u64 * 100_000, standing: Some(standing), review: None }
        };
        Sweep {
            axis: Axis::Audit,
            populations: BTreeMap::new(),
            claims: 10,
            points: margins.iter().enumerate().map(point).collect(),
            predicted: Predicted { id: "I1", least: Some(88_889), with_sure_checks: Some(80_001) },
        }
    }

    #[test]
    fn crossings_are_told_with_what_is_certain() {
        for (margins, told) in [
            (
                &[(-900, 10), (-5, 20), (5, 20), (800, 30)][..],
                "the margin goes above 0 between 10 % and 20 %; its whole interval is above 0 from 30 % on",
            ),
            (
                &[(90, 10), (100, 10)],
                "the margin is above 0 on the whole grid; its whole interval is above 0 from 0 % on",
            ),
            (
                &[(-90, 10), (100, 110)],
                "the margin goes above 0 between 0 % and 10 %; its interval is nowhere clear of 0",
            ),
            (&[(90, 10), (-100, 10)], "the margin does not stay above 0 anywhere on the grid"),
        ] {
            assert_eq!(crossing(&sample(margins)), told);
        }
    }

    #[test]
    fn the_picture_has_a_dot_for_each_point_and_stands_alone() {
        let text = picture::svg(&[sample(&[(-900, 10), (800, 30)]), sample(&[(5, 5), (6, 6), (7, 7)])]);
        assert_eq!(text.matches("<circle").count(), 5);
        assert_eq!(text.matches("condition I1").count(), 2);
        assert!(text.starts_with("<svg xmlns=") && text.ends_with("</svg>\n"));
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
}
