//! Checks a pack's document and names every fault at once, each with its JSON pointer. It accepts
//! exactly what `scenario-pack.v0.schema.json` accepts and the rules allow.

use std::collections::BTreeMap;

use arena_canon::json::{Map, Number, Pointer, Value};
use jiff::civil::DateTime;

use super::event::{Event, EventKind, Status};
use super::fault::{Finding, Findings};
use super::pack::{Battery, Generator, Grid, Metric, MetricId, PackDocument, Scoring, Site, Time};

/// A document without a fault.
pub(super) struct Checked {
    pub(super) document: PackDocument,
    pub(super) start: DateTime,
    pub(super) offset: String,
    pub(super) warnings: Vec<Finding>,
}

const SCHEMA: &str = "scenario-pack.v0";
const NUMBER_MAX: f64 = 1e12;
const TURNS_MAX: f64 = 100_000.0;
const STEP_MINUTES_MAX: f64 = 525_600.0;
const EVENT_TURN_MAX: f64 = 1_000_000.0;
const EVENTS_MAX: usize = 1_000;
const BRIEF_BYTES_MAX: usize = 64 << 10;
const NAME_CHARS_MAX: usize = 200;
const ID_BYTES_MAX: usize = 64;
/// Faults told of one strip; a strip in another unit is wrong everywhere.
const STRIP_FAULTS_MAX: usize = 5;

/// Checks `value`; all of its faults if there are any.
pub(super) fn check(value: &Value) -> Result<Checked, Vec<Finding>> {
    let mut checker = Checker::default();
    let read = checker.pack(value);
    match (read, checker.faults.into_vec()) {
        (Some((document, start, offset)), faults) if faults.is_empty() => {
            Ok(Checked { document, start, offset, warnings: checker.warnings.into_vec() })
        }
        (_, faults) => Err(faults),
    }
}

/// Names what stands there, for a message.
pub(super) fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A suggestion for a misspelt key, or nothing.
pub(super) fn nearest(key: &str, known: &[&str]) -> String {
    // The distance takes time and memory in proportion to the key; nobody misspells that much.
    let measurable = known.iter().filter(|_| key.len() <= ID_BYTES_MAX);
    let distances = measurable.map(|name| (strsim::damerau_levenshtein(key, name), name));
    let best = distances.filter(|(distance, name)| *distance <= 1 + name.len() / 4).min();
    match best {
        Some((_, name)) => format!("; did you mean {name:?}?"),
        None => format!("; known here: {}", known.join(", ")),
    }
}

/// Walks a document, collecting what is wrong. Every reader returns `None` after it has said why.
#[derive(Default)]
pub(super) struct Checker {
    faults: Findings,
    warnings: Findings,
}

/// An object with its place.
struct Object<'v> {
    members: &'v Map<String, Value>,
    at: Pointer,
}

/// What a number may be.
#[derive(Clone, Copy)]
struct Range {
    min: f64,
    max: f64,
    above_min: bool,
    integer: bool,
}

impl Range {
    const ANY: Self = Self { min: -NUMBER_MAX, max: NUMBER_MAX, above_min: false, integer: false };
    const NOT_NEGATIVE: Self = Self { min: 0.0, ..Self::ANY };

    const fn integer(min: f64, max: f64) -> Self {
        Self { min, max, above_min: false, integer: true }
    }

    fn holds(self, value: f64) -> bool {
        let above = if self.above_min { value > self.min } else { value >= self.min };
        above && value <= self.max && (!self.integer || value.fract() == 0.0)
    }

    fn words(self) -> String {
        let kind = if self.integer { "an integer" } else { "a number" };
        let from = if self.above_min { "above" } else { "from" };
        format!("{kind} {from} {} to {}", self.min, self.max)
    }
}

impl Checker {
    /// Any JSON number as binary64, correctly rounded.
    pub(super) fn as_f64(number: &Number) -> f64 {
        number.as_f64().expect("every JSON number that was read has a binary64 value")
    }

