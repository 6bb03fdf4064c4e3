//! Sparse matrices: the handlers beside the crate that computes, and what they refuse.

use crate::common::{count, dims, handler, same, Number as Tested, Random};
use ::sparse::{Columns, Float, OwnOrder, Pattern, Symbolic, System};
use xla_ffi::sys;
use xla_ffi::testing::{Call, Frame};

/// A ring with a chord, one part by itself.
const COLPTR: [i32; 8] = [0, 4, 6, 8, 10, 11, 12, 13];
const ROWIND: [i32; 13] = [0, 1, 3, 4, 1, 2, 2, 3, 3, 4, 4, 5, 6];
const N: usize = 7;
const NNZ: usize = ROWIND.len();
const BATCHES: [&[i64]; 4] = [&[], &[1], &[3], &[2, 2]];

fn symbolic() -> Symbolic {
    Symbolic::new(&Pattern::new(N as i64, &COLPTR, &ROWIND).expect("a pattern"))
}

fn with_pattern(call: Call) -> Call {
    call.attr("n", N as i64)
        .attr("colptr", &COLPTR[..])
        .attr("rowind", &ROWIND[..])
}

fn rectangular(call: Call) -> Call {
    call.attr("nrow", N as i64)
        .attr("ncol", N as i64)
        .attr("colptr", &COLPTR[..])
        .attr("rowind", &ROWIND[..])
}

/// Runs a call without a state, and one with it in several threads: both give the same.
fn run<T: Tested>(target: &str, call: &dyn Fn() -> Call) -> Frame {
    let mut alone = call().build();
    alone.call(handler(target)).expect("a call without a state");
    let entry = ops::named(target).expect("an op");
    let stages = entry.stages.expect("stages")();
    let mut frame = call().threads(3).build();
    let instantiate = stages.instantiate.expect("a stage for it");
    frame.set_stage(sys::XLA_FFI_ExecutionStage_INSTANTIATE);
    frame.call(instantiate).expect("a state");
    frame.set_stage(sys::XLA_FFI_ExecutionStage_EXECUTE);
    frame
        .call(stages.execute.expect("a body"))
        .expect("a call with a state");
    assert!(same(frame.ret::<T>(0), alone.ret::<T>(0)));
    frame
}

/// Positive definite matrices of the pattern.
fn matrices<T: Float + From<f32>>(count: usize) -> Vec<T> {
    let mut random = Random(count as u64 + 5);
    let diagonal = |at: usize| COLPTR.iter().any(|&start| start as usize == at);
    let mut value = |at| random.real() as f32 + if diagonal(at) { 5.0 } else { 0.0 };
    (0..count * NNZ).map(|at| value(at % NNZ).into()).collect()
}

fn values<T: From<f32>>(len: usize) -> Vec<T> {
    let mut random = Random(len as u64);
    (0..len).map(|_| (random.real() as f32).into()).collect()
}

fn factors<T: Float>(symbolic: &Symbolic, a: &[T]) -> Vec<T> {
    let mut factors = vec![T::ZERO; a.len() / NNZ * symbolic.factor_len()];
    let parts = factors.chunks_mut(symbolic.factor_len());
    for (a, factor) in a.chunks(NNZ).zip(parts) {
        assert_eq!(T::cholesky(symbolic, a, factor).expect("memory"), 0);
    }
    factors
}

/// What `f` makes of each part of `from` in a part of `len`.
fn each<T: Float>(from: &[T], part: usize, len: usize, f: impl Fn(&[T], &mut [T])) -> Vec<T> {
    let mut all = Vec::new();
    for from in from.chunks(part) {
        let mut to = vec![T::ZERO; len];
        f(from, &mut to);
        all.extend(to);
    }
    all
}

