//! The library's threads and ours: as many at once as there are cores of a large machine, and the same
//! results.

use lapack::routines::{getrf, potrf};
use lapack::{with_stack, Turn, Work};
use matrices::Triangle;
use std::sync::Barrier;

/// As many as a large machine has cores.
const THREADS: usize = 64;

/// Numbers between -1 and 1, the diagonal larger.
fn matrix(n: usize) -> Vec<f64> {
    let mut state = n as u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
    };
    let mut a: Vec<f64> = (0..n * n).map(|_| next()).collect();
    a.iter_mut().step_by(n + 1).for_each(|x| *x += n as f64);
    a
}

fn factors(work: Work, n: usize) -> Vec<f64> {
    let turn = Turn::new(work);
    let result = with_stack(|| {
        let _here = turn.enter();
        let (mut lu, mut chol, mut pivots) = (matrix(n), matrix(n), vec![0; n]);
        assert_eq!(getrf((n as i32, n as i32), &mut lu, &mut pivots), 0);
        assert_eq!(potrf(Triangle::Lower, n as i32, &mut chol), 0);
        lu.append(&mut chol);
        Ok(lu)
    });
    result.expect("room")
}

/// Threads of this process.
fn running() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Threads:"))?;
    line.trim().parse().ok()
}

#[test]
fn many_threads_compute_what_one_does_and_the_librarys_are_given_back() {
    let of_the_library = || lapack::report().0.expect("a library").threads;
    let own = of_the_library();
    let jobs = [(Work::Ours, 40), (Work::Ours, 150), (Work::Library, 260)];
    let alone = jobs.map(|(work, n)| factors(work, n));
    let before = running();
    let together = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (together, alone) = (&together, &alone);
            scope.spawn(move || {
                together.wait();
                for turn in 0..3 {
                    let at = (thread + turn) % jobs.len();
                    let (work, n) = jobs[at];
                    assert!(factors(work, n) == alone[at], "{n} on thread {thread}");
                }
            });
        }
        if let (Some(before), Some(now)) = (before, running()) {
            assert!(now <= before + THREADS, "{now} threads after {before}");
        }
    });
    assert_eq!(of_the_library(), own);
}