    fn pack(&mut self, value: &Value) -> Option<(PackDocument, DateTime, String)> {
        const KEYS: [&str; 11] = [
            "schema",
            "pack_id",
            "pack_version",
            "name",
            "brief_md",
            "score_version",
            "time",
            "site",
            "grid",
            "events",
            "scoring",
        ];
        let root = self.object(value, Pointer::default(), &KEYS)?;
        let schema = self.schema(&root);
        let pack_id = self.id(&root, "pack_id");
        let pack_version = self.id(&root, "pack_version");
        let name = self.name(&root);
        let brief_md = self.brief_md(&root);
        let score_version = self.id(&root, "score_version");
        let (time, turns) = self.time(&root);
        let site = self.site(&root, turns);
        let grid = self.grid(&root, turns);
        let events = self.events(&root, turns);
        let scoring = self.scoring(&root, events.as_deref());
        let (time, start, offset) = time?;
        let document = PackDocument {
            schema: schema?,
            pack_id: pack_id?,
            pack_version: pack_version?,
            name: name?,
            brief_md: brief_md?,
            score_version: score_version?,
            time,
            site: site?,
            grid: grid?,
            events: events?,
            scoring: scoring?,
        };
        Some((document, start, offset))
    }

    fn schema(&mut self, root: &Object<'_>) -> Option<String> {
        let (schema, at) = self.text(root, "schema")?;
        if schema != SCHEMA {
            self.faults.add(&at, format!("this reads {SCHEMA:?}, the file says {}", quoted(schema)));
            return None;
        }
        Some(schema.to_owned())
    }

    fn name(&mut self, root: &Object<'_>) -> Option<String> {
        let (name, at) = self.text(root, "name")?;
        let count = name.chars().count();
        if !(1..=NAME_CHARS_MAX).contains(&count) {
            self.faults.add(&at, format!("{count} characters; a name has 1 to {NAME_CHARS_MAX}"));
            return None;
        }
        Some(name.to_owned())
    }

    fn brief_md(&mut self, root: &Object<'_>) -> Option<String> {
        let (brief, at) = self.text(root, "brief_md")?;
        if brief.len() > BRIEF_BYTES_MAX {
            self.faults.add(&at, format!("{} bytes; a brief has at most {BRIEF_BYTES_MAX}", brief.len()));
            return None;
        }
        Some(brief.to_owned())
    }

    /// The number of turns is told apart: strips are held to it whatever else is wrong here.
    fn time(&mut self, root: &Object<'_>) -> (Option<(Time, DateTime, String)>, Option<u32>) {
        let keys = ["start_local", "turns", "step_minutes"];
        let Some(time) = self.member_object(root, "time", &keys) else { return (None, None) };
        let start = self.start_local(&time);
        let turns = self.integer(&time, "turns", Range::integer(1.0, TURNS_MAX));
        let step_minutes = self.integer(&time, "step_minutes", Range::integer(1.0, STEP_MINUTES_MAX));
        (self.span(&time.at, start, turns, step_minutes), turns)
    }

    fn span(
        &mut self,
        at: &Pointer,
        start: Option<(String, DateTime, String)>,
        turns: Option<u32>,
        step_minutes: Option<u32>,
    ) -> Option<(Time, DateTime, String)> {
        let (start_local, start, offset) = start?;
        let (turns, step_minutes) = (turns?, step_minutes?);
        let length = jiff::SignedDuration::from_mins(i64::from(turns) * i64::from(step_minutes));
        if start.checked_add(length).is_err() {
            self.faults.add(at, "the episode would end after the year 9999");
            return None;
        }
        Some((Time { start_local, turns, step_minutes }, start, offset))
    }

    fn start_local(&mut self, time: &Object<'_>) -> Option<(String, DateTime, String)> {
        let (text, at) = self.text(time, "start_local")?;
        let read = read_local(text);
        if read.is_none() {
            let wanted = "an RFC 3339 local time in whole seconds with a numeric offset, as \"2022-12-23T01:00:00-05:00\"";
            self.faults.add(&at, format!("expected {wanted}, found {}", quoted(text)));
        }
        let (start, offset) = read?;
        Some((text.to_owned(), start, offset))
    }

