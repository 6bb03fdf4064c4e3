//! Many threads that call different handlers at once get what one thread gets, bit for bit; and so does
//! a batch, however many threads work on it.

use crate::common::{dims, handler, Mat, Number, Random, C};
use std::sync::atomic::{AtomicUsize, Ordering};
use xla_ffi::testing::{Call, Frame};
use xla_ffi::Complex;

/// A call that can be made again and again, and its results as bytes.
struct Job {
    name: String,
    call: Box<dyn Fn() -> Call + Send + Sync>,
    bits: fn(&Frame) -> Vec<u8>,
}

impl Job {
    fn run(&self, threads: usize) -> Vec<u8> {
        let mut frame = (self.call)().threads(threads).build();
        let target = self
            .name
            .split(' ')
            .next()
            .expect("a name begins with its target");
        frame
            .call(handler(target))
            .unwrap_or_else(|failure| panic!("{}: {failure}", self.name));
        (self.bits)(&frame)
    }
}

/// The bytes of the results of a `T` and a `T::Real` dtype, and of the numbers of a call without
/// either. The frame checks the dtype, so each kind of job names its own.
fn bytes<T: Number>(frame: &Frame, at: &[usize]) -> Vec<u8> {
    let parts = |v: &T| [v.c().re.to_bits(), v.c().im.to_bits()];
    let bits = at.iter().flat_map(|&at| frame.ret::<T>(at)).flat_map(parts);
    bits.flat_map(u64::to_le_bytes).collect()
}

/// Jobs on batches of so many matrices of so many rows.
struct Jobs {
    all: Vec<Job>,
    n: usize,
    batch: Vec<i64>,
}

impl Jobs {
    /// A routine that writes over its matrix, what else its call has, and what it gives.
    fn add<T: Number>(
        &mut self,
        routine: &str,
        x: &[T],
        rest: fn(Call, &[i64], usize) -> Call,
        bits: fn(&Frame) -> Vec<u8>,
    ) {
        let (x, batch, n) = (x.to_vec(), self.batch.clone(), self.n);
        self.all.push(Job {
            name: format!("lapack_{}{routine}_ffi {n} x {}", T::LETTER, batch[0]),
            call: Box::new(move || {
                let call = Call::new().arg(&dims(&batch, &[n, n]), &x);
                rest(call.ret::<T>(&dims(&batch, &[n, n])), &batch, n)
            }),
            bits,
        });
    }
}

fn factorisations<T: Number>(jobs: &mut Jobs, general: &[T], regular: &[T]) {
    jobs.add::<T>(
        "getrf",
        general,
        |call, batch, n| call.ret::<i32>(&dims(batch, &[n])).ret::<i32>(batch),
        |f| bytes::<T>(f, &[0]),
    );
    jobs.add::<T>(
        "geqrf",
        general,
        |call, batch, n| call.ret::<T>(&dims(batch, &[n])),
        |f| bytes::<T>(f, &[0, 1]),
    );
    jobs.add::<T>(
        "potrf",
        regular,
        |call, batch, _| call.ret::<i32>(batch).attr("uplo", b'L'),
        |f| bytes::<T>(f, &[0]),
    );
}

fn of_hermitian_matrices<T: Number>(jobs: &mut Jobs, hermitian: &[T]) {
    let complex =
        |real: &'static str, complex: &'static str| if T::COMPLEX { complex } else { real };
    jobs.add::<T>(
        complex("syevd", "heevd"),
        hermitian,
        |call, batch, n| {
            let call = call.ret::<T::Real>(&dims(batch, &[n])).ret::<i32>(batch);
            call.attr("mode", b'V').attr("uplo", b'U')
        },
        |f| [bytes::<T>(f, &[0]), bytes::<T::Real>(f, &[1])].concat(),
    );
    jobs.add::<T>(
        complex("sytrd", "hetrd"),
        hermitian,
        |call, batch, n| {
            let call = call
                .ret::<T::Real>(&dims(batch, &[n]))
                .ret::<T::Real>(&dims(batch, &[n - 1]));
            call.ret::<T>(&dims(batch, &[n - 1]))
                .ret::<i32>(batch)
                .attr("uplo", b'U')
        },
        |f| [bytes::<T>(f, &[0, 3]), bytes::<T::Real>(f, &[1, 2])].concat(),
    );
}

