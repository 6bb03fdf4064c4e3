//! Arrays that come by parts, from memory and from files, on real XLA.

#[allow(dead_code, reason = "shared with other tests")]
mod common;

use common::*;
use pjrt::*;
use std::io::Write;
use std::path::PathBuf;

const NO_PAUSE: &dyn Fn() = &|| ();

/// The numbers 0, 1, … of an array of that shape in the given order, if they are counted in row-major order.
fn numbers(dims: &[usize], order: Order) -> Vec<f64> {
    let count: usize = dims.iter().product();
    let place = |i: usize| -> f64 {
        // The index of the element that lies at `i` in this order, and its number in row-major order.
        let mut index = vec![0; dims.len()];
        let mut rest = i;
        let axes: Vec<usize> = match order {
            Order::RowMajor => (0..dims.len()).rev().collect(),
            Order::ColumnMajor => (0..dims.len()).collect(),
        };
        for axis in axes {
            index[axis] = rest % dims[axis];
            rest /= dims[axis];
        }
        index.iter().zip(dims).fold(0, |n, (i, d)| n * d + i) as f64
    };
    (0..count).map(place).collect()
}

fn wide(dims: &[usize]) -> Vec<i64> {
    dims.iter().map(|&d| d as i64).collect()
}

fn bytes_of(x: &[f64]) -> Vec<u8> {
    x.iter().flat_map(|x| x.to_ne_bytes()).collect()
}

fn by_rows(buffer: &Buffer) -> Vec<f64> {
    let mut out = vec![f64::NAN; buffer.num_elements()];
    buffer.read(Dest::F64(&mut out), Order::RowMajor).unwrap();
    out
}

#[test]
fn parts_in_either_order_make_the_array() {
    let dims = [7, 3, 2];
    let whole = numbers(&dims, Order::RowMajor);
    for rows in [1, 2, 3, 7] {
        let mut parts = client().parts(&wide(&dims), DType::F32, None).unwrap();
        let mut open = client().open_parts(&[3, 2], DType::F32, None).unwrap();
        assert_eq!((parts.total(), open.total()), (Some(42), None));
        for from in (0..7).step_by(rows) {
            let here = rows.min(7 - from);
            let columns: Vec<f64> = numbers(&[here, 3, 2], Order::ColumnMajor)
                .iter()
                .map(|x| x + (from * 6) as f64)
                .collect();
            for to in [&mut parts, &mut open] {
                to.put(Source::F64(&columns), Order::ColumnMajor, NO_PAUSE)
                    .unwrap();
                assert_eq!(to.done(), (from + here) * 6);
            }
        }
        for mut parts in [parts, open] {
            let buffer = parts.finish().unwrap();
            assert_eq!(buffer.dims(), [7, 3, 2]);
            assert_eq!(by_rows(&buffer), whole);
            assert_eq!(
                parts.finish().unwrap_err().code(),
                Code::FAILED_PRECONDITION
            );
        }
    }
}

