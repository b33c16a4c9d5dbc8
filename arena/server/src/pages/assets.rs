//! The files that pages refer to, and the policy that forbids any other.
//!
//! A file's name bears the first eight digits of its SHA-256, so it may be kept for ever and is never stale. The
//! verifier of replays is the only one that is built and not written: a server that was compiled before it was built
//! has none, and its pages offer what they offer without scripts.

use std::sync::LazyLock;

use arena_canon::Digest;

/// The value of `Content-Security-Policy` on every page. No inline style, no inline script, nobody else's
/// files.
pub(crate) const CSP: &str = "default-src 'none'; style-src 'self'; script-src 'self' 'wasm-unsafe-eval'; \
                              img-src 'self' data:; connect-src 'self'; form-action 'self'; \
                              frame-ancestors 'none'; base-uri 'none'";

/// The value of `Cache-Control` for whatever [`get`] finds.
pub(crate) const CACHE_CONTROL: &str = "public, max-age=31536000, immutable";

/// The style sheet of all pages.
pub(crate) const STYLE_SHEET: &str = include_str!("../../assets/style.css");

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

static STYLE: LazyLock<Named> =
    LazyLock::new(|| named("style", "css", "text/css; charset=utf-8", STYLE_SHEET.as_bytes()));
static SCRIPT: LazyLock<Named> = LazyLock::new(|| {
    named("script", "js", "text/javascript; charset=utf-8", include_bytes!("../../assets/script.js"))
});
static ICON: LazyLock<Named> =
    LazyLock::new(|| named("icon", "svg", "image/svg+xml", include_bytes!("../../assets/icon.svg")));
static VERIFY: LazyLock<Named> = LazyLock::new(|| {
    named("verify", "js", "text/javascript; charset=utf-8", include_bytes!("../../assets/verify.js"))
});
static VERIFIER: LazyLock<Option<Named>> =
    LazyLock::new(|| MODULE.map(|bytes| named("verifier", "wasm", "application/wasm", bytes)));

#[cfg(verifier)]
const MODULE: Option<&[u8]> = Some(include_bytes!("../../assets/verifier.wasm"));
#[cfg(not(verifier))]
const MODULE: Option<&[u8]> = None;

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

/// The engine as a module that replays a log in a page, and the script that runs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Verifier {
    /// The path of the module.
    pub(crate) module: &'static str,
    /// Its size.
    pub(crate) bytes: usize,
    /// Its digest, which is that of whoever builds it from the same sources.
    pub(crate) sha256: Digest,
    /// The path of the script.
    pub(crate) script: &'static str,
}

/// What a page needs to check a replay by itself; nothing, if this server was compiled without the module.
pub(crate) fn verifier() -> Option<Verifier> {
    let Named { path, asset } = VERIFIER.as_ref()?;
    let sha256 = Digest::of(asset.bytes);
    Some(Verifier { module: path, bytes: asset.bytes.len(), sha256, script: &VERIFY.path })
}

/// The file named `name`, which is what follows `/assets/` in its path. A name with another digest is not
/// found: its page is older than this server, and a wrong style would stay in a cache for a year.
pub(crate) fn get(name: &str) -> Option<Asset> {
    [&*STYLE, &*SCRIPT, &*ICON, &*VERIFY]
        .into_iter()
        .chain(VERIFIER.as_ref())
        .find(|it| it.path.strip_prefix("/assets/") == Some(name))
        .map(|it| it.asset)
}

#[cfg(test)]
mod tests {
    use super::{CSP, SCRIPT, STYLE, VERIFY, get, icon_path, script_path, style_path, verifier};

    #[test]
    fn a_file_is_found_by_its_digest_and_by_nothing_else() {
        let built = verifier().map(|it| [it.module, it.script]);
        let paths = [style_path(), script_path(), icon_path(), &VERIFY.path];
        for path in paths.into_iter().chain(built.into_iter().flatten()) {
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
    fn the_scripts_are_short_and_evaluate_nothing() {
        for script in [&SCRIPT, &VERIFY] {
            let text = std::str::from_utf8(script.asset.bytes).unwrap();
            assert!(text.lines().count() <= 105, "{}", text.lines().count());
            for banned in ["eval(", "new Function", "innerHTML", "document.write", "import(", ".style"] {
                assert!(!text.contains(banned), "{banned}");
            }
        }
    }

    /// Nothing to be called back by, so nothing it could do but compute.
    #[test]
    fn the_verifier_imports_nothing() {
        let Some(module) = verifier() else { return };
        let bytes = get(module.module.strip_prefix("/assets/").unwrap()).unwrap().bytes;
        assert_eq!(bytes[..8], *b"\0asm\x01\0\0\0");
        let mut at = 8;
        while at < bytes.len() {
            let (section, mut length, mut shift) = (bytes[at], 0_usize, 0);
            loop {
                at += 1;
                length |= usize::from(bytes[at] & 0x7f) << shift;
                shift += 7;
                if bytes[at] < 0x80 {
                    break;
                }
            }
            assert_ne!(section, 2, "a section of imports");
            at += 1 + length;
        }
        assert_eq!(at, bytes.len());
    }

    #[test]
    fn the_style_sheet_loads_nothing() {
        let text = std::str::from_utf8(STYLE.asset.bytes).unwrap();
        for banned in ["url(", "@import", "@font-face", "http"] {
            assert!(!text.contains(banned), "{banned}");
        }
    }
}
