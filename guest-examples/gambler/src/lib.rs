//! Acts at random: what luck alone is worth, and how a strategy imports more than the game.

use arena_sdk::campus::{Action, Brief, Observation, Strategy};

/// Draws every field of every action.
pub struct Gambler {
    draw: fn() -> u64,
}

impl Strategy for Gambler {
    fn brief(_brief: &Brief) -> Self {
        Gambler { draw: luck::wasi::random::random::get_random_u64 }
    }

    fn act(&mut self, seen: &Observation) -> Action {
        let Brief { battery, generator, .. } = &seen.brief;
        Action {
            // A quarter of the load at most, and seldom: shedding is dear.
            curtail_mw: if self.chance() < 0.1 { self.chance() * seen.site.it_demand_mw / 4.0 } else { 0.0 },
            battery_mw: (self.chance() * 2.0 - 1.0) * battery.power_mw,
            diesel_mw: if self.chance() < 0.2 { self.chance() * generator.capacity_mw } else { 0.0 },
            accept_offer: seen.has_offer() && self.chance() < 0.5,
        }
    }
}

impl Gambler {
    /// A number from 0 up to, not including, 1.
    fn chance(&self) -> f64 {
        // The 53 bits that a float has room for.
        ((self.draw)() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

arena_sdk::export_campus!(Gambler);

#[allow(unsafe_code, missing_docs, reason = "wit-bindgen writes this module")]
mod luck {
    wit_bindgen::generate!({ path: "wit", world: "luck", generate_all });
}

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::campus::testing;

    #[test]
    fn chances_are_below_one() {
        assert_eq!(Gambler { draw: || 0 }.chance(), 0.0);
        let most = Gambler { draw: || u64::MAX }.chance();
        assert!(most < 1.0 && most > 0.999);
    }

    #[test]
    fn actions_stay_within_the_machines() {
        let seen = testing::turn(&testing::brief(), 3).build();
        for draw in [|| 0, || u64::MAX, || u64::MAX / 3] as [fn() -> u64; 3] {
            let action = Gambler { draw }.act(&seen);
            assert!(
                action.battery_mw.abs() <= 20.0 && (0.0..=15.0).contains(&action.diesel_mw),
                "{action:?}"
            );
            assert!((0.0..=12.5).contains(&action.curtail_mw) && !action.accept_offer, "{action:?}");
        }
    }
}
