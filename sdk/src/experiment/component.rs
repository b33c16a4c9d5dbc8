//! The border: one run per component instance, with the host behind it.

use std::marker::PhantomData;

use super::bindings::arena::experiment::types;
use super::bindings::exports::arena::experiment::runner::Guest;
use super::{Experiment, Run};

/// Makes the exports of a component out of an [`Experiment`]; see
/// [`export_experiment!`](crate::export_experiment).
pub struct Component<E>(PhantomData<E>);

impl<E: Experiment> Guest for Component<E> {
    fn run(arguments: Vec<types::Argument>) -> Result<Vec<types::Metric>, String> {
        #[cfg(target_arch = "wasm32")]
        {
            crate::log::send_to(host::keep_line);
            crate::panics::report();
        }
        let arguments = arguments.into_iter().map(|argument| (argument.name, argument.text)).collect();
        let mut run = Run::new(arguments, Box::new(bench()));
        E::run(&mut run).map(super::Report::into_metrics)
    }
}

#[cfg(target_arch = "wasm32")]
fn bench() -> host::Host {
    host::Host
}

/// Natively there is no host: an experiment that is run through its border finds no inputs.
#[cfg(not(target_arch = "wasm32"))]
fn bench() -> super::testing::Memory {
    super::testing::Memory::default()
}

#[cfg(target_arch = "wasm32")]
mod host {
    use crate::experiment::bindings::arena::experiment::host;
    use crate::experiment::run::Bench;
    use crate::log::Level;

    pub(super) struct Host;

    impl Bench for Host {
        fn names(&self) -> Vec<String> {
            host::input_names()
        }

        fn len(&self, name: &str) -> Option<u64> {
            host::input_len(name)
        }

        fn read(&self, name: &str, offset: u64, len: u32) -> Option<Vec<u8>> {
            host::read_input(name, offset, len)
        }

        fn write(&mut self, name: &str, chunk: &[u8]) {
            host::output(name, chunk);
        }
    }

    pub(super) fn keep_line(level: Level, text: &str) {
        let level = match level {
            Level::Debug => host::Level::Debug,
            Level::Info => host::Level::Info,
            Level::Warn => host::Level::Warn,
            Level::Error => host::Level::Error,
        };
        host::log(level, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Report;

    struct Twice;

    impl Experiment for Twice {
        fn run(run: &mut Run) -> Result<Report, String> {
            let n: i64 = run.argument("n")?;
            Ok(Report::new().int("twice", n * 2))
        }
    }

    #[test]
    fn arguments_go_in_and_metrics_come_out() {
        let argument = |text: &str| types::Argument { name: "n".into(), text: text.into() };
        let metrics = Component::<Twice>::run(vec![argument("21")]).expect("it runs");
        assert_eq!(metrics, [types::Metric { name: "twice".into(), value: types::Value::Int(42) }]);
        assert!(Component::<Twice>::run(vec![argument("many")]).expect_err("no number").contains("many"));
        assert!(Component::<Twice>::run(vec![]).expect_err("no argument").contains("`n`"));
    }
}
