//! Each routine compares the lengths of device memory with the shape before it calls anything.

use super::common::{fake, start};
use cuda::eigh::InBlocks;
use cuda::guard::{self, Guard};
use cuda::routines::lu::{self, Panel};
use cuda::routines::svd::{Form, Operands, Parts};
use cuda::routines::{cholesky, eig, eigh, qr, svd, tridiagonal};
use cuda::scratch::{Arena, Part};
use cuda::small::{self, Small};
use cuda::{columns, device, Batch, Changed, Cuda};
use matrices::{Matrices, Triangle, Vectors};
use xla_ffi::{handler, io, AnyBuffer, Cx, Kernel, Op, Result, Untyped};

io! {
    struct ProbeIo<'f> {
        /// any
        _x: AnyBuffer<'f>,
    }
}

/// Calls the routines on scratch memory, one operand after the other too short.
struct Probe;

impl Op for Probe {
    const TARGET: &'static str = "probe";
    type Dtypes = Untyped;
}

/// Bytes of an f64, a c128 and an i32.
const REAL: usize = 8;
const COMPLEX: usize = 16;
const INT: usize = 4;

const SHAPE: Matrices = Matrices {
    count: 3,
    rows: 4,
    cols: 4,
};
/// Elements of all matrices, and of a vector for each.
const ALL: usize = 3 * 4 * 4;
const EACH: usize = 3 * 4;

/// What every call of a library or of the driver goes through.
fn calls() -> i32 {
    [
        "cusolverDnSetStream",
        "cublasSetStream_v2",
        "cuLaunchKernel",
        "cuMemcpyDtoDAsync_v2",
        "cuMemsetD8Async",
    ]
    .map(fake::calls)
    .iter()
    .sum()
}

/// Runs with each operand one element short: its name, its length, the bytes of an element.
fn refuses<const N: usize>(
    cx: &Cx<'_, Cuda>,
    routine: &str,
    operands: [(&str, usize, usize); N],
    run: impl Fn([Part<'_>; N]) -> Result<()>,
) -> Result<()> {
    for short in 0..N {
        let mut sizes = operands.map(|(_, length, bytes)| length * bytes);
        sizes[short] -= operands[short].2;
        let mut memory = Arena::new(cx, sizes)?;
        let before = calls();
        let refused = run(memory.parts()).expect_err(routine).to_string();
        let name = format!("`{}` must have ", operands[short].0);
        assert!(refused.contains(&name), "{routine}: {refused}");
        assert_eq!(calls(), before, "{routine} called something: {refused}");
    }
    Ok(())
}

/// The kernel for these matrices.
fn small(cx: &Cx<'_, Cuda>, routine: &'static small::Routine) -> Result<Small> {
    let found = Small::find::<f64>(cx.platform(), routine, SHAPE);
    found.ok_or_else(|| xla_ffi::Error::internal("no kernel"))
}

fn factorisations(batch: Batch<'_, '_>) -> Result<()> {
    let (cx, lower) = (batch.0, Triangle::Lower);
    let (a, tau) = (("a", ALL, REAL), ("tau", EACH, REAL));
    let (pivots, info) = (("pivots", EACH, INT), ("info", 3, INT));
    refuses(cx, "getrfBatched", [a, pivots, info], |[a, p, i]| {
        lu::getrf_batched::<f64>(batch, a.of(), p.of(), i.of())
    })?;
    refuses(cx, "getrf", [a, pivots, info], |[a, p, i]| {
        lu::getrf::<f64>(batch, a.of(), p.of(), i.of())
    })?;
    refuses(cx, "lu", [a, pivots, info], |[a, p, i]| {
        let panel = Panel::find::<f64>(cx.platform(), SHAPE)?.expect("room for a panel");
        lu::in_blocks::<f64>(batch, panel, a.of(), p.of(), Some(i.of()))
    })?;
    refuses(cx, "small_lu", [a, pivots, info], |[a, p, i]| {
        let kernel = small(cx, &small::LU)?;
        let a = Changed::<f64>::in_place(a.of());
        lu::small(batch, kernel, a, p.of(), Some(i.of()))
    })?;
    let to = ("permutation", EACH, INT);
    refuses(cx, "pivots_to_permutation", [pivots, to], |[p, to]| {
        lu::permutation(cx, 3, (p.of().as_const(), 4), (to.of(), 4))
    })?;
    refuses(cx, "geqrfBatched", [a, tau], |[a, tau]| {
        qr::geqrf_batched::<f64>(batch, a.of(), tau.of())
    })?;
    refuses(cx, "geqrf", [a, tau], |[a, tau]| {
        qr::geqrf::<f64>(batch, a.of(), tau.of())
    })?;
    refuses(cx, "qr", [a, tau], |[a, tau]| {
        qr::in_blocks::<f64>(batch, a.of(), tau.of())
    })?;
    refuses(cx, "small_qr", [a, tau], |[a, tau]| {
        let (kernel, a) = (small(cx, &small::QR)?, Changed::<f64>::in_place(a.of()));
        qr::small(batch, kernel, a, tau.of())
    })?;
    refuses(cx, "small_q", [a, tau], |[a, tau]| {
        let (kernel, a) = (small(cx, &small::Q)?, Changed::<f64>::in_place(a.of()));
        qr::small_q(batch, (kernel, 4), a, tau.of().as_const())
    })?;
    refuses(cx, "orgqr", [a, tau], |[a, tau]| {
        qr::orgqr::<f64>(batch, 4, a.of(), tau.of().as_const())
    })?;
    let (q, packed) = (("q", ALL, REAL), ("packed", ALL, REAL));
    refuses(cx, "columns_of_q", [q, packed, tau], |[q, a, tau]| {
        let (a, tau) = (a.of(), tau.of());
        qr::columns_of_q::<f64>(batch, 4, q.of(), a.as_const(), tau.as_const())
    })?;
    refuses(cx, "ormqr", [a, tau, ("c", ALL, REAL)], |[a, tau, c]| {
        let (a, tau) = (a.of(), tau.of());
        let reflectors = (a.as_const(), tau.as_const(), 4);
        qr::ormqr::<f64>(batch, (true, false), reflectors, c.of())
    })?;
    refuses(cx, "potrfBatched", [a, info], |[a, i]| {
        cholesky::potrf_batched::<f64>(batch, lower, a.of(), i.of())
    })?;
    refuses(cx, "potrf", [a, info], |[a, i]| {
        cholesky::potrf::<f64>(batch, lower, a.of(), i.of())
    })?;
    let (d, e, beside) = (("d", EACH, REAL), ("e", 9, REAL), ("tau", 9, REAL));
    refuses(cx, "sytrd", [a, d, e, beside, info], |[a, d, e, tau, i]| {
        let parts = tridiagonal::Parts {
            d: d.of(),
            e: e.of(),
            tau: tau.of(),
        };
        tridiagonal::sytrd::<f64>(batch, lower, a.of(), parts, i.of())
    })
}

fn parts<'m>(s: Part<'m>, u: Part<'m>, v: Part<'m>) -> Parts<'m, f64> {
    Parts {
        s: s.of(),
        u: u.of(),
        v: v.of(),
    }
}

