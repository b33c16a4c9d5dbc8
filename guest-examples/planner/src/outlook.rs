//! What the planner believes about the turns to come: exact where the forecast reaches, a guess beyond.

use arena_sdk::campus::{MetricId, Observation};

/// Relief aimed at above its threshold: rounding must not cost a star.
const RELIEF_MARGIN: f64 = 0.001;

/// A guessed price is as likely to be the expected one as this many times more, or less.
const SPREAD: f64 = 2.0;

/// Turns beyond the forecast that are thought of: a day of five minutes each. Planning must stay cheap in
/// the longest of episodes.
const LATER_TURNS_MAX: u32 = 288;

/// A turn, as far as it is known.
pub(crate) struct Turn {
    pub(crate) price_usd_per_mwh: f64,
    /// IT load, MW. The observation tells this turn's only, and it changes slowly.
    pub(crate) demand_mw: f64,
    /// Reduction that orders ask, MW.
    pub(crate) ordered_mw: f64,
    /// The part of it that is to be delivered whatever it costs, MW.
    pub(crate) due_mw: f64,
    /// Pay for reduction beyond the orders, usd per MWh.
    pub(crate) credit_usd_per_mwh: f64,
}

impl Turn {
    fn new(seen: &Observation, turn: u32, price_usd_per_mwh: f64) -> Self {
        let demand_mw = seen.site.it_demand_mw;
        let ordered_mw = seen.order_mw_on(turn).min(demand_mw);
        let credit_usd_per_mwh = seen.credit_usd_per_mwh_on(turn);
        Self { price_usd_per_mwh, demand_mw, ordered_mw, due_mw: ordered_mw, credit_usd_per_mwh }
    }

    /// What a MWh of own power saves once orders are met: the grid's price and the credit, but no more
    /// than shedding the load would have cost.
    pub(crate) fn power_usd_per_mwh(&self, sla_usd_per_mwh: f64) -> f64 {
        (self.price_usd_per_mwh + self.credit_usd_per_mwh).min(sla_usd_per_mwh)
    }
}

/// The turns to come, this one first.
pub(crate) struct Outlook {
    /// This turn and those of the forecast.
    pub(crate) near: Vec<Turn>,
    /// The turns after them.
    pub(crate) later: Vec<Turn>,
}

impl Outlook {
    pub(crate) fn of(seen: &Observation) -> Self {
        let ahead = seen.forecast.iter().map(|ahead| ahead.price_usd_per_mwh);
        let near_prices = std::iter::once(seen.price_usd_per_mwh).chain(ahead);
        let near: Vec<Turn> =
            (seen.turn..).zip(near_prices).map(|(turn, price)| Turn::new(seen, turn, price)).collect();

        let first_later = seen.turn + near.len() as u32;
        let left = seen.brief.turns - first_later;
        let expected = expected_usd_per_mwh(seen, &near, left);
        let count = left.min(LATER_TURNS_MAX);
        let guess = |index| Turn::new(seen, first_later + index, guess_usd_per_mwh(expected, index, count));
        let later = (0..count).map(guess).collect();

        let mut outlook = Self { near, later };
        outlook.excuse_the_dearest_relief(seen);
        outlook
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Turn> {
        self.near.iter().chain(&self.later)
    }

    /// Orders need not be met whole: the relief share that three stars ask for leaves some over. It is
    /// left over where relief is dearest, which is where the price that shedding saves is lowest.
    fn excuse_the_dearest_relief(&mut self, seen: &Observation) {
        let Some(share) = seen.brief.metric(MetricId::ReliefShare).map(|metric| metric.three_stars) else {
            return;
        };
        let to_come_mwh = seen.brief.turn_hours() * self.all().map(|turn| turn.ordered_mw).sum::<f64>();
        let delivered_mwh = seen.ledger.relief_delivered_mwh + to_come_mwh;
        let asked_mwh = seen.ledger.relief_asked_mwh + to_come_mwh;
        let spare_mwh = delivered_mwh - (share + RELIEF_MARGIN) * asked_mwh;

        let mut spare_mw = (spare_mwh / seen.brief.turn_hours()).max(0.0);
        while spare_mw > 0.0 {
            let due = self.near.iter_mut().chain(&mut self.later).filter(|turn| turn.due_mw > 0.0);
            let dearest = due.min_by(|a, b| a.price_usd_per_mwh.total_cmp(&b.price_usd_per_mwh));
            let Some(turn) = dearest else { break };
            let excused_mw = spare_mw.min(turn.due_mw);
            turn.due_mw -= excused_mw;
            spare_mw -= excused_mw;
        }
    }
}

/// What a MWh will cost on average beyond the forecast, usd.
///
/// The brief tells it, in a way: the threshold of one star is what a MWh costs in a modest run, and what
/// the turns so far and those in sight do not use up of it is left for the others. Where cost is not
/// scored, the prices in sight go on.
fn expected_usd_per_mwh(seen: &Observation, near: &[Turn], later_turns: u32) -> f64 {
    let turn_mwh = seen.site.it_demand_mw * seen.brief.turn_hours();
    let near_sum: f64 = near.iter().map(|turn| turn.price_usd_per_mwh).sum();
    match seen.brief.metric(MetricId::CostUsdPerMwh) {
        Some(cost) if later_turns > 0 && turn_mwh > 0.0 => {
            let spent = seen.ledger.cost_usd / turn_mwh + near_sum;
            (cost.one_star * f64::from(seen.brief.turns) - spent) / f64::from(later_turns)
        }
        _ => near_sum / near.len() as f64,
    }
}

/// The price of the later turn with this index, as if later prices fell: a third of them high, a third as
/// expected, a third low. Which turn has which is not known, and matters little.
fn guess_usd_per_mwh(expected: f64, index: u32, later_turns: u32) -> f64 {
    let (high, low) = if expected > 0.0 { (SPREAD, 1.0 / SPREAD) } else { (1.0 / SPREAD, SPREAD) };
    match 3 * index / later_turns {
        0 => expected * high,
        1 => expected,
        _ => expected * low,
    }
}
