//! A forked child computes, although the parent's threads of the library are not its.
#![cfg(unix)]

use lapack::routines::getrf;
use lapack::{with_stack, Turn, Work};

fn factors() -> Vec<f64> {
    const N: usize = 300;
    let mut a: Vec<f64> = (0..N * N).map(|k| (k * 7919 % 1009) as f64).collect();
    let mut pivots = [0; N];
    let turn = Turn::new(Work::Library);
    let info = with_stack(|| {
        let _here = turn.enter();
        Ok(getrf((N as i32, N as i32), &mut a, &mut pivots))
    });
    assert_eq!(info.expect("room"), 0);
    a
}

#[test]
fn a_forked_child_computes_the_same() {
    let expected = factors();
    // SAFETY: the child computes and ends, without what only the parent's other threads could do.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork fails");
    if child == 0 {
        let same = factors() == expected;
        // SAFETY: it ends at once.
        unsafe { libc::_exit(i32::from(!same)) };
    }
    let mut status = 0;
    // SAFETY: our child.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
}
