//! What a routine would write past is refused before it is called.

use lapack::routines::*;
use lapack::{Sizes, Workspace};
use matrices::{Form, Transpose, Triangle, Vectors};
use std::panic::catch_unwind;
use std::process::Command;

fn workspace(sizes: Option<Sizes>) -> Workspace<f64> {
    Workspace::new(sizes.expect("sizes")).expect("memory")
}

#[test]
fn getrf_factors() {
    let (mut a, mut pivots) = ([1.0, 4.0, 2.0, 12.0], [0; 2]);
    assert_eq!(getrf((2, 2), &mut a, &mut pivots), 0);
    assert_eq!((a, pivots), ([4.0, 0.25, 12.0, -1.0], [2, 2]));
}

fn refused(what: &str, call: fn()) {
    assert!(catch_unwind(call).is_err(), "{what}");
}

#[test]
fn operands_of_other_lengths_are_refused() {
    refused("a short matrix", || {
        getrf((2, 2), &mut [1.0; 3], &mut [0; 2]);
    });
    refused("few pivots", || {
        getrf((2, 2), &mut [1.0; 4], &mut [0; 1]);
    });
    refused("no rows", || {
        getrf((0, 2), &mut [1.0; 0], &mut [0; 0]);
    });
    refused("a negative order", || {
        potrf(Triangle::Lower, -1, &mut [1.0; 1]);
    });
    refused("a workspace of a smaller matrix", || {
        let mut ws = Workspace::new(qr_sizes(1).expect("sizes")).expect("memory");
        geqrf((200, 200), &mut [0.0; 40_000], &mut [0.0; 200], &mut ws);
    });
    refused("a workspace without room for vectors", || {
        let sizes = syevd_sizes::<f64>(false, 20).expect("sizes");
        let mut ws = Workspace::new(sizes).expect("memory");
        syevd(
            true,
            Triangle::Lower,
            &mut [0.0; 400],
            &mut [0.0; 20],
            &mut ws,
        );
    });
    refused("a triangle of another order", || {
        let form = Form {
            left: true,
            triangle: Triangle::Lower,
            transpose: Transpose::No,
            unit: false,
        };
        trsm(form, (2, 3), &[1.0; 9], &mut [1.0; 6]);
    });
    refused("few reflectors", || {
        let mut ws = workspace(qr_sizes(2));
        orgqr((1, 2), &mut [0.0; 2], &[0.0; 1], &mut ws);
    });
    refused("a product of another order", || {
        let mut ws = workspace(reduce_sizes(2));
        let (a, c) = (&mut [0.0; 4], &mut [0.0; 6]);
        ormqr((true, true), (3, 2), a, &[0.0; 2], c, &mut ws);
    });
    refused("few places for the order of columns", || {
        let mut ws = workspace(geqp3_sizes(2));
        geqp3((2, 2), &mut [0.0; 4], &mut [0; 1], &mut [0.0; 2], &mut ws);
    });
    refused("a short diagonal", || {
        gtsv(&mut [1.0; 2], &mut [1.0; 2], &mut [1.0; 1], &mut [1.0; 2]);
    });
}

#[test]
fn results_of_other_lengths_are_refused() {
    for routine in [gesdd::<f64>, gesvd::<f64>] {
        let call = || {
            let mut ws = workspace(gesdd_sizes::<f64>(Vectors::Full, 3, 3));
            let factors = (&mut [0.0; 9][..], &mut [0.0; 4][..]);
            routine(
                Vectors::Full,
                (3, 3),
                &mut [0.0; 9],
                &mut [0.0; 3],
                factors,
                &mut ws,
            );
        };
        assert!(catch_unwind(call).is_err(), "few singular vectors");
    }
    refused("a long diagonal beside", || {
        let mut ws = workspace(reduce_sizes(2));
        let factors = (&mut [0.0; 2][..], &mut [0.0; 2][..], &mut [0.0; 1][..]);
        sytrd(Triangle::Lower, &mut [0.0; 4], factors, &mut ws);
    });
    for range in [(0, 2), (2, 1), (1, 3)] {
        let call = || {
            gehrd(
                2,
                range,
                &mut [0.0; 4],
                &mut [0.0; 1],
                &mut workspace(reduce_sizes(2)),
            );
        };
        assert!(catch_unwind(call).is_err(), "rows {range:?}");
    }
    refused("few eigenvectors", || {
        let mut ws = workspace(geev_sizes::<f64>((true, true), 2));
        let values = (&mut [0.0; 2][..], &mut [0.0; 2][..]);
        geev(
            &mut [0.0; 4],
            values,
            (&mut [0.0; 4], &mut [0.0; 3]),
            &mut ws,
        );
    });
    refused("few Schur vectors", || {
        let mut ws = workspace(gees_sizes::<f64>(true, 2));
        let values = (&mut [0.0; 2][..], &mut [0.0; 2][..]);
        gees(&mut [0.0; 4], values, &mut [0.0; 3], &mut ws);
    });
}

/// What LAPACK's handler does of itself is to write such a line.
#[test]
fn lapacks_error_handler_is_not_reached() {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args([
        "--exact",
        "--nocapture",
        "operands_of_other_lengths_are_refused",
    ]);
    let output = command.output().expect("this test can be run again");
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(
        output.status.success() && text[0].contains("1 passed"),
        "{text:?}"
    );
    for line in ["n entry to", "illegal value"] {
        assert!(!text.iter().any(|text| text.contains(line)), "{text:?}");
    }
}
