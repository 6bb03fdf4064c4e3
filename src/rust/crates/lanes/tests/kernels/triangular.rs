use crate::*;
use lanes::triangular::Trsm;
use matrices::{Form, Transpose, Triangle};

/// Operands are packed: a triangle, then its right-hand sides.
fn run<T: Real>(form: Form, m: usize, n: usize) -> impl Fn(Unit, &[T], usize) -> Results<T> {
    move |unit, packed, count| {
        let square = order(form, m, n).pow(2);
        let matrices = || packed.chunks_exact(square + m * n);
        let x: Vec<T> = matrices().flat_map(|one| &one[..square]).copied().collect();
        let mut y: Vec<T> = matrices().flat_map(|one| &one[square..]).copied().collect();
        let (x, sides) = (&x, &mut y);
        let kernel = Trsm {
            form,
            m,
            n,
            x,
            y: sides,
            together: THREADS,
        };
        on(unit, kernel, count);
        Results {
            numbers: vec![y],
            ints: Vec::new(),
        }
    }
}

fn order(form: Form, m: usize, n: usize) -> usize {
    if form.left {
        m
    } else {
        n
    }
}

fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    for left in [true, false] {
        for triangle in [Triangle::Lower, Triangle::Upper] {
            for transpose in [Transpose::No, Transpose::Plain, Transpose::Conjugate] {
                for unit in [true, false] {
                    forms.push(Form {
                        left,
                        triangle,
                        transpose,
                        unit,
                    });
                }
            }
        }
    }
    forms
}

/// A system with a triangle whose inverse is not large, and with something else in the other one.
fn system<T: Real>(form: Form, m: usize, n: usize, random: &mut Random) -> Vec<T> {
    let order = order(form, m, n);
    let mut x: Vec<T> = random.numbers(order * order);
    for (e, x) in x.iter_mut().enumerate() {
        let small = x.f64() / order as f64;
        *x = T::of(if e % order == e / order {
            1.5 + small
        } else {
            small
        });
    }
    x.extend(random.numbers::<T>(m * n));
    x
}

/// The triangle as it is used.
fn used<T: Real>(form: Form, order: usize, x: &[T]) -> Matrix {
    let x = Matrix::of(order, x);
    let x = Matrix::from_fn(order, order, |i, j| match form.triangle {
        _ if i == j && form.unit => 1.0,
        Triangle::Lower if i < j => 0.0,
        Triangle::Upper if i > j => 0.0,
        _ => x.at(i, j),
    });
    match form.transpose {
        Transpose::No => x,
        Transpose::Plain | Transpose::Conjugate => x.transposed(),
    }
}

/// Solves so many systems of that shape, on every unit.
fn solves_systems<T: Real>(form: Form, (m, n): (usize, usize), count: usize, random: &mut Random) {
    let systems = || system::<T>(form, m, n, random);
    let x: Vec<T> = std::iter::repeat_with(systems)
        .take(count)
        .flatten()
        .collect();
    let results = batch(&x, count, &run(form, m, n));
    for at in 0..count {
        let order = order(form, m, n);
        let (x, y) = part(&x, at, count).split_at(order * order);
        let x = used(form, order, x);
        let solution = Matrix::of(m, &results.of(at, count).numbers[0]);
        let product = if form.left {
            x.times(&solution)
        } else {
            solution.times(&x)
        };
        let size = x.size() * solution.size();
        product.expect::<T>(&Matrix::of(m, y), order, size);
    }
}

fn solves<T: Real>() {
    let mut random = Random(1);
    for form in forms() {
        for n in SIZES {
            let m = [n, 3][n % 2];
            for count in COUNTS {
                solves_systems::<T>(form, (m, n), count, &mut random);
            }
        }
    }
}

/// With their rows in lanes: one unknown and many right-hand sides, few of these, and around the edges of strips and of
/// what is packed at a time, shared by threads and not.
fn solves_large<T: Real>() {
    let mut random = Random(2);
    let shapes = [
        (1, 65),
        (65, 1),
        (3, 400),
        (66, 9),
        (72, 72),
        (95, 131),
        (131, 50),
        (257, 194),
        (300, 70),
    ];
    for (at, form) in forms().into_iter().enumerate() {
        for shape in [shapes[at % shapes.len()], shapes[(at + 4) % shapes.len()]] {
            for (m, n) in [shape, (shape.1, shape.0)] {
                solves_systems::<T>(form, (m, n), 1 + at % 2, &mut random);
            }
        }
    }
    // More strips than there is room for
    let to_the_right = |form: &Form| !form.left;
    let form = forms().into_iter().find(to_the_right).expect("a form");
    solves_systems::<T>(form, (7000, 2), 1, &mut random);
}

/// NaN goes where arithmetic takes it: a system with NaN on its right-hand sides has no number in its
/// solution behind it, and its neighbours know nothing of it.
fn not_finite<T: Real>() {
    for form in forms() {
        for n in [1, 4, 9, 33, 70] {
            let mut random = Random(3);
            let x: Vec<T> = (0..7)
                .flat_map(|_| system(form, n, n, &mut random))
                .collect();
            let [nan, infinite] = spoilt(&x, n * n, &run(form, n, n));
            assert!(nan.numbers[0][0].f64().is_nan());
            assert!(!infinite.numbers[0][0].f64().is_finite());
        }
    }
}

in_both! { solves solves_large not_finite }
