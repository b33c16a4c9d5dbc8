mod child;
mod demo;
mod fetcher;
mod props;
mod request_log;
mod workshop;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use arena_contests::Moment;
use arena_server::auth::AdminToken;
use arena_server::{Config, Doors, Outside, ServeError, Server, Setup};
use serde_json::json;

use crate::commands::Output;
use crate::commands::agent::Address;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::io::Io;
use crate::{luck, packs};
use request_log::RequestLog;
use workshop::Processes;

pub(crate) use child::{Command as Workshop, run as work};

const CONFIG_BYTES_MAX: u64 = 64 << 10;
const TOKEN_BYTES_MAX: u64 = 1 << 10;
const TOKEN_FILE: &str = "admin.token";

/// Serve the arena: play, contests and live events over HTTP
///
/// Everything is kept in one folder: a hash-chained journal and blobs under their digests. No other service is
/// needed. The admin's token is read from a file; if none is named, one is made in the folder at the first start.
/// Ends without losing an answer when it is interrupted.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The folder with everything that is known; made if it is not there
    #[arg(long, value_name = "DIR", required_unless_present = "demo")]
    data: Option<PathBuf>,

    /// Play a season first, so that there is something to see; in a folder that ends with it, or in an empty one that
    /// is named
    #[arg(long)]
    demo: bool,

    /// Where to listen [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,

    /// Limits and addresses, as TOML: any of the keys below, each as good as its default
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// The file with the admin's token, of at least 32 bytes [default: admin.token in the folder]
    #[arg(long, value_name = "FILE")]
    admin_token: Option<PathBuf>,

    /// A line of JSON for each request, added to the file's end; `-` is standard output
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// A relay of drand, such as https://api.drand.sh: the rounds that draws wait for are fetched there and checked, those
    /// of draws in secret included; several are tried in turn
    #[arg(long = "drand", value_name = "URL")]
    drand: Vec<Address>,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena serve --demo
  arena serve --data data
  arena serve --data data --listen 127.0.0.1:0 --json
  arena serve --data data --log requests.log
  arena serve --data data --drand https://api.drand.sh --drand https://drand.cloudflare.com
  arena serve --data /srv/arena --config arena.toml --admin-token /run/secrets/arena

A configuration:
  listen = \"127.0.0.1:8080\"
  metrics = \"127.0.0.1:9100\"        # figures, on a loopback address; without it there are none
  trusted_proxies = [\"127.0.0.1\"]  # who may say in X-Forwarded-For for whom it asks
  [limits]
  requests_per_minute = 60          # every limit, its key and what it is set to: /docs of a server
  [tournaments]
  workers = 2
  [claims]
  name = \"arena\"                    # for good: records are signed for it";

/// Where everything is kept.
enum Home {
    /// In a folder that was named.
    Named(PathBuf),
    /// In one that is gone when the server ends.
    Lent(tempfile::TempDir),
}

impl Home {
    fn find(args: &Args) -> Result<Self, Failure> {
        if let Some(data) = &args.data {
            return Ok(Self::Named(data.clone()));
        }
        let lent = tempfile::Builder::new().prefix("arena-demo-").tempdir();
        lent.map(Self::Lent).map_err(|why| Failure::internal("make a temporary folder", files::plain(&why)))
    }

    fn path(&self) -> &Path {
        match self {
            Self::Named(data) => data,
            Self::Lent(lent) => lent.path(),
        }
    }
}

/// This machine's clock and luck.
struct Machine;

impl Outside for Machine {
    fn now(&self) -> Moment {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment::from_unix_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn luck(&self) -> [u8; 64] {
        luck::stretched()
    }
}

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let config = read_config(args)?;
    fetcher::check(&args.drand)?;
    let home = Home::find(args)?;
    let data = home.path();
    files::make_folder(data)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|why| Failure::internal("start the server", files::plain(&why)))?;
    let workers = config.tournaments.workers;
    if args.demo {
        runtime.block_on(demo::prepare(data, Machine.now(), workers, io))?;
    }
    let admin = read_token(args, data, io)?;
    let log = args.log.as_deref().map(RequestLog::open).transpose()?;
    let sink = log.as_ref().map(RequestLog::sink);
    let setup = Setup { config, admin, outside: Arc::new(Machine), packs: packs::documents(), log: sink };
    if let Some(missing) = lacks(arena_server::HAS_PAGE_VERIFIER) {
        io.warn(missing);
    }
    let server = Server::open(data, setup).map_err(|why| failure(data, &why))?;
    let server = match io.env().program.clone() {
        Some(program) => server.with_workshop(Arc::new(Processes::new(program, data, workers)?)),
        None => server,
    };
    let served = runtime.block_on(async {
        let said = fetcher::start(&args.drand, &server)?;
        let doors = server.listen().await.map_err(|why| failure(data, &why))?;
        let tour = if args.demo { Some(demo::Tour::of(&server).await?) } else { None };
        announce(&doors, data, tour, args.output.json, io)?;
        fetcher::tell(server.run(doors, interrupted()), said, io).await;
        io.talk("ended; every answer that was given is on disk");
        Ok(Exit::Success)
    });
    if let Some(left_out) = log.map(RequestLog::end).filter(|left_out| *left_out > 0) {
        io.warn(format_args!("{left_out} lines of the request log were left out: it could not keep up"));
    }
    served
}

