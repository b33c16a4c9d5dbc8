//! What only a browser can tell of a page: which colours meet, how large targets are, what a reader announces.
//!
//! The HTML alone is audited by the server's own tests.

use serde_json::json;

use crate::browser::Browser;

const AUDIT: &str = include_str!("audit.js");
/// Roles that are nothing without a name.
const NAMED: [&str; 10] = [
    "button",
    "checkbox",
    "combobox",
    "DisclosureTriangle",
    "link",
    "radio",
    "region",
    "spinbutton",
    "table",
    "textbox",
];

/// Which colours a person asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Dark letters.
    Light,
    /// Light letters.
    Dark,
}

impl Browser<'_> {
    /// What keeps somebody from using the page as it is shown now, in both schemes of colours; some of the faults.
    #[track_caller]
    pub fn audit(&self) -> Vec<String> {
        let mut faults = self.nameless();
        for scheme in [Scheme::Dark, Scheme::Light] {
            self.paint(scheme);
            let found = self.script(AUDIT);
            let found = found.as_array().into_iter().flatten().filter_map(|fault| fault.as_str());
            faults.extend(found.map(|fault| format!("{scheme:?}: {fault}")));
        }
        faults
    }

    /// Asks for a scheme of colours.
    #[track_caller]
    pub fn paint(&self, scheme: Scheme) {
        let value = if scheme == Scheme::Dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": value }]);
        self.devtools("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// What a screen reader would announce by its role alone.
    fn nameless(&self) -> Vec<String> {
        let tree = self.devtools("Accessibility.getFullAXTree", &json!({}));
        let nodes = tree["nodes"].as_array().cloned().unwrap_or_default();
        assert!(nodes.len() > 5, "there is a tree: {tree}");
        let nameless = nodes.iter().filter(|node| {
            let role = node["role"]["value"].as_str().unwrap_or_default();
            let name = node["name"]["value"].as_str().unwrap_or_default();
            node["ignored"] == false && NAMED.contains(&role) && name.trim().is_empty()
        });
        nameless.map(|node| format!("a {} without a name", node["role"]["value"])).collect()
    }
}
