//! Threads that work at one thing.

/// Threads that work at one thing, the one that asks for them among them.
#[derive(Clone, Copy)]
pub struct Together<'a> {
    /// How many there are at most.
    pub threads: usize,
    /// Calls a function on so many of them at once at most, and returns when all are done with it.
    pub run: &'a (dyn Fn(usize, &(dyn Fn() + Sync)) + Sync),
}

/// This thread only.
pub const ALONE: Together<'static> = Together {
    threads: 1,
    run: &|_, work| work(),
};