fn all<'m>(
    a: Part<'m>,
    s: Part<'m>,
    u: Part<'m>,
    v: Part<'m>,
    info: Part<'m>,
) -> Operands<'m, f64> {
    Operands {
        a: a.of(),
        parts: parts(s, u, v),
        info: info.of(),
    }
}

/// Of matrices that are not small.
fn spectra_in_blocks(cx: &Cx<'_, Cuda>) -> Result<()> {
    let (count, rows) = (3, 33);
    let shape = Matrices {
        count,
        rows,
        cols: rows,
    };
    let found = InBlocks::find::<f64>(cx.platform(), shape);
    let kernel = found.ok_or_else(|| xla_ffi::Error::internal("no kernel"))?;
    let a = ("a", count * shape.elements(), REAL);
    let (w, info) = (("w", count * rows as usize, REAL), ("info", count, INT));
    refuses(cx, "eigh", [a, w, info], |[a, w, i]| {
        let (how, a) = ((kernel, Triangle::Lower), Changed::<f64>::in_place(a.of()));
        eigh::in_blocks((cx, shape), how, a, w.of(), Some(i.of()))
    })
}

fn spectra(batch: Batch<'_, '_>) -> Result<()> {
    let (cx, lower) = (batch.0, Triangle::Lower);
    let (a, info) = (("a", ALL, REAL), ("info", 3, INT));
    let w = ("w", EACH, REAL);
    refuses(cx, "syevj", [a, w, info], |[a, w, i]| {
        eigh::decompose::<f64>(batch, (eigh::Method::Jacobi, lower), a.of(), w.of(), i.of())
    })?;
    refuses(cx, "small_eigh", [a, w, info], |[a, w, i]| {
        let (kernel, a) = (small(cx, &small::EIGH)?, Changed::<f64>::in_place(a.of()));
        eigh::small(batch, (kernel, lower), a, w.of(), Some(i.of()))
    })?;
    refuses(cx, "syevd", [a, w, info], |[a, w, i]| {
        let how = (eigh::Method::DivideAndConquer, lower);
        eigh::decompose::<f64>(batch, how, a.of(), w.of(), i.of())
    })?;
    spectra_in_blocks(cx)?;
    let w = ("w", EACH, COMPLEX);
    let (vl, vr) = (("vl", ALL, REAL), ("vr", ALL, REAL));
    refuses(cx, "geev", [a, w, vl, vr, info], |[a, w, l, r, i]| {
        eig::geev::<f64>(
            batch,
            (false, true),
            a.of(),
            w.of(),
            (l.of(), r.of()),
            i.of(),
        )
    })?;
    let (s, u, v) = (("s", EACH, REAL), ("u", ALL, REAL), ("v", ALL, REAL));
    let operands = [a, s, u, v, info];
    refuses(cx, "gesvd", operands, |[a, s, u, v, i]| {
        svd::gesvd(batch, Vectors::Thin, all(a, s, u, v, i))
    })?;
    refuses(cx, "gesvdj", operands, |[a, s, u, v, i]| {
        svd::gesvdj(batch, (true, false), all(a, s, u, v, i))
    })?;
    refuses(cx, "gesvdjBatched", operands, |[a, s, u, v, i]| {
        svd::gesvdj_batched(batch, true, all(a, s, u, v, i))
    })?;
    refuses(cx, "gesvdp", operands, |[a, s, u, v, i]| {
        svd::gesvdp(batch, (true, false), all(a, s, u, v, i))
    })?;
    let form = Form {
        vectors: true,
        full: false,
        adjoint: true,
    };
    refuses(cx, "small_svd", operands, |[a, s, u, v, i]| {
        let (a, how) = (a.of(), (small(cx, &small::SVD)?, form));
        svd::small(batch, how, a.as_const(), parts(s, u, v), Some(i.of()))
    })?;
    refuses(cx, "jacobi", operands, |[a, s, u, v, i]| {
        let a = a.of();
        svd::in_blocks(batch, form, a.as_const(), parts(s, u, v), Some(i.of()))
    })
}