fn everything<T: Tested + Float + From<f32>>() {
    let symbolic = symbolic();
    let len = symbolic.factor_len();
    for batch in BATCHES {
        let count = count(batch);
        let a = matrices::<T>(count);
        let want = factors(&symbolic, &a);
        let frame = run::<T>("sparse_cholesky", &|| {
            let call = Call::new().arg(&dims(batch, &[NNZ]), &a);
            with_pattern(call.ret::<T>(&dims(batch, &[len])).ret::<i32>(batch))
        });
        assert!(frame.ret::<T>(0) == want && frame.ret::<i32>(1).iter().all(|&info| info == 0));

        let of_factor = |target, size: usize| {
            run::<T>(target, &|| {
                let call = Call::new().arg(&dims(batch, &[len]), &want);
                with_pattern(call.ret::<T>(&dims(batch, &[size])))
            })
        };
        let places = symbolic.factor_pattern().places;
        let entries = each(&want, len, places.len(), |factor, to| {
            let from = places.iter().map(|&at| factor[at]);
            to.iter_mut().zip(from).for_each(|(to, from)| *to = from);
        });
        let frame = of_factor("sparse_factor_values", places.len());
        assert!(frame.ret::<T>(0) == entries);
        let inverse = each(&want, len, NNZ, |factor, to| {
            T::inverse(&symbolic, factor, to).expect("memory");
        });
        assert!(of_factor("sparse_inverse", NNZ).ret::<T>(0) == inverse);
        solutions(&symbolic, batch, &want);
        derivatives(&symbolic, batch, &a);
        own_factors(batch, &a);
        products(batch, &a);
    }
}

fn solutions<T: Tested + Float + From<f32>>(symbolic: &Symbolic, batch: &[i64], factors: &[T]) {
    let len = symbolic.factor_len();
    let systems = [
        ("A", System::Whole),
        ("L", System::Lower),
        ("Lt", System::Transposed),
    ];
    for (mode, system) in systems {
        for k in [0, 1, 3] {
            let b = values::<T>(count(batch) * N * k);
            let frame = run::<T>("sparse_solve", &|| {
                let call = Call::new().arg(&dims(batch, &[len]), factors);
                let call = call.arg(&dims(batch, &[N, k]), &b);
                with_pattern(call.ret::<T>(&dims(batch, &[N, k])).attr("mode", mode))
            });
            let mut want = Vec::new();
            for (at, factor) in factors.chunks(len).enumerate() {
                let mut x = vec![T::ZERO; N * k];
                let b = &b[at * N * k..][..N * k];
                symbolic.solve(factor, system, b, &mut x).expect("memory");
                want.extend(x);
            }
            assert!(frame.ret::<T>(0) == want);
        }
    }
}

fn derivatives<T: Tested + Float + From<f32>>(symbolic: &Symbolic, batch: &[i64], a: &[T]) {
    for order in 1..=4 {
        let all = values::<T>(order * a.len());
        let directions: Vec<&[T]> = all.chunks(a.len()).collect();
        let frame = run::<T>("sparse_inverse_derivative", &|| {
            let mut call = Call::new().arg(&dims(batch, &[NNZ]), a);
            for direction in &directions {
                call = call.arg(&dims(batch, &[NNZ]), direction);
            }
            with_pattern(call.ret::<T>(&dims(batch, &[NNZ])))
        });
        let mut want = Vec::new();
        for at in (0..a.len()).step_by(NNZ) {
            let along: Vec<&[T]> = directions.iter().map(|d| &d[at..at + NNZ]).collect();
            let mut to = vec![T::ZERO; NNZ];
            T::inverse_derivative(symbolic, &a[at..at + NNZ], &along, &mut to).expect("memory");
            want.extend(to);
        }
        assert!(frame.ret::<T>(0) == want);
    }
}

