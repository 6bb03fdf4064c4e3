//! Conversion and order against naive loops.

use super::scalar::Pred;
use super::*;
use crate::layout::{dense, elements, from_minor_to_major, Order};
use half::{bf16, f16};

// What is converted here fits into its memory: plans are made from the arrays' own dimensions, and
// strides are dense or permuted.
fn convert<S: Cast<D> + 'static, D: Copy + 'static>(plan: &Plan, from: *const u8, to: *mut u8) {
    // SAFETY: as said above.
    unsafe { super::convert::<S, D>(plan, from, to, &|| ()) };
}

fn to_device(source: Source<'_>, dims: &[i64], strides: &[isize], to: Target<'_>) -> Result<()> {
    // SAFETY: as said above.
    unsafe { super::to_device(source, dims, strides, to, &|| ()) }
}

fn from_device(origin: Origin<'_>, to: &[isize], dest: Dest<'_>) -> Result<()> {
    // SAFETY: as said above.
    unsafe { super::from_device(origin, to, dest, &|| ()) }
}

/// Miri takes a thousand times as long; what is large is smaller there.
const MIRI: bool = cfg!(miri);

/// Every index of an array, last dimension fastest.
fn indices(dims: &[i64]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for &d in dims {
        all = all
            .into_iter()
            .flat_map(|i| (0..d as usize).map(move |k| [&i[..], &[k]].concat()))
            .collect();
    }
    all
}

fn offset(index: &[usize], strides: &[isize]) -> usize {
    index
        .iter()
        .zip(strides)
        .map(|(&i, &s)| i * s as usize)
        .sum()
}

/// Converts numbers 0, 1, 2, … laid out by `from` to the layout `to`, and checks each element.
fn check(dims: &[i64], from: &[isize], to: &[isize]) {
    let count = elements(dims, 8).unwrap();
    let source: Vec<f64> = (0..count).map(|i| i as f64).collect();
    let mut wide = vec![-1.0f64; count];
    let mut often = vec![-1.0f32; count];
    let mut narrow = vec![u16::MAX; count];
    let plan = Plan::new(dims, from, to);
    convert::<f64, f64>(&plan, source.as_ptr().cast(), wide.as_mut_ptr().cast());
    convert::<f64, f32>(&plan, source.as_ptr().cast(), often.as_mut_ptr().cast());
    convert::<f64, u16>(&plan, source.as_ptr().cast(), narrow.as_mut_ptr().cast());
    for index in indices(dims) {
        let (s, t) = (offset(&index, from), offset(&index, to));
        assert_eq!(wide[t], source[s], "{dims:?} {from:?} {to:?} at {index:?}");
        assert_eq!(f64::from(often[t]), source[s], "{dims:?} at {index:?}");
        assert_eq!(narrow[t], (source[s] as u16), "{dims:?} at {index:?}");
    }
}

#[test]
#[cfg_attr(
    miri,
    ignore = "more than ten minutes; the large arrays have tiles and strips cut short, too"
)]
fn matrices_around_tile_and_strip_edges() {
    let sizes = [0, 1, 2, 7, 8, 9, 15, 16, 17, 63, 65, 255, 256, 257, 264];
    for m in sizes {
        for n in [0, 1, 2, 7, 8, 9, 16, 17, 33] {
            for dims in [[m, n], [n, m]] {
                let (row, column) = (
                    dense(&dims, Order::RowMajor),
                    dense(&dims, Order::ColumnMajor),
                );
                check(&dims, &column, &row);
                check(&dims, &row, &column);
                check(&dims, &row, &row);
            }
        }
    }
}

#[test]
fn all_permutations_of_layouts() {
    for dims in [
        vec![],
        vec![5],
        vec![3, 4],
        vec![9, 1, 8],
        vec![2, 9, 10],
        vec![3, 1, 4, 2],
        vec![2, 3, 1, 2, 3],
        vec![2, 0, 3],
    ] {
        let rank = dims.len();
        if MIRI && rank > 3 {
            continue;
        }
        let mut orders = vec![Vec::new()];
        for d in 0..rank as i64 {
            orders = orders
                .into_iter()
                .flat_map(|o: Vec<i64>| {
                    (0..=o.len()).map(move |at| {
                        let mut o = o.clone();
                        o.insert(at, d);
                        o
                    })
                })
                .collect();
        }
        for order in orders {
            let strides = from_minor_to_major(&dims, &order).unwrap();
            check(&dims, &strides, &dense(&dims, Order::ColumnMajor));
            check(&dims, &dense(&dims, Order::ColumnMajor), &strides);
        }
    }
}