fn kernels(batch: Batch<'_, '_>) -> Result<()> {
    let cx = batch.0;
    let (to, from) = (("to", ALL, REAL), ("from", ALL, REAL));
    refuses(cx, "identity", [("a", ALL, REAL)], |[a]| {
        columns::fill_identity::<f64>(batch, a.of())
    })?;
    refuses(cx, "columns", [to, from], |[to, from]| {
        columns::take::<f64>(batch, to.of(), from.of().as_const(), 16)
    })?;
    for conjugated in [false, true] {
        refuses(cx, "transposes", [to, from], |[to, from]| {
            columns::transpose::<f64>(batch, conjugated, to.of(), from.of().as_const(), 16)
        })?;
    }
    refuses(cx, "copy", [to, from], |[to, from]| {
        device::copy::<f64>(cx.platform(), to.of(), from.of().as_const(), ALL)
    })?;
    refuses(cx, "clear", [to], |[to]| {
        device::clear::<f64>(cx.platform(), to.of(), ALL)
    })?;
    let mut memory = Arena::new(cx, [guard::size(SHAPE)?, guard::size(SHAPE)?])?;
    let [flags, infos] = memory.parts();
    let mut guard = Guard::new(batch, flags)?;
    let infos = infos.of::<i32>();
    let few = Matrices { count: 4, ..SHAPE };
    let more = |refused: Result<()>| {
        let refused = refused.expect_err("too few").to_string();
        assert!(refused.contains("each of 4 matrices"), "{refused}");
    };
    let mut all = Arena::new(cx, [ALL * REAL])?;
    let [a] = all.parts();
    let mut a = a.of::<f64>();
    let before = calls();
    more(guard.scan((cx, few), a.as_const(), 16));
    more(guard.scan_triangle((cx, few), a.as_const(), Triangle::Upper));
    more(guard.scrub((cx, few), a.reborrow()));
    more(guard.poison((cx, few), a.reborrow(), 16, None));
    more(guard.poison((cx, few), a.reborrow(), 1, Some(infos.as_const())));
    assert!(guard.scan(batch, a.as_const(), 17).is_err());
    let mut infos = infos;
    more(guard.mark((cx, few), infos.reborrow(), 0));
    more(guard.keep_rows((cx, few), infos));
    assert_eq!(calls(), before);
    Ok(())
}

impl Kernel<Cuda> for Probe {
    type Io<'f> = ProbeIo<'f>;

    fn run(_: ProbeIo<'_>, cx: &Cx<'_, Cuda>) -> Result<()> {
        factorisations((cx, SHAPE))?;
        spectra((cx, SHAPE))?;
        kernels((cx, SHAPE))
    }
}

#[test]
fn memory_that_is_too_short_is_refused_before_anything_is_called() {
    fake::load();
    let call = start().arg(&[1], &[0.0_f64]);
    assert_eq!(call.run(handler::<Probe, Cuda>), Ok(()));
}
