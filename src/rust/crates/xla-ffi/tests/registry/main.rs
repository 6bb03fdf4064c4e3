//! The registry: replace, withdraw, from many threads. Names differ by test, because there is one
//! registry.

mod calls;
mod waiting;

use xla_ffi::registry::{canonical_platform, Registered, Registry};
use xla_ffi::testing::{metadata, Call};
use xla_ffi::{
    handler, io, Code, Cx, HandlerFn, Host, Kernel, Op, Platform, Result, Ret, Traits, Untyped,
};

io! {
    struct SayIo<'f> { out: Ret<'f, i32> }
}

struct Say<const N: i32>;

impl<const N: i32> Op for Say<N> {
    const TARGET: &'static str = "say";
    const TRAITS: Traits = Traits::from_bits((N != 3) as u32);
    type Dtypes = Untyped;
}

impl<const N: i32, P: Platform> Kernel<P> for Say<N> {
    type Io<'f> = SayIo<'f>;

    fn run(mut io: SayIo<'_>, _cx: &Cx<'_, P>) -> Result<()> {
        io.out.as_mut_slice()?[0] = N;
        Ok(())
    }
}

/// The handlers of this file stay where they are.
fn register(
    target: &str,
    platform: &str,
    handler: HandlerFn,
    owner: Option<&str>,
) -> Result<Registered> {
    // SAFETY: a handler, and of this program.
    unsafe { Registry::global().register(target, platform, handler, owner) }
}

const ONE: HandlerFn = handler::<Say<1>, Host>;
const TWO: HandlerFn = handler::<Say<2>, Host>;

fn said(function: HandlerFn) -> Result<i32, String> {
    let mut frame = Call::new().ret::<i32>(&[]).build();
    frame
        .call(function)
        .map_err(|failure| failure.to_string())?;
    Ok(frame.ret::<i32>(0)[0])
}

#[test]
fn a_name_keeps_its_function_and_changes_its_handler() {
    let registry = Registry::global();
    assert!(registry.lookup("replace", "host").is_none());
    let first = register("replace", "cpu", ONE, Some("pkg a")).expect("a free slot");
    assert_eq!(first.replaced, None);
    assert_eq!(said(first.trampoline), Ok(1));
    assert_eq!(
        metadata(first.trampoline).map(|answer| answer.traits.bits()),
        Some(1)
    );

    let second = register("replace", "Host", TWO, None).expect("the same slot");
    let replaced = second.replaced.expect("there was one");
    assert_eq!(replaced.owner.as_deref(), Some("pkg a"));
    assert_eq!(second.trampoline as usize, first.trampoline as usize);
    assert_eq!(said(first.trampoline), Ok(2));
    assert_eq!(
        metadata(first.trampoline).map(|answer| answer.traits.bits()),
        Some(1)
    );
    assert_eq!(
        registry.lookup("replace", "CPU").map(|f| f as usize),
        Some(first.trampoline as usize)
    );

    // Another platform is another name.
    let other = register("replace", "gpu", ONE, None).expect("a free slot");
    assert_ne!(other.trampoline as usize, first.trampoline as usize);
    assert_eq!(said(first.trampoline), Ok(2));
}

#[test]
fn a_withdrawn_handler_gives_a_clear_error() {
    let registry = Registry::global();
    let trampoline = register("gone", "host", ONE, Some("pkg b"))
        .expect("a free slot")
        .trampoline;
    assert!(registry.unregister("gone", "cpu"));
    assert!(!registry.unregister("gone", "cpu"), "it is gone already");
    assert!(!registry.unregister("never there", "cpu"));
    assert!(registry.lookup("gone", "host").is_none());
    let text = "FAILED_PRECONDITION: custom call target `gone` (platform host) was unregistered \
                (it belonged to pkg b); register it again before running programs that call it";
    assert_eq!(said(trampoline), Err(text.to_owned()));
    // Programs may still be compiled.
    let answer = metadata(trampoline).expect("an answer");
    assert_eq!(
        (answer.version, answer.traits.bits()),
        (xla_ffi::REPORTED_VERSION, 1)
    );

    let again = register("gone", "host", TWO, None).expect("the same slot");
    assert_eq!(
        (again.trampoline as usize, again.replaced),
        (trampoline as usize, None)
    );
    assert_eq!(said(trampoline), Ok(2));
}

#[test]
fn an_owner_goes_with_all_that_is_its_own() {
    let registry = Registry::global();
    for (target, owner) in [("mine 1", "me"), ("mine 2", "me"), ("yours", "you")] {
        register(target, "host", ONE, Some(owner)).expect("a free slot");
    }
    assert_eq!(registry.unregister_owner("me"), 2);
    assert_eq!(registry.unregister_owner("me"), 0);
    assert!(registry.lookup("yours", "host").is_some());
    let mine: Vec<_> = registry
        .list()
        .into_iter()
        .filter(|entry| entry.target.starts_with("mine"))
        .collect();
    assert_eq!(mine.len(), 2);
    assert!(mine
        .iter()
        .all(|entry| !entry.active && entry.owner.as_deref() == Some("me")));
}

#[test]
fn names_must_be_names() {
    let failure = register("", "host", ONE, None).expect_err("no name");
    assert_eq!(failure.code(), Code::InvalidArgument);
    assert_eq!(failure.to_string(), "a custom call needs a target name");
    let failure = register("t", "", ONE, None).expect_err("no platform");
    assert_eq!(failure.to_string(), "a custom call needs a platform name");
}

#[test]
fn platforms_have_one_name() {
    for name in ["cpu", "CPU", "host", "Host"] {
        assert_eq!(canonical_platform(name), "host");
    }
    for name in ["cuda", "CUDA", "gpu"] {
        assert_eq!(canonical_platform(name), "cuda");
    }
    assert_eq!(canonical_platform("ROCM"), "rocm");
}