    fn site(&mut self, root: &Object<'_>, turns: Option<u32>) -> Option<Site> {
        const KEYS: [&str; 4] = ["it_demand_mw", "sla_usd_per_mwh", "battery", "generator"];
        let site = self.member_object(root, "site", &KEYS)?;
        let it_demand_mw = self.numbers(&site, "it_demand_mw", Range::NOT_NEGATIVE, turns);
        let sla_usd_per_mwh = self.number(&site, "sla_usd_per_mwh", Range::ANY);
        let battery = self.battery(&site);
        let generator = self.generator(&site);
        if it_demand_mw.as_ref().is_some_and(|strip| strip.iter().all(|&mw| mw == 0.0)) {
            self.warnings
                .add(&site.at.key("it_demand_mw"), "no turn has any demand: costs have no denominator");
        }
        Some(Site {
            it_demand_mw: it_demand_mw?,
            sla_usd_per_mwh: sla_usd_per_mwh?,
            battery: battery?,
            generator: generator?,
        })
    }

    fn battery(&mut self, site: &Object<'_>) -> Option<Battery> {
        const KEYS: [&str; 4] = ["capacity_mwh", "power_mw", "round_trip_efficiency", "initial_soc_mwh"];
        let battery = self.member_object(site, "battery", &KEYS)?;
        let capacity_mwh = self.number(&battery, "capacity_mwh", Range::NOT_NEGATIVE);
        let power_mw = self.number(&battery, "power_mw", Range::NOT_NEGATIVE);
        let efficiency = Range { min: 0.0, max: 1.0, above_min: true, integer: false };
        let round_trip_efficiency = self.number(&battery, "round_trip_efficiency", efficiency);
        let initial_soc_mwh = self.number(&battery, "initial_soc_mwh", Range::NOT_NEGATIVE);
        if let (Some(soc), Some(capacity)) = (initial_soc_mwh, capacity_mwh)
            && soc > capacity
        {
            let message = format!("{soc} MWh is above the battery's capacity of {capacity} MWh");
            self.faults.add(&battery.at.key("initial_soc_mwh"), message);
        }
        Some(Battery {
            capacity_mwh: capacity_mwh?,
            power_mw: power_mw?,
            round_trip_efficiency: round_trip_efficiency?,
            initial_soc_mwh: initial_soc_mwh?,
        })
    }

    fn generator(&mut self, site: &Object<'_>) -> Option<Generator> {
        let keys = ["capacity_mw", "fuel_usd_per_mwh", "permit_hours"];
        let generator = self.member_object(site, "generator", &keys)?;
        let capacity_mw = self.number(&generator, "capacity_mw", Range::NOT_NEGATIVE);
        let fuel_usd_per_mwh = self.number(&generator, "fuel_usd_per_mwh", Range::ANY);
        let permit_hours = self.number(&generator, "permit_hours", Range::NOT_NEGATIVE);
        Some(Generator {
            capacity_mw: capacity_mw?,
            fuel_usd_per_mwh: fuel_usd_per_mwh?,
            permit_hours: permit_hours?,
        })
    }

    fn grid(&mut self, root: &Object<'_>, turns: Option<u32>) -> Option<Grid> {
        const SLOPE: &str = "price_slope_usd_per_mwh_per_mw";
        let grid = self.member_object(root, "grid", &["price_usd_per_mwh", "system_status", SLOPE])?;
        let price_usd_per_mwh = self.numbers(&grid, "price_usd_per_mwh", Range::ANY, turns);
        let system_status = self.statuses(&grid, turns);
        let slope = match grid.members.get(SLOPE) {
            None => Some(None),
            Some(_) => self.numbers(&grid, SLOPE, Range::ANY, turns).map(Some),
        };
        if let Some(Some(strip)) = &slope
            && strip.iter().any(|&slope| slope < 0.0)
        {
            self.warnings.add(&grid.at.key(SLOPE), "a negative slope makes more import cheaper");
        }
        Some(Grid {
            price_usd_per_mwh: price_usd_per_mwh?,
            system_status: system_status?,
            price_slope_usd_per_mwh_per_mw: slope?,
        })
    }

