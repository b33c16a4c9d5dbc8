//! The three files that pages refer to, and the policy that forbids any other.
//!
//! A file's name bears the first eight digits of its SHA-256, so it may be kept for ever and is never stale.

use std::sync::LazyLock;

use arena_canon::Digest;

/// The value of `Content-Security-Policy` on every page. No inline style, no inline script, nobody else's
/// files.
pub(crate) const CSP: &str = "default-src 'none'; style-src 'self'; script-src 'self' 'wasm-unsafe-eval'; \
                              img-src 'self' data:; connect-src 'self'; form-action 'self'; \
                              frame-ancestors 'none'; base-uri 'none'";

/// The value of `Cache-Control` for whatever [`get`] finds.
pub(crate) const CACHE_CONTROL: &str = "public, max-age=31536000, immutable";

/// One file, as it is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asset {
    /// The body.
    pub(crate) bytes: &'static [u8],
    /// The value of `Content-Type`.
    pub(crate) content_type: &'static str,
}

struct Named {
    path: String,
    asset: Asset,
}

static STYLE: LazyLock<Named> = LazyLock::new(|| {
    named("style", "css", "text/css; charset=utf-8", include_bytes!("../../assets/style.css"))
});
static SCRIPT: LazyLock<Named> = LazyLock::new(|| {
    named("script", "js", "text/javascript; charset=utf-8", include_bytes!("../../assets/script.js"))
});
static ICON: LazyLock<Named> =
    LazyLock::new(|| named("icon", "svg", "image/svg+xml", include_bytes!("../../assets/icon.svg")));

fn named(stem: &str, extension: &str, content_type: &'static str, bytes: &'static [u8]) -> Named {
    let path = format!("/assets/{stem}-{}.{extension}", Digest::of(bytes).short());
    Named { path, asset: Asset { bytes, content_type } }
}

/// The path of the style sheet: `/assets/style-<8 digits>.css`.
pub(crate) fn style_path() -> &'static str {
    &STYLE.path
}

/// The path of the script.
pub(crate) fn script_path() -> &'static str {
    &SCRIPT.path
}

/// The path of the icon.
pub(crate) fn icon_path() -> &'static str {
    &ICON.path
}

/// The file named `name`, which is what follows `/assets/` in its path. A name with another digest is not
/// found: its page is older than this server, and a wrong style would stay in a cache for a year.
pub(crate) fn get(name: &str) -> Option<Asset> {
    [&*STYLE, &*SCRIPT, &*ICON]
        .into_iter()
        .find(|it| it.path.strip_prefix("/assets/") == Some(name))
        .map(|it| it.asset)
}

#[cfg(test)]
mod tests {
    use super::{CSP, SCRIPT, STYLE, get, icon_path, script_path, style_path};

    #[test]
    fn a_file_is_found_by_its_digest_and_by_nothing_else() {
        for path in [style_path(), script_path(), icon_path()] {
            let name = path.strip_prefix("/assets/").unwrap();
            assert!(!get(name).unwrap().bytes.is_empty());
            assert_eq!(get(path), None, "only the name");
        }
        for name in ["", "style.css", "style-00000000.css", "../Cargo.toml"] {
            assert_eq!(get(name), None);
        }
    }

    #[test]
    fn the_policy_allows_nothing_inline() {
        assert!(!CSP.contains("unsafe-inline") && !CSP.contains("'unsafe-eval'"));
        assert!(!CSP.contains("  "));
    }

    #[test]
    fn the_script_is_short_and_evaluates_nothing() {
        let text = std::str::from_utf8(SCRIPT.asset.bytes).unwrap();
        assert!(text.lines().count() <= 100, "{}", text.lines().count());
        for banned in ["eval(", "new Function", "innerHTML", "document.write", "import(", ".style"] {
            assert!(!text.contains(banned), "{banned}");
        }
    }

    #[test]
    fn the_style_sheet_loads_nothing() {
        let text = std::str::from_utf8(STYLE.asset.bytes).unwrap();
        for banned in ["url(", "@import", "@font-face", "http"] {
            assert!(!text.contains(banned), "{banned}");
        }
    }
}
