mod folder;
mod stream;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::thread::sleep;
use std::time::Duration;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_engine::Excerpt;
use arena_tournament::{Bundle, CARD_BYTES_MAX, Receipt};
use serde_json::json;

use crate::commands::Output;
use crate::commands::agent::{Address, Relay, Trouble};
use crate::commands::play::quoted;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::ink::Tone;
use crate::io::Io;

use folder::Target;
use stream::Broken;

/// Fetch a whole run from a server, to verify it here
///
/// Only of a tournament that has succeeded: everything else of it is hidden. Each file is held against the
/// receipt before it gets its name, so a server can give what the receipt lists, or nothing. What is in the
/// folder already is not fetched again: after an interruption, run the same command again.
///
/// Components are not fetched, since a server does not hand them out.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The tournament's address, as its page has it
    #[arg(value_name = "URL")]
    tournament: Place,

    /// Folder of the run: a new or empty one, or one that this command began to fill
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// The most that is fetched
    #[arg(long, value_name = "MIB", default_value_t = 4_096, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    max_mib: u64,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena tournament fetch https://arena.example/tournaments/t1 --out t1
  arena tournament fetch http://127.0.0.1:8080/tournaments/t1 --out t1 --json
  arena verify t1
  arena verify t1 --all --component my-strategies";

/// How long a server may take for a document.
const PATIENCE: Duration = Duration::from_secs(60);
/// Attempts without a single new file, and the pause before the next one, which doubles.
const ATTEMPTS: u32 = 4;
const PAUSE: Duration = Duration::from_millis(500);

/// A tournament of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    server: Address,
    id: String,
}

impl Place {
    /// Where the API has it.
    fn path(&self, part: &str) -> String {
        format!("/api/v1/tournaments/{}{part}", self.id)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/tournaments/{}", self.server, self.id)
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || "a tournament is https://host[:port]/tournaments/t1, as its page has it".to_owned();
        let path_end = text.find(['?', '#']).unwrap_or(text.len());
        let whole = text[..path_end].trim_end_matches('/');
        let (server, id) = whole.rsplit_once("/tournaments/").ok_or_else(form)?;
        let server = server.strip_suffix("/api/v1").unwrap_or(server);
        let digits = id.strip_prefix('t').filter(|digits| (1..=12).contains(&digits.len()));
        let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.filter(|digits| is_number(digits) && !digits.starts_with('0')).ok_or_else(form)?;
        Ok(Self { server: server.parse().map_err(|_| form())?, id: id.to_owned() })
    }
}

/// What came of it.
#[derive(Debug, Default)]
struct Tally {
    /// Files that were there already.
    kept: usize,
    /// Files that were there and were others than the receipt lists.
    replaced: usize,
    /// Files that were fetched.
    fetched: usize,
}

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let place = &args.tournament;
    if place.server.is_exposed() {
        io.warn("without https, whoever is between here and the server can give you another run");
    }
    let relay = Relay::new(place.server.clone(), PATIENCE)?;
    let told = patiently(place, io, || relay.see(&place.path("")))?;
    let wanted = ended(place, &told)?;
    let (bytes, receipt) = patiently(place, io, || receipt(&relay, place, wanted))?;
    let bundle = Bundle::of(&receipt, wanted, bytes.len() as u64).map_err(|why| refused(place, why))?;
    let limit = args.max_mib << 20;
    if bundle.length() > limit {
        let why = format!(
            "it has {} in {} files; the limit is {}",
            mib(bundle.length()),
            bundle.parts().len(),
            mib(limit)
        );
        return Err(Failure::usage(format_args!("fetch {place}"), why).hint("allow more with --max-mib"));
    }
    let mut target = Target::open(&args.out, &bundle)?;
    let filled = fill(&relay, place, &bundle, &mut target, io);
    let tally = match filled {
        Ok(tally) => tally,
        Err(failure) => {
            target.leave();
            return Err(failure);
        }
    };
    target.finish(&bytes)?;
    tell(args, (&receipt, &bundle), &tally, io);
    Ok(Exit::Success)
}

