//! A neighbour that keeps another CPU busy.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crate::host;
use crate::units::words;

words! {
    /// What a neighbour does.
    Neighbour {
        /// Counts: takes the CPU and nothing of the caches.
        Spin = "spin",
        /// Copies more than caches hold: takes bandwidth and shared caches too.
        Stream = "stream",
    }
}

/// Bytes that a streaming neighbour walks over.
const STREAM_BYTES: usize = 64 << 20;

/// Bytes between two looks at the clock of the day: whether to stop.
const STEP: usize = 1 << 20;

/// A running neighbour, which ends when the value is dropped.
#[derive(Debug)]
pub struct Busy {
    cpu: u32,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Busy {
    /// Starts one on an allowed CPU other than `worker`. `None` where there is no other, or the
    /// system has no thread left: nobody is made busy then.
    pub fn start(neighbour: Neighbour, worker: u32) -> Option<Busy> {
        let cpu = host::allowed_cpus().ok()?.into_iter().rfind(|cpu| *cpu != worker)?;
        let stop = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&stop);
        let work = move || {
            // Where it cannot be pinned, the system places it beside the worker by itself.
            let _ = host::pin_to(cpu);
            match neighbour {
                Neighbour::Spin => spin(&over),
                Neighbour::Stream => stream(&over),
            }
        };
        let thread = std::thread::Builder::new().name("neighbour".into()).spawn(work).ok()?;
        Some(Busy { cpu, stop, thread: Some(thread) })
    }

    /// The CPU that is busy.
    pub fn cpu(&self) -> u32 {
        self.cpu
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It cannot have panicked in a way that matters.
            let _ = thread.join();
        }
    }
}

fn spin(over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        (0..10_000u32).for_each(|i| {
            black_box(i);
        });
    }
}

fn stream(over: &AtomicBool) {
    let source = vec![1u8; STREAM_BYTES];
    let mut destination = vec![0u8; STREAM_BYTES];
    loop {
        for (to, from) in destination.chunks_mut(STEP).zip(source.chunks(STEP)) {
            if over.load(Ordering::Relaxed) {
                return;
            }
            to.copy_from_slice(black_box(from));
            black_box(&to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_neighbour_sits_elsewhere_and_ends() {
        let allowed = host::allowed_cpus().unwrap();
        for neighbour in Neighbour::ALL {
            match Busy::start(*neighbour, allowed[0]) {
                Some(busy) => assert!(busy.cpu() != allowed[0] && allowed.contains(&busy.cpu())),
                None => assert_eq!(allowed.len(), 1),
            }
        }
    }
}