    fn statuses(&mut self, grid: &Object<'_>, turns: Option<u32>) -> Option<Vec<Status>> {
        self.strip(grid, "system_status", turns, |value| {
            let name = value.as_str();
            let known = Status::ALL.into_iter().find(|status| Some(status.name()) == name);
            known.ok_or_else(|| {
                let found = name.map_or_else(|| describe(value).to_owned(), quoted);
                format!("expected one of {}, found {found}", Status::ALL.map(Status::name).join(", "))
            })
        })
    }

    fn events(&mut self, root: &Object<'_>, turns: Option<u32>) -> Option<Vec<Event>> {
        let (items, at) = self.array(root, "events")?;
        if items.len() > EVENTS_MAX {
            self.faults.add(&at, format!("{} events; a pack has at most {EVENTS_MAX}", items.len()));
        }
        let read: Vec<Option<Event>> =
            items.iter().enumerate().map(|(i, item)| self.event(item, at.index(i), turns)).collect();
        self.duplicate_ids(items, &at);
        read.into_iter().collect()
    }

    fn event(&mut self, item: &Value, at: Pointer, turns: Option<u32>) -> Option<Event> {
        const KEYS: [&str; 5] = ["id", "kind", "notice_turn", "start_turn", "end_turn"];
        let amount = item.get("kind").and_then(Value::as_str).and_then(|kind| match kind {
            "conservation_appeal" => Some("credit_usd_per_mwh"),
            "curtailment_order" => Some("requested_mw"),
            _ => None,
        });
        let either = ["credit_usd_per_mwh", "requested_mw"];
        let keys: Vec<&str> = match amount {
            Some(key) => KEYS.into_iter().chain([key]).collect(),
            None => KEYS.into_iter().chain(either).collect(),
        };
        let event = self.object(item, at, &keys)?;
        let id = self.id(&event, "id");
        let kind = self.event_kind(&event);
        let span = Range::integer(0.0, EVENT_TURN_MAX);
        let notice_turn = match event.members.get("notice_turn") {
            None => Some(None),
            Some(_) => self.integer(&event, "notice_turn", span).map(Some),
        };
        let start_turn = self.integer(&event, "start_turn", span);
        let end_turn = self.integer(&event, "end_turn", span);
        if let (Some(start), Some(end)) = (start_turn, end_turn) {
            self.event_span(&event, notice_turn.flatten(), start, end, turns);
        }
        Some(Event {
            id: id?,
            notice_turn: notice_turn?,
            start_turn: start_turn?,
            end_turn: end_turn?,
            kind: kind?,
        })
    }

    fn event_kind(&mut self, event: &Object<'_>) -> Option<EventKind> {
        let (kind, at) = self.text(event, "kind")?;
        match kind {
            "conservation_appeal" => {
                let credit = self.number(event, "credit_usd_per_mwh", Range::ANY)?;
                Some(EventKind::ConservationAppeal { credit_usd_per_mwh: credit })
            }
            "curtailment_order" => {
                let requested_mw = self.number(event, "requested_mw", Range::NOT_NEGATIVE)?;
                Some(EventKind::CurtailmentOrder { requested_mw })
            }
            unknown => {
                let known = "conservation_appeal, curtailment_order";
                self.faults.add(&at, format!("unknown kind {}; known: {known}", quoted(unknown)));
                None
            }
        }
    }

    fn event_span(
        &mut self,
        event: &Object<'_>,
        notice: Option<u32>,
        start: u32,
        end: u32,
        turns: Option<u32>,
    ) {
        if end < start {
            let message = format!("ends on turn {end}, before it starts on turn {start}");
            self.faults.add(&event.at.key("end_turn"), message);
        } else if end == start {
            self.warnings
                .add(&event.at, format!("has no length (turn {start} to {end}), so it is never active"));
        }
        if let Some(notice) = notice
            && notice > start
            && start < end
        {
            let message = format!("noticed on turn {notice}, after it has started on turn {start}");
            self.warnings.add(&event.at.key("notice_turn"), message);
        }
        if turns.is_some_and(|turns| start >= turns) {
            self.warnings.add(&event.at.key("start_turn"), format!("turn {start} is after the last turn"));
        }
    }