/// Asks until there is an answer, a few times.
fn patiently<T>(
    place: &Place,
    io: &mut Io<'_>,
    mut ask: impl FnMut() -> Result<T, Trouble>,
) -> Result<T, Failure> {
    let mut pause = PAUSE;
    for _ in 1..ATTEMPTS {
        match ask() {
            Err(trouble @ (Trouble::Away(_) | Trouble::Refused { status: 429, .. })) => {
                io.talk(format_args!("asking again in {} ms: {trouble}", pause.as_millis()));
                sleep(pause);
            }
            other => return other.map_err(|trouble| no_answer(place, &trouble)),
        }
        pause *= 2;
    }
    ask().map_err(|trouble| no_answer(place, &trouble))
}

fn no_answer(place: &Place, trouble: &Trouble) -> Failure {
    let doing = format!("fetch {place}");
    match trouble {
        Trouble::Away(_) | Trouble::Left | Trouble::Refused { status: 429, .. } => {
            Failure::new(Exit::Stalled, doing, trouble).hint("run the same command again later")
        }
        Trouble::Refused { status: 404, .. } => {
            Failure::usage(doing, trouble).hint("copy the address from the tournament's page")
        }
        Trouble::Refused { .. } => Failure::new(Exit::Rejected, doing, trouble),
        Trouble::Foreign(_) => {
            Failure::new(Exit::Rejected, doing, trouble).hint("is it the address of an arena's server?")
        }
    }
}

/// What a server gives is not what it should be.
fn refused(place: &Place, why: impl fmt::Display) -> Failure {
    Failure::new(Exit::Rejected, format_args!("take the run of {place}"), why)
        .hint("nothing of it was taken; tell whoever runs the server")
}

/// The digest of the receipt of a tournament that has succeeded; why there is nothing to fetch otherwise.
fn ended(place: &Place, told: &Value) -> Result<Digest, Failure> {
    let doing = format!("fetch {place}");
    let text = |at: &str| {
        let text = told.pointer(at).and_then(Value::as_str).unwrap_or_default();
        Excerpt { text, max: 300 }.to_string()
    };
    if told["terminal"].is_null() {
        let why = format!("it is not over (`{}`), and its identities are hidden until then", text("/status"));
        return Err(
            Failure::new(Exit::Stalled, doing, why).hint("run the same command again when it is over")
        );
    }
    let class = text("/terminal/class");
    if class != "success" {
        let why = format!("it ended as {class}: {}", text("/terminal/reason"));
        let hint = "only of a success there is a scorecard, and only then are the identities disclosed";
        return Err(Failure::new(Exit::Rejected, doing, why).hint(hint));
    }
    let sha256 = told.pointer("/terminal/receipt_sha256").and_then(Value::as_str);
    let sha256 = sha256.and_then(|text| text.parse().ok());
    sha256.ok_or_else(|| refused(place, "it does not say which receipt the run has"))
}

/// The receipt that the server speaks of.
fn receipt(relay: &Relay, place: &Place, wanted: Digest) -> Result<(Vec<u8>, Receipt), Trouble> {
    let bytes = relay.bytes(&place.path("/receipt"), CARD_BYTES_MAX, PATIENCE)?;
    let found = Digest::of(&bytes);
    if found != wanted {
        let why = format!("its receipt has SHA-256 {found}, and it says that it is {wanted}");
        return Err(Trouble::Foreign(why));
    }
    let receipt = serde_json::from_slice(&bytes).map_err(|why| {
        let text = why.to_string();
        Trouble::Foreign(format!("its receipt cannot be read: {}", Excerpt { text: &text, max: 200 }))
    })?;
    Ok((bytes, receipt))
}

/// Fetches what is missing. A server that breaks off is asked again, as long as it gives something each time.
fn fill(
    relay: &Relay,
    place: &Place,
    bundle: &Bundle,
    target: &mut Target,
    io: &mut Io<'_>,
) -> Result<Tally, Failure> {
    let mut missing = target.missing(bundle, io)?;
    // The receipt is written last, from what was read of it already.
    let whole = bundle.parts().len() - 1;
    let mut tally =
        Tally { kept: whole - missing.len(), replaced: target.replaced(), fetched: missing.len() };
    let mut pause = PAUSE;
    let mut attempts = 0;
    while !missing.is_empty() {
        let before = missing.len();
        let outcome = stream::fetch(relay, &place.path("/run"), bundle, (target, &mut missing), io);
        attempts = if missing.len() < before { 0 } else { attempts + 1 };
        let trouble = match outcome {
            Ok(()) => continue,
            Err(Broken::Off(why)) if attempts < ATTEMPTS => why,
            Err(Broken::Off(why)) => {
                tally.fetched -= missing.len();
                let why = format!("{why}; {} of {} files are here", tally.kept + tally.fetched, whole + 1);
                let failure = Failure::new(Exit::Stalled, format_args!("fetch {place}"), why);
                return Err(failure.hint("run the same command again: it goes on from there"));
            }
            Err(Broken::Answer(trouble)) if attempts >= ATTEMPTS => return Err(no_answer(place, &trouble)),
            Err(Broken::Answer(trouble @ (Trouble::Away(_) | Trouble::Refused { status: 429, .. }))) => {
                trouble.to_string()
            }
            Err(Broken::Answer(trouble)) => return Err(no_answer(place, &trouble)),
            Err(Broken::False(why)) => {
                return Err(Failure::new(Exit::Rejected, format_args!("take the run of {place}"), why)
                    .hint("nothing false stays; tell whoever runs the server"));
            }
            Err(Broken::Here(failure)) => return Err(failure),
        };
        if attempts == 0 {
            pause = PAUSE;
        }
        io.talk(format_args!("going on in {} ms: {trouble}", pause.as_millis()));
        sleep(pause);
        pause *= 2;
    }
    Ok(tally)
}

