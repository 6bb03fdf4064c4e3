//! XLA's thread pool, imitated: real threads.

use core::ffi::c_void;
use std::sync::mpsc::{channel, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::float_mode::as_under_xla;
use crate::sys;

pub(super) struct Task {
    pub(super) run: sys::XLA_FFI_Task,
    pub(super) data: *mut c_void,
}

// SAFETY: XLA's contract with tasks: they may run on any thread.
unsafe impl Send for Task {}

#[derive(Debug)]
pub(super) struct Pool {
    pub(super) tasks: Option<Sender<Task>>,
    pub(super) threads: Vec<JoinHandle<()>>,
}

impl Pool {
    pub(super) fn new(count: usize) -> Self {
        let (tasks, queue) = channel::<Task>();
        let queue = Arc::new(Mutex::new(queue));
        let work = move || {
            let queue = Arc::clone(&queue);
            std::thread::spawn(move || loop {
                let task = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok(task) = task else { return };
                // SAFETY: the handler scheduled it to be run once.
                as_under_xla(|| unsafe { (task.run)(task.data) });
            })
        };
        let threads = (0..count).map(|_| work()).collect();
        Pool {
            tasks: Some(tasks),
            threads,
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.tasks = None;
        for thread in self.threads.drain(..) {
            // A thread that died by a panic has failed its test already.
            let _ = thread.join();
        }
    }
}
