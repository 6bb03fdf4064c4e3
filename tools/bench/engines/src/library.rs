//! A library with LAPACK, loaded when the program runs.

use crate::number::Number;
use crate::{Batch, Op};
use std::ffi::c_void;

/// An open library.
pub struct Library {
    pub name: String,
    prefix: &'static str,
    library: libloading::Library,
}

/// Fortran's arguments, by reference.
type Of<T> = *mut T;
/// Hidden lengths of CHARACTERs.
const LEN: usize = 1;

type Getrf<T> = unsafe extern "C" fn(&i32, &i32, Of<T>, &i32, Of<i32>, &mut i32);
type Potrf<T> = unsafe extern "C" fn(&u8, &i32, Of<T>, &i32, &mut i32, usize);
type Geqrf<T> = unsafe extern "C" fn(&i32, &i32, Of<T>, &i32, Of<T>, Of<T>, &i32, &mut i32);
type Orgqr<T> = unsafe extern "C" fn(&i32, &i32, &i32, Of<T>, &i32, Of<T>, Of<T>, &i32, &mut i32);
type Syevd<T> = unsafe extern "C" fn(
    &u8,
    &u8,
    &i32,
    Of<T>,
    &i32,
    Of<c_void>,
    Of<T>,
    &i32,
    Of<i32>,
    &i32,
    &mut i32,
    usize,
    usize,
);
type Heevd<T> = unsafe extern "C" fn(
    &u8,
    &u8,
    &i32,
    Of<T>,
    &i32,
    Of<c_void>,
    Of<T>,
    &i32,
    Of<c_void>,
    &i32,
    Of<i32>,
    &i32,
    &mut i32,
    usize,
    usize,
);
type Gesdd<T> = unsafe extern "C" fn(
    &u8,
    &i32,
    &i32,
    Of<T>,
    &i32,
    Of<c_void>,
    Of<T>,
    &i32,
    Of<T>,
    &i32,
    Of<T>,
    &i32,
    Of<i32>,
    &mut i32,
    usize,
);
type ComplexGesdd<T> = unsafe extern "C" fn(
    &u8,
    &i32,
    &i32,
    Of<T>,
    &i32,
    Of<c_void>,
    Of<T>,
    &i32,
    Of<T>,
    &i32,
    Of<T>,
    &i32,
    Of<c_void>,
    Of<i32>,
    &mut i32,
    usize,
);

/// A routine with its name and dimensions filled in: a matrix, in place, and its `info`.
type One<'a, T> = Box<dyn Fn(*mut T, &mut Room<T>) -> i32 + 'a>;

/// A matrix's results, and room for all routines.
struct Room<T> {
    u: Vec<T>,
    vt: Vec<T>,
    tau: Vec<T>,
    values: Vec<f64>,
    work: Vec<T>,
    real: Vec<f64>,
    ints: Vec<i32>,
}

impl Library {
    pub fn open(name: &str, path: &str) -> Self {
        // SAFETY: what such libraries do when they are loaded is to look at the processor.
        let library = unsafe { libloading::Library::new(path) };
        let library = library.unwrap_or_else(|error| panic!("{name}: {error}"));
        // SAFETY: nothing is done with the address.
        let scipy = unsafe { library.get::<*mut c_void>(b"scipy_dgetrf_") }.is_ok();
        Library {
            name: name.into(),
            prefix: if scipy { "scipy_" } else { "" },
            library,
        }
    }

