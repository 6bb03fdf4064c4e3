//! Arrays that go by parts to a device whose memory is elsewhere.

use crate::fake::transfers::{table as with_transfers, SENT};
use crate::fake::*;
use pjrt::*;
use std::sync::atomic::Ordering;

/// So many rows are beyond what goes at once.
const ROWS: i64 = 10_000;

fn elsewhere(table: pjrt_api::PJRT_Api) -> Client {
    plugin(table)
        .unwrap()
        .client(&platform_option("elsewhere"))
        .unwrap()
}

fn column(rows: std::ops::Range<i64>, columns: i64) -> Vec<f64> {
    (0..columns)
        .flat_map(|c| rows.clone().map(move |r| (r * columns + c) as f64))
        .collect()
}

fn by_rows(buffer: &Buffer) -> Vec<f64> {
    let mut out = vec![f64::NAN; buffer.num_elements()];
    buffer.read(Dest::F64(&mut out), Order::RowMajor).unwrap();
    out
}

fn put(parts: &mut Parts, x: &[f64]) -> Result<()> {
    parts.put(Source::F64(x), Order::ColumnMajor, &|| ())
}

#[test]
fn parts_go_as_they_come_where_the_plugin_takes_them() {
    let _s = session();
    for (table, columns, sends) in [
        (with_transfers(), 3, true),
        // The device would lay these out in another way.
        (with_transfers(), 17, false),
        (with_transfers(), 19, false),
        (table(), 3, false),
    ] {
        let client = elsewhere(table);
        let before = SENT.load(Ordering::SeqCst);
        let mut parts = client.parts(&[ROWS, columns], DType::F64, None).unwrap();
        for rows in [0..4000, 4000..4000, 4000..4001, 4001..ROWS] {
            put(&mut parts, &column(rows, columns)).unwrap();
        }
        let sent = SENT.load(Ordering::SeqCst) - before;
        assert_eq!(sent, if sends { 3 } else { 0 });
        let buffer = parts.finish().unwrap();
        let all: Vec<f64> = (0..ROWS * columns).map(|i| i as f64).collect();
        assert_eq!(by_rows(&buffer), all);
    }
}

#[test]
fn arrays_that_are_given_up_leave_nothing() {
    let _s = session();
    let client = elsewhere(with_transfers());
    let mut parts = client.parts(&[ROWS, 3], DType::F64, None).unwrap();
    put(&mut parts, &column(0..5000, 3)).unwrap();
    // While the bytes are under way.
    drop(parts);
    let mut parts = client.parts(&[ROWS, 3], DType::F64, None).unwrap();
    assert!(parts.finish().unwrap_err().message().contains("0 elements"));
}

#[test]
fn errors_of_the_device_are_reported() {
    let _s = session();
    let client = elsewhere(with_transfers());
    let error = client.parts(&[13, 9000], DType::F64, None).unwrap_err();
    assert_eq!(error.code(), Code::RESOURCE_EXHAUSTED);
    // The second part is lost, which is seen with the third, and for good.
    let mut parts = client.parts(&[11, 9000], DType::F64, None).unwrap();
    put(&mut parts, &column(0..1, 9000)).unwrap();
    put(&mut parts, &column(1..2, 9000)).unwrap();
    for _ in 0..2 {
        let error = put(&mut parts, &column(2..3, 9000)).unwrap_err();
        assert_eq!(error.message(), "the link is down");
    }
    assert_eq!(parts.done(), 2 * 9000);
}

#[test]
fn what_the_plugin_refuses_can_be_handed_over_once_more() {
    let _s = session();
    let client = elsewhere(table());
    // Of this shape the plugin has no room.
    let mut parts = client.parts(&[13], DType::F64, None).unwrap();
    put(&mut parts, &[0.0; 13]).unwrap();
    for _ in 0..2 {
        let error = parts.finish().unwrap_err();
        assert_eq!(error.code(), Code::RESOURCE_EXHAUSTED);
    }
}
