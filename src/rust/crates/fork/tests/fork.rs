//! Children forked before and after the mark. One test: the mark is for the whole process.
#![cfg(unix)]

/// Runs `body` in a forked child: whether it said yes.
fn in_child(body: fn() -> bool) -> bool {
    // SAFETY: the child only calls functions that a forked child may call, and exits.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "cannot fork");
    if pid == 0 {
        let yes = body();
        // SAFETY: ends the child without running what belongs to the parent.
        unsafe { libc::_exit(i32::from(yes)) };
    }
    let mut status = 0;
    // SAFETY: waits for our own child.
    let ended = unsafe { libc::waitpid(pid, &mut status, 0) };
    assert_eq!(ended, pid);
    assert!(libc::WIFEXITED(status));
    libc::WEXITSTATUS(status) == 1
}

#[test]
fn children_forked_after_the_start_are_marked() {
    assert!(!in_child(fork::is_child));
    // A child that starts XLA itself is none, its own children are.
    assert!(!in_child(|| {
        fork::started();
        fork::is_child()
    }));
    assert!(in_child(|| {
        fork::started();
        in_child(fork::is_child)
    }));
    fork::started();
    fork::started();
    assert!(in_child(fork::is_child));
    assert!(in_child(|| in_child(fork::is_child)));
    assert!(!fork::is_child());
}