#[test]
fn large_arrays_are_taken_over_and_row_major_parts_may_end_anywhere() {
    let dims = [1000, 40];
    let whole = numbers(&dims, Order::RowMajor);
    for open in [false, true] {
        let mut parts = match open {
            false => client().parts(&wide(&dims), DType::F64, None),
            true => client().open_parts(&[40], DType::F64, None),
        }
        .unwrap();
        for part in whole.chunks(777) {
            parts
                .put(Source::F64(part), Order::RowMajor, NO_PAUSE)
                .unwrap();
        }
        let buffer = parts.finish().unwrap();
        assert_eq!(buffer.dims(), [1000, 40]);
        assert_eq!(by_rows(&buffer), whole);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let message = |result: Result<()>| result.unwrap_err().message().to_string();
    let mut parts = client().parts(&[2, 3], DType::I8, None).unwrap();
    let put = |parts: &mut Parts, x: &[f64], order| parts.put(Source::F64(x), order, NO_PAUSE);
    assert_eq!(
        message(put(&mut parts, &[1.0; 7], Order::RowMajor)),
        "there are 7 more elements after 0, but an array of shape [2, 3] has 6"
    );
    assert!(message(put(&mut parts, &[1.0, 200.0], Order::RowMajor)).contains("element 2 is 200"));
    assert!(message(put(&mut parts, &[1.0; 4], Order::ColumnMajor)).contains("no whole number"));
    // What was refused is not there.
    assert_eq!(parts.done(), 0);
    put(&mut parts, &[1.0; 2], Order::RowMajor).unwrap();
    assert!(message(put(&mut parts, &[1.0; 3], Order::ColumnMajor)).contains("no whole number"));
    assert_eq!(
        parts.finish().unwrap_err().message(),
        "there are 2 elements, but an array of shape [2, 3] has 6"
    );
    put(&mut parts, &[1.0; 4], Order::RowMajor).unwrap();
    assert_eq!(read(&parts.finish().unwrap()).unwrap(), [1.0; 6]);

    let mut open = client().open_parts(&[2], DType::F32, None).unwrap();
    put(&mut open, &[1.0; 3], Order::RowMajor).unwrap();
    assert!(open.finish().unwrap_err().message().contains("last row"));
    assert!(client().open_parts(&[0], DType::F32, None).is_err());
    assert!(client().parts(&[-1], DType::F32, None).is_err());
}

#[test]
fn arrays_without_elements_and_scalars() {
    for dims in [&[0, 3][..], &[3, 0], &[]] {
        let mut parts = client().parts(dims, DType::F32, None).unwrap();
        let count = dims.iter().product::<i64>() as usize;
        parts
            .put(Source::F64(&vec![5.0; count]), Order::RowMajor, NO_PAUSE)
            .unwrap();
        let buffer = parts.finish().unwrap();
        assert_eq!(buffer.dims(), dims);
        assert_eq!(read(&buffer).unwrap(), vec![5.0; count]);
    }
    let mut none = client().open_parts(&[3], DType::F32, None).unwrap();
    assert_eq!(none.finish().unwrap().dims(), [0, 3]);
}

/// A file that goes with the test.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str, content: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("xlaffi-{}-{name}", std::process::id()));
        std::fs::File::create(&path)
            .unwrap()
            .write_all(content)
            .unwrap();
        Self(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn files_in_every_order_shape_and_range_of_rows() {
    let shapes: [&[usize]; 8] = [
        &[6, 4],
        &[1, 9],
        &[9, 1],
        &[8],
        &[5, 2, 3],
        &[2, 3, 4],
        &[3, 1, 2],
        &[40, 2],
    ];
    for (at, dims) in shapes.into_iter().enumerate() {
        for order in [Order::RowMajor, Order::ColumnMajor] {
            for swapped in [false, true] {
                let mut content = vec![255; 5];
                for x in numbers(dims, order) {
                    let mut x = x.to_ne_bytes();
                    if swapped {
                        x.reverse();
                    }
                    content.extend(x);
                }
                let file = Temporary::new(&format!("{at}{order:?}{swapped}"), &content);
                let row: usize = dims[1..].iter().product();
                for rows in [None, Some(0..dims[0]), Some(1..dims[0]), Some(0..0)] {
                    // From one element at once up to all.
                    for chunk in [8, 50, 1 << 20] {
                        let array = (&wide(dims)[..], DType::F64);
                        let stored =
                            Stored::open(&file.0, 5, array, (order, swapped), rows.clone());
                        let mut stored = stored.unwrap().with_chunk(chunk);
                        let mut parts = client().parts(&stored.dims(), DType::F64, None).unwrap();
                        while stored.step(&mut parts, NO_PAUSE).unwrap() {}
                        let rows = rows.clone().unwrap_or(0..dims[0]);
                        let expected: Vec<f64> = (rows.start * row..rows.end * row)
                            .map(|i| i as f64)
                            .collect();
                        assert_eq!(by_rows(&parts.finish().unwrap()), expected, "{dims:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn complex_numbers_are_swapped_part_by_part() {
    let numbers = [1.5f64, -2.0, 3.0, 0.25];
    let content: Vec<u8> = numbers
        .iter()
        .flat_map(|x| {
            let mut bytes = x.to_ne_bytes();
            bytes.reverse();
            bytes
        })
        .collect();
    let file = Temporary::new("complex", &content);
    let lies = (Order::RowMajor, true);
    let mut stored = Stored::open(&file.0, 0, (&[2], DType::C128), lies, None).unwrap();
    let mut parts = client().parts(&[2], DType::C128, None).unwrap();
    assert!(!stored.step(&mut parts, NO_PAUSE).unwrap());
    let mut out = [[0.0; 2]; 2];
    let buffer = parts.finish().unwrap();
    buffer
        .read(Dest::Complex(&mut out), Order::RowMajor)
        .unwrap();
    assert_eq!(out, [[1.5, -2.0], [3.0, 0.25]]);
}

#[test]
fn files_that_cannot_be_read() {
    let lies = (Order::RowMajor, false);
    let file = Temporary::new("short", &bytes_of(&[1.0, 2.0, 3.0]));
    let open =
        |dims: &[i64], start, rows| Stored::open(&file.0, start, (dims, DType::F64), lies, rows);
    let short = open(&[4], 0, None).unwrap_err();
    assert!(short.message().contains("too short"), "{short}");
    assert!(short
        .message()
        .contains("has 32 bytes, and from byte 0 on there are 24"));
    assert!(open(&[3], 1, None).is_err());
    assert!(open(&[1], u64::MAX, None).is_err());
    assert!(open(&[3], 0, Some(2..4))
        .unwrap_err()
        .message()
        .contains("has 3 rows"));
    let nowhere = std::path::Path::new("/nowhere/at/all");
    let missing = Stored::open(nowhere, 0, (&[1], DType::F64), lies, None).unwrap_err();
    assert_eq!(
        (missing.code(), missing.kind()),
        (Code::NOT_FOUND, Kind::File)
    );
    let folder = std::env::temp_dir();
    assert!(Stored::open(&folder, 0, (&[1], DType::F64), lies, None).is_err());

    // It becomes shorter while it is read.
    let mut stored = open(&[3], 0, None).unwrap().with_chunk(8);
    let mut parts = client().parts(&[3], DType::F64, None).unwrap();
    assert!(stored.step(&mut parts, NO_PAUSE).unwrap());
    std::fs::write(&file.0, bytes_of(&[1.0])).unwrap();
    let error = stored.step(&mut parts, NO_PAUSE).unwrap_err();
    assert_eq!(error.code(), Code::DATA_LOSS);

    let truths = Temporary::new("truths", &[0, 1, 2]);
    let mut stored = Stored::open(&truths.0, 0, (&[3], DType::Pred), lies, None).unwrap();
    let mut parts = client().parts(&[3], DType::Pred, None).unwrap();
    let error = stored.step(&mut parts, NO_PAUSE).unwrap_err();
    assert!(error.message().contains("byte 2 where pred"), "{error}");
}

#[test]
fn the_plugin_tells_what_buffers_hold() {
    // No other test has buffers there.
    let device = client().devices()[1].clone();
    let stats = || device.memory_stats().unwrap();
    let before = stats();
    assert_eq!(before.bytes_limit, None);
    let large = || {
        let mut parts = client()
            .parts(&[100_000], DType::F64, Some(&device))
            .unwrap();
        parts
            .put(Source::F64(&vec![1.0; 100_000]), Order::RowMajor, NO_PAUSE)
            .unwrap();
        parts.finish().unwrap()
    };
    let (first, second) = (large(), large());
    assert_eq!(stats().bytes_in_use, before.bytes_in_use + 1_600_000);
    drop(first);
    second.delete().unwrap();
    assert_eq!(stats().bytes_in_use, before.bytes_in_use);
    drop(second);
    let after = stats();
    assert_eq!(after.bytes_in_use, before.bytes_in_use);
    assert!(after.peak_bytes_in_use >= Some(1_600_000));
    assert_eq!(after.num_allocs, before.num_allocs.map(|n| n + 2));
    assert_eq!(after.largest_alloc_size, Some(800_000));
}
