//! How an [`Observation`] is put together: from the brief once, from notices as things change, and
//! from the flat record each turn.

use super::bindings::arena::campus::types::{self as wire, Notice};
use super::{Brief, Event, EventKind, Forecast, Ledger, Observation, Site, SystemStatus};

impl Observation {
    /// What is known before the first turn.
    pub(super) fn before_play(brief: Brief) -> Self {
        let site = Site {
            it_demand_mw: 0.0,
            soc_mwh: brief.battery.initial_soc_mwh,
            permit_hours_remaining: brief.generator.permit_hours,
        };
        Self {
            brief,
            turn: 0,
            price_usd_per_mwh: 0.0,
            system_status: SystemStatus::Normal,
            forecast: Forecast::new(0, 0, [(0.0, SystemStatus::Normal); 3]),
            site,
            events: Vec::new(),
            ledger: Ledger::default(),
            clamps: Vec::new(),
        }
    }

    /// Takes in one thing that changed since the last turn.
    ///
    /// A notice about an event that is not visible (an acceptance told on the turn the offer ended)
    /// has nothing left to change.
    pub(super) fn hear(&mut self, notice: Notice) {
        match notice {
            Notice::Visible(event) => self.show(event),
            Notice::Started(index) => self.change(index, |event| event.active = true),
            Notice::Accepted(index) => self.change(index, |event| {
                if let EventKind::ConservationAppeal { accepted, .. } = &mut event.kind {
                    *accepted = true;
                }
            }),
            Notice::Ended(index) => self.events.retain(|event| event.index != index),
            Notice::Clamped(clamp) => self.clamps.push(clamp),
        }
    }

    /// Takes in the record of the turn to act on.
    #[inline]
    pub(super) fn begin_turn(&mut self, now: &wire::Observation) {
        self.turn = now.turn;
        self.price_usd_per_mwh = now.price_usd_per_mwh;
        self.system_status = now.system_status;
        self.site = Site {
            it_demand_mw: now.it_demand_mw,
            soc_mwh: now.soc_mwh,
            permit_hours_remaining: now.permit_hours_remaining,
        };
        self.ledger = Ledger {
            cost_usd: now.cost_usd,
            shed_mwh: now.shed_mwh,
            relief_delivered_mwh: now.relief_delivered_mwh,
            relief_asked_mwh: now.relief_asked_mwh,
        };
        let ahead = [
            (now.forecast_one_usd_per_mwh, now.forecast_one_status),
            (now.forecast_two_usd_per_mwh, now.forecast_two_status),
            (now.forecast_three_usd_per_mwh, now.forecast_three_status),
        ];
        // The record always has three; what lies beyond the last turn is padding.
        self.forecast = Forecast::new(now.turn, self.brief.turns, ahead);
    }

    /// Forgets what was told about the last action only.
    pub(super) fn end_turn(&mut self) {
        self.clamps.clear();
    }

    fn show(&mut self, event: wire::Event) {
        let kind = match event.kind {
            wire::EventKind::ConservationAppeal(credit_usd_per_mwh) => {
                EventKind::ConservationAppeal { credit_usd_per_mwh, accepted: false }
            }
            wire::EventKind::CurtailmentOrder(requested_mw) => EventKind::CurtailmentOrder { requested_mw },
        };
        let wire::Event { index, id, start_turn, end_turn, .. } = event;
        let shown = Event { index, id, kind, start_turn, end_turn, active: false };
        match self.events.binary_search_by_key(&index, |event| event.index) {
            Ok(known) => self.events[known] = shown,
            Err(place) => self.events.insert(place, shown),
        }
    }

    fn change(&mut self, index: u32, change: impl FnOnce(&mut Event)) {
        if let Ok(place) = self.events.binary_search_by_key(&index, |event| event.index) {
            change(&mut self.events[place]);
        }
    }
}

#[cfg(test)]
mod tests;
