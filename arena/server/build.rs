//! Puts the verifier of the pages into the server, if `cargo xtask guests` has built it.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(verifier)");
    // The folder and not the file, which may not be there: a path that is missing counts as changed every time.
    println!("cargo::rerun-if-changed=assets");
    if std::path::Path::new("assets/verifier.wasm").is_file() {
        println!("cargo::rustc-cfg=verifier");
    }
}
