//! Sheds exactly what orders ask, and nothing else.

use arena_sdk::campus::{Action, Brief, Observation, Strategy};

/// Sheds exactly what orders ask.
pub struct Obey;

impl Strategy for Obey {
    fn brief(_brief: &Brief) -> Self {
        Obey
    }

    fn act(&mut self, seen: &Observation) -> Action {
        Action { curtail_mw: seen.order_mw(), ..Action::default() }
    }
}

arena_sdk::export_campus!(Obey);

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::campus::testing;

    #[test]
    fn sheds_what_is_ordered_now_and_not_what_is_announced() {
        let brief = testing::brief();
        let mut obey = Obey::brief(&brief);
        let mut act =
            |turn| obey.act(&testing::turn(&brief, turn).order(5..7, 12.0).order(6..9, 3.0).build());
        assert_eq!([4, 5, 6, 7, 8].map(|turn| act(turn).curtail_mw), [0.0, 12.0, 15.0, 3.0, 3.0]);
    }
}
