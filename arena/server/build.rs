//! Puts the verifier of the pages into the server, if `cargo xtask guests` has built it, and tells it the digest of its
//! sources, without which a snapshot of another build might be believed.

use std::error::Error;
use std::path::Path;
use std::process::Command;

#[path = "src/instance/snapshot/sources.rs"]
mod sources;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rustc-check-cfg=cfg(verifier)");
    // The folder and not the file, which may not be there: a path that is missing counts as changed every time.
    println!("cargo::rerun-if-changed=assets");
    if Path::new("assets/verifier.wasm").is_file() {
        println!("cargo::rustc-cfg=verifier");
    }
    let sources = sources::Sources::below(Path::new("../.."), "server")?;
    for path in sources.paths() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    // The same sources of another compiler, or for another machine, are another build.
    let compiler = Command::new(std::env::var("RUSTC")?).arg("-vV").output()?.stdout;
    let (compiler, target) = (String::from_utf8(compiler)?, std::env::var("TARGET")?);
    println!("cargo::rustc-env=ARENA_SOURCES_SHA256={}", sources.sha256(&[&compiler, &target])?);
    Ok(())
}
