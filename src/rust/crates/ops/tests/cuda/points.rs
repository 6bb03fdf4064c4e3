//! `kepler`.

use super::common::{handler, start};
use xla_ffi::testing::Frame;
use xla_ffi::{sys, Scalar};

fn points() -> Vec<(f64, f64)> {
    let many = (0..5000).map(|i| {
        let i = f64::from(i);
        (
            (i * 0.618_033_988_749_895).fract() * 200.0 - 100.0,
            (i * 0.324_717_957_244_746).fract(),
        )
    });
    let edges = [
        0.0,
        -0.0,
        1e-12,
        -1e-12,
        1e-300,
        3.0,
        1e15,
        f64::NAN,
        f64::INFINITY,
    ];
    let eccentric = [0.0, 0.5, 0.999_999, 1.0, -0.1, f64::NAN];
    let edges = edges.into_iter().flat_map(|m| eccentric.map(|e| (m, e)));
    edges.chain(many).collect()
}

fn solve<T: Scalar>(m: &[T], e: &[T], on_cuda: bool) -> Frame {
    let dims = [m.len() as i64];
    let call = start().arg(&dims, m).arg(&dims, e);
    let mut frame = call.ret::<T>(&dims).ret::<T>(&dims).build();
    let host = ops::find("kepler", "host").expect("kepler on the host");
    let handler = if on_cuda { handler("kepler") } else { host };
    frame.call(handler).expect("kepler");
    frame
}

#[test]
fn kepler_is_what_it_is_on_the_cpu() {
    let (m, e): (Vec<f64>, Vec<f64>) = points().into_iter().unzip();
    let (got, want) = (solve(&m, &e, true), solve(&m, &e, false));
    for result in 0..2 {
        let pairs = got.ret::<f64>(result).iter().zip(want.ret::<f64>(result));
        for (i, (got, want)) in pairs.enumerate() {
            // Near e = 1 a rounding error of M is magnified by 1 / (1 - e).
            let off = (got - want).abs() * (1.0 - e[i]).min(1.0);
            let close = off <= 5e-16 || (got.is_nan() && want.is_nan());
            assert!(
                close,
                "M = {}, e = {}: {got} on CUDA, {want} on the CPU",
                m[i], e[i]
            );
        }
    }
    let single = |values: &[f64]| values.iter().map(|&v| v as f32).collect::<Vec<f32>>();
    let (m, e) = (single(&m), single(&e));
    let (got, want) = (solve(&m, &e, true), solve(&m, &e, false));
    for result in 0..2 {
        let pairs = got.ret::<f32>(result).iter().zip(want.ret::<f32>(result));
        for (i, (got, want)) in pairs.enumerate() {
            let off = (got - want).abs() * (1.0 - e[i]).min(1.0);
            let close = off <= 3e-7 || (got.is_nan() && want.is_nan());
            assert!(
                close,
                "M = {}, e = {}: {got} on CUDA, {want} on the CPU",
                m[i], e[i]
            );
        }
    }
}

/// Next to a multiple of 2π and next to nothing, where an absolute error says little.
fn keeps_digits<T: Scalar + Into<f64>>(m: &[T], e: T, close: f64) {
    let e = vec![e; m.len()];
    let (got, want) = (solve(m, &e, true), solve(m, &e, false));
    for (i, m) in m.iter().enumerate() {
        let (got, want): (f64, f64) = (got.ret::<T>(0)[i].into(), want.ret::<T>(0)[i].into());
        let m: f64 = (*m).into();
        assert!(
            (got / want - 1.0).abs() <= close,
            "M = {m:e}: {got:e} on CUDA, {want:e} on the CPU"
        );
    }
}

#[test]
fn kepler_keeps_its_digits_where_little_is_left_of_the_mean_anomaly() {
    let near = [
        2_253_666_990_800.898_4,
        182.212_373_908_208,
        -57_844_706.681_113_52,
        1e-300,
    ];
    keeps_digits::<f64>(&near, 0.5, 1e-15);
    keeps_digits::<f32>(&[2.3367e-38, -1e-34, 3e-31, 1e-29], 0.999_999, 1e-6);
}

#[test]
fn kepler_works_in_place() {
    let (m, e): (Vec<f64>, Vec<f64>) = points()
        .into_iter()
        .filter(|(m, e)| (m + e).is_finite())
        .unzip();
    let want = solve(&m, &e, true);
    let dims = [m.len() as i64];
    for (first, second) in [(0, 1), (1, 0)] {
        let call = start().arg(&dims, &m).arg(&dims, &e);
        let mut frame = call.ret_aliasing(first).ret_aliasing(second).build();
        frame.call(handler("kepler")).expect("kepler in place");
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(frame.ret::<f64>(0)), bits(want.ret::<f64>(0)));
        assert_eq!(bits(frame.ret::<f64>(1)), bits(want.ret::<f64>(1)));
    }
}

/// Any number of points, with the first at the beginning of 16 bytes or beside it: what is solved one by
/// one is what is solved in packs, and nothing beyond is written.
fn packs_and_single_points<T: Scalar + PartialEq>(cast: impl Fn(f64) -> T) {
    for n in 0..10_usize {
        let (m, e): (Vec<T>, Vec<T>) = points()[54..54 + 2 * n.max(1)]
            .iter()
            .map(|&(m, e)| (cast(m), cast(e)))
            .unzip();
        let want = solve(&m, &e, true);
        for shift in 0..2 {
            let dims = [2, n as i64];
            let data = |values: &[T]| values[..2 * n].to_vec();
            let call = start().arg(&dims, &data(&m)).arg(&dims, &data(&e));
            let mut frame = call.ret::<T>(&dims).ret::<T>(&dims).build();
            let raw = frame.as_raw();
            for list in [raw.args.args, raw.rets.rets] {
                for i in 0..2 {
                    // SAFETY: two buffers of shape (2, n): the second dimension alone, from the
                    // element `shift` on, lies inside.
                    unsafe {
                        let buffer = &mut *(*list.add(i)).cast::<sys::XLA_FFI_Buffer>();
                        buffer.rank = 1;
                        buffer.dims = buffer.dims.add(1);
                        buffer.data = buffer.data.cast::<T>().add(shift.min(n)).cast();
                    }
                }
            }
            frame.call(handler("kepler")).expect("kepler");
            for result in 0..2 {
                let got = frame.ret::<T>(result);
                let inside = shift.min(n)..shift.min(n) + n;
                assert!(got[inside.clone()] == want.ret::<T>(result)[inside.clone()]);
                let mut outside = (0..2 * n).filter(|i| !inside.contains(i));
                assert!(outside.all(|i| got[i] == cast(0.0)));
            }
        }
    }
}

#[test]
fn kepler_takes_any_number_of_points_from_any_address() {
    packs_and_single_points(|value| value);
    packs_and_single_points(|value| value as f32);
}
