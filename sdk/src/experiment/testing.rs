//! Runs an experiment natively, with `cargo test`, over inputs in memory.
//!
//! ```
//! use arena_sdk::experiment::{Experiment, Report, Run, testing};
//!
//! struct Lines;
//!
//! impl Experiment for Lines {
//!     fn run(run: &mut Run) -> Result<Report, String> {
//!         let text = run.input_text("data.csv")?;
//!         run.output("first.txt", text.lines().next().unwrap_or_default());
//!         Ok(Report::new().int("lines", text.lines().count() as i64))
//!     }
//! }
//!
//! let (report, outputs) = testing::bench().input("data.csv", "a,b\n1,2\n").run::<Lines>();
//! assert_eq!(report.expect("it measures").text("lines").as_deref(), Some("2"));
//! assert_eq!(outputs["first.txt"], b"a,b");
//! ```

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::run::Bench;
use super::{Experiment, Report, Run};

/// Outputs by name.
pub type Outputs = BTreeMap<String, Vec<u8>>;

/// No arguments and no inputs yet.
pub fn bench() -> Builder {
    Builder::default()
}

/// A run in the making; see [`bench()`].
#[derive(Clone, Debug, Default)]
pub struct Builder {
    arguments: BTreeMap<String, String>,
    inputs: BTreeMap<String, Vec<u8>>,
}

impl Builder {
    /// With an argument.
    #[must_use]
    pub fn argument(mut self, name: &str, text: impl ToString) -> Self {
        self.arguments.insert(name.to_owned(), text.to_string());
        self
    }

    /// With an input.
    #[must_use]
    pub fn input(mut self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.inputs.insert(name.to_owned(), bytes.as_ref().to_vec());
        self
    }

    /// Runs the experiment; gives its report and what it wrote.
    pub fn run<E: Experiment>(self) -> (Result<Report, String>, Outputs) {
        let outputs = Rc::new(RefCell::new(Outputs::new()));
        let bench = Memory { inputs: self.inputs, outputs: Rc::clone(&outputs) };
        let mut run = Run::new(self.arguments, Box::new(bench));
        let report = E::run(&mut run);
        (report, outputs.take())
    }
}

/// Inputs and outputs in memory.
#[derive(Default)]
pub(super) struct Memory {
    inputs: BTreeMap<String, Vec<u8>>,
    outputs: Rc<RefCell<Outputs>>,
}

impl Bench for Memory {
    fn names(&self) -> Vec<String> {
        self.inputs.keys().cloned().collect()
    }

    fn len(&self, name: &str) -> Option<u64> {
        self.inputs.get(name).map(|bytes| bytes.len() as u64)
    }

    fn read(&self, name: &str, offset: u64, len: u32) -> Option<Vec<u8>> {
        let bytes = self.inputs.get(name)?;
        let rest = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
        Some(rest[..rest.len().min(len as usize)].to_vec())
    }

    fn write(&mut self, name: &str, chunk: &[u8]) {
        self.outputs.borrow_mut().entry(name.to_owned()).or_default().extend_from_slice(chunk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Parts;

    impl Experiment for Parts {
        fn run(run: &mut Run) -> Result<Report, String> {
            let whole = run.input("big")?.len();
            let part = |offset| run.input_part("big", offset, 5).map(|part| part.len() as i64);
            let report = Report::new().int("whole", whole as i64);
            let report = report.int("end", part(299_998)?).int("beyond", part(u64::MAX)?);
            run.output("big", "a");
            run.output("big", "b");
            Ok(report.text_of("names", run.input_names().join(" ")))
        }
    }

    #[test]
    fn inputs_are_read_in_parts_and_outputs_appended() {
        let (report, outputs) = bench().input("big", vec![7; 300_000]).input("a", "").run::<Parts>();
        let report = report.expect("it measures");
        let texts = ["whole", "end", "beyond", "names"].map(|name| report.text(name).unwrap_or_default());
        assert_eq!(texts, ["300000", "2", "0", "a big"]);
        assert_eq!(outputs["big"], b"ab");
        assert!(bench().run::<Parts>().0.expect_err("no input").contains("`big`"));
    }
}
