mod child;
mod demo;
mod props;
mod request_log;
mod workshop;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use arena_contests::Moment;
use arena_server::auth::AdminToken;
use arena_server::{Config, Outside, ServeError, Server, Setup};
use serde_json::json;

use crate::commands::Output;
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

    /// Limits and addresses, as TOML
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// The file with the admin's token, of at least 32 bytes [default: admin.token in the folder]
    #[arg(long, value_name = "FILE")]
    admin_token: Option<PathBuf>,

    /// A line of JSON for each request, added to the file's end; `-` is standard output
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena serve --demo
  arena serve --data data
  arena serve --data data --listen 127.0.0.1:0 --json
  arena serve --data data --log requests.log
  arena serve --data /srv/arena --config arena.toml --admin-token /run/secrets/arena";

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
    let server = Server::open(data, setup).map_err(|why| failure(data, &why))?;
    let server = match io.env().program.clone() {
        Some(program) => server.with_workshop(Arc::new(Processes::new(program, data, workers)?)),
        None => server,
    };
    let served = runtime.block_on(async {
        let doors = server.listen().await.map_err(|why| failure(data, &why))?;
        let address =
            doors.public.local_addr().map_err(|why| Failure::internal("listen", files::plain(&why)))?;
        let tour = if args.demo { Some(demo::Tour::of(&server).await?) } else { None };
        if args.output.json {
            let mut told = json!({ "url": format!("http://{address}"), "data": files::shown(data) });
            if let Some(tour) = tour {
                told["demo"] = tour.json();
            }
            io.print_json(&told);
        } else {
            io.print(format_args!("listening on http://{address}"));
            if let Some(tour) = tour {
                tour.print(&address, io);
            }
        }
        io.flush();
        server.run(doors, interrupted()).await;
        io.talk("ended; every answer that was given is on disk");
        Ok(Exit::Success)
    });
    if let Some(left_out) = log.map(RequestLog::end).filter(|left_out| *left_out > 0) {
        io.warn(format_args!("{left_out} lines of the request log were left out: it could not keep up"));
    }
    served
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
