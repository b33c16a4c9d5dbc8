//! The guest toolchain: what is there already, else rustup's target, else Debian's packages, else what to
//! type. And the NATS server and the browser that some tests need, which the others do without.

use std::path::{Path, PathBuf};

use crate::fault::{Fault, Outcome};
use crate::repo::Repo;
use crate::run::Run;
use crate::talk;
use crate::toolchain::{self, Compiler, GUEST_TARGET, GuestToolchain, Library};

const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_LIBRARY: &str = "/usr/lib/rustlib/src/rust/library/std/Cargo.toml";
const DEBIAN_PACKAGES: [&str; 2] = ["rustc-web", "rust-web-src"];
/// Debian puts it where only root looks.
const NATS_SERVER: [&str; 2] = ["nats-server", "/usr/sbin/nats-server"];
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// Long enough for a slow line, short enough that a network without a way out is not a hang.
const DOWNLOAD_SECONDS_MAX: &str = "60";

/// Makes sure that guests can be built here, and says with what.
pub(crate) fn ensure(repo: &Repo) -> Outcome<GuestToolchain> {
    let toolchain = find_or_install(repo)?;
    toolchain.save(&repo.root)?;
    talk::note("guest toolchain", &toolchain.to_string());
    Ok(toolchain)
}

/// Gets the NATS server, if that can be done here. Tests that need it and do not find it are skipped by
/// name, and fail with CI set.
pub(crate) fn ensure_nats_server(repo: &Repo) {
    let is_there =
        || NATS_SERVER.iter().any(|it| Run::new(*it, &repo.root).args(["--version"]).try_output().is_some());
    if is_there() {
        return;
    }
    let installed = install_from_debian(repo, "nats-server", &["nats-server"], is_there);
    if let Err(why) = installed {
        talk::note("nats-server", &format!("{why}; the tests that need it are skipped"));
    }
}

/// Gets Chromium with its WebDriver, if that can be done here. Tests that need them and do not find them are
/// skipped by name, and fail with CI set.
pub(crate) fn ensure_browser(repo: &Repo) {
    let is_there = || {
        let answers = |it: &str| Run::new(it, &repo.root).args(["--version"]).try_output().is_some();
        answers("chromedriver") && BROWSERS.iter().any(|it| answers(it))
    };
    if is_there() {
        return;
    }
    let installed = install_from_debian(repo, "browser", &["chromium", "chromium-driver"], is_there);
    if let Err(why) = installed {
        talk::note("browser", &format!("{why}; the tests that need it are skipped"));
    }
}

fn find_or_install(repo: &Repo) -> Outcome<GuestToolchain> {
    let rustc = toolchain::usual_rustc();
    let sysroot = sysroot(&rustc, repo)?;
    let compiler = Compiler::ask(&rustc, &repo.root)?;
    let installed =
        |by_rustup| GuestToolchain { compiler: compiler.clone(), library: Library::Installed { by_rustup } };
    if has_target(&sysroot) {
        return Ok(installed(is_rustups(&sysroot)));
    }
    let no_rustup = match add_by_rustup(repo) {
        Ok(()) if has_target(&sysroot) => return Ok(installed(true)),
        Ok(()) => "rustup added the target to another toolchain than the one that is used here".to_owned(),
        Err(why) => why,
    };
    talk::note("guest toolchain", &format!("{no_rustup}; trying Debian's packages"));
    let linker = sysroot.join("lib/rustlib").join(&compiler.host).join("bin/rust-lld");
    by_debian(repo, linker).map_err(|no_debian| nothing_works(&no_rustup, &no_debian))
}

/// Where a compiler has its libraries.
pub(crate) fn sysroot(rustc: &Path, repo: &Repo) -> Outcome<PathBuf> {
    let text = Run::new(rustc, &repo.root).args(["--print", "sysroot"]).text()?;
    Ok(PathBuf::from(text.trim_end()))
}

/// The target counts as installed when its `core` is there; an empty folder is left by an interrupted
/// download.
fn has_target(sysroot: &Path) -> bool {
    let libraries = sysroot.join("lib/rustlib").join(GUEST_TARGET).join("lib");
    std::fs::read_dir(libraries)
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| entry.file_name().to_string_lossy().starts_with("libcore-"))
}

/// Rustup keeps a list of components in every toolchain that it installed.
fn is_rustups(sysroot: &Path) -> bool {
    sysroot.join("lib/rustlib/multirust-channel-manifest.toml").exists()
}

fn add_by_rustup(repo: &Repo) -> Result<(), String> {
    talk::note("guest toolchain", &format!("rustup target add {GUEST_TARGET}"));
    let mut run = Run::new("rustup", &repo.root).args(["target", "add", GUEST_TARGET]);
    if std::env::var_os("RUSTUP_DOWNLOAD_TIMEOUT").is_none() {
        run = run.env("RUSTUP_DOWNLOAD_TIMEOUT", DOWNLOAD_SECONDS_MAX);
    }
    let output = run.try_output().ok_or("rustup is not installed")?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let reason = said.lines().find(|line| line.starts_with("error")).unwrap_or("error: it gave no reason");
    Err(format!("rustup cannot add the target ({reason})"))
}

