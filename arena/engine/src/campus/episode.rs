//! An episode as a value that is stepped: observe, commit, …, settle. Whoever plays drives the same
//! three calls. A turn allocates nothing.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::action::Action;
use super::clamp::{Bounds, Clamp, Clamps, clamp};
use super::event::{Event, Status};
use super::numbers::{max, min};
use super::pack::{Pack, Scripted};
use super::settlement::{DoNothing, Ledger, MetricValue, Settlement, Totals, score};

/// One run of a pack. Created from an immutable pack, so later edits cannot reach it.
#[derive(Debug, Clone)]
pub struct Episode {
    pack: Arc<Pack>,
    turn: u32,
    soc_mwh: f64,
    permit_min: i64,
    /// For each event of the pack, the turn on which it was accepted.
    accepted_on: Vec<Option<u32>>,
    ledger: Ledger,
    totals: Totals,
    generator_turns: u32,
    clamp_count: u64,
    last: Resolution,
}

/// What one turn came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolution {
    /// The action after all limits.
    pub applied: Action,
    /// Every limit that changed the action, in order.
    pub clamps: Clamps,
    /// Power drawn from the grid.
    pub grid_import_mw: f64,
    /// IT load served.
    pub it_served_mw: f64,
    /// Price paid, slope included.
    pub effective_price_usd_per_mwh: f64,
    /// Reduction against this turn's own IT demand.
    pub reduction_mw: f64,
    /// All active orders together.
    pub relief: Relief,
    /// The active orders, then the active appeals, each group in pack order.
    pub events: Vec<EventShare>,
    /// Paid for energy.
    pub energy_cost_usd: f64,
    /// Paid for fuel.
    pub fuel_cost_usd: f64,
    /// Paid for shedding.
    pub sla_cost_usd: f64,
    /// Earned from appeals.
    pub credit_usd: f64,
    /// Cost of the turn.
    pub turn_cost_usd: f64,
    /// State of charge after the turn.
    pub soc_mwh: f64,
    /// Hours the generator may still run after the turn.
    pub permit_hours_remaining: f64,
}

/// What orders asked and got on one turn.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
pub struct Relief {
    /// Asked, at most the IT demand.
    pub asked_mw: f64,
    /// Delivered, at most what was asked.
    pub delivered_mw: f64,
    /// The difference.
    pub shortfall_mw: f64,
}

/// One active event's share of a turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EventShare {
    /// Of an order.
    Order {
        /// Position of the event in the pack.
        index: u32,
        /// What of the turn's relief falls to it.
        relief: Relief,
    },
    /// Of an appeal.
    Appeal {
        /// Position of the event in the pack.
        index: u32,
        /// Whether it is accepted, this turn's acceptance included.
        accepted: bool,
        /// Reduction it pays for.
        credited_mw: f64,
        /// What it pays.
        credit_usd: f64,
    },
}

/// Everything a competitor may know on one turn, as a view into the episode.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'e> {
    episode: &'e Episode,
}

/// What changed since the last turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Notice<'e> {
    /// An event is over.
    Ended(u32),
    /// An event has become visible.
    Visible(u32, &'e Event),
    /// An event is active from this turn on.
    Started(u32),
    /// An appeal was accepted last turn.
    Accepted(u32),
    /// A limit changed the last action.
    Clamped(Clamp),
}

impl Episode {
    /// The episode of `pack` before its first turn.
    pub fn new(pack: Arc<Pack>) -> Self {
        let site = &pack.document().site;
        let permit_min = (site.generator.permit_hours * 60.0 + 0.5).floor() as i64;
        let soc_mwh = site.battery.initial_soc_mwh;
        Self {
            turn: 0,
            soc_mwh,
            permit_min,
            accepted_on: vec![None; pack.document().events.len()],
            ledger: Ledger::default(),
            totals: Totals::default(),
            generator_turns: 0,
            clamp_count: 0,
            last: Resolution::before_the_first(pack.document().events.len()),
            pack,
        }
    }

    /// The pack that is played.
    pub fn pack(&self) -> &Arc<Pack> {
        &self.pack
    }

