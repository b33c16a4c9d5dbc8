//! A core module made into a component.

use std::fmt;

use arena_engine::Excerpt;
use wit_component::ComponentEncoder;

use crate::exit::Exit;
use crate::failure::Failure;

/// What became of a file.
#[derive(Debug)]
pub(crate) struct Encoded {
    /// The component.
    pub(crate) bytes: Vec<u8>,
    /// It was one already, as what `wasm32-wasip2` gives.
    pub(crate) unchanged: bool,
}

const MAGIC: &[u8] = b"\0asm";
const CORE: [u8; 4] = [1, 0, 0, 0];
const COMPONENT: [u8; 4] = [13, 0, 1, 0];

const NO_WORLD: &str = "in Rust: `arena_sdk::export_campus!(MyStrategy);` at the end of the crate, or \
     `export_matrix!`; in another language: embed `wit/campus`, world `campus-strategy`, or `wit/matrix`, world \
     `matrix-strategy`, with its bindings generator";
const PREVIEW_1: &str = "build for wasm32-unknown-unknown, or with a tool that gives a component \
     (wasm32-wasip2); preview 1 of WASI is not supported";

/// Makes a component of `module`, which `name` calls in messages.
pub(crate) fn encode(name: &str, module: &[u8]) -> Result<Encoded, Failure> {
    let refused = |why: &str| Failure::new(Exit::Rejected, format_args!("make a component of `{name}`"), why);
    match module.strip_prefix(MAGIC).and_then(|rest| rest.first_chunk()) {
        Some(&COMPONENT) => return Ok(Encoded { bytes: module.to_vec(), unchanged: true }),
        Some(&CORE) => {}
        Some(_) => return Err(refused("it is WebAssembly of an unknown version")),
        None => {
            let hint = "give a folder with a Cargo.toml, or a binary core module (*.wasm)";
            return Err(refused("it is not a WebAssembly module").hint(hint));
        }
    }
    let (with_world, _) = wit_component::metadata::decode(module).map_err(|why| refused(&told(why)))?;
    if with_world.is_none() {
        let why = "the module does not say which world it is for (it has no component-type section)";
        return Err(refused(why).hint(NO_WORLD));
    }
    let encoder = ComponentEncoder::default().validate(true).module(module);
    match encoder.and_then(|mut encoder| encoder.encode()) {
        Ok(bytes) => Ok(Encoded { bytes, unchanged: false }),
        Err(why) => {
            let text = told(why);
            let failure = refused(&text);
            Err(if text.contains("wasi_snapshot_preview1") { failure.hint(PREVIEW_1) } else { failure })
        }
    }
}

/// Errors of the encoder quote names out of the module, so they are bounded and escaped.
fn told(why: impl fmt::Display) -> String {
    Excerpt { text: &format!("{why:#}"), max: 600 }.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ink::Ink;

    fn refusal(module: &[u8]) -> String {
        let failure = encode("x", module).expect_err("it is no module for a strategy");
        assert_eq!(failure.exit(), Exit::Rejected);
        failure.shown(Ink::NONE)
    }

    #[test]
    fn what_is_no_module_of_a_strategy_is_told_apart() {
        let cases: [(&[u8], &str); 6] = [
            (b"", "not a WebAssembly module"),
            (b"\x7fELF", "not a WebAssembly module"),
            (b"\0asm", "not a WebAssembly module"),
            (b"\0asm\x02\0\0\0", "unknown version"),
            (b"\0asm\x01\0\0\0", "does not say which world"),
            (b"\0asm\x01\0\0\0\xff\xff", "cannot make a component of `x`"),
        ];
        for (bytes, expected) in cases {
            let text = refusal(bytes);
            assert!(text.contains(expected), "{bytes:?}: {text}");
        }
    }

    #[test]
    fn a_component_passes_unchanged() {
        let component = b"\0asm\x0d\0\x01\0";
        let encoded = encode("x", component).expect("it is one");
        assert!(encoded.unchanged);
        assert_eq!(encoded.bytes, component);
    }
}