fn own_factors<T: Tested + Float + From<f32>>(batch: &[i64], a: &[T]) {
    let own = OwnOrder::new(symbolic().pattern());
    let len = own.rows().len();
    let weights = values::<T>(a.len() / NNZ * len);
    for order in 0..=4 {
        let all = values::<T>(order * a.len());
        let directions: Vec<&[T]> = all.chunks(a.len()).collect();
        let along = |call: Call, size: usize| {
            let given = directions.iter();
            let call = given.fold(call, |call, d| call.arg(&dims(batch, &[NNZ]), d));
            with_pattern(call.ret::<T>(&dims(batch, &[size])))
        };
        let (mut factors, mut slopes) = (Vec::new(), Vec::new());
        for (at, a) in a.chunks(NNZ).enumerate() {
            let here: Vec<&[T]> = directions.iter().map(|d| &d[at * NNZ..][..NNZ]).collect();
            let (mut factor, mut slope) = (vec![T::ZERO; len], vec![T::ZERO; NNZ]);
            T::own_factor(&own, a, &here, &mut factor).expect("memory");
            T::own_pullback(&own, a, &weights[at * len..][..len], &here, &mut slope)
                .expect("memory");
            factors.extend(factor);
            slopes.extend(slope);
        }
        let frame = run::<T>("sparse_own_factor", &|| {
            along(Call::new().arg(&dims(batch, &[NNZ]), a), len)
        });
        assert!(frame.ret::<T>(0) == factors);
        let frame = run::<T>("sparse_own_factor_pullback", &|| {
            let call = Call::new().arg(&dims(batch, &[NNZ]), a);
            along(call.arg(&dims(batch, &[len]), &weights), NNZ)
        });
        assert!(frame.ret::<T>(0) == slopes);
    }
}

fn products<T: Tested + Float + From<f32>>(batch: &[i64], a: &[T]) {
    let pattern = Columns::new(N as i64, N as i64, &COLPTR, &ROWIND).expect("a pattern");
    for (k, transpose) in [(1, false), (3, false), (3, true), (0, true)] {
        let x = values::<T>(count(batch) * N * k);
        let frame = run::<T>("sparse_matmul", &|| {
            let call = Call::new().arg(&dims(batch, &[NNZ]), a);
            let call = call.arg(&dims(batch, &[N, k]), &x);
            let call = call.ret::<T>(&dims(batch, &[N, k]));
            rectangular(call.attr("transpose", transpose))
        });
        let (mut want, mut sampled) = (Vec::new(), Vec::new());
        for (at, a) in a.chunks(NNZ).enumerate() {
            let x = &x[at * N * k..][..N * k];
            let (mut y, mut values) = (vec![T::ZERO; N * k], vec![T::ZERO; NNZ]);
            pattern.product(a, transpose, x, &mut y);
            pattern.sampled_product(x, &y, &mut values);
            want.extend(y);
            sampled.extend(values);
        }
        assert!(frame.ret::<T>(0) == want);
        let frame = run::<T>("sparse_sampled_product", &|| {
            let call = Call::new().arg(&dims(batch, &[N, k]), &x);
            let call = call.arg(&dims(batch, &[N, k]), &want);
            rectangular(call.ret::<T>(&dims(batch, &[NNZ])))
        });
        assert!(frame.ret::<T>(0) == sampled);
    }
}

#[test]
fn results_are_those_of_the_crate() {
    everything::<f64>();
    everything::<f32>();
}

#[test]
fn one_matrix_that_has_no_factor_is_nan_alone() {
    let symbolic = symbolic();
    let mut a = matrices::<f64>(3);
    a[NNZ + COLPTR[2] as usize] = -1.0;
    let frame = run::<f64>("sparse_cholesky", &|| {
        let call = Call::new().arg(&[3, NNZ as i64], &a);
        let call = call.ret::<f64>(&[3, symbolic.factor_len() as i64]);
        with_pattern(call.ret::<i32>(&[3]))
    });
    assert_eq!(frame.ret::<i32>(1), [0, 3, 0]);
    let factors: Vec<&[f64]> = frame.ret(0).chunks(symbolic.factor_len()).collect();
    assert!(factors[1].iter().all(|x| x.is_nan()));
    assert!(factors[0].iter().chain(factors[2]).all(|x| x.is_finite()));
}