    /// The turn to act on; the number of turns once all are resolved.
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// What a competitor sees now; `None` once the last turn is resolved.
    pub fn observe(&self) -> Option<Observation<'_>> {
        (self.turn < self.pack.turns()).then_some(Observation { episode: self })
    }

    /// Resolves the turn: limits first, then energy, orders, appeals and money. Never refuses an
    /// action; what is out of range is cut and reported.
    ///
    /// # Panics
    ///
    /// When the last turn is resolved already, that is when [`Episode::observe`] returns `None`.
    pub fn commit(&mut self, action: Action) -> &Resolution {
        assert!(self.turn < self.pack.turns(), "the last turn is resolved");
        let demand_mw = self.demand_mw();
        let hours = self.pack.hours_per_turn();
        self.last.clamps.clear();
        let bounds = self.bounds(demand_mw, hours);
        let applied = clamp(action, &bounds, &mut self.last.clamps);
        self.accept(applied.accept_offer);

        let discharge_mw = max(0.0, applied.battery_mw);
        let charge_mw = max(0.0, -applied.battery_mw);
        let import_mw =
            max(0.0, demand_mw - applied.curtail_mw - discharge_mw - applied.diesel_mw) + charge_mw;
        self.last.applied = applied;
        self.last.grid_import_mw = import_mw;
        self.last.it_served_mw = demand_mw - applied.curtail_mw;
        self.last.effective_price_usd_per_mwh = self.effective_price(import_mw, demand_mw);
        self.last.reduction_mw = max(0.0, demand_mw - import_mw);

        self.last.events.clear();
        self.resolve_orders(demand_mw);
        self.resolve_appeals(hours);
        self.resolve_money(hours);
        self.fill_and_drain(charge_mw, discharge_mw, hours);
        if applied.diesel_mw > 0.0 {
            self.permit_min -= self.step_min();
            self.generator_turns += 1;
        }
        self.last.soc_mwh = self.soc_mwh;
        self.last.permit_hours_remaining = self.permit_hours_remaining();
        self.book(demand_mw, charge_mw, discharge_mw, hours);
        self.turn += 1;
        &self.last
    }

    /// The outcome; `None` before the last turn is resolved.
    pub fn settle(&self) -> Option<Settlement> {
        if self.turn < self.pack.turns() {
            return None;
        }
        let document = self.pack.document();
        let (metrics, stars) = score(&document.scoring, &self.ledger, &self.totals);
        Some(Settlement {
            score_version: document.score_version.clone(),
            metrics,
            stars,
            ledger: self.ledger,
            totals: self.totals,
            final_soc_mwh: self.soc_mwh,
            generator_turns: self.generator_turns,
            clamp_count: self.clamp_count,
            do_nothing: *self.pack.do_nothing(),
        })
    }

    /// Both metrics over the turns so far, in the pack's order.
    pub fn running(&self) -> [MetricValue; 2] {
        score(&self.pack.document().scoring, &self.ledger, &self.totals).0
    }

    /// The baseline: plays what is left with empty actions.
    pub(super) fn play_empty(mut self) -> DoNothing {
        while self.observe().is_some() {
            self.commit(Action::EMPTY);
        }
        let (metrics, stars) = score(&self.pack.document().scoring, &self.ledger, &self.totals);
        DoNothing { cost_usd: self.ledger.cost_usd, metrics, stars }
    }

    fn demand_mw(&self) -> f64 {
        self.pack.document().site.it_demand_mw[self.turn as usize]
    }

    fn step_min(&self) -> i64 {
        i64::from(self.pack.document().time.step_minutes)
    }

    fn permit_hours_remaining(&self) -> f64 {
        self.permit_min as f64 / 60.0
    }

    fn bounds(&self, demand_mw: f64, hours: f64) -> Bounds {
        let site = &self.pack.document().site;
        Bounds {
            demand_mw,
            hours,
            battery_power_mw: site.battery.power_mw,
            battery_capacity_mwh: site.battery.capacity_mwh,
            efficiency: site.battery.round_trip_efficiency,
            soc_mwh: self.soc_mwh,
            generator_capacity_mw: site.generator.capacity_mw,
            permit_for_a_turn: self.permit_min >= self.step_min(),
            offer_active: self.pack.appeals().iter().any(|appeal| appeal.is_active(self.turn)),
        }
    }

    fn accept(&mut self, accept_offer: bool) {
        if !accept_offer {
            return;
        }
        for appeal in self.pack.appeals().iter().filter(|appeal| appeal.is_active(self.turn)) {
            self.accepted_on[appeal.index as usize].get_or_insert(self.turn);
        }
    }

    fn effective_price(&self, import_mw: f64, demand_mw: f64) -> f64 {
        let (grid, t) = (&self.pack.document().grid, self.turn as usize);
        let price = grid.price_usd_per_mwh[t];
        match &grid.price_slope_usd_per_mwh_per_mw {
            None => price,
            Some(slope) => price + slope[t] * (import_mw - demand_mw),
        }
    }

    fn resolve_orders(&mut self, demand_mw: f64) {
        let turn = self.turn;
        let active = || self.pack.orders().iter().filter(move |order| order.is_active(turn));
        let requested_mw = active().fold(0.0, |sum, order| sum + order.amount);
        let asked_mw = min(requested_mw, demand_mw);
        let delivered_mw = min(asked_mw, self.last.reduction_mw);
        self.last.relief = Relief { asked_mw, delivered_mw, shortfall_mw: asked_mw - delivered_mw };
        let (mut left_asked, mut left_delivered) = (asked_mw, delivered_mw);
        for order in active() {
            let asked_mw = min(order.amount, left_asked);
            let delivered_mw = min(asked_mw, left_delivered);
            let relief = Relief { asked_mw, delivered_mw, shortfall_mw: asked_mw - delivered_mw };
            self.last.events.push(EventShare::Order { index: order.index, relief });
            left_asked -= asked_mw;
            left_delivered -= delivered_mw;
        }
    }

    /// Each MWh beyond what orders ask is paid once, by the best accepted appeal.
    fn resolve_appeals(&mut self, hours: f64) {
        let voluntary_mw = max(0.0, self.last.reduction_mw - self.last.relief.asked_mw);
        let best = self.best_accepted_appeal();
        self.last.credit_usd = 0.0;
        for appeal in self.pack.appeals().iter().filter(|appeal| appeal.is_active(self.turn)) {
            let credited_mw = if best == Some(appeal.index) { voluntary_mw } else { 0.0 };
            let credit_usd = (credited_mw * hours) * appeal.amount;
            let accepted = self.accepted_on[appeal.index as usize].is_some();
            self.last.events.push(EventShare::Appeal {
                index: appeal.index,
                accepted,
                credited_mw,
                credit_usd,
            });
            self.last.credit_usd += credit_usd;
        }
    }

    fn best_accepted_appeal(&self) -> Option<u32> {
        let mut best: Option<&Scripted> = None;
        for appeal in self.pack.appeals().iter().filter(|appeal| appeal.is_active(self.turn)) {
            let accepted = self.accepted_on[appeal.index as usize].is_some();
            if accepted && best.is_none_or(|best| appeal.amount > best.amount) {
                best = Some(appeal);
            }
        }
        best.map(|appeal| appeal.index)
    }

    fn resolve_money(&mut self, hours: f64) {
        let site = &self.pack.document().site;
        let last = &mut self.last;
        last.energy_cost_usd = (last.grid_import_mw * hours) * last.effective_price_usd_per_mwh;
        last.fuel_cost_usd = (last.applied.diesel_mw * hours) * site.generator.fuel_usd_per_mwh;
        last.sla_cost_usd = (last.applied.curtail_mw * hours) * site.sla_usd_per_mwh;
        last.turn_cost_usd =
            ((last.energy_cost_usd + last.fuel_cost_usd) + last.sla_cost_usd) - last.credit_usd;
    }

    fn fill_and_drain(&mut self, charge_mw: f64, discharge_mw: f64, hours: f64) {
        let battery = &self.pack.document().site.battery;
        let soc_mwh = if charge_mw > 0.0 {
            self.soc_mwh + (charge_mw * hours) * battery.round_trip_efficiency
        } else if discharge_mw > 0.0 {
            self.soc_mwh - discharge_mw * hours
        } else {
            self.soc_mwh
        };
        self.soc_mwh = min(max(soc_mwh, 0.0), battery.capacity_mwh);
    }

    fn book(&mut self, demand_mw: f64, charge_mw: f64, discharge_mw: f64, hours: f64) {
        let last = &self.last;
        self.ledger.cost_usd += last.turn_cost_usd;
        self.ledger.shed_mwh += last.applied.curtail_mw * hours;
        self.ledger.relief_delivered_mwh += last.relief.delivered_mw * hours;
        self.ledger.relief_asked_mwh += last.relief.asked_mw * hours;
        self.totals.demand_mwh += demand_mw * hours;
        self.totals.served_mwh += last.it_served_mw * hours;
        self.totals.import_mwh += last.grid_import_mw * hours;
        self.totals.charge_mwh += charge_mw * hours;
        self.totals.discharge_mwh += discharge_mw * hours;
        self.totals.gas_mwh += last.applied.diesel_mw * hours;
        self.totals.energy_cost_usd += last.energy_cost_usd;
        self.totals.fuel_cost_usd += last.fuel_cost_usd;
        self.totals.sla_cost_usd += last.sla_cost_usd;
        self.totals.credit_usd += last.credit_usd;
        self.clamp_count += last.clamps.len() as u64;
    }
}

