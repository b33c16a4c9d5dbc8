//! A browser, as a person uses it: pages, forms, keys, and what its console says.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::driver::Driver;
use crate::http::ask;

const FLAGS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--window-size=1280,1000",
];
/// How an element is named in answers.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether pages may run scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scripts {
    /// As in most browsers.
    Allowed,
    /// As with a reader that has none.
    Forbidden,
}

/// A browser with a profile of its own.
pub struct Browser<'a> {
    driver: &'a Driver,
    session: String,
    /// Of the server whose pages are opened.
    url: String,
    _profile: TempDir,
}

impl<'a> Browser<'a> {
    /// Opens one, for the pages of a server at `url`.
    ///
    /// # Panics
    ///
    /// When it does not start.
    pub fn open(driver: &'a Driver, url: &str, scripts: Scripts) -> Self {
        let profile = tempfile::tempdir().expect("a folder");
        let mut flags: Vec<String> = FLAGS.iter().map(|flag| (*flag).to_owned()).collect();
        flags.push(format!("--user-data-dir={}", profile.path().display()));
        let mut options = json!({ "binary": driver.chromium, "args": flags });
        if scripts == Scripts::Forbidden {
            options["prefs"] = json!({ "profile.managed_default_content_settings.javascript": 2 });
        }
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" },
            "timeouts": { "pageLoad": 30_000, "script": 20_000, "implicit": 0 },
        } } });
        let said = ask(driver.port, "POST", "/session", &[], Some(&wanted)).expect("the driver answers");
        assert_eq!(said.status, 200, "{}", said.body);
        let session = said.body["value"]["sessionId"].as_str().expect("a session").to_owned();
        Self { driver, session, url: url.to_owned(), _profile: profile }
    }

    fn try_ask(&self, method: &str, what: &str, body: Option<&Value>) -> Result<Value, Value> {
        let path = format!("/session/{}{what}", self.session);
        let said = ask(self.driver.port, method, &path, &[], body).expect("the driver answers");
        let value = said.body["value"].clone();
        if said.status == 200 { Ok(value) } else { Err(value) }
    }

    #[track_caller]
    fn ask(&self, method: &str, what: &str, body: Option<&Value>) -> Value {
        self.try_ask(method, what, body).unwrap_or_else(|why| panic!("{method} {what}: {}", why["message"]))
    }

    /// Opens a page of the server.
    #[track_caller]
    pub fn go(&self, path: &str) {
        self.ask("POST", "/url", Some(&json!({ "url": format!("{}{path}", self.url) })));
    }

    /// Where it is, without the server's part; with what follows a `#`.
    #[track_caller]
    pub fn path(&self) -> String {
        let url = self.ask("GET", "/url", None).as_str().unwrap_or_default().to_owned();
        url.strip_prefix(&self.url).unwrap_or(&url).to_owned()
    }

    /// The text of the first element of a selector, as it is read; nothing while there is none, or while it goes
    /// with its page.
    pub fn text(&self, selector: &str) -> String {
        let element = self.find(selector);
        let read = element.and_then(|it| self.try_ask("GET", &format!("/element/{it}/text"), None));
        read.ok().and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// What an element says of itself.
    #[track_caller]
    pub fn attribute(&self, selector: &str, name: &str) -> String {
        let element = self.element(selector);
        let value = self.ask("GET", &format!("/element/{element}/attribute/{name}"), None);
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Whether an element is there.
    #[track_caller]
    pub fn has(&self, selector: &str) -> bool {
        self.find(selector).is_ok()
    }

    /// Presses it.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.ask("POST", &format!("/element/{element}/click"), Some(&json!({})));
    }

    /// Types into a field, in place of what is in it.
    #[track_caller]
    pub fn fill(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.ask("POST", &format!("/element/{element}/clear"), Some(&json!({})));
        self.ask("POST", &format!("/element/{element}/value"), Some(&json!({ "text": text })));
    }

    /// Chooses a file in a field for files.
    #[track_caller]
    pub fn choose(&self, selector: &str, file: &std::path::Path) {
        let element = self.element(selector);
        let path = file.to_str().expect("a path in UTF-8");
        self.ask("POST", &format!("/element/{element}/value"), Some(&json!({ "text": path })));
    }

    /// Presses a key of the keyboard: a WebDriver key, or a character.
    #[track_caller]
    pub fn press(&self, key: &str) {
        let keys = json!([{ "type": "keyDown", "value": key }, { "type": "keyUp", "value": key }]);
        let actions = json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": keys }] });
        self.ask("POST", "/actions", Some(&actions));
    }

    /// What a script of ours comes to.
    #[track_caller]
    pub fn script(&self, script: &str) -> Value {
        self.ask("POST", "/execute/sync", Some(&json!({ "script": script, "args": [] })))
    }

    /// Makes the page as wide as a telephone, or anything else.
    #[track_caller]
    pub fn resize(&self, width: u32, height: u32) {
        let about = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": true });
        self.devtools("Emulation.setDeviceMetricsOverride", &about);
    }

    /// A command of the developer tools.
    #[track_caller]
    pub(crate) fn devtools(&self, command: &str, params: &Value) -> Value {
        self.ask("POST", "/goog/cdp/execute", Some(&json!({ "cmd": command, "params": params })))
    }

    /// Waits until something is so; `what` says what, where it never is.
    #[track_caller]
    pub fn wait(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is_so(self) {
            assert!(Instant::now() < until, "{what}; it is at {}", self.path());
            std::thread::sleep(Duration::from_millis(25));
        }
    }

    /// What the console said since it was asked last: errors, warnings, violations of the policy.
    #[track_caller]
    pub fn console(&self) -> Vec<String> {
        let said = self.ask("POST", "/se/log", Some(&json!({ "type": "browser" })));
        let lines = said.as_array().cloned().unwrap_or_default();
        lines.iter().map(|line| format!("{}: {}", line["level"], line["message"])).collect()
    }

    fn find(&self, selector: &str) -> Result<String, Value> {
        let found =
            self.try_ask("POST", "/element", Some(&json!({ "using": "css selector", "value": selector })))?;
        Ok(found[ELEMENT].as_str().unwrap_or_default().to_owned())
    }

    #[track_caller]
    fn element(&self, selector: &str) -> String {
        self.find(selector).unwrap_or_else(|_| panic!("there is no {selector} at {}", self.path()))
    }
}

impl Drop for Browser<'_> {
    fn drop(&mut self) {
        let path = format!("/session/{}", self.session);
        let _ = ask(self.driver.port, "DELETE", &path, &[], None);
    }
}
