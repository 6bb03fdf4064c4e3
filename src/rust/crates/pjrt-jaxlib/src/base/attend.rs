//! A thread of the host's that has other work to do where it waits here, and that runs other hosts' handlers.

use std::cell::RefCell;
use std::sync::OnceLock;
use std::time::Duration;

/// What is run for somebody who waits for it.
pub type Work<'a> = &'a mut (dyn FnMut() + Send);

/// What a host does on a thread that waits for a result, such as calls of functions that run on that
/// thread alone and that the result needs.
#[derive(Clone, Copy, Debug)]
pub struct Attendant {
    /// Whether the calling thread is the one.
    pub is_here: fn() -> bool,
    /// Calls `turn` until it says that there is nothing to wait for any more, and does the other work
    /// between two turns. A turn waits for that long at most, and ends where the thread is unparked.
    pub attend: fn(turn: &mut dyn FnMut(Duration) -> bool),
    /// Runs `work` of the run with that id, where one is known, on that thread, whichever calls; why it was not run, or
    /// not to its end. It has ended in any case.
    pub run: fn(run_id: Option<i64>, work: Work<'_>) -> Result<(), String>,
}

static ATTENDANT: OnceLock<Attendant> = OnceLock::new();

/// Has waits of the host's thread attended to, from now on; the first attendant stays.
pub fn attend_by(attendant: Attendant) {
    let _ = ATTENDANT.set(attendant);
}

/// The attendant, where this is its thread.
pub(crate) fn attendant() -> Option<&'static Attendant> {
    ATTENDANT.get().filter(|attendant| (attendant.is_here)())
}

/// Runs `work` of that run on the attendant's thread; here where there is none.
pub(crate) fn on_its_thread(run_id: Option<i64>, work: Work<'_>) -> Result<(), String> {
    match ATTENDANT.get() {
        Some(attendant) => (attendant.run)(run_id, work),
        None => {
            work();
            Ok(())
        }
    }
}

/// Programs of a host that serves: handlers that somebody else has registered are called on its thread, as nobody knows
/// what they need.
#[derive(Clone, Debug, Default)]
pub struct Served {
    /// Names that programs call, and the names of the handlers that they mean.
    pub names: Vec<(String, String)>,
    /// Whether programs may call handlers of other hosts.
    pub may_call_others: bool,
}

/// What a program calls that others have registered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// Nothing.
    #[default]
    None,
    /// Handlers that run on the host's thread.
    Served,
    /// Handlers that run wherever XLA calls them.
    Unserved,
}

thread_local! {
    static SERVED: RefCell<Option<Served>> = const { RefCell::new(None) };
    static FOUND: RefCell<Others> = const { RefCell::new(Others::None) };
}

/// Runs `compile`, whose programs are those of a host that serves. With its result, what the programs call.
pub fn compile_served<T>(served: Served, compile: impl FnOnce() -> T) -> (T, Others) {
    struct Restore(Option<Served>);
    impl Drop for Restore {
        fn drop(&mut self) {
            SERVED.set(self.0.take());
        }
    }
    FOUND.set(Others::None);
    let _restore = Restore(SERVED.replace(Some(served)));
    let compiled = compile();
    (compiled, FOUND.take())
}

/// How the program that this thread compiles is served, if it is.
pub(crate) fn served() -> Option<Served> {
    SERVED.with_borrow(Clone::clone)
}

/// Notes what it calls.
pub(crate) fn found(others: Others) {
    FOUND.set(others);
}
