//! Attributes of all kinds, nested and broken: what a handler reads is what was laid out, or nothing.

use std::cell::RefCell;

use xla_ffi::{
    half, handler, io, AnyAttr, AttrType, Attrs, Complex, Cx, DataType, Host, Kernel, Op, Platform,
    Pred, Result, Scalar, Untyped,
};

use crate::call::{make, Arena, Attr, Hosts, Spec};
use crate::mutate::mutate_attributes;
use crate::rng::Rng;

io! {
    struct ReadIo<'f> {
        attrs: Attrs<'f>,
    }
}

/// Writes down all attributes that it gets.
struct Read;

impl Op for Read {
    const TARGET: &'static str = "read";
    type Dtypes = Untyped;
}

thread_local! {
    static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

impl<P: Platform> Kernel<P> for Read {
    type Io<'f> = ReadIo<'f>;

    fn run(io: ReadIo<'_>, _cx: &Cx<'_, P>) -> Result<()> {
        SEEN.with_borrow_mut(|seen| {
            seen.clear();
            read_all(&io.attrs, seen);
        });
        Ok(())
    }
}

fn read_all(attrs: &Attrs<'_>, seen: &mut Vec<String>) {
    for (name, attr) in attrs.iter() {
        let value = match (attr.type_(), attr.bytes(), attr.dictionary()) {
            (AttrType::String, Some(text), None) => format!("text {text:?}"),
            (AttrType::Dictionary, None, Some(table)) => {
                seen.push(format!("{name:?} table"));
                read_all(&table, seen);
                "end".to_owned()
            }
            (AttrType::Unknown(_), None, None) => "nothing".to_owned(),
            (_, None, None) => numbers(&attr),
            other => panic!("{name:?} is several things: {other:?}"),
        };
        seen.push(format!("{name:?} {value}"));
    }
}

/// Runs `$body` for every scalar type `$T` and takes what is not `None`.
macro_rules! for_scalars {
    ($T:ident => $body:expr) => {
        for_scalars!($T => $body; Pred, i8, i16, i32, i64, u8, u16, u32, u64, half::f16, half::bf16,
            f32, f64, Complex<f32>, Complex<f64>)
    };
    ($T:ident => $body:expr; $($ty:ty),*) => {
        [$({
            type $T = $ty;
            $body
        }),*]
    };
}

fn numbers(attr: &AnyAttr<'_>) -> String {
    fn text<T: Scalar>(what: &str, values: &[T]) -> String {
        format!("{what} {} {values:?}", T::DTYPE)
    }
    let found = for_scalars!(T => {
        let one = attr.scalar::<T>().map(|value| text("one", &[value]));
        one.or_else(|| attr.array::<T>().map(|values| text("array", values)))
    });
    let mut found = found.into_iter().flatten();
    let first = found.next().unwrap_or_else(|| "nothing".to_owned());
    assert_eq!(found.next(), None, "two types at once: {first}");
    first
}

/// What `read_all` must find.
fn expected(attrs: &[(Vec<u8>, Attr)], seen: &mut Vec<String>) {
    for (name, attr) in attrs {
        let value = match attr {
            Attr::Text(text) => format!("text {text:?}"),
            Attr::Table(table) => {
                seen.push(format!("{name:?} table"));
                expected(table, seen);
                "end".to_owned()
            }
            Attr::Null(_) => "nothing".to_owned(),
            Attr::Scalar(dtype, bytes) => laid_out("one", *dtype, 1, bytes),
            Attr::Array(dtype, count, bytes) => laid_out("array", *dtype, *count, bytes),
        };
        seen.push(format!("{name:?} {value}"));
    }
}

fn laid_out(what: &str, dtype: DataType, count: usize, bytes: &[u8]) -> String {
    if count > 0 && bytes.is_empty() {
        return "nothing".to_owned();
    }
    let found = for_scalars!(T => (T::DTYPE == dtype).then(|| {
        let size = std::mem::size_of::<T>();
        let values = bytes.chunks_exact(size).take(count).map(|bytes| {
            // SAFETY: as many bytes as a `T` has, and any are one.
            unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }
        });
        format!("{what} {dtype} {:?}", values.collect::<Vec<T>>())
    }));
    let found = found.into_iter().flatten().next();
    found.unwrap_or_else(|| "nothing".to_owned())
}

#[test]
fn attributes_are_read_as_they_are() {
    let (mut hosts, mut arena) = (Hosts::new(), Arena::new());
    let seed = crate::number("XLAFFI_FUZZ_SEED").unwrap_or(1);
    let mut tables = 0;
    for at in 0..crate::FRAMES {
        let mut rng = Rng::of(seed, at);
        let mut spec = Spec::new(Vec::new(), Vec::new());
        for _ in 0..rng.below(6) {
            mutate_attributes(&mut spec.attrs, &mut rng, 0);
        }
        make(&spec, handler::<Read, Host>, &mut hosts, &mut arena, at).expect("anything goes");
        let mut want = Vec::new();
        expected(&spec.attrs, &mut want);
        tables += want.iter().filter(|line| line.ends_with("table")).count();
        SEEN.with_borrow(|seen| assert_eq!(*seen, want, "seed {seed}, {at}"));
    }
    assert!(tables > 100, "only {tables} dictionaries");
}