fn mib(bytes: u64) -> String {
    match bytes {
        0..0x2800 => format!("{bytes} bytes"),
        0x2800..0xa0_0000 => format!("{} KiB", bytes.div_ceil(1 << 10)),
        _ => format!("{} MiB", bytes.div_ceil(1 << 20)),
    }
}

fn tell(args: &Args, (receipt, bundle): (&Receipt, &Bundle), tally: &Tally, io: &mut Io<'_>) {
    let folder = files::shown(&args.out);
    let verify = format!("arena verify {}", quoted(&folder));
    let bytes: u64 = bundle.parts().iter().map(|part| part.bytes).sum();
    if args.output.json {
        io.print_json(&json!({
            "tournament": args.tournament.to_string(), "folder": folder, "terminal": receipt.terminal,
            "frozen_sha256": receipt.frozen_sha256, "record_digest": receipt.record_digest,
            "records": receipt.matchups.completed, "files": bundle.parts().len(), "bytes": bytes,
            "fetched": tally.fetched, "kept": tally.kept, "replaced": tally.replaced,
            "components_not_fetched": bundle.apart().len(), "verify": verify,
        }));
        return;
    }
    let (records, files) = (receipt.matchups.completed, bundle.parts().len());
    let label = io.ink().paint(Tone::Good, "fetched  ");
    io.print(format_args!("{label} {records} records, {files} files, {} · {folder}", mib(bytes)));
    if tally.kept > 0 {
        io.print(format_args!("kept      {} files that were here already", tally.kept));
    }
    if tally.replaced > 0 {
        let (were, are) = if tally.replaced == 1 { ("file was", "is") } else { ("files were", "are") };
        io.print(format_args!(
            "replaced  {} {were} not what the receipt lists, and {are} now",
            tally.replaced
        ));
    }
    let apart = bundle.apart().len();
    let components = if apart == 1 { "component" } else { "components" };
    io.print(format_args!("absent    {apart} {components}: the server does not hand them out"));
    io.talk(format_args!("next: {verify}"));
    io.talk(format_args!("with the components: {verify} --all --component FILE|DIR"));
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn a_tournament_is_where_its_page_is() {
        for (text, shown) in [
            ("https://arena.example/tournaments/t1", "https://arena.example/tournaments/t1"),
            ("http://127.0.0.1:8080/tournaments/t12/", "http://127.0.0.1:8080/tournaments/t12"),
            ("https://a/tournaments/t7?limit=5#check", "https://a/tournaments/t7"),
            ("https://a/api/v1/tournaments/t7", "https://a/tournaments/t7"),
            ("http://[::1]:80/tournaments/t999999999999", "http://[::1]:80/tournaments/t999999999999"),
        ] {
            let place: Place = text.parse().unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_eq!(place.to_string(), shown);
        }
        for text in [
            "",
            "t1",
            "https://a",
            "https://a/tournaments",
            "https://a/tournaments/",
            "https://a/tournaments/1",
            "https://a/tournaments/t0",
            "https://a/tournaments/t01",
            "https://a/tournaments/t1/matches/m00001",
            "https://a/tournaments/t9999999999999",
            "https://a/tournaments/t1\u{661}",
            "https://a/x/tournaments/t1",
            "https://u@a/tournaments/t1",
            "ftp://a/tournaments/t1",
        ] {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
    }
}