/// What it says once it can be asked, and to whom.
fn announce(
    doors: &Doors,
    data: &Path,
    tour: Option<demo::Tour>,
    is_json: bool,
    io: &mut Io<'_>,
) -> Result<(), Failure> {
    let address = |listener: &tokio::net::TcpListener| {
        listener.local_addr().map_err(|why| Failure::internal("listen", files::plain(&why)))
    };
    let public = address(&doors.public)?;
    let metrics = doors.metrics.as_ref().map(address).transpose()?;
    if is_json {
        let mut told = json!({ "url": format!("http://{public}"), "data": files::shown(data) });
        if let Some(metrics) = metrics {
            told["metrics"] = json!(format!("http://{metrics}/metrics"));
        }
        if let Some(tour) = tour {
            told["demo"] = tour.json();
        }
        io.print_json(&told);
    } else {
        io.print(format_args!("listening on http://{public}"));
        if let Some(metrics) = metrics {
            io.print(format_args!("figures on http://{metrics}/metrics"));
        }
        if let Some(tour) = tour {
            tour.print(&public, io);
        }
    }
    io.flush();
    Ok(())
}

/// What this build of the server cannot do, and what to do about it.
fn lacks(has_page_verifier: bool) -> Option<&'static str> {
    let missing = "no page can replay a log in the browser: this program was built without the module for it; run \
                   `cargo xtask guests`, then build it again";
    (!has_page_verifier).then_some(missing)
}

/// Until somebody says that it is enough.
async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let (Ok(mut term), Ok(mut int)) =
            (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
        {
            tokio::select! {
                _ = term.recv() => {}
                _ = int.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

fn read_config(args: &Args) -> Result<Config, Failure> {
    let mut config = match &args.config {
        None => Config::default(),
        Some(path) => {
            let bytes = files::read_named(path, CONFIG_BYTES_MAX)
                .map_err(|why| why.reading("configuration", path))?;
            let doing = format!("read configuration `{}`", files::shown(path));
            let text = String::from_utf8(bytes).map_err(|why| Failure::usage(&doing, why))?;
            Config::parse(&text).map_err(|why| Failure::usage(&doing, why))?
        }
    };
    config.listen = args.listen.unwrap_or(config.listen);
    Ok(config)
}

fn read_token(args: &Args, data: &Path, io: &mut Io<'_>) -> Result<AdminToken, Failure> {
    let path = args.admin_token.clone().unwrap_or_else(|| data.join(TOKEN_FILE));
    if args.admin_token.is_none() && !path.exists() {
        let token: String = luck::secret_bytes()?.iter().map(|byte| format!("{byte:02x}")).collect();
        files::write_private(&path, format!("{token}\n").as_bytes(), Existing::Keep)?;
        io.talk(format_args!("the admin's token is in `{}`", files::shown(&path)));
    }
    let bytes = files::read_named(&path, TOKEN_BYTES_MAX).map_err(|why| why.reading("admin token", &path))?;
    let doing = format!("read admin token `{}`", files::shown(&path));
    // What was read is a secret: it is told what is wrong with it, and nothing of it.
    let text = String::from_utf8(bytes).map_err(|_| Failure::usage(&doing, "it is not text"))?;
    AdminToken::new(&text).map_err(|why| Failure::usage(&doing, why))
}

fn failure(data: &Path, why: &ServeError) -> Failure {
    let doing = format!("serve `{}`", files::shown(data));
    match why {
        ServeError::Listen { .. } => Failure::usage(doing, why).hint("choose another address with --listen"),
        _ => Failure::usage(doing, why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_of_the_help_is_one() {
        let (_, shown) = AFTER_HELP.split_once("A configuration:\n").unwrap();
        let config = Config::parse(shown).unwrap();
        assert_eq!((config.listen, config.tournaments.workers), (Config::default().listen, 2));
        assert_eq!(config.metrics, Some(([127, 0, 0, 1], 9_100).into()));
    }

    #[test]
    fn a_build_without_the_module_of_the_pages_says_what_to_do() {
        assert_eq!(lacks(true), None);
        assert!(lacks(false).is_some_and(|missing| missing.contains("`cargo xtask guests`")));
    }
}
