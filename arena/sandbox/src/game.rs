//! The games a strategy may be built for, and the names its world bears.

/// What a strategy plays. Its exports say it: `arena:campus/player` or `arena:matrix/player`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Game {
    /// A data-centre campus on a stressed grid.
    Campus,
    /// The iterated 2×2 game.
    Matrix,
}

/// The version of both worlds that this host plays.
pub(crate) const VERSION: &str = "0.1.0";

impl Game {
    pub(crate) const ALL: [Self; 2] = [Self::Campus, Self::Matrix];

    /// `campus` or `matrix`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Campus => "campus",
            Self::Matrix => "matrix",
        }
    }

    /// The world a strategy of this game is built for, with its version.
    pub fn world(self) -> &'static str {
        match self {
            Self::Campus => "arena:campus/campus-strategy@0.1.0",
            Self::Matrix => "arena:matrix/matrix-strategy@0.1.0",
        }
    }

    /// What its interfaces' names start with.
    pub(crate) fn package(self) -> &'static str {
        match self {
            Self::Campus => "arena:campus/",
            Self::Matrix => "arena:matrix/",
        }
    }

    /// The interface a strategy exports, up to its version.
    pub(crate) fn player(self) -> &'static str {
        match self {
            Self::Campus => "arena:campus/player@",
            Self::Matrix => "arena:matrix/player@",
        }
    }

    /// The host's half of the world.
    pub(crate) fn host(self) -> &'static str {
        match self {
            Self::Campus => "arena:campus/host@0.1.0",
            Self::Matrix => "arena:matrix/host@0.1.0",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Game, VERSION};

    #[test]
    fn every_name_is_that_of_its_game_and_version() {
        for game in Game::ALL {
            let package = format!("arena:{}/", game.name());
            assert_eq!(game.package(), package);
            assert_eq!(game.player(), format!("{package}player@"));
            assert_eq!(game.host(), format!("{package}host@{VERSION}"));
            assert_eq!(game.world(), format!("{package}{}-strategy@{VERSION}", game.name()));
        }
    }
}