fn by_debian(repo: &Repo, linker: PathBuf) -> Result<GuestToolchain, String> {
    check_debian()?;
    if !linker.exists() {
        return Err(format!(
            "{} is missing, and Debian's compiler has no linker of its own",
            linker.display()
        ));
    }
    if !debian_is_ready() {
        install_from_debian(repo, "guest toolchain", &DEBIAN_PACKAGES, debian_is_ready)?;
    }
    let rustc = PathBuf::from(DEBIAN_RUSTC);
    let compiler = Compiler::ask(&rustc, &repo.root).map_err(|fault| fault.to_string())?;
    let pinned = toolchain::pinned_release(repo).map_err(|fault| fault.to_string())?;
    if is_older(&compiler.release, &pinned) {
        return Err(format!(
            "Debian's {compiler} is too old, guests need {pinned}; look for security updates"
        ));
    }
    Ok(GuestToolchain { compiler, library: Library::FromSource { rustc, linker } })
}

/// `1.85.0` is older than `1.95.0`; what is not a number counts as nothing.
fn is_older(release: &str, than: &str) -> bool {
    let numbers = |text: &str| text.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>();
    numbers(release) < numbers(than)
}

fn debian_is_ready() -> bool {
    Path::new(DEBIAN_RUSTC).exists() && Path::new(DEBIAN_LIBRARY).exists()
}

fn check_debian() -> Result<(), String> {
    if Path::new("/etc/debian_version").exists() { Ok(()) } else { Err("this is not Debian".to_owned()) }
}

fn install_from_debian(
    repo: &Repo,
    what_for: &str,
    packages: &[&str],
    is_ready: impl Fn() -> bool,
) -> Result<(), String> {
    check_debian()?;
    let id = Run::new("id", &repo.root).args(["-u"]).text().unwrap_or_default();
    if id.trim() != "0" {
        return Err("installing Debian's packages needs root".to_owned());
    }
    let names = packages.join(" ");
    talk::note(what_for, &format!("apt-get install {names}"));
    apt(repo, &["update"])?;
    // Never at the price of something that is installed: the compiler's packages conflict with Debian's
    // other compiler.
    apt(repo, &[&["install", "--yes", "--no-remove", "--no-install-recommends"], packages].concat())?;
    if is_ready() { Ok(()) } else { Err(format!("{names} did not bring what they should")) }
}

fn apt(repo: &Repo, args: &[&str]) -> Result<(), String> {
    let run =
        Run::new("apt-get", &repo.root).args(["-q"]).args(args).env("DEBIAN_FRONTEND", "noninteractive");
    let output = run.try_output().ok_or("apt-get cannot be started")?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let reason = said.lines().find(|line| line.starts_with("E: ")).unwrap_or("it gave no reason");
    Err(format!("apt-get {} failed ({reason})", args[0]))
}

fn nothing_works(no_rustup: &str, no_debian: &str) -> Fault {
    Fault::new(format!("no way to build guests for {GUEST_TARGET}\n  {no_rustup}\n  {no_debian}")).hint(
        format!(
            "with rustup (https://rustup.rs):   rustup target add {GUEST_TARGET}\n\
         on Debian, as root:                apt-get update && apt-get install {}\n\
         with another compiler: install its standard library for {GUEST_TARGET}",
            DEBIAN_PACKAGES.join(" ")
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_names_both_ways_and_why_they_failed() {
        let text = nothing_works("rustup is not installed", "this is not Debian").to_string();
        for part in [
            "rustup is not installed",
            "this is not Debian",
            "rustup target add",
            "apt-get install rustc-web",
        ] {
            assert!(text.contains(part), "{part} is missing in:\n{text}");
        }
    }

    #[test]
    fn releases_are_compared_as_numbers() {
        assert!(is_older("1.85.0", "1.95.0") && is_older("1.95.0", "1.100.0"));
        assert!(!is_older("1.96.0", "1.95.0") && !is_older("1.95.0", "1.95.0"));
    }

    #[test]
    fn an_empty_target_folder_is_not_an_installed_target() {
        let sysroot = std::env::temp_dir().join(format!("xtask-sysroot-{}", std::process::id()));
        let libraries = sysroot.join("lib/rustlib").join(GUEST_TARGET).join("lib");
        std::fs::create_dir_all(&libraries).expect("the temporary folder is writable");
        assert!(!has_target(&sysroot));
        std::fs::write(libraries.join("libcore-1234.rlib"), "").expect("the temporary folder is writable");
        assert!(has_target(&sysroot));
        std::fs::remove_dir_all(sysroot).expect("it was just made");
    }
}