    fn routine<T: Number, F: Copy>(&self, name: &str) -> F {
        let symbol = format!("{}{}{name}_", self.prefix, T::LETTER);
        // SAFETY: `F` is the type that LAPACK documents for the routine.
        let found = unsafe { self.library.get::<F>(symbol.as_bytes()) };
        *found.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// Computes all matrices of the batch, one after the other.
    pub fn engine<'a, T: Number>(&'a self, batch: &'a Batch<T>) -> impl FnMut() + 'a {
        let size = batch.n * batch.n;
        let none = T::new(0.0, 0.0);
        let mut room = Room {
            u: vec![none; size],
            vt: vec![none; size],
            tau: vec![none; batch.n],
            values: vec![0.0; batch.n],
            work: vec![none; 8 * size + 300 * batch.n],
            real: vec![0.0; 8 * size + 100 * batch.n],
            ints: vec![0; 10 * batch.n + 10],
        };
        let mut results = batch.x.clone();
        let one = self.one::<T>(batch.op, batch.n as i32);
        move || {
            for (x, out) in batch
                .x
                .chunks_exact(size)
                .zip(results.chunks_exact_mut(size))
            {
                out.copy_from_slice(x);
                assert_eq!(one(out.as_mut_ptr(), &mut room), 0, "info");
            }
        }
    }

    /// What is done with one matrix; its `info`.
    fn one<T: Number>(&self, op: Op, n: i32) -> One<'_, T> {
        // SAFETY, for all calls: `a` is a matrix of `n` rows and columns, and the room is larger than the
        // routines' documentation asks for.
        match op {
            Op::Lu => {
                let f: Getrf<T> = self.routine::<T, _>("getrf");
                Box::new(move |a, room| unsafe {
                    let mut info = 0;
                    f(&n, &n, a, &n, room.ints.as_mut_ptr(), &mut info);
                    info
                })
            }
            Op::Cholesky => {
                let f: Potrf<T> = self.routine::<T, _>("potrf");
                Box::new(move |a, _| unsafe {
                    let mut info = 0;
                    f(&b'L', &n, a, &n, &mut info, LEN);
                    info
                })
            }
            Op::Qr => {
                let f: Geqrf<T> = self.routine::<T, _>("geqrf");
                let g: Orgqr<T> = self.routine::<T, _>(if T::COMPLEX { "ungqr" } else { "orgqr" });
                Box::new(move |a, room| unsafe {
                    let (mut info, lwork) = (0, room.work.len() as i32);
                    let (tau, work) = (room.tau.as_mut_ptr(), room.work.as_mut_ptr());
                    f(&n, &n, a, &n, tau, work, &lwork, &mut info);
                    g(&n, &n, &n, a, &n, tau, work, &lwork, &mut info);
                    info
                })
            }
            Op::Eigh if T::COMPLEX => {
                let f: Heevd<T> = self.routine::<T, _>("heevd");
                Box::new(move |a, room| unsafe {
                    let (mut info, lwork, lrwork) =
                        (0, room.work.len() as i32, room.real.len() as i32);
                    let (liwork, work) = (room.ints.len() as i32, room.work.as_mut_ptr());
                    let (w, real) = (
                        room.values.as_mut_ptr().cast(),
                        room.real.as_mut_ptr().cast(),
                    );
                    let ints = room.ints.as_mut_ptr();
                    f(
                        &b'V', &b'L', &n, a, &n, w, work, &lwork, real, &lrwork, ints, &liwork,
                        &mut info, LEN, LEN,
                    );
                    info
                })
            }
            Op::Eigh => {
                let f: Syevd<T> = self.routine::<T, _>("syevd");
                Box::new(move |a, room| unsafe {
                    let (mut info, lwork, liwork) =
                        (0, room.work.len() as i32, room.ints.len() as i32);
                    let (w, work) = (room.values.as_mut_ptr().cast(), room.work.as_mut_ptr());
                    let ints = room.ints.as_mut_ptr();
                    f(
                        &b'V', &b'L', &n, a, &n, w, work, &lwork, ints, &liwork, &mut info, LEN,
                        LEN,
                    );
                    info
                })
            }
            Op::Svd if T::COMPLEX => {
                let f: ComplexGesdd<T> = self.routine::<T, _>("gesdd");
                Box::new(move |a, room| unsafe {
                    let (mut info, lwork) = (0, room.work.len() as i32);
                    let (s, work) = (room.values.as_mut_ptr().cast(), room.work.as_mut_ptr());
                    let (u, vt) = (room.u.as_mut_ptr(), room.vt.as_mut_ptr());
                    let (real, ints) = (room.real.as_mut_ptr().cast(), room.ints.as_mut_ptr());
                    f(
                        &b'S', &n, &n, a, &n, s, u, &n, vt, &n, work, &lwork, real, ints,
                        &mut info, LEN,
                    );
                    info
                })
            }
            Op::Svd => {
                let f: Gesdd<T> = self.routine::<T, _>("gesdd");
                Box::new(move |a, room| unsafe {
                    let (mut info, lwork) = (0, room.work.len() as i32);
                    let (s, work) = (room.values.as_mut_ptr().cast(), room.work.as_mut_ptr());
                    let (u, vt) = (room.u.as_mut_ptr(), room.vt.as_mut_ptr());
                    let ints = room.ints.as_mut_ptr();
                    f(
                        &b'S', &n, &n, a, &n, s, u, &n, vt, &n, work, &lwork, ints, &mut info, LEN,
                    );
                    info
                })
            }
        }
    }
}
