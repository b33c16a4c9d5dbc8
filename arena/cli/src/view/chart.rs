//! A chart as data: panels of values over turns and bands of marks below them. What it is drawn
//! with comes later.

use arena_engine::Excerpt;
use arena_engine::campus::{EpisodeLog, Event, EventKind, Pack, ResolutionRecord, ShareRecord, Status};

use crate::ink::Tone;
use crate::view::numbers::counted;

/// Everything a drawing needs.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) panels: Vec<Panel>,
    pub(crate) bands: Vec<Band>,
    /// One label for each column.
    pub(crate) ticks: Vec<String>,
    /// What a reader must know of the columns.
    pub(crate) remark: Option<String>,
}

/// Values as columns.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    pub(crate) label: String,
    pub(crate) values: Vec<f64>,
    pub(crate) tone: Tone,
    /// Rows of text it gets.
    pub(crate) rows: usize,
}

/// Marks as one line.
#[derive(Debug, Clone)]
pub(crate) struct Band {
    pub(crate) label: String,
    /// What the marks say, where the label does not.
    pub(crate) legend: Vec<(Mark, &'static str)>,
    pub(crate) marks: Vec<Mark>,
}

/// One mark, from none to strong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    None,
    /// To come, on offer.
    Faint,
    /// Watch; met; accepted.
    Half(Tone),
    /// Emergency; not met.
    Full(Tone),
}

/// Most events that get a band.
const BANDS_MAX: usize = 12;

impl Chart {
    /// A pack before anybody plays it: price, demand, status and events.
    pub(crate) fn of_pack(pack: &Pack) -> Self {
        let document = pack.document();
        let price = Panel {
            label: "price, $/MWh".to_owned(),
            values: document.grid.price_usd_per_mwh.clone(),
            tone: Tone::Blue,
            rows: 6,
        };
        let demand = Panel {
            label: "IT demand, MW".to_owned(),
            values: document.site.it_demand_mw.clone(),
            tone: Tone::Magenta,
            rows: 3,
        };
        let mut bands = vec![status_band(&document.grid.system_status)];
        for event in document.events.iter().take(BANDS_MAX) {
            let (label, tone) = match event.kind {
                EventKind::CurtailmentOrder { requested_mw } => {
                    (format!("{}: order, {requested_mw} MW", event.id), Tone::Bad)
                }
                EventKind::ConservationAppeal { credit_usd_per_mwh } => {
                    (format!("{}: appeal, {credit_usd_per_mwh} $/MWh", event.id), Tone::Good)
                }
            };
            let mark = |t| match (event.is_active(t), event.is_visible(t)) {
                (true, _) => Mark::Full(tone),
                (false, true) => Mark::Faint,
                (false, false) => Mark::None,
            };
            bands.push(Band { label, legend: Vec::new(), marks: (0..pack.turns()).map(mark).collect() });
        }
        let title = format!("{} ({})", Excerpt::line(&document.name), document.pack_id);
        let remark = left_out(document.events.len());
        Self { title, panels: vec![price, demand], bands, ticks: ticks(pack), remark }
    }

    /// An episode that was played: price, import, state of charge, status and what came of events.
    pub(crate) fn of_episode(log: &EpisodeLog, pack: &Pack) -> Self {
        let panel = |label: &str, tone, rows, value: fn(&ResolutionRecord) -> f64| Panel {
            label: label.to_owned(),
            values: log.turns.iter().map(|turn| value(&turn.resolution)).collect(),
            tone,
            rows,
        };
        let panels = vec![
            panel("price paid, $/MWh", Tone::Blue, 6, |turn| turn.effective_price_usd_per_mwh),
            panel("import, MW", Tone::Magenta, 3, |turn| turn.grid_import_mw),
            panel("battery, MWh after the turn", Tone::Cyan, 3, |turn| turn.soc_mwh),
        ];
        let document = pack.document();
        let mut bands = vec![status_band(&document.grid.system_status)];
        bands.extend(document.events.iter().take(BANDS_MAX).map(|event| outcome_band(log, event)));
        let title = format!("{} ({}), as it was played", Excerpt::line(&document.name), document.pack_id);
        let remark = left_out(document.events.len());
        Self { title, panels, bands, ticks: ticks(pack), remark }
    }