impl Resolution {
    fn before_the_first(events: usize) -> Self {
        Self {
            applied: Action::EMPTY,
            clamps: Clamps::new(),
            grid_import_mw: 0.0,
            it_served_mw: 0.0,
            effective_price_usd_per_mwh: 0.0,
            reduction_mw: 0.0,
            relief: Relief::default(),
            events: Vec::with_capacity(events),
            energy_cost_usd: 0.0,
            fuel_cost_usd: 0.0,
            sla_cost_usd: 0.0,
            credit_usd: 0.0,
            turn_cost_usd: 0.0,
            soc_mwh: 0.0,
            permit_hours_remaining: 0.0,
        }
    }
}

impl<'e> Observation<'e> {
    /// The turn to act on.
    pub fn turn(&self) -> u32 {
        self.episode.turn
    }

    /// The pack that is played.
    pub fn pack(&self) -> &'e Pack {
        &self.episode.pack
    }

    /// Local time at the start of the turn, RFC 3339.
    pub fn local_time(&self) -> String {
        self.pack().local_time(self.turn())
    }

    /// Grid price now, at the campus' nominal draw.
    pub fn price_usd_per_mwh(&self) -> f64 {
        self.pack().document().grid.price_usd_per_mwh[self.turn() as usize]
    }

    /// Grid status now.
    pub fn system_status(&self) -> Status {
        self.pack().document().grid.system_status[self.turn() as usize]
    }

    /// Price and status `ahead` turns from now, 1 to 3; `None` beyond the last turn. Exact.
    pub fn forecast(&self, ahead: u32) -> Option<(f64, Status)> {
        debug_assert!((1..=3).contains(&ahead));
        let grid = &self.pack().document().grid;
        let t = (self.turn() + ahead) as usize;
        Some((*grid.price_usd_per_mwh.get(t)?, grid.system_status[t]))
    }

    /// IT load this turn.
    pub fn it_demand_mw(&self) -> f64 {
        self.episode.demand_mw()
    }

    /// State of charge.
    pub fn soc_mwh(&self) -> f64 {
        self.episode.soc_mwh
    }

    /// Hours the generator may still run.
    pub fn permit_hours_remaining(&self) -> f64 {
        self.episode.permit_hours_remaining()
    }

    /// Sums over the turns before this one.
    pub fn ledger(&self) -> &'e Ledger {
        &self.episode.ledger
    }

    /// Every visible event in pack order, and whether it was accepted on an earlier turn.
    pub fn events(&self) -> impl Iterator<Item = (&'e Event, bool)> + use<'e> {
        let (turn, accepted_on) = (self.turn(), &self.episode.accepted_on);
        let events = self.pack().document().events.iter().zip(accepted_on);
        events.filter_map(move |(event, on)| event.is_visible(turn).then_some((event, on.is_some())))
    }

    /// What changed since the last turn: ended, visible, started and accepted events, each in pack
    /// order, then the last turn's clamps.
    pub fn notices(&self) -> impl Iterator<Item = Notice<'e>> + use<'e> {
        let (turn, episode) = (self.turn(), self.episode);
        let events = move || (0u32..).zip(&self.pack().document().events);
        let ended = events()
            .filter(move |(_, e)| e.end_turn == turn && e.first_visible_turn() < turn)
            .map(|(index, _)| Notice::Ended(index));
        let visible = events()
            .filter(move |(_, e)| e.first_visible_turn() == turn && e.is_visible(turn))
            .map(|(index, event)| Notice::Visible(index, event));
        let started = events()
            .filter(move |(_, e)| e.start_turn.max(e.first_visible_turn()) == turn && e.is_active(turn))
            .map(|(index, _)| Notice::Started(index));
        let accepted = (0u32..)
            .zip(&episode.accepted_on)
            .filter(move |(_, on)| on.is_some_and(|on| on + 1 == turn))
            .map(|(index, _)| Notice::Accepted(index));
        let clamps = episode.last.clamps.iter().map(|clamp| Notice::Clamped(*clamp));
        ended.chain(visible).chain(started).chain(accepted).chain(clamps)
    }
}