    fn duplicate_ids(&mut self, items: &[Value], at: &Pointer) {
        for (i, id, earlier) in repeated_ids(items) {
            let message = format!("the id {} is already that of event {earlier}", quoted(id));
            self.faults.add(&at.index(i).key("id"), message);
        }
    }

    fn scoring(&mut self, root: &Object<'_>, events: Option<&[Event]>) -> Option<Scoring> {
        let scoring = self.member_object(root, "scoring", &["metrics"])?;
        let (items, at) = self.array(&scoring, "metrics")?;
        if items.len() != 2 {
            self.faults.add(&at, format!("a pack declares exactly two metrics, this one {}", items.len()));
        }
        let read: Vec<Option<Metric>> =
            items.iter().enumerate().map(|(i, item)| self.metric(item, at.index(i))).collect();
        for (i, id, _) in repeated_ids(items) {
            self.faults.add(&at.index(i).key("id"), format!("the metric {} is named twice", quoted(id)));
        }
        let metrics: Vec<Metric> = read.into_iter().collect::<Option<_>>()?;
        let [first, second] = metrics[..] else { return None };
        let has_order = |events: &[Event]| {
            events.iter().any(|event| matches!(event.kind, EventKind::CurtailmentOrder { .. }))
        };
        let scores_relief = [first.id, second.id].contains(&MetricId::ReliefShare);
        if scores_relief && events.is_some_and(|events| !has_order(events)) {
            self.warnings.add(&at, "relief_share is scored but no order asks for relief: it is always 1");
        }
        Some(Scoring { metrics: [first, second] })
    }

    fn metric(&mut self, item: &Value, at: Pointer) -> Option<Metric> {
        let metric = self.object(item, at, &["id", "stars"])?;
        let id = self.text(&metric, "id").and_then(|(name, at)| {
            let known = MetricId::ALL.into_iter().find(|id| id.name() == name);
            if known.is_none() {
                let names = MetricId::ALL.map(MetricId::name).join(", ");
                self.faults.add(&at, format!("unknown metric {}; known: {names}", quoted(name)));
            }
            known
        });
        let stars = self.strip(&metric, "stars", Some(3), |value| in_range(value, Range::ANY));
        let stars = <[f64; 3]>::try_from(stars?).ok()?;
        Some(Metric { id: id?, stars })
    }

