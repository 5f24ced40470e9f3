//! Processor time for long computations, which dealers share. They run a few at a time, apart from the threads that serve
//! requests, so that short requests do not wait for them.

use ad_core::ports::Compute;
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::limits::FairSemaphore;

tokio::task_local! {
    /// Set while a computation runs. Nested computations run in its slot: waiting for a second one could be a deadlock.
    static HAS_PLACE: ();
}

/// Slots for long computations, shared by dealers.
#[derive(Debug, Clone)]
pub struct Processor(FairSemaphore);

impl Default for Processor {
    /// One less than there are processors, so that short requests always have one, and a reserve of one for dealers without a
    /// running computation.
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self(FairSemaphore::with_reserve(processors.saturating_sub(1).max(1) + 1, 1))
    }
}

impl Processor {
    /// Runs something to its end where long computations run.
    pub async fn run<T>(&self, dealer: &str, work: impl Future<Output = T>) -> T {
        let _place = self.0.take(dealer, 1).await;
        match multi_threaded() {
            Some(runtime) => tokio::task::block_in_place(|| runtime.block_on(HAS_PLACE.scope((), work))),
            None => work.await,
        }
    }
}

impl Compute for Processor {
    fn run(&self, dealer_code: &str, work: &mut (dyn FnMut() + Send)) {
        let runtime = multi_threaded().filter(|_| HAS_PLACE.try_with(|()| ()).is_err());
        match runtime {
            Some(runtime) => tokio::task::block_in_place(|| {
                let _place = runtime.block_on(self.0.take(dealer_code, 1));
                work();
            }),
            None => work(),
        }
    }
}

/// The runtime, if it can do something else on another thread meanwhile.
fn multi_threaded() -> Option<Handle> {
    Handle::try_current().ok().filter(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::Barrier;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn what_is_quick_does_not_wait_behind_a_long_computation() {
        let processor = Processor::default();
        let started = Arc::new(Barrier::new(2));
        let (finish, finished) = std::sync::mpsc::channel::<()>();
        let long = tokio::spawn({
            let (processor, started) = (processor.clone(), Arc::clone(&started));
            async move {
                started.wait().await;
                Compute::run(&processor, "a", &mut move || finished.recv().unwrap());
            }
        });
        started.wait().await;
        // On a runtime with one thread, the computation blocks it.
        tokio::task::yield_now().await;
        assert!(!long.is_finished());
        finish.send(()).unwrap();
        long.await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_computation_within_another_does_not_wait_for_a_second_place() {
        let processor = Processor(FairSemaphore::new(1));
        let nested = tokio::spawn(async move {
            let mut ran = false;
            processor.run("a", async { Compute::run(&processor, "a", &mut || ran = true) }).await;
            ran
        });
        let ran = tokio::time::timeout(std::time::Duration::from_secs(10), nested).await;
        assert!(ran.expect("it does not wait for itself").unwrap());
    }
}