fn of_general_matrices<T: Number>(jobs: &mut Jobs, general: &[T]) {
    jobs.add::<T>(
        "gehrd",
        general,
        |call, batch, n| {
            let call = call.ret::<T>(&dims(batch, &[n - 1])).ret::<i32>(batch);
            call.attr("low", 1_i32).attr("high", n as i32)
        },
        |f| bytes::<T>(f, &[0, 1]),
    );
    let svd: fn(Call, &[i64], usize) -> Call = |call, batch, n| {
        let call = call
            .ret::<T::Real>(&dims(batch, &[n]))
            .ret::<T>(&dims(batch, &[n, n]));
        call.ret::<T>(&dims(batch, &[n, n]))
            .ret::<i32>(batch)
            .attr("mode", b'S')
    };
    for routine in ["gesdd", "gesvd"] {
        jobs.add::<T>(routine, general, svd, |f| {
            [bytes::<T::Real>(f, &[1]), bytes::<T>(f, &[2, 3])].concat()
        });
    }
    jobs.add::<T>(
        "gees",
        general,
        |call, batch, n| {
            let parts = if T::COMPLEX { 1 } else { 2 };
            let call = call.ret::<T>(&dims(batch, &[n, n]));
            let call = (0..parts).fold(call, |call, _| call.ret::<T>(&dims(batch, &[n])));
            call.ret::<i32>(batch)
                .ret::<i32>(batch)
                .attr("mode", b'V')
                .attr("sort", b'N')
        },
        |f| bytes::<T>(f, &[0, 1, 2]),
    );
}

fn geev<T: Number>(n: usize, size: Vec<i64>, x: Vec<T>) -> Job {
    Job {
        name: format!("lapack_{}geev_ffi {n} x {}", T::LETTER, size[0]),
        call: Box::new(move || {
            let call = Call::new().arg(&dims(&size, &[n, n]), &x);
            let parts = if T::COMPLEX { 1 } else { 2 };
            let call = (0..parts).fold(call, |call, _| call.ret::<T>(&dims(&size, &[n])));
            let call = call.ret::<T::Complex>(&dims(&size, &[n, n]));
            let call = call
                .ret::<T::Complex>(&dims(&size, &[n, n]))
                .ret::<i32>(&size);
            call.attr("compute_left", b'V').attr("compute_right", b'V')
        }),
        bits: |f| {
            let first = if T::COMPLEX { 1 } else { 2 };
            [
                bytes::<T>(f, &[0]),
                bytes::<T::Complex>(f, &[first, first + 1]),
            ]
            .concat()
        },
    }
}

/// One matrix per routine of a dtype, of so many rows, in a batch of so many.
fn jobs<T: Number>(n: usize, count: usize) -> Vec<Job> {
    let batch = vec![count as i64];
    let mut random = Random(n as u64 + 7);
    let general = random.matrix::<T>(count * n * n);
    let hermitian: Vec<T> = (0..count).flat_map(|_| random.hermitian::<T>(n)).collect();
    let regular: Vec<T> = hermitian
        .chunks(n * n)
        .flat_map(|x| {
            Mat::new(n, n, x)
                .plus(&Mat::identity(n), 3.0 * n as f64)
                .to::<T>()
        })
        .collect();
    let mut jobs = Jobs {
        all: Vec::new(),
        n,
        batch: batch.clone(),
    };
    factorisations(&mut jobs, &general, &regular);
    of_hermitian_matrices(&mut jobs, &hermitian);
    of_general_matrices(&mut jobs, &general);
    jobs.all.push(geev(n, batch, general));
    jobs.all
}

fn all_jobs() -> Vec<Job> {
    let mut all = Vec::new();
    for (n, count) in [(4, 30), (17, 4)] {
        all.extend(jobs::<f64>(n, count));
        all.extend(jobs::<C>(n, count));
        all.extend(jobs::<f32>(n, count));
        all.extend(jobs::<Complex<f32>>(n, count));
    }
    // Fewer matrices than a block has lanes, one or some to a thread.
    all.extend(jobs::<f64>(66, 5));
    // Large enough for the threads of LAPACK, or of ours: lu, Cholesky and QR of f64 are computed by kernels, and so are lu
    // and Cholesky of complex numbers.
    all.extend(jobs::<f64>(97, 1));
    all.extend(jobs::<Complex<f32>>(97, 1));
    all
}

#[test]
fn handlers_called_at_once_give_what_each_gives_alone() {
    let jobs = all_jobs();
    let alone: Vec<Vec<u8>> = jobs.iter().map(|job| job.run(1)).collect();
    let wrong = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (jobs, alone, wrong) = (&jobs, &alone, &wrong);
            scope.spawn(move || {
                // Each in its own order, so that different routines meet.
                for at in 0..jobs.len() {
                    let at = (at * (2 * thread + 1) + 5 * thread) % jobs.len();
                    if jobs[at].run(1 + thread % 3) != alone[at] {
                        eprintln!("{} differs on thread {thread}", jobs[at].name);
                        wrong.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(wrong.into_inner(), 0);
}

#[test]
fn batches_do_not_depend_on_the_number_of_threads() {
    for job in all_jobs() {
        let alone = job.run(1);
        for threads in [2, 8] {
            assert!(
                job.run(threads) == alone,
                "{} on {threads} threads",
                job.name
            );
        }
    }
}
