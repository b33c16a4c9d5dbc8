use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::domain::Failed;

/// What will come of a command: a future for any executor, or something to wait for.
#[derive(Debug)]
pub struct Pending<A, R>(Arc<Place<Outcome<A, R>>>);

type Outcome<A, R> = Result<A, Failed<R>>;

#[derive(Debug)]
struct Place<T> {
    inside: Mutex<Inside<T>>,
    filled: Condvar,
}

#[derive(Debug)]
struct Inside<T> {
    value: Option<T>,
    waker: Option<Waker>,
}

impl<T> Place<T> {
    fn lock(&self) -> MutexGuard<'_, Inside<T>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A, R> Pending<A, R> {
    /// The two ends.
    pub(crate) fn new() -> (Fill<A, R>, Self) {
        let inside = Mutex::new(Inside { value: None, waker: None });
        let place = Arc::new(Place { inside, filled: Condvar::new() });
        (Fill(Some(Arc::clone(&place))), Self(place))
    }

    /// Waits for it. Not on a thread of an executor: there, `.await` it.
    pub fn wait(self) -> Result<A, Failed<R>> {
        let mut inside = self.0.lock();
        loop {
            match inside.value.take() {
                Some(value) => return value,
                None => inside = self.0.filled.wait(inside).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

impl<A, R> Future for Pending<A, R> {
    type Output = Result<A, Failed<R>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut inside = self.0.lock();
        match inside.value.take() {
            Some(value) => Poll::Ready(value),
            None => {
                inside.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// The end that is filled once. Dropped without, it says that the writer has ended.
pub(crate) struct Fill<A, R>(Option<Arc<Place<Outcome<A, R>>>>);

impl<A, R> Fill<A, R> {
    pub(crate) fn fill(mut self, value: Result<A, Failed<R>>) {
        self.put(value);
    }

    fn put(&mut self, value: Result<A, Failed<R>>) {
        let Some(place) = self.0.take() else { return };
        let waker = {
            let mut inside = place.lock();
            inside.value = Some(value);
            inside.waker.take()
        };
        place.filled.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<A, R> Drop for Fill<A, R> {
    fn drop(&mut self) {
        self.put(Err(Failed::Stopped));
    }
}
