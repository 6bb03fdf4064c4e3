//! QR factorisation of a batch, and products with `Q`.

use super::QrSolver;
use crate::platform::{Call, Results};
use cuda::guard::{self, Guard};
use cuda::routines::qr;
use cuda::scratch::{bytes, Arena};
use cuda::small::{self, Small};
use cuda::{columns, device, sizes, Batch, Changed, Cuda, DeviceSlice, DeviceSliceMut, Element};
use matrices::Matrices;
use std::mem::size_of;
use xla_ffi::{AnyBuffer, AnyBufferMut, Result};

/// `A = Q R` in place: `R` on and above the diagonal, the reflectors of `Q` below it and in `tau`.
/// A matrix with NaN or an infinity becomes NaN.
///
/// # Errors
/// A library is missing or refuses; there is no memory to work in.
pub(crate) fn geqrf<T: Element>(
    batch: Batch<'_, '_>,
    a: Changed<'_, T>,
    mut tau: DeviceSliceMut<'_, T>,
) -> Result<()> {
    let (cx, shape) = batch;
    if shape.is_empty() {
        return Ok(());
    }
    if let Some(kernel) = Small::find::<T>(cx.platform(), &small::QR, shape) {
        return qr::small(batch, kernel, a, tau);
    }
    let mut a = a.ready(cx, shape)?;
    if sizes::qr_in_blocks(shape) {
        return qr::in_blocks(batch, a, tau);
    }
    guard::with(batch, |mut guard| {
        guard.scan(batch, a.as_const(), shape.elements())?;
        let factor = if sizes::qr_at_once(shape) {
            qr::geqrf_batched
        } else {
            qr::geqrf
        };
        factor(batch, a.reborrow(), tau.reborrow())?;
        guard.poison(batch, a, shape.elements(), None)?;
        guard.poison(batch, tau, shape.rank() as usize, None)
    })
}

/// The columns of `Q` in place of the reflectors in `a`, whose `tau` has `reflectors` places per
/// matrix; `reflectors <= cols <= rows`. A matrix whose operands have NaN or an infinity becomes
/// NaN.
///
/// # Errors
/// As [`geqrf`].
pub(crate) fn orgqr<T: Element>(
    batch: Batch<'_, '_>,
    reflectors: usize,
    a: Changed<'_, T>,
    tau: DeviceSlice<'_, T>,
) -> Result<()> {
    let (cx, shape) = batch;
    if shape.is_empty() {
        return Ok(());
    }
    if let Some(kernel) = Small::find::<T>(cx.platform(), &small::Q, shape) {
        return qr::small_q(batch, (kernel, reflectors as i32), a, tau);
    }
    let mut a = a.ready(cx, shape)?;
    if reflectors == 0 {
        return columns::fill_identity(batch, a);
    }
    let elements = shape.elements();
    let all = bytes(bytes(elements, size_of::<T>())?, shape.count)?;
    let at_once = sizes::columns_at_once(shape);
    if at_once && sizes::columns_by_threads(shape) {
        // That kernel looks for what is not finite itself.
        let mut memory = Arena::new(cx, [all])?;
        let [packed] = memory.parts();
        let mut packed = packed.of::<T>();
        let count = elements * shape.count;
        device::copy(cx.platform(), packed.reborrow(), a.as_const(), count)?;
        return qr::columns_of_q(batch, reflectors as i32, a, packed.as_const(), tau);
    }
    let copied = if at_once { all } else { 0 };
    let mut memory = Arena::new(cx, [guard::size(shape)?, copied])?;
    let [flags, packed] = memory.parts();
    let mut guard = Guard::new(batch, flags)?;
    // `tau` as matrices of one column.
    let factors = Matrices {
        rows: reflectors as i32, // at most `cols`
        cols: 1,
        count: shape.count,
    };
    guard.scan(batch, a.as_const(), shape.rows as usize * reflectors)?;
    guard.scan((cx, factors), tau, reflectors)?;
    if at_once {
        let mut packed = packed.of::<T>();
        let count = elements * shape.count;
        device::copy(cx.platform(), packed.reborrow(), a.as_const(), count)?;
        qr::columns_of_q(batch, factors.rows, a.reborrow(), packed.as_const(), tau)?;
    } else {
        qr::orgqr(batch, factors.rows, a.reborrow(), tau)?;
    }
    guard.poison(batch, a, elements, None)
}

/// `Q C`, `C Q` (`left` or not) or the same with `Qᴴ`, in place of `c` (of the batch's shape); `a`
/// and `tau` hold `reflectors` columns and factors per matrix. NaN or an infinity in any of them
/// makes all of that `c` NaN.
///
/// # Errors
/// A library is missing or refuses; there is no memory to work in.
pub(crate) fn ormqr<T: Element>(
    batch: Batch<'_, '_>,
    (left, adjoint): (bool, bool),
    (a, tau, reflectors): (DeviceSlice<'_, T>, DeviceSlice<'_, T>, i32),
    mut c: DeviceSliceMut<'_, T>,
) -> Result<()> {
    let (cx, shape) = batch;
    if reflectors == 0 {
        return Ok(());
    }
    let part = |rows: i32, cols: i32| Matrices {
        rows,
        cols,
        ..shape
    };
    let order = if left { shape.rows } else { shape.cols };
    let (of_a, of_tau) = (part(order, reflectors), part(reflectors, 1));
    guard::with(batch, |mut guard| {
        guard.scan((cx, of_a), a, of_a.elements())?;
        guard.scan((cx, of_tau), tau, of_tau.elements())?;
        guard.scan(batch, c.as_const(), shape.elements())?;
        qr::ormqr(batch, (left, adjoint), (a, tau, reflectors), c.reborrow())?;
        guard.poison(batch, c, shape.elements(), None)
    })
}

impl<T: Element> QrSolver<T> for Cuda {
    fn geqrf(
        call: Call<'_, '_, Self>,
        a: &AnyBuffer<'_>,
        [packed, tau]: Results<'_, '_, 2>,
    ) -> Result<()> {
        let (a, tau) = (Changed::<T>::new(a, packed)?, DeviceSliceMut::of(tau)?);
        geqrf(call, a, tau)
    }

    fn copy_columns(
        call: Call<'_, '_, Self>,
        cols: i32,
        from: &AnyBuffer<'_>,
        to: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        let (cx, shape) = call;
        let part = Matrices { cols, ..shape };
        let (to, from) = (DeviceSliceMut::<T>::of(to)?, DeviceSlice::of(from)?);
        columns::take((cx, part), to, from, shape.elements())
    }

    fn orgqr(
        call: Call<'_, '_, Self>,
        reflectors: usize,
        (packed, tau): (Option<&AnyBuffer<'_>>, &AnyBuffer<'_>),
        q: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        let tau = DeviceSlice::of(tau)?;
        let a = match packed {
            Some(packed) => Changed::<T>::new(packed, q)?,
            None => Changed::in_place(DeviceSliceMut::of(q)?),
        };
        orgqr(call, reflectors, a, tau)
    }
}