    /// One panel over columns of any kind.
    pub(crate) fn of_values(title: String, label: String, values: Vec<f64>, ticks: Vec<String>) -> Self {
        let panel = Panel { label, values, tone: Tone::Blue, rows: 6 };
        Self { title, panels: vec![panel], bands: Vec::new(), ticks, remark: None }
    }

    /// The same chart with at most `columns` columns; each shows the peak of its turns.
    pub(crate) fn squeezed(&self, columns: usize) -> Self {
        let turns = self.ticks.len();
        let each = turns.div_ceil(columns.max(1)).max(1);
        if each == 1 {
            return self.clone();
        }
        let peak = |values: &[f64]| {
            values.iter().copied().reduce(|a, b| if b.abs() > a.abs() { b } else { a }).unwrap_or_default()
        };
        let strongest = |marks: &[Mark]| marks.iter().copied().max().unwrap_or(Mark::None);
        let panels = self
            .panels
            .iter()
            .map(|panel| Panel { values: panel.values.chunks(each).map(peak).collect(), ..panel.clone() });
        let bands = self
            .bands
            .iter()
            .map(|band| Band { marks: band.marks.chunks(each).map(strongest).collect(), ..band.clone() });
        let squeezed = format!("each column shows the peak of {}", counted(each as u64, "turn"));
        let remarks = [Some(squeezed), self.remark.clone()];
        Self {
            title: self.title.clone(),
            panels: panels.collect(),
            bands: bands.collect(),
            ticks: self.ticks.iter().step_by(each).cloned().collect(),
            remark: Some(remarks.into_iter().flatten().collect::<Vec<_>>().join("; ")),
        }
    }
}

fn left_out(events: usize) -> Option<String> {
    let more = events.saturating_sub(BANDS_MAX);
    (more > 0).then(|| format!("{} not shown", counted(more as u64, "more event")))
}

fn ticks(pack: &Pack) -> Vec<String> {
    (0..pack.turns()).map(|turn| clock(&pack.local_time(turn)).to_owned()).collect()
}

/// `18:15` of an RFC 3339 time.
pub(crate) fn clock(local_time: &str) -> &str {
    local_time.get(11..16).unwrap_or(local_time)
}

fn status_band(status: &[Status]) -> Band {
    let mark = |status: &Status| match status {
        Status::Normal => Mark::None,
        Status::Watch => Mark::Half(Tone::Warn),
        Status::Emergency => Mark::Full(Tone::Bad),
    };
    let legend = vec![(Mark::Half(Tone::Warn), "watch"), (Mark::Full(Tone::Bad), "emergency")];
    Band { label: "grid".to_owned(), legend, marks: status.iter().map(mark).collect() }
}

/// What came of one event, turn by turn.
fn outcome_band(log: &EpisodeLog, event: &Event) -> Band {
    let legend = match event.kind {
        EventKind::CurtailmentOrder { .. } => {
            vec![(Mark::Half(Tone::Good), "met"), (Mark::Full(Tone::Bad), "short")]
        }
        EventKind::ConservationAppeal { .. } => {
            vec![(Mark::Half(Tone::Good), "accepted"), (Mark::Faint, "on offer")]
        }
    };
    let marks = log.turns.iter().map(|turn| {
        let share = turn.resolution.events.iter().find(|share| share.id == event.id);
        match share.map(|share| share.share) {
            Some(ShareRecord::CurtailmentOrder(relief)) if relief.shortfall_mw > 0.0 => Mark::Full(Tone::Bad),
            Some(ShareRecord::CurtailmentOrder(_)) => Mark::Half(Tone::Good),
            Some(ShareRecord::ConservationAppeal { accepted: true, .. }) => Mark::Half(Tone::Good),
            Some(ShareRecord::ConservationAppeal { accepted: false, .. }) => Mark::Faint,
            None => Mark::None,
        }
    });
    Band { label: event.id.clone(), legend, marks: marks.collect() }
}
