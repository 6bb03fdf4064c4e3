//! What a routine would write past is refused before it is called.

use lapack::routines::{geqrf, getrf, potrf, qr_sizes, syevd, syevd_sizes, trsm};
use lapack::Workspace;
use matrices::{Form, Transpose, Triangle};
use std::panic::catch_unwind;

#[test]
fn getrf_factors() {
    let (mut a, mut pivots) = ([1.0, 4.0, 2.0, 12.0], [0; 2]);
    assert_eq!(getrf((2, 2), &mut a, &mut pivots), 0);
    assert_eq!((a, pivots), ([4.0, 0.25, 12.0, -1.0], [2, 2]));
}

#[test]
fn operands_of_other_lengths_are_refused() {
    let refused = |what: &str, call: fn()| assert!(catch_unwind(call).is_err(), "{what}");
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
}
