//! The campus game: vectors, laws and properties of play, packs, actions and logs with everything
//! that can be wrong with them, and the schemas.

mod action_files;
mod future;
mod guests;
mod laws;
mod log_edits;
mod logs;
mod notices;
mod pack_faults;
mod pack_text;
mod parity;
mod playthroughs;
mod properties;
mod random;
mod reference;
mod schemas;
mod scripts;
mod vectors;
