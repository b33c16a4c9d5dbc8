//! A browser and a server for tests: Chromium by its WebDriver, and the real `arena serve`.
//!
//! Everything is on loopback ports that were free. What was started ends with the value that started it, also when
//! a test panics. The WebDriver client is our own: a few requests of JSON, with no library behind it.

mod audit;
mod browser;
mod driver;
mod http;
mod running;
mod served;

pub use audit::Scheme;
pub use browser::{Browser, Scripts};
pub use driver::Driver;
pub use served::Served;