#[test]
fn large_arrays_on_several_threads() {
    let large = if MIRI {
        [[3, 401], [67, 73]]
    } else {
        [[3, 180_001], [701, 757]]
    };
    for dims in large {
        check(
            &dims,
            &dense(&dims, Order::ColumnMajor),
            &dense(&dims, Order::RowMajor),
        );
    }
}

#[test]
fn no_alignment_is_needed() {
    let (rows, columns) = if MIRI { (67, 73) } else { (701, 757) };
    let dims = [rows as i64, columns as i64];
    let (from, to) = (
        dense(&dims, Order::ColumnMajor),
        dense(&dims, Order::RowMajor),
    );
    let plan = Plan::new(&dims, &from, &to);
    let count = rows * columns;
    let source: Vec<u8> = (0..count * 8 + 3).map(|i| (i % 251) as u8).collect();
    for shift in [1, 3] {
        let mut out = vec![0xffu8; count * 8 + 4];
        convert::<u64, u64>(&plan, source[3..].as_ptr(), out[shift..].as_mut_ptr());
        for i in 0..rows {
            for j in 0..columns {
                let (s, t) = (3 + 8 * (i + j * rows), shift + 8 * (i * columns + j));
                assert_eq!(source[s..s + 8], out[t..t + 8], "{i} {j}");
            }
        }
        assert!(out[..shift]
            .iter()
            .chain(&out[shift + count * 8..])
            .all(|&x| x == 0xff));
    }
}

#[test]
fn pieces_of_a_plan_are_the_whole() {
    for dims in [vec![1], vec![130], vec![3, 200], vec![7, 5, 3], vec![0, 4]] {
        let plan = Plan::new(
            &dims,
            &dense(&dims, Order::ColumnMajor),
            &dense(&dims, Order::RowMajor),
        );
        for parts in 1..5 {
            let pieces = plan.split(parts);
            assert!(pieces.len() <= parts, "{dims:?} in {parts}");
            let total: usize = pieces.iter().map(|(p, _, _)| p.elements()).sum();
            assert_eq!(total, plan.elements(), "{dims:?} in {parts}");
        }
    }
}

#[test]
fn strides() {
    assert_eq!(dense(&[2, 3, 4], Order::RowMajor), [12, 4, 1]);
    assert_eq!(dense(&[2, 3, 4], Order::ColumnMajor), [1, 2, 6]);
    assert_eq!(
        from_minor_to_major(&[2, 3, 4], &[1, 0, 2]),
        Some(vec![3, 1, 6])
    );
    assert_eq!(from_minor_to_major(&[2, 3], &[1, 1]), None);
    assert_eq!(from_minor_to_major(&[2, 3], &[0]), None);
    assert_eq!(from_minor_to_major(&[2, 3], &[0, 2]), None);
    assert!(elements(&[1 << 40, 1 << 40], 8).is_err());
    assert!(elements(&[2, -1], 8).is_err());
    assert_eq!(elements(&[1 << 40, 1 << 40, 0], 8).unwrap(), 0);
}

fn cast<S: Cast<D>, D>(x: S) -> D {
    x.cast()
}

#[test]
fn integers_are_clamped() {
    assert_eq!(cast::<i32, i8>(300), 127);
    assert_eq!(cast::<i32, i8>(-300), -128);
    assert_eq!(cast::<i32, u8>(-1), 0);
    assert_eq!(cast::<i32, u8>(256), 255);
    assert_eq!(cast::<i32, u64>(-5), 0);
    assert_eq!(cast::<i32, u32>(i32::MAX), i32::MAX as u32);
    assert_eq!(cast::<i32, i64>(i32::MIN), i64::from(i32::MIN));
    assert_eq!(cast::<i64, i32>(1 << 40), i32::MAX);
    assert_eq!(cast::<i64, u64>(-1), u64::MAX);
    assert_eq!(cast::<i64, u32>(-1), 0);
    assert_eq!(cast::<i64, u32>(i64::MAX), u32::MAX);
    assert_eq!(cast::<u8, i8>(200), 127);
    assert_eq!(cast::<u32, i32>(u32::MAX), i32::MAX);
    assert_eq!(cast::<u64, i64>(u64::MAX), i64::MAX);
    assert_eq!(cast::<u64, u8>(256), 255);
    assert_eq!(cast::<i8, u8>(-3), 0);
    assert_eq!(cast::<f64, i32>(-2.9), -2);
    assert_eq!(cast::<f64, i32>(f64::NAN), 0);
    assert_eq!(cast::<f64, u8>(1e9), 255);
    assert_eq!(cast::<f64, i64>(f64::NEG_INFINITY), i64::MIN);
}

#[test]
fn truth() {
    assert_eq!(cast::<f64, Pred>(0.0), Pred(0));
    assert_eq!(cast::<f64, Pred>(-0.5), Pred(1));
    assert_eq!(cast::<f64, Pred>(f64::NAN), Pred(1));
    assert_eq!(cast::<i32, Pred>(i32::MIN), Pred(1));
    assert_eq!(cast::<Pred, f64>(Pred(2)), 1.0);
    assert_eq!(cast::<Pred, i32>(Pred(0)), 0);
}

