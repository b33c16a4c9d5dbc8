//! Leaving when somebody says so: between two steps, never within one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const STEP: Duration = Duration::from_millis(50);

/// Whether somebody said that it is enough.
#[derive(Debug, Clone, Default)]
pub(super) struct Leave(Arc<AtomicBool>);

impl Leave {
    /// Listens to the signals that end a program.
    pub(super) fn on_signals() -> Self {
        let leave = Self::default();
        #[cfg(unix)]
        {
            let told = leave.clone();
            let listens = move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                if let Ok(runtime) = runtime {
                    runtime.block_on(signalled());
                    told.0.store(true, Ordering::SeqCst);
                }
            };
            // Without the thread, a signal ends the program at once: what is on disk is enough to go on.
            std::thread::Builder::new().name("signals".to_owned()).spawn(listens).ok();
        }
        leave
    }

    /// Whether it is time to go.
    pub(super) fn is_said(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Sleeps; whether the whole time passed.
    pub(super) fn sleep(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        while !self.is_said() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(STEP));
        }
        false
    }
}

#[cfg(unix)]
async fn signalled() {
    use tokio::signal::unix::{SignalKind, signal};
    if let (Ok(mut term), Ok(mut int)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    }
}
