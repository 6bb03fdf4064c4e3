//! A check of a call that fits allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use custom_ops::bind::{Bound, Plan, Sets};
use custom_ops::signature::Signature;
use xla_ffi::DataType;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator, counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, data: *mut u8, layout: Layout) {
        // SAFETY: handed on.
        unsafe { System.dealloc(data, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_call_that_fits_needs_no_memory() {
    let text =
        "a: T[..., m, n] column, y: wider(T, f32)[...], w: i32[2*n]?; lag: i64, b: f64[p] -> \
        q: T[..., m, min(m, n) + lag, p]; work: T[m*n]";
    let signature = Signature::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let sets = Sets::new(&signature, &[]).unwrap_or_else(|error| panic!("{error}"));
    let plan = Plan::new(signature, sets);
    let f32 = DataType::F32;
    let operands: [(DataType, &[i64]); 3] = [(f32, &[5, 4, 3]), (f32, &[5]), (DataType::S32, &[6])];
    let results: [(DataType, &[i64]); 1] = [(f32, &[5, 4, 4, 2])];
    let mut bound = Bound::default();
    for round in 0..3 {
        let before = ALLOCATIONS.with(Cell::get);
        let checked = plan.check(&operands, &results, &[1, 2], &mut bound);
        let now = ALLOCATIONS.with(Cell::get);
        assert_eq!(checked, Ok(()));
        assert!(round == 0 || now == before, "{} allocations", now - before);
    }
}
