use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// Most bytes of one part of a name.
pub const PART_BYTES_MAX: usize = 128;
/// Most parts of an account's name.
pub const PARTS_MAX: usize = 8;

const EXTERNAL: &str = "external";

/// Why a text does not name an asset or an account.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// A part is empty.
    #[error("a part of a name is empty")]
    Empty,
    /// A part is too long.
    #[error("a part of a name has {bytes} bytes; the limit is {PART_BYTES_MAX}")]
    TooLong {
        /// Bytes given.
        bytes: usize,
    },
    /// Too many parts.
    #[error("a name has {parts} parts; the limit is {PARTS_MAX}")]
    TooManyParts {
        /// Parts given.
        parts: usize,
    },
    /// A letter that would blur where a part ends or what a terminal shows.
    #[error("a part of a name holds {letter:?}; colons, white space and control characters are refused")]
    Letter {
        /// The letter.
        letter: char,
    },
    /// `external` with anything but its own asset behind it.
    #[error("the account outside of asset `{asset}` is `external:{asset}`")]
    ForeignExternal {
        /// The asset of the account.
        asset: String,
    },
}

fn check_part(part: &str) -> Result<(), NameError> {
    if part.is_empty() {
        return Err(NameError::Empty);
    }
    if part.len() > PART_BYTES_MAX {
        return Err(NameError::TooLong { bytes: part.len() });
    }
    // Most names are of plain letters, which takes no table to see.
    if part.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':') {
        return Ok(());
    }
    let odd = |letter: &char| *letter == ':' || letter.is_control() || letter.is_whitespace();
    part.chars().find(odd).map_or(Ok(()), |letter| Err(NameError::Letter { letter }))
}

/// What is counted: a currency, points. Copies share the name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Asset(Arc<str>);

impl Asset {
    /// The asset of this name.
    pub fn new(name: &str) -> Result<Self, NameError> {
        check_part(name).map(|()| Self(name.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Asset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An account: an asset and a name of parts, such as `lock:{job}:{role}:{agent}`.
///
/// Only `external:{asset}`, through which money comes in and goes out, may be negative. Copies share the name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Account {
    asset: Asset,
    name: Arc<str>,
}

/// By asset, then by name. Most are of the very same asset, and many are copies of each other.
impl Ord for Account {
    fn cmp(&self, other: &Self) -> Ordering {
        let by = |a: &Arc<str>, b: &Arc<str>| if Arc::ptr_eq(a, b) { Ordering::Equal } else { a.cmp(b) };
        by(&self.asset.0, &other.asset.0).then_with(|| by(&self.name, &other.name))
    }
}

impl PartialOrd for Account {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Account {
    /// The account whose name has these parts: `["budget", "round-3"]` is `budget:round-3`.
    pub fn of(asset: &Asset, parts: &[&str]) -> Result<Self, NameError> {
        if parts.is_empty() {
            return Err(NameError::Empty);
        }
        if parts.len() > PARTS_MAX {
            return Err(NameError::TooManyParts { parts: parts.len() });
        }
        parts.iter().try_for_each(|part| check_part(part))?;
        if parts[0] == EXTERNAL && parts != [EXTERNAL, asset.as_str()] {
            return Err(NameError::ForeignExternal { asset: asset.to_string() });
        }
        Ok(Self { asset: asset.clone(), name: parts.join(":").into() })
    }

    /// Reads a name as [`Account::name`] gives it.
    pub fn parse(asset: &Asset, name: &str) -> Result<Self, NameError> {
        Self::of(asset, &name.split(':').take(PARTS_MAX.saturating_add(1)).collect::<Vec<_>>())
    }

    /// What `agent` may spend: `avail:{agent}`.
    pub fn avail(asset: &Asset, agent: &str) -> Result<Self, NameError> {
        Self::of(asset, &["avail", agent])
    }

    /// What `agent` has at stake in `role` of `job`: `lock:{job}:{role}:{agent}`.
    pub fn lock(asset: &Asset, job: &str, role: &str, agent: &str) -> Result<Self, NameError> {
        Self::of(asset, &["lock", job, role, agent])
    }

    /// What funders put into `job`: `pool:{job}`.
    pub fn pool(asset: &Asset, job: &str) -> Result<Self, NameError> {
        Self::of(asset, &["pool", job])
    }

    /// What was slashed in `job` and is not shared out yet: `bucket:{job}`.
    pub fn bucket(asset: &Asset, job: &str) -> Result<Self, NameError> {
        Self::of(asset, &["bucket", job])
    }

    /// What the instance keeps.
    pub fn treasury(asset: &Asset) -> Self {
        Self { asset: asset.clone(), name: "treasury".into() }
    }

    /// The world outside; the only account that may be negative.
    pub fn external(asset: &Asset) -> Self {
        Self { asset: asset.clone(), name: format!("{EXTERNAL}:{asset}").into() }
    }

    /// What is counted in it.
    pub fn asset(&self) -> &Asset {
        &self.asset
    }

    /// Its name within the asset.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it may be negative.
    pub fn may_be_negative(&self) -> bool {
        self.name.strip_prefix(EXTERNAL).is_some_and(|rest| rest.starts_with(':'))
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.name, self.asset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled_as_agreed_and_read_back() {
        let usd = Asset::new("usd").expect("a name");
        for (account, name) in [
            (Account::avail(&usd, "amy"), "avail:amy"),
            (Account::lock(&usd, "j1", "runner", "amy"), "lock:j1:runner:amy"),
            (Account::pool(&usd, "j1"), "pool:j1"),
            (Account::bucket(&usd, "j1"), "bucket:j1"),
            (Ok(Account::treasury(&usd)), "treasury"),
            (Ok(Account::external(&usd)), "external:usd"),
            (Account::of(&usd, &["hold", "round-3", "award"]), "hold:round-3:award"),
        ] {
            let account = account.expect("valid");
            assert_eq!(account.name(), name);
            assert_eq!(Account::parse(&usd, name), Ok(account));
        }
    }

    #[test]
    fn a_name_cannot_pose_as_another() {
        let usd = Asset::new("usd").expect("a name");
        for wrong in ["", "a:b", "a b", "a\n", "\u{1b}[1m"] {
            assert!(Account::avail(&usd, wrong).is_err(), "{wrong:?}");
            assert!(Asset::new(wrong).is_err(), "{wrong:?}");
        }
        assert!(Account::avail(&usd, &"x".repeat(PART_BYTES_MAX + 1)).is_err());
        assert!(Account::parse(&usd, &"x:".repeat(100)).is_err());
        for wrong in ["external", "external:eur", "external:usd:x"] {
            assert!(matches!(Account::parse(&usd, wrong), Err(NameError::ForeignExternal { .. })), "{wrong}");
        }
        let near = Account::parse(&usd, "externally").expect("another account");
        assert!(!near.may_be_negative());
    }
}