    fn object<'v>(&mut self, value: &'v Value, at: Pointer, known: &[&str]) -> Option<Object<'v>> {
        let Value::Object(members) = value else {
            self.faults.add(&at, format!("expected an object, found {}", describe(value)));
            return None;
        };
        for key in members.keys().filter(|key| !known.contains(&key.as_str()) && !key.starts_with("x_")) {
            let message = format!("unknown key, ignored{}", nearest(key, known));
            self.warnings.add(&at.key(key), message);
        }
        Some(Object { members, at })
    }

    fn member<'v>(&mut self, object: &Object<'v>, key: &str) -> Option<(&'v Value, Pointer)> {
        let at = object.at.key(key);
        let member = object.members.get(key);
        if member.is_none() {
            self.faults.add(&at, "missing");
        }
        Some((member?, at))
    }

    fn member_object<'v>(&mut self, object: &Object<'v>, key: &str, known: &[&str]) -> Option<Object<'v>> {
        let (value, at) = self.member(object, key)?;
        self.object(value, at, known)
    }

    fn array<'v>(&mut self, object: &Object<'v>, key: &str) -> Option<(&'v [Value], Pointer)> {
        let (value, at) = self.member(object, key)?;
        let Value::Array(items) = value else {
            self.faults.add(&at, format!("expected an array, found {}", describe(value)));
            return None;
        };
        Some((items, at))
    }

    fn text<'v>(&mut self, object: &Object<'v>, key: &str) -> Option<(&'v str, Pointer)> {
        let (value, at) = self.member(object, key)?;
        let Value::String(text) = value else {
            self.faults.add(&at, format!("expected a string, found {}", describe(value)));
            return None;
        };
        Some((text, at))
    }

    fn id(&mut self, object: &Object<'_>, key: &str) -> Option<String> {
        let (id, at) = self.text(object, key)?;
        let printable = id.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if id.is_empty() || id.len() > ID_BYTES_MAX || !printable {
            let message =
                format!("expected 1 to {ID_BYTES_MAX} printable ASCII characters, found {}", quoted(id));
            self.faults.add(&at, message);
            return None;
        }
        Some(id.to_owned())
    }

    fn number(&mut self, object: &Object<'_>, key: &str, range: Range) -> Option<f64> {
        let (value, at) = self.member(object, key)?;
        in_range(value, range).map_err(|message| self.faults.add(&at, message)).ok()
    }

    fn integer(&mut self, object: &Object<'_>, key: &str, range: Range) -> Option<u32> {
        debug_assert!(range.integer && range.min >= 0.0 && range.max <= f64::from(u32::MAX));
        self.number(object, key, range).map(|value| value as u32)
    }

    fn numbers(
        &mut self,
        object: &Object<'_>,
        key: &str,
        range: Range,
        turns: Option<u32>,
    ) -> Option<Vec<f64>> {
        self.strip(object, key, turns, |value| in_range(value, range))
    }

    /// An array with one element a turn.
    fn strip<T>(
        &mut self,
        object: &Object<'_>,
        key: &str,
        length: Option<u32>,
        read: impl Fn(&Value) -> Result<T, String>,
    ) -> Option<Vec<T>> {
        let (items, at) = self.array(object, key)?;
        let mut strip = Vec::with_capacity(items.len());
        let mut faults = 0;
        if length.is_some_and(|length| items.len() != length as usize) {
            let wanted = length.unwrap_or_default();
            self.faults.add(&at, format!("has {} elements, expected {wanted}", items.len()));
            faults += 1;
        }
        for (i, item) in items.iter().enumerate() {
            match read(item) {
                Ok(element) => strip.push(element),
                Err(message) => {
                    if faults < STRIP_FAULTS_MAX {
                        self.faults.add(&at.index(i), message);
                    }
                    faults += 1;
                }
            }
        }
        if faults > STRIP_FAULTS_MAX {
            self.faults.add(&at, format!("{} more faults in this array", faults - STRIP_FAULTS_MAX));
        }
        (faults == 0).then_some(strip)
    }
}

/// Every element whose `id` stands before it already, with the position of the first.
fn repeated_ids(items: &[Value]) -> Vec<(usize, &str, usize)> {
    let mut first = BTreeMap::new();
    let mut repeated = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let Some(id) = item.get("id").and_then(Value::as_str) else { continue };
        match first.get(id) {
            Some(&earlier) => repeated.push((i, id, earlier)),
            None => _ = first.insert(id, i),
        }
    }
    repeated
}

fn in_range(value: &Value, range: Range) -> Result<f64, String> {
    match value {
        Value::Number(number) => match Checker::as_f64(number) {
            held if range.holds(held) => Ok(held),
            _ => Err(format!("expected {}, found {number}", range.words())),
        },
        other => Err(format!("expected {}, found {}", range.words(), describe(other))),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", crate::Excerpt { text, max: 80 })
}

/// `2022-12-23T01:00:00-05:00` as its civil time and its offset.
fn read_local(text: &str) -> Option<(DateTime, String)> {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    if !text.is_ascii() || text.len() != SHAPE.len() + 6 {
        return None;
    }
    let (civil, offset) = text.split_at(SHAPE.len());
    let shaped = civil.bytes().zip(SHAPE).all(|(byte, &shape)| match shape {
        b'0' => byte.is_ascii_digit(),
        other => byte == other,
    });
    let start: DateTime = shaped.then(|| civil.parse().ok())??;
    // A leap second would be read as the second before it.
    let second_as_written = civil[17..].parse() == Ok(start.second());
    (second_as_written && is_offset(offset)).then(|| (start, offset.to_owned()))
}

fn is_offset(text: &str) -> bool {
    let within = |digits: &str, most: u8| {
        digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<u8>().is_ok_and(|n| n <= most)
    };
    text.starts_with(['+', '-']) && within(&text[1..3], 23) && &text[3..4] == ":" && within(&text[4..6], 59)
}