/// 2 to the power of `exponent`: exact under Miri, too, which makes `powi` a little wrong on purpose.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The nearest number with `bits` significant bits by exact arithmetic, ties to even.
fn round_to(x: f64, bits: i32, least_exponent: i32) -> f64 {
    let exponent = ((x.abs().to_bits() >> 52) as i32 - 1023).max(least_exponent);
    let unit = power(exponent - (bits - 1));
    (x / unit).round_ties_even() * unit
}

#[test]
fn halves_are_rounded_once() {
    let mut state = 1u64;
    for i in 0..if MIRI { 300 } else { 20_000 } {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let tie = 1.0 + f64::from(i % 2048) / 2048.0;
        let nudge = [0.0, 1.0, -1.0][i as usize % 3] * power(-40);
        let scale = power((state >> 60) as i32 - 8);
        for x in [
            (tie + nudge) * scale,
            -(tie + nudge) * scale,
            f64::from((state >> 33) as u32) / 1e9,
        ] {
            assert_eq!(cast::<f64, f16>(x).to_f64(), round_to(x, 11, -14), "{x:e}");
            assert_eq!(cast::<f64, bf16>(x).to_f64(), round_to(x, 8, -126), "{x:e}");
        }
    }
    assert_eq!(cast::<f64, f16>(65519.99), f16::from_f32(65504.0));
    assert_eq!(cast::<f64, f16>(65520.0), f16::INFINITY);
    assert!(cast::<f64, f16>(f64::NAN).is_nan());
    assert_eq!(cast::<f64, bf16>(f64::INFINITY), bf16::INFINITY);
    assert_eq!(cast::<f64, bf16>(1e300), bf16::INFINITY);
    assert_eq!(cast::<f64, f16>(-0.0).to_bits(), 0x8000);
    assert_eq!(cast::<f64, f16>(1e-300).to_bits(), 0);
    assert_eq!(cast::<f64, f16>(-1e-300).to_bits(), 0x8000);
    assert_eq!(cast::<i32, f16>(2049).to_f32(), 2048.0);
    assert_eq!(cast::<i64, bf16>(257).to_f32(), 256.0);
}

/// Up and down again through every element type, from every source to every destination.
#[test]
fn every_pair_of_types() {
    let (f, i, l, u) = ([0.0, 1.0, 3.0], [0, 1, 3], [0i64, 1, 3], [0u8, 1, 3]);
    let c = [[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]];
    let sources = [
        Source::F64(&f),
        Source::I32(&i),
        Source::I64(&l),
        Source::U8(&u),
        Source::Complex(&c),
    ];
    for &dtype in DType::ALL {
        for source in sources {
            let mut memory = vec![0xffu8; 3 * dtype.size()];
            let outcome = to_device(
                source,
                &[3],
                &[1],
                Target {
                    data: memory.as_mut_ptr(),
                    dtype,
                    strides: &[1],
                },
            );
            if matches!(source, Source::Complex(_)) && !dtype.is_complex() {
                assert!(outcome.is_err());
                continue;
            }
            outcome.unwrap();
            let expected = if dtype == DType::Pred { 1.0 } else { 3.0 };
            let origin = || Origin {
                data: memory.as_ptr(),
                dtype,
                dims: &[3],
                strides: &[1],
            };
            let mut back = [[9.0; 2]; 3];
            from_device(origin(), &[1], Dest::Complex(&mut back)).unwrap();
            assert_eq!(back, [[0.0, 0.0], [1.0, 0.0], [expected, 0.0]], "{dtype}");
            let mut raw = vec![0u8; memory.len()];
            from_device(origin(), &[1], Dest::Bytes(&mut raw)).unwrap();
            assert_eq!(raw, memory);
            let (mut f, mut i, mut l, mut u) = ([9.0; 3], [9; 3], [9i64; 3], [9u8; 3]);
            for dest in [
                Dest::F64(&mut f),
                Dest::I32(&mut i),
                Dest::I64(&mut l),
                Dest::U8(&mut u),
            ] {
                assert_eq!(
                    from_device(origin(), &[1], dest).is_err(),
                    dtype.is_complex()
                );
            }
            if !dtype.is_complex() {
                assert_eq!(f, [0.0, 1.0, expected], "{dtype}");
                assert_eq!(i, [0, 1, expected as i32], "{dtype}");
                assert_eq!(l, [0, 1, expected as i64], "{dtype}");
                assert_eq!(u, [0, 1, expected as u8], "{dtype}");
            }
        }
    }
}