#[test]
fn bad_operands_are_named() {
    let len = symbolic().factor_len() as i64;
    let message = |target: &str, call: Call| {
        let failure = call.run(handler(target)).expect_err("bad input");
        failure.to_string()
    };
    let factor = |nnz: i64, len: i64| {
        let call = Call::new().arg(&[nnz], &vec![1.0; nnz as usize]);
        call.ret::<f64>(&[len]).ret::<i32>(&[])
    };
    assert_eq!(
        message("sparse_cholesky", with_pattern(factor(4, len))),
        "INVALID_ARGUMENT: sparse_cholesky: argument `a` must have shape (13), got (4)"
    );
    assert_eq!(
        message("sparse_cholesky", with_pattern(factor(13, 1))),
        format!(
            "INVALID_ARGUMENT: sparse_cholesky: result `factor` must have shape ({len}), got (1)"
        )
    );
    let attributes = |colptr: &[i32]| {
        let call = factor(1, 1).attr("n", 1_i64).attr("colptr", colptr);
        call.attr("rowind", &[0_i32][..])
    };
    assert_eq!(
        message("sparse_cholesky", attributes(&[0, 2])),
        "INVALID_ARGUMENT: sparse_cholesky: attribute `rowind` must have 2 elements, as the last of `colptr` says, got 1"
    );
    assert_eq!(
        message("sparse_cholesky", factor(1, 1)),
        "INVALID_ARGUMENT: sparse_cholesky: attribute `n` must be a scalar i64, got none"
    );
    let solve = Call::new()
        .arg(&[len], &vec![1.0; len as usize])
        .arg(&[6, 1], &[1.0; 6])
        .ret::<f64>(&[6, 1]);
    assert_eq!(
        message("sparse_solve", with_pattern(solve)),
        "INVALID_ARGUMENT: sparse_solve: argument `b` must have shape (7,1), got (6,1)"
    );
    let solve = Call::new()
        .arg(&[len], &vec![1.0; len as usize])
        .arg(&[7, 1], &[1.0; 7])
        .ret::<f64>(&[7, 1])
        .attr("mode", "U");
    assert_eq!(
        message("sparse_solve", with_pattern(solve)),
        "INVALID_ARGUMENT: sparse_solve: attribute `mode` must be \"A\", \"L\" or \"Lt\", got \"U\""
    );
    let directions = |count: usize| {
        let call = (0..=count).fold(Call::new(), |call, _| call.arg(&[13], &[1.0; 13]));
        with_pattern(call.ret::<f64>(&[13]))
    };
    assert_eq!(
        message("sparse_inverse_derivative", directions(5)),
        "INVALID_ARGUMENT: sparse_inverse_derivative: expected at most 4 directions, got 5"
    );
    let product = Call::new()
        .arg(&[13], &[1.0; 13])
        .arg(&[3, 2], &[1.0; 6])
        .ret::<f64>(&[7, 2]);
    assert_eq!(
        message("sparse_matmul", rectangular(product)),
        "INVALID_ARGUMENT: sparse_matmul: argument `x` must have shape (7,2), got (3,2)"
    );
    // A pattern that is none is refused when the program is made.
    let mut frame = attributes(&[0, 2])
        .stage(sys::XLA_FFI_ExecutionStage_INSTANTIATE)
        .build();
    let stages = ops::named("sparse_cholesky")
        .and_then(|op| op.stages)
        .expect("stages")();
    let failure = frame
        .call(stages.instantiate.expect("a stage"))
        .expect_err("no pattern");
    assert!(failure
        .to_string()
        .contains("attribute `rowind` must have 2 elements"));
}

#[test]
fn a_factor_of_another_size_is_refused() {
    let call = Call::new().arg(&[13], &[1.0; 13]).ret::<f64>(&[13]);
    let failure = with_pattern(call).run(handler("sparse_own_factor"));
    assert_eq!(
        failure.expect_err("bad input").to_string(),
        "INVALID_ARGUMENT: sparse_own_factor: result `values` must have shape (16), got (13)"
    );
}
