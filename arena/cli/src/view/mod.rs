//! How results look on a terminal and as pictures: values in, text out. Nothing here reads a file,
//! decides anything or knows a command.

pub(crate) mod blocks;
pub(crate) mod chart;
pub(crate) mod facts;
pub(crate) mod forfeit;
pub(crate) mod heat;
pub(crate) mod lines;
pub(crate) mod numbers;
pub(crate) mod outcome;
pub(crate) mod strips;
pub(crate) mod svg;
pub(crate) mod table;
pub(crate) mod turns;
